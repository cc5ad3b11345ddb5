package system

// The options of which a program only changes how it works or what it shows: see Plain of [program.Row]. They are those of the manuals
// without what the rows name; what is missing in both asks.
const (
	plainDate  = "j n v=v debug resolution universal help version"
	plainID    = "A a c F G g M n P p r u Z z context group groups name real user zero help version"
	plainUname = "a i m n o p r s v all hardware-platform kernel-name kernel-release kernel-version machine nodename operating-system " +
		"processor help version"
	plainWho = "a b d H l m p q r s T t u w all boot count dead heading ips login lookup mesg message process runlevel short time " +
		"users writable help version"
	plainUptime = "h p s V pretty since help version"
	plainFree   = "b c g h k l m s t V v w bytes committed count gibi giga human kibi kilo lohi mebi mega pebi peta seconds si tebi " +
		"tera " +
		"total wide help version"
	plainVmstat = "a D d f h m n p=v s S=v t V w y active disk disk-sum forks no-first one-header partition=v slabs stats timestamp " +
		"unit=v wide help version"
	plainPstree = "A a c C=v G g h H=v l n N=v p S s T t U u V Z arguments ascii color=v compact-not hide-threads highlight-all " +
		"highlight-pid=v long ns-changes ns-sort=v numeric-sort security-context show-parents show-pgids show-pids " +
		"thread-names uid-changes unicode vt100 help version"
	plainLsblk = "A a b D d E=v e=v f h i I=v J l M m n O o=v P p r S s t T=? V w=v x=v y z all ascii bytes dedup=v discard exclude=v " +
		"fs include=v inverse json list merge nodeps noempty noheadings output-all output=v pairs paths perms raw scsi shell " +
		"sort=v topology tree=? width=v zoned help version"
	plainDmesg = "d e H h J k L=? P p r S s=v T t u V W w x buffer-size=v color=? ctime decode follow follow-new force-prefix human " +
		"json kernel noescape nopager notime raw reltime show-delta syslog userspace help version"
	plainJournalctl = "a b=? c=v e f F=v g=v h k m M=v N o=v q r t=v x after-cursor=v all boot=? case-sensitive=? catalog cursor=v " +
		"disk-usage dmesg dump-catalog facility=v field=v fields follow force grep=v header identifier=v list-boots " +
		"list-catalog machine=v merge namespace=v no-full no-hostname no-pager no-tail output-fields=v output=v pager-end " +
		"priority=v quiet reverse show-cursor system user user-unit=v utc verify help version"
	plainNproc  = "all ignore=v help version"
	plainTty    = "s quiet silent help version"
	plainGetent = "A i s=v V no-addrconfig no-idn service=v usage help version"
	plainPgrep  = "A a c d=v G=v g=v h I i j=v l M=v n N=v o O=v P=v q r=v S s=v t=v U=v V v w cgroup=v count delimiter=v euid=v exact " +
		"full group=v ignore-ancestors ignore-case inverse lightweight list-full list-name newest ns=v nslist=v older=v oldest " +
		"parent=v pgroup=v runstates=v session=v terminal=v uid=v help version"
)
