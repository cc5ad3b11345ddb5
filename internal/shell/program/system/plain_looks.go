package system

// The options of programs that show something: see Plain of [program.Row]. What is missing asks.
const (
	plainApropos = "a|and d|debug e|exact r|regex w|wildcard l|long L|locale=v m|systems=v s|section|sections=v v|verbose h|help " +
		"V|version usage"
	plainAptCache = "q quiet=? i|important all-names all-versions a f|full g|generate h|help v|version n|names-only recurse " +
		"installed pre-depends depends recommends suggests conflicts breaks replaces enhances implicit virtual"
	plainArp   = "A|protocol=v H=v h|help N|symbolic V|version use-device numeric verbose a|all"
	plainAtq   = "V q=v o=v"
	plainBlkid = "D|no-part-details d|no-encoding g|garbage-collect h|help H|hint=v i|info k|list-filesystems l|list-one L|label=v " +
		"n|match-types=v O|offset=v p|probe S|size=v u|usages=v U|uuid=v V|version"
	plainClear     = "T=v V x"
	plainDpkgQuery = "l|list L|listfiles=v s|status S|search=v W|show p|print-avail c|control-path=v control-list=v control-show=v " +
		"f|showformat=v load-avail no-pager h|help version"
	plainFindmnt = "A|all a|ascii b|bytes C|nocanonicalize c|canonicalize D|df d|direction=v e|evaluate f|first-only s|fstab h|help " +
		"i|invert J|json k|kernel l|list m|mtab v|nofsroot n|noheadings u|notruncate O|options=v output-all " +
		"o|output=v P|pairs p|poll=? pseudo r|raw R|submounts real shadowed S|source=v N|task=v w|timeout=v tree " +
		"t|types=v U|uniq verbose x|verify V|version vfs-all y|shell"
	plainGetconf  = "a v=v"
	plainGroups   = "help version"
	plainHostid   = "help version"
	plainHostname = "h|help v|verbose V|version a|alias all-fqdns nis yp"
	plainHtop     = "C|no-color d|delay=v F|filter=v h|help H|highlight-changes=? M|no-mouse n|max-iterations=v p|pid=v s|sort-key=v " +
		"t|tree u|user=? U|no-unicode V|version readonly"
	plainInfo = "a|all apropos=v debug=v h|help index-search=v O|show-options|usage show-malformed-multibytes strict-node-location " +
		"subnodes v|variable=v vi-keys version w|where|location x|speech-friendly"
	plainIoreg    = "a b c=v d=v f i k=v l n=v p=v r s t w=v x h"
	plainIostat   = "c C d D h I k K m N n=v t T x y z w=v g=v H j=v p=? s V o=v U human pretty dec=v compact"
	plainKextstat = "a b=v k l x"
	plainLdd      = "d|data-relocs r|function-relocs u|unused v|verbose help version"
	plainLocale   = "a|all-locales c|category-name m|charmaps k|keyword-name v|verbose h|help V|version usage"
	plainLocate   = "A|all b|basename c|count e|existing i|ignore-case L|follow l|limit|n=v m N|literal P|nofollow p|ignore-spaces " +
		"q|quiet r|regexp=v regex S|statistics s w|wholename 0|null h|help V|version"
	plainLogger = "T|tcp d|udp e|skip-empty i no-act octet-count prio-prefix priority=v rfc3164 rfc5424=? sd-id=v sd-param=v msgid=v " +
		"size=v S=v s|stderr tag=v h|help V|version"
	plainLogname    = "help version"
	plainLsbRelease = "a|all c|codename d|description h|help i|id r|release s|short v|version"
	plainLscpu      = "a|all B|bytes b|online C|caches=? c|offline e|extended=? J|json h|help output-all p|parse=? V|version x|hex " +
		"y|physical"
	plainLsipc = "b|bytes c|creator e|export g|global h|help i|id=v J|json l|list m|shmems n|newline noheadings notruncate " +
		"o|output=? P|numeric-perms q|queues r|raw s|semaphores y|shell t|time time-format=v V|version"
	plainLslocks  = "b|bytes h|help i|noinaccessible J|json n|noheadings o|output=v output-all p|pid=v r|raw u|notruncate V|version"
	plainLslogins = "a|acc-expiration c|colon-separate e|export f|failed G|supp-groups g|groups=v h|help L|last l|logins=v n|newline " +
		"noheadings notruncate o|output=? output-all p|pwd r|raw s|system-accs y|shell time-format=v u|user-accs V|version Z|context " +
		"z|print0"
	plainLsmod = "h|help V|version s|syslog v|verbose"
	plainLsns  = "h|help J|json l|list n|noheadings o|output=v output-all p|task=v r|raw T|tree=? t|type=v u|notruncate V|version " +
		"W|nowrap"
	plainLsof   = "a b C d=v E F=? f=? g=? h l L=? M n N o=? O P Q r=? R s=? S=? t T=? U v V w x=? X z=? Z=? K=?"
	plainLspci  = "b D k m M n t v V x h version help G O=v A=v"
	plainLsscsi = "b|brief c|classic C|controllers d|device g|generic h|help H|hosts i|scsi_id k|kname l|long L|list N|nvmes " +
		"p|protection s|size t|transport u|unit U|long-unit v|verbose V|version w|wwn x|lunhex"
	plainLsusb   = "s=v d=v t|tree v|verbose V|version h|help"
	plainMdfind  = "attr=v reprint"
	plainMdls    = "h"
	plainModinfo = "a|author d|description l|license p|parameters n|filename F|field=v k|set-version=v 0|null h|help V|version " +
		"m|modname"
	plainMpstat   = "A n T u V I=v N=v P=v o=v dec=v H"
	plainNcal     = "3 1 A=v B=v b C d=v e H=v h J j m=v M N o p S s=v w y"
	plainNumastat = "c m n p=v s=? v z V"
	plainOtool    = "a f g G I S T r d H M C P R x X m c q Q j tV tv hv hV lv Lv tvV mcpu=v version"
	plainPbcopy   = "pboard=v help"
	plainPidof    = "s|single-shot c|check-root q n w|with-workers x o|omit-pid=v S|separator=v t|lightweight h|help V|version"
	plainPidstat  = "C=v d G=v H h I l p=v R r s t T=v u U=? V v w human dec=v"
	plainPlutil   = "help"
	plainPmap     = "A|range=v c|read-rc d|device h|help p|show-path q|quiet V|version X|XX x|extended"
	plainPrintenv = "0|null help version"
	plainPs       = "A a N d e F f j l M y Z c H L T V w m P h k=v n=v q|quick-pid=v r S s|sid=v v X x D G|Group=v Group=v User=v " +
		"tty=v cols|columns|width=v context cumulative deselect forest group=v headers headings heading info lines|rows=v no-headers " +
		"no-headings no-heading ppid=v sort=v user=v version help=?"
	plainReset    = "T=v V x Q r s w q c I e=v i=v k=v m=v"
	plainRoute    = "F|fib C|cache N ee V|version h|help inet inet6"
	plainRunlevel = "help"
	plainSar      = "A B b C D d F h H I=v i=v j=v m=v n=v P=v p q=? r=? S s=? e=? t u=? v V W w x X y z dev=v fs=v human iface=v " +
		"dec=v int=v pretty sadc help"
	plainSensors = "A|no-adapter u j f|fahrenheit v|version h|help"
	plainSleep   = "help version"
	plainStty    = "a|all g|save help version drain clocal cread crtscts cstopb hup hupcl parenb parodd cmspar brkint icrnl ignbrk " +
		"igncr ignpar imaxbel inlcr inpck istrip iutf8 iuclc ixany ixoff ixon parmrk tandem ocrnl ofdel ofill olcuc onlcr onlret " +
		"onocr opost crterase ctlecho echo echoctl echoe echok echoke echonl echoprt extproc flusho icanon iexten isig noflsh " +
		"prterase tostop xcase decctlq lcase parity cbreak cooked evenp litout nl oddp pass8 raw"
	plainSwVers         = "productName productVersion productVersionExtra buildVersion help h"
	plainSysctl         = "d|dry-run D deprecated h|help i|ignore I V|version o|binary t b"
	plainSystemProfiler = "listDataTypes usage nospawn timeout=v h help"
	plainSystemdAnalyze = "h|help version system global order require from-pattern=v to-pattern=v fuzz=v man=? generators=? " +
		"iterations=v base-time=v json=v q|quiet threshold=v"
	plainTop = "a A c C E=v e=v F H i I l L O|list-fields o|sort-override=v R r S s t u=v U|filter-any-user=v V|version h|help " +
		"w|width=? 1|single-cpu-toggle batch-mode cmdline-toggle delay=v filter-only-euser=v idle-toggle iterations=v pid=v " +
		"scale-summary-mem=v scale-task-mem=v secure-mode accum-time-toggle threads-show"
	plainTput    = "T=v S V x"
	plainUsers   = "help version"
	plainUuidgen = "r|random t|time n|namespace=v N|name=v m|md5 C|count=v s|sha1 x|hex h|help V|version hdr"
	plainVMStat  = "c=v"
	plainW       = "f|from h|no-header i|ip-addr o|old-style s|short t|terminal u|no-current help V|version"
	plainWhatis  = "d|debug r|regex w|wildcard l|long L|locale=v m|systems=v s|section|sections=v v|verbose h|help V|version usage"
	plainWhereis = "b f l m s u g h|help V|version"
	plainWhich   = "a|all s i|read-alias skip-alias read-functions skip-functions skip-dot skip-tilde show-dot show-tilde tty-only " +
		"v|V|version help"
	plainWhoami = "help version"
	plainXattr  = "h|help"
	plainYes    = "help version"

	// Options of the programs of systemd, which stand before and behind a subcommand.
	systemdOptions = "t|type=v user system now no-pager H|host=h M|machine=v a|all state=v p|property=v P=v l|full q|quiet plain " +
		"no-legend o|output=v n|lines=v value j json=v static transient pretty "
	plainSystemd   = "no-ask-password adjust-system-clock monitor no-convert h|help version"
	plainSystemctl = "boot-loader-entry=v boot-loader-menu=v check-inhibitors=v dry-run failed firmware-setup f|force global " +
		"job-mode=v kill-whom=v kill-who=v legend=v marked mkdir no-ask-password no-block no-reload no-wall preset-mode=v read-only " +
		"r|recursive reverse after before runtime T|show-transaction show-types s|signal=v timestamp=v i wait what=v " +
		"with-dependencies message=v when=v drop-in=v stdin h|help version"
	plainResolvectl = "4 6 p|protocol=v t|type=v c|class=v service-address=v service-txt=v cname=v validate=v synthesize=v cache=v " +
		"zone=v trust-anchor=v network=v search=v raw=? legend=v no-pager json=v j stale-data=v relax-single-label=v h|help version"

	plainMan = "7|ascii a|all c|catman D|default d|debug E|encoding=v e|extension=v I|match-case i|ignore-case K|global-apropos " +
		"L|locale=v m|systems=v names-only nh|no-hyphenation nj|no-justification no-subpages R|recode=v r|prompt=v regex section=v " +
		"sections=v T|troff-device=? t|troff u|update usage W|where-cat|location-cat w|where|path|location wildcard X|gxditview=? " +
		"Z|ditroff whatis apropos warnings=? h|help V|version"

	plainPackageLooks = "a|all-versions installed upgradable upgradeable manual-installed available updates extras recent all " +
		"showduplicates v|verbose q quiet=? f|full i|installed-only n|names-only y|yes|assume-yes t|target-release|default-release=v " +
		"no-all-versions pre-depends depends recommends suggests conflicts breaks replaces enhances implicit recurse enablerepo=v " +
		"disablerepo=v repo|repoid=v C|cacheonly refresh releasever=v arch=v best nobest x|exclude=v color=v json s|details " +
		"F|format=v w|width=v O|sort=v u|uninstalled-only r h|help version"

	plainBrew = "1 r|reverse l t full-name pinned versions cask casks formula formulae json=? greedy greedy-latest " +
		"greedy-auto-updates d|debug q|quiet v|verbose h|help installed-on-request installed-as-dependency poured-from-bottle " +
		"built-from-source multiple installed recursive include-build include-optional include-test include-implicit " +
		"include-requirements missing skip-recommended topological direct tree graph annotate declared union desc pull-request open " +
		"closed alpine repology macports fink opensuse fedora archlinux debian ubuntu s|search n|name description e all analytics " +
		"category=v days=v variations sizes list-checks D|audit-debug hide=v p|patch stat oneline max-count=v compact command=v"

	plainApk = "a|available d|depends e|exact h|help I|installed L|contents o|origin O|orphaned P|provides q|quiet r|rdepends R " +
		"w|webpage u|upgradable U v|verbose W|who-owns all description license size rinstall-if install-if no-cache no-network " +
		"no-progress"

	plainFlatpak = "user system a|all app runtime arch=v columns=v d|show-details show-disabled cached updates j json r|show-ref " +
		"m|show-metadata o|show-origin c|show-commit s|show-size show-runtime show-sdk show-permissions show-extensions " +
		"show-location file-access=v since=v until=v reverse v|verbose ostree-verbose h|help log commit=v"

	plainLvm = "a|all o|options=v O|sort=v S|select=v v|verbose d|debug q|quiet h|help version noheadings nosuffix units=v " +
		"separator=v aligned unbuffered rows segments H|history reportformat=v binary foreign shared readonly partial P " +
		"ignorelockingfailure ignoreskippedcluster nameprefixes unquoted trustcache"

	plainFzf = "x|extended no-sort tac disabled track tail=v ansi cycle keep-right no-hscroll hscroll-off=v filepath-word " +
		"jump-labels=v border-label=v border-label-pos=v info=v no-info separator=v no-separator scrollbar=v no-scrollbar ellipsis=v " +
		"tabstop=v preview-label=v preview-label-pos=v print0 read0 sync print-query 1|select-1 0|exit-0 no-mouse no-bold black " +
		"no-unicode unicode reverse no-clear literal scheme=v algo=v no-extended ignore-case no-ignore-case smart-case no-multi wrap " +
		"gap=? highlight-line tmux=? man version help bash zsh fish style=v ghost=v no-color header-lines=v header-first " +
		"scroll-off=v wrap-sign=v"
)
