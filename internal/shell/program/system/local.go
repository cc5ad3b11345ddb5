package system

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// LocalRows are programs that show something of this machine, or of the machines, telephones and editors on it, sorted by name. Each names
// all options of its manual that do no harm; an option that is missing asks.
var LocalRows = []program.Row{
	{Name: "PlistBuddy", Style: program.Single, Options: "c=v", Plain: "x h l", Operands: "r", Handle: propertyEdit},
	{Name: "VBoxManage", Plain: "q nologo version v", Rest: effect.Container, Subs: []program.Row{
		{Name: "list", Plain: "l long s sorted", Operands: "v*"},
		{Name: "showvminfo", Plain: "details machinereadable", Operands: "v*"},
	}},
	{Name: "acpi", Plain: "b a t c i V s f k v h battery ac-adapter thermal cooling show-empty everything details fahrenheit kelvin " +
		"help version",
		Operands: "v*"},
	{Name: "adb", Style: program.First, Options: "s=v t=v", Plain: "d e version help", Rest: effect.Process, Subs: []program.Row{
		{Name: "devices", Plain: "l", Does: effect.Read},
		{Name: "version|help|get-state|get-serialno|features|host-features", Plain: "help", Does: effect.Read},
		{Name: "logcat", Plain: "d v=v s t=v T=v b=v e=v m=v pid=v format=v regex=v print last dividers help", Operands: "v*"},
	}},
	{Name: "agvtool", Style: program.Single, Plain: "usedbuild noscm", Rest: effect.Write, Subs: []program.Row{
		{Name: "what-version|vers|what-marketing-version|mvers", Style: program.Single, Plain: "terse terse1", Here: "r"},
	}},
	{Name: "apt-file", Plain: "h help V version", Rest: effect.Network | effect.Privilege, Subs: []program.Row{
		{Name: "search|find|list|show", Plain: "l x F i D a=v package-only regexp fixed-string ignore-case substring-match", Operands: "v*"},
	}},
	{Name: "avdmanager", Plain: "s v silent verbose", Rest: effect.Install, Subs: []program.Row{
		{Name: "list", Plain: "c compact 0 null", Operands: "v*"},
	}},
	{Name: "busctl", Plain: "user system no-pager no-legend l full version help h", Rest: effect.Process, Subs: []program.Row{
		{Name: "list|tree|status|introspect", Plain: "user system no-pager no-legend l full unique acquired activatable list json=v j",
			Operands: "v*"},
	}},
	{Name: "chronyc", Plain: "n c v", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "tracking|sources|sourcestats|activity", Plain: "v a", Operands: "v*"},
	}},
	{Name: "clinfo", Plain: "l list a all-props A always-list-all-props human raw json v version h help", Does: effect.Read},
	{Name: "code", Options: "list-extensions v|version h|help", Plain: "show-versions category=v", Does: effect.Unknown, Handle: editorShows},
	{Name: "code-insiders", Same: "code"},
	{Name: "codium", Same: "code"},
	{Name: "colima", Plain: "p=v profile=v v verbose h help", Rest: effect.Container, Subs: []program.Row{
		{Name: "status|list|ls|version", Plain: "p=v profile=v e extended j json v verbose h help", Operands: "v*"},
	}},
	{Name: "coredumpctl", Plain: "no-pager no-legend h help version", Rest: effect.Secrets, Subs: []program.Row{
		{Name: "list", Plain: "no-pager no-legend S=v since=v U=v until=v r reverse n=v 1 q quiet json=v", Operands: "v*"},
	}},
	{Name: "duf", Style: program.Single, Plain: "all hide=v only=v hide-fs=v only-fs=v json inodes sort=v output=v style=v theme=v width=v " +
		"avail-threshold=v usage-threshold=v warnings version", Operands: "r*"},
	{Name: "dust", Options: "X|ignore-directory=v", Plain: "d=v depth=v n=v number-of-lines=v r reverse b no-percent-bars s " +
		"apparent-size i " +
		"ignore-hidden f filecount x limit-filesystem e=v filter=v v=v invert-filter=v t file-types D only-dir F only-file p full-paths z=v " +
		"min-size=v c no-colors C force-colors B bars-on-right P no-progress H o=v output-format=v j output-json w=v terminal_width=v R " +
		"screen-reader S=v help version h V", Operands: "r*", Here: "r"},
	{Name: "emulator", Style: program.Single, Options: "list-avds version help", Plain: "verbose", Does: effect.Process,
		Shows: "list-avds version help"},
	{Name: "getenforce", Plain: "h", Does: effect.Read},
	{Name: "getfattr", Plain: "n=v name=v d dump e=v encoding=v h no-dereference m=v match=v absolute-names only-values R recursive L " +
		"logical P " +
		"physical version help", Operands: "r*"},
	{Name: "glxinfo", Plain: "B v t h i l s", Does: effect.Read},
	{Name: "ipconfig", Plain: "v", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "getifaddr|getoption|getpacket|getv6packet|ifcount|getsummary|getdhcpduid|getiflist", Plain: "v", Operands: "v*"},
	}},
	{Name: "ipcs", Plain: "m shmems q queues s semaphores a all b bytes c creator l limits p pid t time u summary human i=v id=v h help V " +
		"version", Does: effect.Read},
	{Name: "iw", Parse: wireless},
	{Name: "iwconfig", Parse: wirelessCard},
	{Name: "limactl", Plain: "log-level=v h help v version debug", Rest: effect.Container, Subs: []program.Row{
		{Name: "list|ls|info", Plain: "f=v format=v json q quiet all-fields h help log-level=v", Operands: "v*"},
	}},
	{Name: "lsmem", Plain: "a all b bytes J json n noheadings o=v output=v output-all P pairs r raw S=v split=v summary=? h help V " +
		"version", Does: effect.Read},
	{Name: "mas", Plain: "h help", Rest: effect.Install | effect.Network, Subs: []program.Row{{Name: "list|version", Plain: "h help",
		Does: effect.Read}}},
	{Name: "memory_pressure", Plain: "Q", Does: effect.Read},
	{Name: "multipass", Plain: "h help v verbose", Rest: effect.Container, Subs: []program.Row{
		{Name: "list|ls|info|version|networks", Plain: "format=v all snapshots ipv4 no-ipv4 h help v verbose", Operands: "v*"},
	}},
	{Name: "nettop", Plain: "P x c n d L=v l=v m=v t=v s=v p=v j=v J=v k=v h", Does: effect.Read},
	{Name: "networkctl", Plain: "no-pager no-legend a all s stats l full json=v n=v h help version", Rest: effect.Privilege,
		Subs: []program.Row{
			{Name: "list|status|lldp", Plain: "no-pager no-legend a all s stats l full json=v n=v", Operands: "v*"},
		}},
	{Name: "orb", Style: program.First, Plain: "h help", Rest: effect.Container, Subs: []program.Row{
		{Name: "list|ls|info|status|version", Plain: "f=v format=v q quiet r running h help", Operands: "v*"},
	}},
	{Name: "orbctl", Same: "orb"},
	{Name: "port", Plain: "q v d", Rest: effect.Install | effect.Network | effect.Privilege, Subs: []program.Row{
		{Name: "installed|info|list|search|contents|deps|provides|variants|version|echo", Plain: "q v exact name line", Operands: "v*"},
	}},
	{Name: "procs", Plain: "a and o or d nand r nor tree t thread no-header only=v i=v insert=v sortd=v sorta=v c=v color=v theme=v V " +
		"version h help", Operands: "v*"},
	{Name: "pwdx", Plain: "V version h help", Operands: "v*"},
	{Name: "qemu-img", Plain: "h help V version", Rest: effect.Write | effect.Unknown, Subs: []program.Row{
		{Name: "info", Plain: "f=v output=v U force-share h help", Operands: "r", Handle: diskImage},
	}},
	{Name: "screen", Style: program.Single, Options: "ls|list v|version", Plain: "q", Does: effect.Process | effect.InlineCode,
		Shows: "ls v", Operands: "v*"},
	{Name: "sestatus", Plain: "v b", Does: effect.Read},
	{Name: "simctl", Plain: "v verbose", Rest: effect.Process, Subs: []program.Row{
		{Name: "list|help", Plain: "j json v verbose e h", Operands: "v*"},
	}},
	{Name: "slabtop", Plain: "o once s=v sort=v d=v delay=v h help V version", Does: effect.Read},
	{Name: "systemd-cgls", Plain: "a all l full k no-pager u=? unit=? user-unit=? h help version", Operands: "v*"},
	{Name: "systemd-cgtop", Plain: "b batch n=v iterations=v d=v delay=v p t c m i k P 1 depth=v order=v raw r recursive=v h help version",
		Operands: "v*"},
	{Name: "systemd-detect-virt", Plain: "v vm c container q quiet r chroot list private-users h help version", Does: effect.Read},
	{Name: "udevadm", Plain: "h help V version", Rest: effect.Privilege, Subs: []program.Row{
		{Name: "info", Plain: "q=v query=v p=v path=v n=v name=v r root a attribute-walk t tree x export e export-db d=v device-id-of-file=v " +
			"no-pager h help V version", Operands: "v*"},
	}},
	{Name: "upower", Plain: "e enumerate d dump i=v show-info=v v version help", Does: effect.Read},
	{Name: "virsh", Plain: "q quiet r readonly h help v version", Rest: effect.Container | effect.Privilege, Subs: []program.Row{
		{Name: "list|dominfo|domstate|net-list|pool-list|vol-list|version|nodeinfo|domblklist|domiflist|snapshot-list|uri",
			Plain:    "all inactive active name uuid title table id persistent transient autostart no-autostart state-running details",
			Operands: "v*"},
	}},
	{Name: "vulkaninfo", Plain: "summary j json", Does: effect.Read},
	{Name: "zellij", Plain: "h help V version", Rest: effect.Process | effect.InlineCode, Alone: effect.Process, Subs: []program.Row{
		{Name: "list-sessions|ls", Plain: "n no-formatting s short r reverse h help", Does: effect.Read},
	}},
}

// editorShows handles code: alone it opens a window, and with other words it does more.
func editorShows(c *program.Call) {
	if c.HasAny("list-extensions", "v", "h") && len(c.Operands) == 0 {
		c.Does &^= effect.Unknown
	}
}

// wireless handles iw: it shows what its last word says, or changes the network.
func wireless(c *program.Call, args []program.Word) {
	words := make([]string, len(args))
	for i, w := range args {
		if w.Unknown || w.Pattern {
			c.Unclear("an argument is not known")
		}
		words[i] = w.Text
	}
	shows := false
	switch {
	case len(words) == 1:
		shows = program.Named("dev|list|phy|features|commands|help", words[0])
	case len(words) == 2:
		shows = program.Named("reg", words[0]) && words[1] == "get"
	case len(words) > 2 && program.Named("dev|phy", words[0]):
		shows = program.Named("info|link|station dump|get power_save|survey dump|scan dump", strings.Join(words[2:], " "))
	}
	if !shows {
		c.Does |= effect.Privilege
	}
	c.Finish()
}

// wirelessCard handles iwconfig: behind the card stands what it changes.
func wirelessCard(c *program.Call, args []program.Word) {
	if len(args) > 1 || len(args) == 1 && (args[0].Unknown || strings.HasPrefix(args[0].Text, "-")) {
		c.Does |= effect.Privilege
	}
	c.Finish()
}

// diskImage handles qemu-img info: a name with a colon may be a protocol.
func diskImage(c *program.Call) {
	for _, w := range c.Operands {
		if strings.ContainsAny(w.Text, ":{") {
			c.Unclear("what qemu-img opens under this name is not known")
		}
	}
}

// propertyEdit handles PlistBuddy: only Print shows something.
func propertyEdit(c *program.Call) {
	prints := 0
	for _, o := range c.Options {
		if word, _, _ := strings.Cut(o.Value.Text, " "); word == "Print" && !o.Value.Unknown {
			prints++
		}
	}
	if prints > 0 && prints == len(c.Options) {
		return
	}
	c.Unclear("what PlistBuddy does is not known")
	for _, w := range c.Operands {
		c.File(policy.Write, w)
	}
}
