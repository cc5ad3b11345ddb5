// Package system knows programs that look at or change the machine.
package system

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Rows are the programs of the system, sorted by name.
var Rows = []program.Row{
	{Name: "alternatives", Same: "update-alternatives"},
	{Name: "apk", Subs: []program.Row{
		{Name: "list|info|search|version|policy", Does: effect.Read},
		{Name: "add|upgrade|update|fetch|fix", Does: effect.Install | effect.Network | effect.Privilege},
		{Name: "del", Does: effect.Privilege | effect.Delete},
	}},
	{Name: "apropos", Operands: "v*"},
	{Name: "apt", Subs: packageCommands},
	{Name: "apt-cache", Options: packageOptions, Does: effect.Read, Handle: packageSource},
	{Name: "apt-get", Subs: packageCommands},
	{Name: "apt-mark", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "showauto|showmanual|showhold|showinstall|showremove|showpurge", Does: effect.Read},
	}},
	{Name: "aptitude", Subs: packageCommands},
	{Name: "arch", Style: program.SingleFirst, Options: "arch=v d=v e=v", Handle: arch},
	{Name: "arp", Options: "a n v e l d|delete s|set f|file=r i|device=v D S", Handle: arp},
	{Name: "at", Options: "f=x q=v t=v l|list d=v", Does: effect.Process | effect.InlineCode, Shows: "l"},
	{Name: "atq", Operands: "v*"},
	{Name: "badblocks", Operands: "b*", Does: effect.Destructive},
	{Name: "batch", Does: effect.Process | effect.InlineCode},
	{Name: "blkdiscard", Operands: "w*", Does: effect.Destructive | effect.Privilege},
	{Name: "blkid", Options: "c|cache-file=w o|output=v s|match-tag=v t|match-token=v", Operands: "v*"},
	{Name: "bpftrace", Does: effect.Privilege | effect.InlineCode},
	{Name: "brew", Options: "version prefix cellar repository|repo cache env caskroom taps q|quiet d|debug v|verbose",
		Shows: "version prefix cellar repository cache env caskroom taps", Subs: brewCommands},
	{Name: "chroot", Operands: "kx", Does: effect.Privilege},
	{Name: "chsh", Does: effect.Privilege},
	{Name: "clear", Operands: "v*"},
	{Name: "codesign", Options: "d|display v|verbose verify s|sign=v f|force remove-signature r|requirements=v R|test-requirement=v " +
		"entitlements=g deep strict=? o|options=v i|identifier=v keychain=r a|architecture=v p|pagesize=v timestamp=? extract-certificates=w",
		Operands: "r*", Handle: sign},
	{Name: "crontab", Options: "l e r u=v i", Operands: "r", Does: effect.Process | effect.InlineCode},
	{Name: "csrutil", Rest: effect.Privilege, Subs: []program.Row{{Name: "status", Does: effect.Read}}},
	{Name: "date", Plain: plainDate,
		Options: "d|date=v f|file=r r|reference=r s|set=v I|iso-8601=? rfc-3339=v u|utc R|rfc-email n j v=v", Handle: date},
	{Name: "debugfs", Does: effect.Privilege | effect.Destructive},
	{Name: "defaults", Options: "currentHost host=v", Style: program.SingleFirst, Rest: effect.Privilege, Subs: []program.Row{
		{Name: "read|read-type|find", Operands: "g*", Does: effect.Read, Handle: preferences},
		{Name: "domains|help", Does: effect.Read},
	}},
	{Name: "diskutil", Subs: []program.Row{
		{Name: "list|info|listFilesystems|activity", Operands: "v*", Does: effect.Read},
		{Name: "apfs|coreStorage|cs|appleRAID", Rest: effect.Privilege, Subs: []program.Row{
			{Name: "list|listUsers|listCryptoUsers|listSnapshots|listVolumeGroups", Does: effect.Read},
		}},
		{Name: "eraseDisk|eraseVolume|partitionDisk|zeroDisk|randomDisk|secureErase", Does: effect.Destructive | effect.Privilege},
	}},
	{Name: "dmesg", Plain: plainDmesg,
		Options: "C|clear c|read-clear D|console-off E|console-on n|console-level=v F|file=r K|kmsg-file=r l|level=v " +
			"f|facility=v since=v until=v time-format=v", Operands: "v*", Handle: kernelLog},
	{Name: "dnf", Subs: packageCommands},
	{Name: "dpkg", Options: "l|list L|listfiles s|status S|search i|install=r r|remove P|purge p|print-avail get-selections " +
		"print-architecture print-foreign-architectures C|audit V|verify compare-versions I|info c|contents x|extract " +
		"pre-invoke=c post-invoke=c status-logger=c root=e admindir=r instdir=w log=w",
		Operands: "r*", Does: effect.Install | effect.Privilege,
		Shows: "l L s S p get-selections print-architecture print-foreign-architectures C V compare-versions I c"},
	{Name: "dpkg-query", Does: effect.Read},
	{Name: "dscacheutil", Style: program.Single, Options: "q=v a=2 flushcache cachedump configuration statistics", Does: effect.Privilege,
		Handle: directoryCache},
	{Name: "dscl", Handle: directory},
	{Name: "ethtool", Handle: ethtool},
	{Name: "fdisk", Options: "l|list", Operands: "w*", Does: effect.Destructive | effect.Privilege, Shows: "l"},
	{Name: "findmnt", Operands: "v*"},
	{Name: "firewall-cmd", Does: effect.Privilege, Handle: firewall},
	{Name: "flatpak", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "list|info|remotes|history|ps|permissions", Does: effect.Read},
		{Name: "search|remote-ls|remote-info", Does: effect.Read | effect.Network},
	}},
	{Name: "free", Plain: plainFree, Operands: "v*"},
	{Name: "fsck", Operands: "w*", Does: effect.Privilege},
	{Name: "fuser", Options: "k|kill n=v", Handle: fuser},
	{Name: "fzf", Options: "preview=c bind=v with-shell=c info-command=c history=w listen=? listen-unsafe=? f|filter=v q|query=v m|multi=? " +
		"n|nth=v with-nth=v d|delimiter=v prompt=v header=v height=v min-height=v layout=v border=? margin=v padding=v color=v " +
		"preview-window=v expect=v tiebreak=v walker=v walker-root=r walker-skip=v history-size=v pointer=v marker=v e|exact i", Handle: choose},
	{Name: "gdb", Style: program.Single, Options: "ex=i eval-command=i x=x p|pid=v batch args", Operands: "xr*",
		Does: effect.Process | effect.InlineCode},
	{Name: "getconf", Operands: "v*"},
	{Name: "getent", Plain: plainGetent, Does: effect.Read, Handle: getent},
	{Name: "groupadd", Does: effect.Privilege},
	{Name: "groups", Operands: "v*"},
	{Name: "halt", Does: effect.Process | effect.Privilege},
	{Name: "hdiutil", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "info|imageinfo|verify|isencrypted", Operands: "r*", Does: effect.Read},
	}},
	{Name: "hdparm", Does: effect.Privilege | effect.Destructive},
	{Name: "hostid", Operands: "v*"},
	{Name: "hostname", Options: "F|file=r b|boot f|fqdn|long I|all-ip-addresses i|ip-address s|short d|domain A y", Handle: hostname},
	{Name: "hostnamectl", Options: "H|host=h M|machine=v j json=v static transient pretty", Rest: effect.Privilege,
		Subs: []program.Row{{Name: "status", Does: effect.Read}}},
	{Name: "htop", Operands: "v*"},
	{Name: "id", Plain: plainID, Operands: "v*"},
	{Name: "info", Options: "o|output=w f|file=r restore=x dribble=w d|directory=r n|node=v k|apropos=v", Operands: "v*", Does: effect.Read},
	{Name: "initctl", Does: effect.Process | effect.Privilege},
	{Name: "insmod", Operands: "x*", Does: effect.Privilege},
	{Name: "ioreg", Operands: "v*"},
	{Name: "iostat", Operands: "v*"},
	{Name: "ip", Style: program.SingleFirst, Options: "4 6 0 B M br|brief c|color j|json p|pretty s|stats|statistics d|details o|oneline " +
		"h|human|human-readable iec f|family=v b|batch=x n|netns=v a|all t|timestamp ts|tshort rc|rcvbuf=v l|loops=v r|resolve " +
		"N|Numeric echo force V|Version", Handle: ipOptions, Subs: []program.Row{
		{Name: "addr|a|ad|add|addre|address|route|r|ro|neigh|n|ne|neighbor|neighbour|rule|ru|maddress|maddr|m|tunnel|tu|vrf|netconf|" +
			"ntable|tcp_metrics|mroute|token|stats|nexthop", Does: effect.Read, Handle: looks},
		{Name: "link|l|li|lin", Does: effect.Read, Handle: looks},
		{Name: "netns", Rest: effect.Privilege, Subs: []program.Row{{Name: "list|ls|show|identify|pids", Does: effect.Read}}},
		{Name: "monitor|mo|help", Does: effect.Read},
	}},
	{Name: "ip6tables", Same: "iptables"},
	{Name: "ip6tables-save", Same: "iptables-save"},
	{Name: "ipcrm", Does: effect.Process},
	{Name: "iptables", Options: "L|list S|list-rules n|numeric v|verbose x|exact t|table=v line-numbers w|wait=? F|flush X|delete-chain " +
		"Z|zero A|append=v D|delete=v I|insert=v R|replace=v P|policy=v N|new-chain=v E|rename-chain=v j|jump=v modprobe=c",
		Does: effect.Privilege, Handle: iptables},
	{Name: "iptables-save", Options: "f|file=w M|modprobe=c t|table=v c|counters", Does: effect.Read},
	{Name: "journalctl", Plain: plainJournalctl,
		Options: "u|unit=v n|lines=v S|since=v U|until=v p=v D|directory=r file=r vacuum-size=v " +
			"vacuum-time=v vacuum-files=v rotate flush sync relinquish-var smart-relinquish-var setup-keys update-catalog cursor-file=w",
		Does: effect.Read, Handle: journal},
	{Name: "kextstat", Operands: "v*"},
	{Name: "kill", Options: "s|signal=v n=v l|list", Handle: kill},
	{Name: "killall", Does: effect.Process},
	{Name: "launchctl", Subs: []program.Row{
		{Name: "list|print", Does: effect.Read},
		{Name: "load|unload|bootstrap|bootout|kickstart|submit|start|stop", Operands: "g*", Does: effect.Process},
	}},
	{Name: "ldd", Operands: "x*"},
	{Name: "lipo", Style: program.Single, Options: "info archs detailed_info verify_arch create output|o=w thin=v extract=v remove=v " +
		"arch=3", Operands: "r*"},
	{Name: "locale", Operands: "v*"},
	{Name: "localectl", Options: "H|host=h M|machine=v no-pager", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "status|list-locales|list-keymaps|list-x11-keymap-models|list-x11-keymap-layouts", Does: effect.Read},
	}},
	{Name: "locate", Operands: "v*", Handle: search},
	{Name: "log", Rest: effect.Privilege | effect.Delete, Subs: []program.Row{
		{Name: "show|stream|stats|help", Options: "predicate=v last=v start=v end=v style=v process=v level=v archive=r file=r",
			Does: effect.Read},
	}},
	{Name: "logger", Options: "n|server=h f|file=r p=v t=v P=v", Operands: "v*"},
	{Name: "loginctl", Options: "H|host=h M|machine=v no-pager p|property=v", Rest: effect.Process | effect.Privilege,
		Subs: []program.Row{
			{Name: "list-sessions|list-users|list-seats|session-status|user-status|seat-status|show-session|show-user|show-seat",
				Does: effect.Read},
		}},
	{Name: "logname", Operands: "v*"},
	{Name: "losetup", Does: effect.Privilege},
	{Name: "ls_release", Operands: "v*"},
	{Name: "lsb_release", Operands: "v*"},
	{Name: "lsblk", Plain: plainLsblk, Operands: "v*"},
	{Name: "lscpu", Operands: "v*"},
	{Name: "lshw", Operands: "v*"},
	{Name: "lsipc", Operands: "v*"},
	{Name: "lslocks", Operands: "v*"},
	{Name: "lslogins", Operands: "v*"},
	{Name: "lsmod", Operands: "v*"},
	{Name: "lsns", Operands: "v*"},
	{Name: "lsof", Options: "i=? p=v u=v c=v", Operands: "v*"},
	{Name: "lspci", Options: "i=r s=v d=v p=r H=v F=r", Operands: "v*"},
	{Name: "lsscsi", Operands: "v*"},
	{Name: "lsusb", Operands: "v*"},
	{Name: "lvs", Operands: "v*"},
	{Name: "man", Options: "P|pager=c C|config-file=x M|manpath=r l|local-file H|html=? s=v S=v k f p|preprocessor=v", Does: effect.Read,
		Instead: "l r*", Handle: manual},
	{Name: "mdfind", Style: program.Single, Options: "onlyin=r name=v s=v live count 0 literal interpret", Handle: spotlight},
	{Name: "mdls", Style: program.Single, Options: "name=v raw nullMarker=v plist|p=w", Operands: "r*"},
	{Name: "mkfs", Operands: "w*", Does: effect.Destructive | effect.Privilege},
	{Name: "mkfs.ext4", Same: "mkfs"},
	{Name: "mkfs.xfs", Same: "mkfs"},
	{Name: "mknod", Operands: "wv*", Does: effect.Privilege},
	{Name: "mkswap", Same: "mkfs"},
	{Name: "modinfo", Operands: "v*"},
	{Name: "modprobe", Does: effect.Privilege},
	{Name: "mount", Options: "t|types=v o|options=v l", Operands: "rw", Does: effect.Privilege, Handle: mount},
	{Name: "mpstat", Operands: "v*"},
	{Name: "ncal", Operands: "v*"},
	{Name: "networksetup", Handle: networkSettings},
	{Name: "newgrp", Does: effect.Privilege},
	{Name: "nft", Options: "f|file=x D|define=v I|includepath=e a n j s t i|interactive c|check o", Handle: nftFile, Rest: effect.Privilege,
		Subs: []program.Row{{Name: "list", Does: effect.Read}}},
	{Name: "nmcli", Options: "t|terse p|pretty f|fields=v m|mode=v c|colors=v e|escape=v s|show-secrets w|wait=v a|ask o|overview " +
		"g|get-values=v v|version", Handle: networkSecrets, Subs: nmcliCommands},
	{Name: "nproc", Plain: plainNproc, Operands: "v*"},
	{Name: "numastat", Operands: "v*"},
	{Name: "nvidia-smi", Style: program.Single, Options: "L|list-gpus q|query i|id=v d|display=v query-gpu=v query-compute-apps=v format=v " +
		"l|loop=v lms|loop-ms=v x|xml-format f|filename=w h|help", Operands: "v*", Handle: graphics},
	{Name: "nvram", Options: "p x c d=v f=r", Handle: nvram},
	{Name: "open", Operands: "u*", Does: effect.Unknown},
	{Name: "otool", Style: program.Single, Options: "L l h t v V D o s=2 p=v arch=v", Operands: "r*"},
	{Name: "pacman", Options: "S|sync R|remove U|upgrade Q|query D|database F|files T|deptest s|search|recursive i|info l|list g|groups " +
		"y|refresh u|sysupgrade w|downloadonly c|clean hookdir=e config=x root=e dbpath=r cachedir=w logfile=w gpgdir=e",
		Does: effect.Install | effect.Network | effect.Privilege, Shows: "Q", Handle: pacman},
	{Name: "parted", Operands: "w*", Does: effect.Destructive | effect.Privilege},
	{Name: "passwd", Does: effect.Privilege},
	{Name: "pbcopy", Operands: "v*"},
	{Name: "pbpaste", Does: effect.Secrets},
	{Name: "pgrep", Plain: plainPgrep, Options: "u=v f x l a", Operands: "v*"},
	{Name: "pidof", Operands: "v*"},
	{Name: "pidstat", Operands: "v*"},
	{Name: "pkgutil", Options: "pkgs|packages=? files=v pkg-info=v pkg-info-plist=v file-info=r check-signature=r payload-files=r groups " +
		"forget=v expand=v expand-full=v flatten=v bom=v volume=v regexp v|verbose", Does: effect.Privilege, Handle: packageReceipts},
	{Name: "pkill", Does: effect.Process},
	{Name: "plutil", Style: program.Single, Options: "p lint type=v convert=v extract=2 replace=v insert=v remove=v create=v o=w e=v s r n " +
		"expect=v", Operands: "r*", Handle: propertyList},
	{Name: "pmap", Operands: "v*"},
	{Name: "pmset", Handle: power},
	{Name: "poweroff", Does: effect.Process | effect.Privilege},
	{Name: "printenv", Handle: printenv},
	{Name: "ps", Options: "o|format=v O=v p|pid=v u|U=v C=v t=v g|G=v E", Handle: ps},
	{Name: "pstree", Plain: plainPstree, Operands: "v*"},
	{Name: "pvs", Operands: "v*"},
	{Name: "reboot", Does: effect.Process | effect.Privilege},
	{Name: "renice", Does: effect.Process},
	{Name: "reset", Operands: "v*"},
	{Name: "resolvectl", Options: "i|interface=v no-pager json=v", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "status|statistics|show-cache|show-server-state|monitor", Does: effect.Read},
		{Name: "query|service|openpgp|tlsa", Operands: "h*", Does: effect.Network},
	}},
	{Name: "rmmod", Does: effect.Privilege},
	{Name: "route", Options: "n v e 4 6 A=v t", Handle: route},
	{Name: "rpm", Options: "q|query V|verify a|all l|list i|install|info f|file e|erase U|upgrade F|freshen p|package E|eval=i D|define=i " +
		"pipe=c load=x rcfile=x macros=x r|root=e dbpath=r import=r queryformat|qf=v whatrequires=v whatprovides=v initdb rebuilddb " +
		"restore setperms setugids setcaps",
		Operands: "u*", Does: effect.Install | effect.Privilege, Handle: rpm},
	{Name: "runlevel", Operands: "v*"},
	{Name: "sar", Operands: "v*"},
	{Name: "scutil", Style: program.Single, Options: "dns proxy nwi get=v set=v r=v w=v t=v prefs=r nc=v error=v", Does: effect.Privilege,
		Handle: systemNames},
	{Name: "security", Options: "i q v p=v l h", Handle: keychainInput, Rest: effect.Secrets | effect.Privilege, Subs: []program.Row{
		{Name: "find-identity|help", Does: effect.Read},
	}},
	{Name: "sensors", Operands: "v*"},
	{Name: "service", Options: "status-all", Does: effect.Process | effect.Privilege, Handle: service},
	{Name: "setcap", Operands: "vw*", Does: effect.Privilege},
	{Name: "setenforce", Does: effect.Privilege},
	{Name: "setfacl", Options: "m=v x=v M=r X=r restore=r", Operands: "w*", Does: effect.Privilege},
	{Name: "sfdisk", Same: "fdisk"},
	{Name: "shutdown", Does: effect.Process | effect.Privilege},
	{Name: "sips", Style: program.Single, Options: "g|getProperty=v 1|oneLine verify s|setProperty=2 Z|resampleHeightWidthMax=v " +
		"z|resampleHeightWidth=2 c|cropToHeightWidth=2 p|padToHeightWidth=2 padColor=v r|rotate=v f|flip=v o|out=w j|js=x m|matchTo=r " +
		"e|embedProfile=r d|deleteProperty=v x|extractProfile=v i|addIcon h|help", Operands: "r*", Handle: image},
	{Name: "sleep", Operands: "v*"},
	{Name: "snap", Subs: []program.Row{
		{Name: "list|info|find|services|connections|changes|tasks|version|interfaces|warnings|aliases|model", Does: effect.Read},
		{Name: "install|refresh|remove", Does: effect.Install | effect.Network | effect.Privilege},
	}},
	{Name: "softwareupdate", Options: "l|list i|install d|download a|all r|recommended history", Does: effect.Install | effect.Network |
		effect.Privilege, Handle: softwareUpdate},
	{Name: "spctl", Handle: assess},
	{Name: "stty", Operands: "v*"},
	{Name: "sw_vers", Operands: "v*"},
	{Name: "swapoff", Does: effect.Privilege},
	{Name: "swapon", Options: "show=? s|summary a|all d|discard=? p=v", Does: effect.Privilege, Handle: swapon},
	{Name: "sysctl", Options: "w|write p|load=r f system a|all n|values e q N b x A X r|pattern=v", Operands: "v*", Handle: sysctl},
	{Name: "system_profiler", Options: "json xml detailLevel=v", Style: program.Single, Operands: "v*", Does: effect.Read},
	{Name: "systemctl", Options: "t|type=v user system now no-pager H|host=h M|machine=v a|all state=v p|property=v P=v l|full q|quiet " +
		"plain no-legend o|output=v n|lines=v root=e", Rest: effect.Process | effect.Privilege,
		Subs: []program.Row{
			{Name: "status|list-units|is-active|is-enabled|show|cat|list-unit-files|is-failed|list-timers|list-dependencies|" +
				"list-sockets|is-system-running|get-default|list-jobs|list-machines|list-automounts|list-paths|help|whoami",
				Options: "t|type=v user no-pager H|host=h M|machine=v a|all state=v p|property=v P=v l|full q|quiet value",
				Does:    effect.Read, Handle: unitProperties},
		}},
	{Name: "systemd-analyze", Options: "user no-pager H|host=h root=e", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "time|blame|critical-chain|plot|dot|unit-paths|timestamp|calendar|timespan", Does: effect.Read},
	}},
	{Name: "systemextensionsctl", Rest: effect.Privilege, Subs: []program.Row{{Name: "list", Does: effect.Read}}},
	{Name: "tc", Style: program.SingleFirst, Options: "s|statistics d|details r|raw p|pretty i|iec g|graph j|json b|batch=x n|netns=v " +
		"N|Numeric force c|color t|timestamp", Handle: ipOptions, Subs: []program.Row{
		{Name: "qdisc|class|filter|action|chain", Does: effect.Read, Handle: looks},
		{Name: "monitor|help", Does: effect.Read},
	}},
	{Name: "timedatectl", Options: "H|host=h M|machine=v no-pager p|property=v a|all value", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "status|show|timesync-status|show-timesync|list-timezones", Does: effect.Read},
	}},
	{Name: "tmutil", Rest: effect.Privilege | effect.Delete, Subs: []program.Row{
		{Name: "listbackups|latestbackup|destinationinfo|status|listlocalsnapshots|listlocalsnapshotdates|isexcluded|version|" +
			"machinedirectory|currentphase", Does: effect.Read},
	}},
	{Name: "tmux", Style: program.First, Options: "L=v S=b f=x V", Handle: tmux, Rest: effect.Process | effect.InlineCode,
		Subs: []program.Row{
			{Name: "ls|list-sessions|list-panes|list-windows|lsp|lsw|display-message|capture-pane|capturep|has-session|has|" +
				"show-options|info|show|list-commands", Does: effect.Read},
		}},
	{Name: "top", Options: "b n=v p=v d=v", Operands: "v*"},
	{Name: "tput", Operands: "v*"},
	{Name: "tty", Plain: plainTty, Operands: "v*"},
	{Name: "tune2fs", Operands: "w*", Does: effect.Privilege | effect.Destructive},
	{Name: "ufw", Rest: effect.Privilege, Subs: []program.Row{{Name: "status|version|show", Does: effect.Read}}},
	{Name: "umount", Operands: "w*", Does: effect.Privilege},
	{Name: "uname", Plain: plainUname, Operands: "v*"},
	{Name: "update-alternatives", Style: program.Single, Options: "list=v display=v query=v get-selections install set=v auto=v config=v " +
		"remove=v remove-all=v set-selections all log=w altdir=w admindir=w", Does: effect.Privilege, Handle: alternatives},
	{Name: "uptime", Plain: plainUptime, Operands: "v*"},
	{Name: "useradd", Does: effect.Privilege},
	{Name: "userdel", Does: effect.Privilege},
	{Name: "usermod", Does: effect.Privilege},
	{Name: "users", Operands: "v*"},
	{Name: "uuidgen", Operands: "v*"},
	{Name: "vgs", Operands: "v*"},
	{Name: "visudo", Does: effect.Privilege},
	{Name: "vm_stat", Operands: "v*"},
	{Name: "vmstat", Plain: plainVmstat, Operands: "v*"},
	{Name: "w", Operands: "v*"},
	{Name: "wall", Operands: "v*", Does: effect.Publish},
	{Name: "whatis", Operands: "v*"},
	{Name: "whereis", Operands: "v*"},
	{Name: "which", Operands: "v*"},
	{Name: "who", Plain: plainWho, Operands: "v*"},
	{Name: "whoami", Operands: "v*"},
	{Name: "wipefs", Operands: "w*", Does: effect.Destructive | effect.Privilege},
	{Name: "xattr", Options: "l p w d c r v x z s", Operands: "r*", Handle: attributes},
	{Name: "xcode-select", Options: "p|print-path v|version s|switch=v install r|reset", Does: effect.Install | effect.Privilege,
		Handle: developerTools},
	{Name: "xcrun", Style: program.SingleFirst, Options: "sdk=v toolchain=v f|find show-sdk-path show-sdk-version show-sdk-build-version " +
		"show-sdk-platform-path show-sdk-platform-version show-toolchain-path l|log n|no-cache k|kill-cache r|run v|verbose version",
		Parse: xcrun},
	{Name: "xdg-open", Operands: "u*", Does: effect.Unknown},
	{Name: "yes", Operands: "v*"},
	{Name: "yum", Subs: packageCommands},
	{Name: "zypper", Subs: packageCommands},
}

// packageCommands are the subcommands of the package managers of systems.
var packageCommands = []program.Row{
	{Name: "list|show|search|policy|depends|rdepends|info|check-update|repolist|provides", Options: packageOptions, Does: effect.Read,
		Handle: packageSource},
	{Name: "history", Rest: effect.Install | effect.Privilege, Subs: []program.Row{
		{Name: "list|info|userinstalled|summary|package-list", Does: effect.Read},
	}},
	{Name: "install|upgrade|dist-upgrade|full-upgrade|update|reinstall|build-dep|source|download|groupinstall|dist-sync|refresh",
		Does: effect.Install | effect.Network | effect.Privilege},
	{Name: "remove|purge|autoremove|clean|autoclean|erase|rm", Does: effect.Privilege | effect.Delete},
}

// packageOptions are the options of package managers that lead to other settings or other packages.
const packageOptions = "c|config|config-file=x o|option=v setopt=v repofrompath=v installroot|root=e"

// brewCommands are the subcommands of brew.
var brewCommands = []program.Row{
	{Name: "list|ls|info|abv|search|outdated|deps|--version|config|doctor|dr|leaves|desc|uses|missing|cat|formulae|casks|commands|" +
		"tap-info|shellenv|options|log|help|which-formula", Operands: "v*"},
	{Name: "install|upgrade|reinstall|update|fetch", Does: effect.Install | effect.Network},
	{Name: "tap", Handle: brewTap},
	{Name: "bundle", Alone: effect.Install | effect.Network, Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "list|check", Options: "file=r all formula cask", Here: "r"},
	}},
	{Name: "uninstall|remove|rm|cleanup|untap|autoremove|unlink|link|pin|unpin", Does: effect.Install | effect.Delete},
	{Name: "services", Rest: effect.Process, Subs: []program.Row{{Name: "list|info", Does: effect.Read}}},
}

// nmcliCommands are the subcommands of nmcli, which takes the beginnings of words.
var nmcliCommands = []program.Row{
	{Name: "device|devic|devi|dev|de|d", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "status|stat|show|sh|lldp", Does: effect.Read},
		{Name: "wifi|w", Rest: effect.Privilege, Subs: []program.Row{{Name: "list|l", Does: effect.Read}}},
	}},
	{Name: "connection|conn|con|c", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "show|sh|s", Options: "a|active order=v s|show-secrets", Does: effect.Read, Handle: networkSecrets},
	}},
	{Name: "general|gen|g", Rest: effect.Privilege, Subs: []program.Row{{Name: "status|permissions", Does: effect.Read}}},
	{Name: "networking|radio|n|r", Rest: effect.Privilege, Subs: []program.Row{{Name: "connectivity", Does: effect.Read}}},
	{Name: "monitor|m|help", Does: effect.Read},
}
