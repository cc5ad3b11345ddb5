// Package system knows programs that look at or change the machine.
package system

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Rows are the programs of the system, sorted by name.
var Rows = []program.Row{
	{Name: "alternatives", Same: "update-alternatives"},
	{Name: "apk", Plain: "h|help V|version q|quiet v|verbose no-network no-progress", Subs: []program.Row{
		{Name: "list|info|search|version|policy", Options: "p|root=e X|repository=h keys-dir=r repositories-file=r cache-dir=w",
			Plain: plainApk,
			Does:  effect.Read},
		{Name: "add|upgrade|update|fetch|fix", Does: effect.Install | effect.Network | effect.Privilege},
		{Name: "del", Does: effect.Privilege | effect.Delete},
	}},
	{Name: "apropos", Plain: plainApropos, Options: "C|config-file=x M|manpath=r", Operands: "v*"},
	{Name: "apt", Options: packageOptions, Plain: plainPackageLooks, Handle: packageSource, Subs: packageCommands},
	{Name: "apt-cache", Plain: plainAptCache, Options: "p|pkg-cache=r s|src-cache=r with-source=r " + packageOptions, Does: effect.Read,
		Handle: packageSource},
	{Name: "apt-get", Options: packageOptions, Plain: plainPackageLooks, Handle: packageSource, Subs: packageCommands},
	{Name: "apt-mark", Options: packageOptions, Plain: "q quiet=? h|help v|version", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "showauto|showmanual|showhold|showinstall|showremove|showpurge", Options: packageOptions, Plain: "q quiet=? h|help",
			Does: effect.Read, Handle: packageSource},
	}},
	{Name: "aptitude", Options: packageOptions, Plain: plainPackageLooks, Handle: packageSource, Subs: packageCommands},
	{Name: "arch", Plain: "32 64 c h help version i386 x86_64 x86_64h arm64 arm64e", Style: program.SingleFirst,
		Options: "arch=v d=v e=v", Handle: arch},
	{Name: "arp", Plain: plainArp, Options: "a n v e l d|delete s|set f|file=r i|device=v D S", Handle: arp},
	{Name: "at", Options: "f=x q=v t=v l|list d=v", Does: effect.Process | effect.InlineCode, Shows: "l"},
	{Name: "atq", Plain: plainAtq, Operands: "v*"},
	{Name: "badblocks", Operands: "b*", Does: effect.Destructive},
	{Name: "batch", Does: effect.Process | effect.InlineCode},
	{Name: "blkdiscard", Operands: "w*", Does: effect.Destructive | effect.Privilege},
	{Name: "blkid", Plain: plainBlkid, Options: "c|cache-file=w o|output=v s|match-tag=v t|match-token=v", Operands: "v*"},
	{Name: "bpftrace", Does: effect.Privilege | effect.InlineCode},
	{Name: "brew", Options: "version prefix cellar repository|repo cache env caskroom taps q|quiet d|debug v|verbose",
		Plain: "h|help installed formula cask unbrewed",
		Shows: "version prefix cellar repository cache env caskroom taps", Subs: brewCommands},
	{Name: "chroot", Operands: "kx", Does: effect.Privilege},
	{Name: "chsh", Does: effect.Privilege},
	{Name: "clear", Plain: plainClear, Operands: "v*"},
	{Name: "codesign", Plain: "all-architectures check-notarization ignore-resources continue h|help",
		Options: "d|display v|verbose verify s|sign=v f|force remove-signature r|requirements=v R|test-requirement=v " +
			"entitlements=g deep strict=? o|options=v i|identifier=v keychain=r a|architecture=v p|pagesize=v timestamp=? " +
			"extract-certificates=w",
		Operands: "r*", Handle: sign},
	{Name: "crontab", Options: "l e r u=v i", Operands: "r", Does: effect.Process | effect.InlineCode},
	{Name: "csrutil", Plain: "help", Rest: effect.Privilege, Subs: []program.Row{{Name: "status", Plain: "help", Does: effect.Read}}},
	{Name: "date", Plain: plainDate,
		Options: "d|date=v f|file=r r|reference=r s|set=v I|iso-8601=? rfc-3339=v u|utc R|rfc-email n j v=v", Handle: date},
	{Name: "debugfs", Does: effect.Privilege | effect.Destructive},
	{Name: "defaults", Options: "currentHost host=v", Plain: "help", Style: program.SingleFirst, Rest: effect.Privilege,
		Subs: []program.Row{
			{Name: "read|read-type|find", Style: program.Single, Options: "app=v", Plain: "g globalDomain", Operands: "g*",
				Does:   effect.Read,
				Handle: preferences},
			{Name: "domains|help", Plain: "help", Does: effect.Read},
		}},
	{Name: "diskutil", Plain: "help quiet", Subs: []program.Row{
		{Name: "list|info|listFilesystems|activity", Style: program.Single, Plain: "plist all internal external physical virtual",
			Operands: "v*", Does: effect.Read},
		{Name: "apfs|coreStorage|cs|appleRAID", Plain: "help", Rest: effect.Privilege, Subs: []program.Row{
			{Name: "list|listUsers|listCryptoUsers|listSnapshots|listVolumeGroups", Style: program.Single, Plain: "plist", Operands: "v*",
				Does: effect.Read},
		}},
		{Name: "eraseDisk|eraseVolume|partitionDisk|zeroDisk|randomDisk|secureErase", Does: effect.Destructive | effect.Privilege},
	}},
	{Name: "dmesg", Plain: plainDmesg,
		Options: "C|clear c|read-clear D|console-off E|console-on n|console-level=v F|file=r K|kmsg-file=r l|level=v " +
			"f|facility=v since=v until=v time-format=v", Operands: "v*", Handle: kernelLog},
	{Name: "dnf", Options: packageOptions, Plain: plainPackageLooks, Handle: packageSource, Subs: packageCommands},
	{Name: "dpkg", Options: "l|list L|listfiles s|status S|search i|install=r r|remove P|purge p|print-avail get-selections " +
		"print-architecture print-foreign-architectures C|audit V|verify compare-versions I|info c|contents x|extract " +
		"pre-invoke=c post-invoke=c status-logger=c root=e admindir=e instdir=w log=w",
		Plain: "no-pager D|debug=v f|field no-act|dry-run|simulate R|recursive E|skip-same-version G|refuse-downgrade O|selected-only " +
			"B|auto-deconfigure no-debsig abort-after=v verify-format=v W|show showformat=v X|vextract ctrl-tarfile fsys-tarfile " +
			"configure unpack force-help assert-help robot help version",
		Operands: "r*", Does: effect.Install | effect.Privilege,
		Shows: "l L s S p get-selections print-architecture print-foreign-architectures C V compare-versions I c"},
	{Name: "dpkg-query", Plain: plainDpkgQuery, Options: "admindir=r root=r", Does: effect.Read},
	{Name: "dscacheutil", Plain: "help", Style: program.Single, Options: "q=v a=2 flushcache cachedump configuration statistics",
		Does:   effect.Privilege,
		Handle: directoryCache},
	{Name: "dscl", Handle: directory},
	{Name: "ethtool", Handle: ethtool},
	{Name: "fdisk", Options: "l|list", Operands: "w*", Does: effect.Destructive | effect.Privilege, Shows: "l"},
	{Name: "findmnt", Plain: plainFindmnt, Options: "F|tab-file=r M|mountpoint=l T|target=l", Operands: "v*"},
	{Name: "firewall-cmd", Does: effect.Privilege, Handle: firewall},
	{Name: "flatpak", Plain: "v|verbose ostree-verbose version h|help user system", Rest: effect.Install | effect.Network,
		Subs: []program.Row{
			{Name: "list|info|remotes|history|ps|permissions", Options: "installation=v", Plain: plainFlatpak, Does: effect.Read},
			{Name: "search|remote-ls|remote-info", Options: "installation=v", Plain: plainFlatpak, Does: effect.Read | effect.Network},
		}},
	{Name: "free", Plain: plainFree, Operands: "v*"},
	{Name: "fsck", Operands: "w*", Does: effect.Privilege},
	{Name: "fuser", Plain: "a|all I|inode i|interactive 4|ipv4 6|ipv6 M|ismountpoint l|list-signals m|mount s|silent u|user V|version " +
		"w|writeonly v|verbose", Options: "k|kill n=v", Handle: fuser},
	{Name: "fzf", Plain: plainFzf,
		Options: "preview=c bind=v with-shell=c info-command=c history=w listen=? listen-unsafe=? f|filter=v q|query=v " +
			"m|multi=? " +
			"n|nth=v with-nth=v d|delimiter=v prompt=v header=v height=v min-height=v layout=v border=? margin=v padding=v color=v " +
			"preview-window=v expect=v tiebreak=v walker=v walker-root=r walker-skip=v history-size=v pointer=v marker=v e|exact i",
		Handle: choose},
	{Name: "gdb", Style: program.Single, Options: "ex=i eval-command=i x=x p|pid=v batch args", Operands: "xr*",
		Does: effect.Process | effect.InlineCode},
	{Name: "getconf", Plain: plainGetconf, Operands: "v*"},
	{Name: "getent", Plain: plainGetent, Does: effect.Read, Handle: getent},
	{Name: "groupadd", Does: effect.Privilege},
	{Name: "groups", Plain: plainGroups, Operands: "v*"},
	{Name: "halt", Does: effect.Process | effect.Privilege},
	{Name: "hdiutil", Plain: "help", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "info|imageinfo|verify|isencrypted", Style: program.Single, Plain: "plist verbose quiet debug help", Operands: "r*",
			Does: effect.Read},
	}},
	{Name: "hdparm", Does: effect.Privilege | effect.Destructive},
	{Name: "hostid", Plain: plainHostid, Operands: "v*"},
	{Name: "hostname", Plain: plainHostname, Options: "F|file=r b|boot f|fqdn|long I|all-ip-addresses i|ip-address s|short d|domain A y",
		Handle: hostname},
	{Name: "hostnamectl", Options: systemdOptions, Plain: plainSystemd, Rest: effect.Privilege,
		Subs: []program.Row{{Name: "status", Options: systemdOptions, Plain: plainSystemd, Does: effect.Read}}},
	{Name: "htop", Plain: plainHtop, Operands: "v*"},
	{Name: "id", Plain: plainID, Operands: "v*"},
	{Name: "info", Plain: plainInfo, Options: "init-file=x o|output=w f|file=r restore=x dribble=w d|directory=r n|node=v k|apropos=v",
		Operands: "v*", Does: effect.Read},
	{Name: "initctl", Does: effect.Process | effect.Privilege},
	{Name: "insmod", Operands: "x*", Does: effect.Privilege},
	{Name: "ioreg", Plain: plainIoreg, Operands: "v*"},
	{Name: "iostat", Plain: plainIostat, Operands: "v*"},
	{Name: "ip", Plain: "help", Style: program.SingleFirst,
		Options: "4 6 0 B M br|brief c|color j|json p|pretty s|stats|statistics d|details o|oneline " +
			"h|human|human-readable iec f|family=v b|batch=x n|netns=v a|all t|timestamp ts|tshort rc|rcvbuf=v l|loops=v r|resolve " +
			"N|Numeric echo force V|Version", Handle: ipOptions, Subs: []program.Row{
			{Name: "addr|a|ad|add|addre|address|route|r|ro|neigh|n|ne|neighbor|neighbour|rule|ru|maddress|maddr|m|tunnel|tu|vrf|netconf|" +
				"ntable|tcp_metrics|mroute|token|stats|nexthop",
				Plain: "help", Does: effect.Read, Handle: looks},
			{Name: "link|l|li|lin", Plain: "help", Does: effect.Read, Handle: looks},
			{Name: "netns", Plain: "help", Rest: effect.Privilege, Subs: []program.Row{{Name: "list|ls|show|identify|pids", Plain: "help",
				Operands: "v*", Does: effect.Read}}},
			{Name: "monitor|mo|help", Plain: "help", Does: effect.Read},
		}},
	{Name: "ip6tables", Same: "iptables"},
	{Name: "ip6tables-save", Same: "iptables-save"},
	{Name: "ipcrm", Does: effect.Process},
	{Name: "iptables", Plain: "4|ipv4 6|ipv6 h|help V|version",
		Options: "L|list S|list-rules n|numeric v|verbose x|exact t|table=v line-numbers w|wait=? F|flush " +
			"X|delete-chain " +
			"Z|zero A|append=v D|delete=v I|insert=v R|replace=v P|policy=v N|new-chain=v E|rename-chain=v j|jump=v modprobe=c",
		Does: effect.Privilege, Handle: iptables},
	{Name: "iptables-save", Plain: "h|help V|version", Options: "f|file=w M|modprobe=c t|table=v c|counters", Does: effect.Read},
	{Name: "journalctl", Plain: plainJournalctl,
		Options: "u|unit=v n|lines=v S|since=v U|until=v p=v D|directory=r file=r vacuum-size=v " +
			"vacuum-time=v vacuum-files=v rotate flush sync relinquish-var smart-relinquish-var setup-keys update-catalog cursor-file=w",
		Does: effect.Read, Handle: journal},
	{Name: "kextstat", Plain: plainKextstat, Operands: "v*"},
	{Name: "kill", Options: "s|signal=v n=v l|list", Handle: kill},
	{Name: "killall", Does: effect.Process},
	{Name: "launchctl", Plain: "help", Subs: []program.Row{
		{Name: "list|print", Plain: "x", Operands: "v*", Does: effect.Read},
		{Name: "load|unload|bootstrap|bootout|kickstart|submit|start|stop", Operands: "g*", Does: effect.Process},
	}},
	{Name: "ldd", Plain: plainLdd, Operands: "x*"},
	{Name: "lipo", Plain: "help", Style: program.Single,
		Options: "info archs detailed_info verify_arch create output|o=w thin=v extract=v remove=v " +
			"arch=3", Operands: "r*"},
	{Name: "locale", Plain: plainLocale, Operands: "v*"},
	{Name: "localectl", Options: systemdOptions, Plain: plainSystemd, Rest: effect.Privilege, Subs: []program.Row{
		{Name: "status|list-locales|list-keymaps|list-x11-keymap-models|list-x11-keymap-layouts", Options: systemdOptions,
			Plain: plainSystemd, Does: effect.Read},
	}},
	{Name: "locate", Plain: plainLocate, Options: "d|database=r", Operands: "v*", Handle: search},
	{Name: "log", Plain: "help", Rest: effect.Privilege | effect.Delete, Subs: []program.Row{
		{Name: "show|stream|stats|help", Options: "predicate=v last=v start=v end=v style=v process=v level=v archive=r file=r",
			Plain: "info no-info debug no-debug signpost no-signpost loss no-loss source backtrace no-backtrace color=v timezone=v " +
				"mach-continuous-time no-pager timeout=v type=v user=v h help",
			Does: effect.Read},
	}},
	{Name: "logger", Plain: plainLogger, Options: "u|socket=b socket-errors=? id=? n|server=h f|file=r p=v t=v P=v", Operands: "v*"},
	{Name: "loginctl", Options: systemdOptions, Plain: plainSystemd, Rest: effect.Process | effect.Privilege,
		Subs: []program.Row{
			{Name: "list-sessions|list-users|list-seats|session-status|user-status|seat-status|show-session|show-user|show-seat",
				Options: systemdOptions, Plain: plainSystemd, Does: effect.Read},
		}},
	{Name: "logname", Plain: plainLogname, Operands: "v*"},
	{Name: "losetup", Does: effect.Privilege},
	{Name: "ls_release", Plain: "help", Operands: "v*"},
	{Name: "lsb_release", Plain: plainLsbRelease, Operands: "v*"},
	{Name: "lsblk", Plain: plainLsblk, Operands: "v*"},
	{Name: "lscpu", Plain: plainLscpu, Options: "s|sysroot=r", Operands: "v*"},
	{Name: "lshw", Style: program.Single,
		Plain: "class|C|c=v short html json xml businfo quiet sanitize numeric notime X disable=v enable=v version help", Operands: "v*"},
	{Name: "lsipc", Plain: plainLsipc, Operands: "v*"},
	{Name: "lslocks", Plain: plainLslocks, Operands: "v*"},
	{Name: "lslogins", Plain: plainLslogins, Options: "wtmp-file=r btmp-file=r lastlog=r", Operands: "v*"},
	{Name: "lsmod", Plain: plainLsmod, Operands: "v*"},
	{Name: "lsns", Plain: plainLsns, Operands: "v*"},
	{Name: "lsof", Plain: plainLsof, Options: "i=? p=v u=v c=v", Operands: "v*"},
	{Name: "lspci", Plain: plainLspci, Options: "i=r s=v d=v p=r H=v F=r", Operands: "v*"},
	{Name: "lsscsi", Plain: plainLsscsi, Operands: "v*"},
	{Name: "lsusb", Plain: plainLsusb, Options: "D=r", Operands: "v*"},
	{Name: "lvs", Plain: plainLvm, Operands: "v*"},
	{Name: "man", Plain: plainMan, Options: "P|pager=c C|config-file=x M|manpath=r l|local-file H|html=? s=v S=v k f p|preprocessor=v",
		Does:    effect.Read,
		Instead: "l r*", Handle: manual},
	{Name: "mdfind", Plain: plainMdfind, Style: program.Single, Options: "onlyin=r name=v s=v live count 0 literal interpret",
		Handle: spotlight},
	{Name: "mdls", Plain: plainMdls, Style: program.Single, Options: "name=v raw nullMarker=v plist|p=w", Operands: "r*"},
	{Name: "mkfs", Operands: "w*", Does: effect.Destructive | effect.Privilege},
	{Name: "mkfs.ext4", Same: "mkfs"},
	{Name: "mkfs.xfs", Same: "mkfs"},
	{Name: "mknod", Operands: "wv*", Does: effect.Privilege},
	{Name: "mkswap", Same: "mkfs"},
	{Name: "modinfo", Plain: plainModinfo, Options: "b|basedir=r", Operands: "v*"},
	{Name: "modprobe", Does: effect.Privilege},
	{Name: "mount", Plain: "v|verbose h|help V|version", Options: "t|types=v o|options=v l", Operands: "rw", Does: effect.Privilege,
		Handle: mount},
	{Name: "mpstat", Plain: plainMpstat, Operands: "v*"},
	{Name: "ncal", Plain: plainNcal, Operands: "v*"},
	{Name: "networksetup", Handle: networkSettings},
	{Name: "newgrp", Does: effect.Privilege},
	{Name: "nft", Plain: "h|help v|version y S u|guid N p",
		Options: "f|file=x D|define=v I|includepath=e a n j s t i|interactive c|check o", Handle: nftFile,
		Rest: effect.Privilege,
		Subs: []program.Row{{Name: "list", Style: program.First, Plain: "a n s t j y u p N S T", Operands: "v*", Does: effect.Read}}},
	{Name: "nmcli", Options: "t|terse p|pretty f|fields=v m|mode=v c|colors=v e|escape=v s|show-secrets w|wait=v a|ask o|overview " +
		"g|get-values=v v|version", Plain: "h|help offline", Handle: networkSecrets, Subs: nmcliCommands},
	{Name: "nproc", Plain: plainNproc, Operands: "v*"},
	{Name: "numastat", Plain: plainNumastat, Operands: "v*"},
	{Name: "nvidia-smi", Style: program.Single,
		Options: "L|list-gpus q|query i|id=v d|display=v query-gpu=v query-compute-apps=v format=v " +
			"l|loop=v lms|loop-ms=v x|xml-format f|filename=w h|help", Operands: "v*", Handle: graphics},
	{Name: "nvram", Plain: "h", Options: "p x c d=v f=r", Handle: nvram},
	{Name: "open", Operands: "u*", Does: effect.Unknown},
	{Name: "otool", Plain: plainOtool, Style: program.Single, Options: "L l h t v V D o s=2 p=v arch=v", Operands: "r*"},
	{Name: "pacman", Options: "S|sync R|remove U|upgrade Q|query D|database F|files T|deptest s|search|recursive i|info l|list " +
		"g|groups " +
		"y|refresh u|sysupgrade w|downloadonly c|clean hookdir=e config=x r|root=e b|dbpath=r cachedir=w logfile=w gpgdir=e sysroot=e",
		Plain: "d|deps e|explicit k|check m|foreign n|native o|owns p|file|print q|quiet t|unrequired v|verbose changelog upgrades " +
			"noconfirm " +
			"confirm color=v arch=v debug disable-download-timeout noprogressbar print-format=v needed h|help V|version",
		Does: effect.Install | effect.Network | effect.Privilege, Shows: "Q", Handle: pacman},
	{Name: "parted", Operands: "w*", Does: effect.Destructive | effect.Privilege},
	{Name: "passwd", Does: effect.Privilege},
	{Name: "pbcopy", Plain: plainPbcopy, Operands: "v*"},
	{Name: "pbpaste", Does: effect.Secrets},
	{Name: "pgrep", Plain: plainPgrep, Options: "u=v f x l a", Operands: "v*"},
	{Name: "pidof", Plain: plainPidof, Operands: "v*"},
	{Name: "pidstat", Plain: plainPidstat, Operands: "v*"},
	{Name: "pkgutil", Plain: "f|force only-files only-dirs pkg-groups=v h|help",
		Options: "pkgs|packages=? files=v pkg-info=v pkg-info-plist=v file-info=r check-signature=r payload-files=r " +
			"groups " +
			"forget=v expand=v expand-full=v flatten=v bom=v volume=v regexp v|verbose", Does: effect.Privilege, Handle: packageReceipts},
	{Name: "pkill", Does: effect.Process},
	{Name: "plutil", Plain: plainPlutil, Style: program.Single,
		Options: "p lint type=v convert=v extract=2 replace=v insert=v remove=v create=v o=w e=v s r n " +
			"expect=v", Operands: "r*", Handle: propertyList},
	{Name: "pmap", Plain: plainPmap, Options: "C|read-rc-from=r N|create-rc-to=w n|create-rc", Operands: "v*"},
	{Name: "pmset", Handle: power},
	{Name: "poweroff", Does: effect.Process | effect.Privilege},
	{Name: "printenv", Plain: plainPrintenv, Handle: printenv},
	{Name: "ps", Plain: plainPs, Options: "o|format=v O=v p|pid=v u|U=v C=v t=v g|G=v E", Handle: ps},
	{Name: "pstree", Plain: plainPstree, Operands: "v*"},
	{Name: "pvs", Plain: plainLvm, Operands: "v*"},
	{Name: "reboot", Does: effect.Process | effect.Privilege},
	{Name: "renice", Does: effect.Process},
	{Name: "reset", Plain: plainReset, Operands: "v*"},
	{Name: "resolvectl", Options: "i|interface=v no-pager json=v", Plain: plainResolvectl, Rest: effect.Privilege, Subs: []program.Row{
		{Name: "status|statistics|show-cache|show-server-state|monitor", Options: "i|interface=v", Plain: plainResolvectl,
			Does: effect.Read},
		{Name: "query|service|openpgp|tlsa", Options: "i|interface=v", Plain: plainResolvectl, Operands: "h*", Does: effect.Network},
	}},
	{Name: "rmmod", Does: effect.Privilege},
	{Name: "route", Plain: plainRoute, Options: "n v e 4 6 A=v t", Handle: route},
	{Name: "rpm", Options: "q|query V|verify a|all l|list i|install|info f|file e|erase U|upgrade F|freshen p|package E|eval=i " +
		"D|define=i " +
		"pipe=c load=x rcfile=x macros=x r|root=e dbpath=r import=r queryformat|qf=v whatrequires=v whatprovides=v initdb rebuilddb " +
		"restore setperms setugids setcaps",
		Plain: "c|configfiles d|docfiles changelog scripts provides requires R|recommends suggests supplements conflicts obsoletes " +
			"enhances " +
			"triggers|triggerscripts s|state last h|hash nodeps nodigest nosignature v|verbose quiet version help dump filesbypkg " +
			"artifactfiles L|licensefiles nofiles noscripts nomtime nomode nolinkto nocaps",
		Operands: "u*", Does: effect.Install | effect.Privilege, Handle: rpm},
	{Name: "runlevel", Plain: plainRunlevel, Operands: "v*"},
	{Name: "sar", Plain: plainSar, Options: "o=w f=r", Operands: "v*"},
	{Name: "scutil", Plain: "help", Style: program.Single, Options: "dns proxy nwi get=v set=v r=v w=v t=v prefs=r nc=v error=v",
		Does:   effect.Privilege,
		Handle: systemNames},
	{Name: "security", Plain: "h", Options: "i q v p=v l h", Handle: keychainInput, Rest: effect.Secrets | effect.Privilege,
		Subs: []program.Row{
			{Name: "find-identity|help", Plain: "v p=v s=v", Operands: "v*", Does: effect.Read},
		}},
	{Name: "sensors", Plain: plainSensors, Options: "c|config-file=r", Operands: "v*"},
	{Name: "service", Plain: "h|help version", Options: "status-all", Does: effect.Process | effect.Privilege, Handle: service},
	{Name: "setcap", Operands: "vw*", Does: effect.Privilege},
	{Name: "setenforce", Does: effect.Privilege},
	{Name: "setfacl", Options: "m=v x=v M=r X=r restore=r", Operands: "w*", Does: effect.Privilege},
	{Name: "sfdisk", Same: "fdisk"},
	{Name: "shutdown", Does: effect.Process | effect.Privilege},
	{Name: "sips", Plain: "H|helpProperties", Style: program.Single,
		Options: "g|getProperty=v 1|oneLine verify s|setProperty=2 Z|resampleHeightWidthMax=v " +
			"z|resampleHeightWidth=2 c|cropToHeightWidth=2 p|padToHeightWidth=2 padColor=v r|rotate=v f|flip=v o|out=w j|js=x " +
			"m|matchTo=r " +
			"e|embedProfile=r d|deleteProperty=v x|extractProfile=v i|addIcon h|help", Operands: "r*", Handle: image},
	{Name: "sleep", Plain: plainSleep, Operands: "v*"},
	{Name: "snap", Plain: "h|help version", Subs: []program.Row{
		{Name: "list|info|find|services|connections|changes|tasks|version|interfaces|warnings|aliases|model",
			Plain: "all abs-time color=v unicode=v verbose narrow private section=? last=? assertion serial disabled h|help global user",
			Does:  effect.Read},
		{Name: "install|refresh|remove", Does: effect.Install | effect.Network | effect.Privilege},
	}},
	{Name: "softwareupdate", Plain: "verbose no-scan h|help", Options: "l|list i|install d|download a|all r|recommended history",
		Does: effect.Install | effect.Network |
			effect.Privilege, Handle: softwareUpdate},
	{Name: "spctl", Handle: assess},
	{Name: "stty", Plain: plainStty, Style: program.Single, Options: "F|file=b", Operands: "v*"},
	{Name: "sw_vers", Style: program.Single, Plain: plainSwVers, Operands: "v*"},
	{Name: "swapoff", Does: effect.Privilege},
	{Name: "swapon", Plain: "bytes noheadings raw output-all v|verbose h|help V|version e|ifexists f|fixpgsz",
		Options: "show=? s|summary a|all d|discard=? p=v", Does: effect.Privilege, Handle: swapon},
	{Name: "sysctl", Plain: plainSysctl, Options: "w|write p|load=?r f system a|all n|values e q|quiet N|names b x A X r|pattern=v",
		Operands: "v*",
		Handle:   sysctl},
	{Name: "system_profiler", Plain: plainSystemProfiler, Options: "json xml detailLevel=v", Style: program.Single, Operands: "v*",
		Does: effect.Read},
	{Name: "systemctl", Options: systemdOptions + "root=e", Plain: plainSystemctl, Rest: effect.Process | effect.Privilege,
		Subs: []program.Row{
			{Name: "status|list-units|is-active|is-enabled|show|cat|list-unit-files|is-failed|list-timers|list-dependencies|" +
				"list-sockets|is-system-running|get-default|list-jobs|list-machines|list-automounts|list-paths|help|whoami",
				Options: systemdOptions + "root=e", Plain: plainSystemctl, Does: effect.Read, Handle: unitProperties},
		}},
	{Name: "systemd-analyze", Plain: plainSystemdAnalyze, Options: "user no-pager H|host=h M|machine=v root=e", Rest: effect.Privilege,
		Subs: []program.Row{
			{Name: "time|blame|critical-chain|plot|dot|unit-paths|timestamp|calendar|timespan", Plain: plainSystemdAnalyze,
				Options: "user no-pager H|host=h M|machine=v root=e", Does: effect.Read},
		}},
	{Name: "systemextensionsctl", Plain: "h|help", Rest: effect.Privilege, Subs: []program.Row{{Name: "list", Plain: "help",
		Does: effect.Read}}},
	{Name: "tc", Plain: "help V|Version", Style: program.SingleFirst,
		Options: "s|statistics d|details r|raw p|pretty i|iec g|graph j|json b|batch=x n|netns=v " +
			"N|Numeric force c|color t|timestamp", Handle: ipOptions, Subs: []program.Row{
			{Name: "qdisc|class|filter|action|chain", Plain: "help", Does: effect.Read, Handle: looks},
			{Name: "monitor|help", Plain: "help", Does: effect.Read},
		}},
	{Name: "timedatectl", Options: systemdOptions, Plain: plainSystemd, Rest: effect.Privilege, Subs: []program.Row{
		{Name: "status|show|timesync-status|show-timesync|list-timezones", Options: systemdOptions, Plain: plainSystemd,
			Does: effect.Read},
	}},
	{Name: "tmutil", Plain: "help", Rest: effect.Privilege | effect.Delete, Subs: []program.Row{
		{Name: "listbackups|latestbackup|destinationinfo|status|listlocalsnapshots|listlocalsnapshotdates|isexcluded|version|" +
			"machinedirectory|currentphase", Plain: "d|machine m t b p X", Operands: "v*", Does: effect.Read},
	}},
	{Name: "tmux", Plain: "2 8 C c=v D l N q T=v u v h", Style: program.First, Options: "L=v S=b f=x V", Handle: tmux,
		Rest: effect.Process | effect.InlineCode,
		Subs: []program.Row{
			{Name: "ls|list-sessions|list-panes|list-windows|lsp|lsw|display-message|capture-pane|capturep|has-session|has|" +
				"show-options|info|show|list-commands", Plain: "a A b=v c=v d=v E=v e F=v f=v g H J l N P p q S=v s t=v v w",
				Does: effect.Read},
		}},
	{Name: "top", Plain: plainTop, Options: "b n=v p=v d=v", Operands: "v*"},
	{Name: "tput", Plain: plainTput, Operands: "v*"},
	{Name: "tty", Plain: plainTty, Operands: "v*"},
	{Name: "tune2fs", Operands: "w*", Does: effect.Privilege | effect.Destructive},
	{Name: "ufw", Plain: "h|help version", Rest: effect.Privilege, Subs: []program.Row{{Name: "status|version|show", Plain: "h|help",
		Operands: "v*",
		Does:     effect.Read}}},
	{Name: "umount", Operands: "w*", Does: effect.Privilege},
	{Name: "uname", Plain: plainUname, Operands: "v*"},
	{Name: "update-alternatives", Plain: "verbose quiet debug help version", Style: program.Single,
		Options: "list=v display=v query=v get-selections install set=v auto=v config=v " +
			"remove=v remove-all=v set-selections all log=w altdir=w admindir=w", Does: effect.Privilege, Handle: alternatives},
	{Name: "uptime", Plain: plainUptime, Operands: "v*"},
	{Name: "useradd", Does: effect.Privilege},
	{Name: "userdel", Does: effect.Privilege},
	{Name: "usermod", Does: effect.Privilege},
	{Name: "users", Plain: plainUsers, Operands: "v*"},
	{Name: "uuidgen", Plain: plainUuidgen, Operands: "v*"},
	{Name: "vgs", Plain: plainLvm, Operands: "v*"},
	{Name: "visudo", Does: effect.Privilege},
	{Name: "vm_stat", Plain: plainVMStat, Operands: "v*"},
	{Name: "vmstat", Plain: plainVmstat, Operands: "v*"},
	{Name: "w", Plain: plainW, Operands: "v*"},
	{Name: "wall", Operands: "v*", Does: effect.Publish},
	{Name: "whatis", Plain: plainWhatis, Options: "C|config-file=x M|manpath=r", Operands: "v*"},
	{Name: "whereis", Plain: plainWhereis, Options: "B=r M=r S=r", Operands: "v*"},
	{Name: "which", Plain: plainWhich, Operands: "v*"},
	{Name: "who", Plain: plainWho, Operands: "v*"},
	{Name: "whoami", Plain: plainWhoami, Operands: "v*"},
	{Name: "wipefs", Operands: "w*", Does: effect.Destructive | effect.Privilege},
	{Name: "xattr", Plain: plainXattr, Options: "l p w d c r v x z s", Operands: "r*", Handle: attributes},
	{Name: "xcode-select", Plain: "h|help", Options: "p|print-path v|version s|switch=v install r|reset",
		Does:   effect.Install | effect.Privilege,
		Handle: developerTools},
	{Name: "xcrun", Plain: "h|help", Style: program.SingleFirst,
		Options: "sdk=v toolchain=v f|find show-sdk-path show-sdk-version show-sdk-build-version " +
			"show-sdk-platform-path show-sdk-platform-version show-toolchain-path l|log n|no-cache k|kill-cache r|run v|verbose version",
		Parse: xcrun},
	{Name: "xdg-open", Operands: "u*", Does: effect.Unknown},
	{Name: "yes", Plain: plainYes, Operands: "v*"},
	{Name: "yum", Options: packageOptions, Plain: plainPackageLooks, Handle: packageSource, Subs: packageCommands},
	{Name: "zypper", Options: packageOptions, Plain: plainPackageLooks, Handle: packageSource, Subs: packageCommands},
}

// packageCommands are the subcommands of the package managers of systems.
var packageCommands = []program.Row{
	{Name: "list|show|search|policy|depends|rdepends|info|check-update|repolist|provides", Options: packageOptions,
		Plain: plainPackageLooks, Does: effect.Read, Handle: packageSource},
	{Name: "history", Options: packageOptions, Plain: plainPackageLooks, Handle: packageSource, Rest: effect.Install | effect.Privilege,
		Subs: []program.Row{
			{Name: "list|info|userinstalled|summary|package-list", Options: packageOptions, Plain: "reverse q|quiet v|verbose h|help",
				Does: effect.Read, Handle: packageSource},
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
		"tap-info|shellenv|options|log|help|which-formula", Options: "github fetch-HEAD eval-all|eval-all-formulae", Plain: plainBrew,
		Operands: "v*", Handle: brewLooks},
	{Name: "install|upgrade|reinstall|update|fetch", Does: effect.Install | effect.Network},
	{Name: "tap", Options: "repair custom-remote f|force", Plain: "eval-all shallow no-shallow d|debug q|quiet v|verbose h|help",
		Handle: brewTap},
	{Name: "bundle", Plain: "h|help", Alone: effect.Install | effect.Network, Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "list|check", Options: "file=r all formula cask",
			Plain: "tap mas vscode brews casks taps g|global v|verbose no-upgrade h|help",
			Here:  "r"},
	}},
	{Name: "uninstall|remove|rm|cleanup|untap|autoremove|unlink|link|pin|unpin", Does: effect.Install | effect.Delete},
	{Name: "services", Plain: "h|help", Rest: effect.Process, Subs: []program.Row{{Name: "list|info",
		Plain: "json all debug d q|quiet v|verbose h|help",
		Does:  effect.Read}}},
}

// nmcliCommands are the subcommands of nmcli, which takes the beginnings of words.
var nmcliCommands = []program.Row{
	{Name: "device|devic|devi|dev|de|d", Plain: "h|help", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "status|stat|show|sh|lldp", Plain: "h|help", Does: effect.Read},
		{Name: "wifi|w", Plain: "h|help", Rest: effect.Privilege, Subs: []program.Row{{Name: "list|l", Plain: "rescan h|help",
			Operands: "v*",
			Does:     effect.Read}}},
	}},
	{Name: "connection|conn|con|c", Plain: "h|help", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "show|sh|s", Options: "a|active order=v s|show-secrets", Plain: "h|help", Does: effect.Read, Handle: networkSecrets},
	}},
	{Name: "general|gen|g", Plain: "h|help", Rest: effect.Privilege, Subs: []program.Row{{Name: "status|permissions", Plain: "h|help",
		Does: effect.Read}}},
	{Name: "networking|radio|n|r", Plain: "h|help", Rest: effect.Privilege, Subs: []program.Row{{Name: "connectivity", Plain: "h|help",
		Operands: "v*", Does: effect.Read}}},
	{Name: "monitor|m|help", Plain: "h|help", Does: effect.Read},
}
