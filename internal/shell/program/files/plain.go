package files

// The options of which a program only changes how it works or what it shows: see Plain of [program.Row]. They are those of the manuals
// without what the rows name; what is missing in both asks.
const (
	plainEza = "1 @ a A b B d D f F g G h H i l L=v m M n o R r S s=v t=v T u U v w=v x X Z absolute=? accessed all almost-all " +
		"binary blocksize bytes changed classify=? color=? color-scale=? color-scale-mode=v colour=? context created dereference " +
		"extended filesize flags follow-symlinks git git-ignore git-repos git-repos-no-status grid group group-directories-first " +
		"group-directories-last header help hyperlink icons=? inode level=v links list-dirs long modified mounts numeric " +
		"octal-permissions oneline only-dirs only-files quotes recurse reverse show-symlinks smart-group sort=v time=v " +
		"time-style=v total-size tree user version width=v"
	plainCat   = "A b E e l n s T t u v number number-nonblank show-all show-ends show-nonprinting show-tabs squeeze-blank help version"
	plainComm  = "1 2 3 z check-order nocheck-order output-delimiter=v total zero-terminated help version"
	plainChmod = "a C c E f H h L N P v changes no-preserve-root preserve-root quiet silent verbose help version"
	plainChown = "c f H h L P v x changes dereference no-dereference no-preserve-root preserve-root quiet silent verbose help version"
	plainCmp   = "b i=v l n=v s v bytes=v ignore-initial=v print-bytes quiet silent verbose help version"
	plainCp    = "b c H i L N n p T u v X x Z attributes-only backup=? context=? copy-contents dereference interactive no-clobber " +
		"no-preserve=v no-target-directory one-file-system parents reflink=? remove-destination " +
		"sparse=v strip-trailing-slashes update verbose help version"
	plainCsplit = "k s z elide-empty-files keep-files quiet silent suppress-matched help version"
	plainDf     = "a B=v H h I i k l P T t=v v x=v Y all block-size=v exclude-type=v human-readable inodes local no-sync output=? " +
		"portability print-type si sync total type=v help version"
	plainDiff = "# a B b c=? d D=v E e i l N n p q s S=v T t u=? v w y Z brief color=? ed expand-tabs horizon-lines=v ifdef=v " +
		"ignore-all-space ignore-blank-lines ignore-case ignore-file-name-case ignore-space-change ignore-tab-expansion " +
		"ignore-trailing-space initial-tab left-column line-format=v minimal new-file no-dereference no-ignore-file-name-case " +
		"normal paginate palette=v rcs report-identical-files show-c-function side-by-side speed-large-files starting-file=v " +
		"strip-trailing-cr suppress-blank-empty suppress-common-lines tabsize=v text unidirectional-new-file help version"
	plainDiff3 = "3 A a E e i L=v m T v X x easy-only ed initial-tab label=v merge overlap-only show-all show-overlap " +
		"strip-trailing-cr " +
		"text help version"
	plainDu = "0 A a b c D g H h I=v k L l m P S s x all apparent-size bytes count-links dereference dereference-args human-readable " +
		"inodes no-dereference null one-file-system separate-dirs si summarize time-style=v time=v total help version"
	plainFd = "0 1 a F g H h I i j=v L l o=v p q s u V absolute-path and=v batch-size=v case-sensitive changed-before=v " +
		"changed-within=v exact-depth=v fixed-strings follow full-path glob hidden ignore-case list-details max-results=v " +
		"min-depth=v no-ignore no-ignore-parent no-ignore-vcs one-file-system owner=v path-separator=v print0 prune quiet " +
		"regex show-errors strip-cwd-prefix threads=v unrestricted help version"
	plainGzip = "# 0 1 9 B b C|check=v e f F|format=v H h i L M n q V v z adapt auto-threads=v best compress dictID=v " +
		"exclude-compressed extreme fast=? force format=v license long-help long=? maxdict=v no-dictID no-name priority=v " +
		"quiet rm rsyncable single-thread size-hint=v stream-size=v synchronous target-compressed-block-size=v ultra verbose " +
		"help version"
	plainInstall = "b C c D p s T v Z backup=? compare context=? no-target-directory preserve-context preserve-timestamps strip " +
		"verbose " +
		"help version"
	plainLn = "b d F h i L P T v w backup=? directory interactive logical no-target-directory physical verbose help version"
	plainLs = "1 A a B b C c D d f F=? G g H h i k L l m N n O o p=v Q q R r S s t U u v X x Z all almost-all author classify=? " +
		"color=? context dereference dereference-command-line dereference-command-line-symlink-to-dir directory dired escape " +
		"file-type format=v full-time group-directories-first hide-control-chars human-readable hyperlink=? ignore-backups " +
		"indicator-style=v inode kibibytes literal no-group numeric-uid-gid quote-name quoting-style=v recursive reverse " +
		"show-control-chars si size time-style=v zero help version"
	plainMkdir  = "p v Z context=? parents verbose help version"
	plainMkfifo = "Z context=? help version"
	plainMktemp = "q u dry-run quiet help version"
	plainMv     = "b h i n T u v Z backup=? context interactive no-clobber no-target-directory strip-trailing-slashes update verbose " +
		"help version"
	plainPatch = "c E f l N n R s T t u v V=v Y=v Z backup-if-mismatch basename-prefix=v batch binary context force forward " +
		"ignore-whitespace merge no-backup-if-mismatch normal posix quiet quoting-style=v read-only=v reject-format=v " +
		"remove-empty-files reverse set-time set-utc silent unified verbose version-control=v help version"
	plainReadlink = "e f m n q s v z canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero help " +
		"version"
	plainRealpath = "e L m P q s z canonicalize-existing canonicalize-missing logical no-symlinks physical quiet strip zero help version"
	plainRm       = "I P v W x preserve-root=? verbose help version"
	plainRmdir    = "v ignore-fail-on-non-empty verbose help version"
	plainMd5sum   = "b c p q r t w x z binary check ignore-missing quiet status strict tag text warn zero help version"
	plainShred    = "f v x z exact force verbose zero help version"
	plainSplit    = "# d e u x elide-empty-files hex-suffixes=? numeric-suffixes=? unbuffered verbose help version"
	plainStat     = "F L l n q r s t x cached=v dereference file-system terse help version"
	plainTar      = "B b=v d G h H=v i k K=v l L=v M m n N=v o p R S s U v V=v W w Z acls after-date=v anchored atime-preserve=? " +
		"backup=? " +
		"block-number blocking-factor=v bzip2 check-device check-links clamp-mtime compare compress concatenate confirmation " +
		"delay-directory-restore dereference diff exclude-backups exclude-caches exclude-caches-all exclude-caches-under " +
		"exclude-ignore-recursive=v exclude-ignore=v exclude-tag-all=v exclude-tag-under=v exclude-tag=v exclude-vcs " +
		"exclude-vcs-ignores force-local format=v full-time gunzip gzip hard-dereference hole-detection=v ignore-case " +
		"ignore-command-error ignore-failed-read ignore-zeros incremental interactive keep-directory-symlink keep-newer-files " +
		"keep-old-files label=v level=v lzip lzma lzop multi-volume newer-mtime=v no-acls no-anchored no-auto-compress " +
		"no-check-device no-delay-directory-restore no-ignore-case no-ignore-command-error no-null no-overwrite-dir " +
		"no-quote-chars=v no-recursion no-same-owner no-same-permissions no-seek no-selinux no-unquote no-verbatim-files-from " +
		"no-wildcards no-wildcards-match-slash no-xattrs null numeric-owner occurrence=? old-archive one-file-system " +
		"overwrite-dir pax-option=v portability posix preserve-order preserve-permissions quote-chars=v quoting-style=v " +
		"read-full-records record-size=v recursion restrict same-order same-owner same-permissions seek selinux show-defaults " +
		"show-omitted-dirs show-snapshot-field-ranges show-stored-names show-transformed-names skip-old-files sort=v sparse " +
		"sparse-version=v starting-file=v suffix=v tape-length=v test-label totals=? touch uncompress ungzip unlink-first " +
		"unquote usage utc verbatim-files-from verbose verify warning=v wildcards wildcards-match-slash xattrs " +
		"xattrs-exclude=v xattrs-include=v xz zstd help version"
	plainTee   = "i p ignore-interrupts output-error=? help version"
	plainTouch = "a A=v c f h m no-create no-dereference time=v help version"
	plainTree  = "A a C c D d F f g h H=v i J l N n p Q q r S s t T=v U u v X x charset=v device dirsfirst du fflinks filelimit=v " +
		"filesfirst fromfile gitignore hintro houtro ignore-case info inodes matchdirs metafirst nolinks noreport prune si " +
		"sort=v timefmt=v help version"
	plainTruncate = "c o io-blocks no-create help version"
	plainFile     = "0 b c d e=v h i k L l N n p P|parameter=v r S s v Z z apple brief checking-printout debug dereference " +
		"exclude-quiet=v " +
		"exclude=v extension keep-going list mime mime-encoding mime-type no-buffer no-dereference no-pad no-sandbox " +
		"preserve-date print0 raw special-files uncompress uncompress-noreport help version"
	plainCpio = "0 A a B b c C=v d f L l m M=v n r S s t u V v W=v absolute-filenames append block-size=v dereference " +
		"device-independent dot force-local ignore-devno io-size=v link list make-directories message=v no-absolute-filenames " +
		"no-preserve-owner nonmatching null numeric-uid-gid only-verify-crc preserve-modification-time quiet rename " +
		"renumber-inodes reproducible reset-access-time sparse swap swap-bytes swap-halfwords to-stdout unconditional usage " +
		"verbose warning=v help version"
	plainSync = "d f data file-system help version"
	// A pair of letters is one option for zip and unzip. Both letters stand here.
	plainUnzip = "1 2 m a aa b B C D DD f h hh i L LL M n N o q qq R s S u U UU V W X z"
	plainZip   = "# A|adjust-sfx a J|junk-sfx M S|system-hidden c|entry-comments d|delete D|no-dir-entries DF|difference-archive " +
		"e|encrypt F|fix FF|fixfix " +
		"f|freshen " +
		"FS|filesync g|grow h|help h2|more-help j|junk-paths k|DOS-names l|to-crlf ll|from-crlf L|license la|log-append li|log-info " +
		"MM|must-match n|suffixes=v nw|no-wild o|latest-time p|paths q|quiet r s|split-size=v sp|split-pause sb|split-bell " +
		"sv|split-verbose " +
		"sc|show-command sd|show-debug sf|show-files so|show-options su|show-unicode sU t|from-date=v tt|before-date=v u|update U|copy " +
		"UN|unicode=v v|verbose db|display-bytes dc|display-counts dd|display-dots dg|display-globaldots ds|dot-size=v " +
		"du|display-usize " +
		"dv|display-volume V|VMS-portable w|VMS-versions ws|wild-stop-dirs X|strip-extra y|symlinks z|archive-comment " +
		"Z|compression-method=v " +
		"ic|ignore-case fz|force-zip64 version"
	plainDos2unix = "ascii iso 7|7bit b|keep-bom B c|convmode=v f|force i|info=? k|keepdate l|newline m|add-bom o|oldfile q|quiet " +
		"r|remove-bom " +
		"s|safe S|skip-symlink F|follow-symlink R|replace-symlink v|verbose V|version h|help L|license 437 850 860 863 865 1252 e|add-eol"
	// The switches of 7z: what stands behind the letter belongs to it.
	plain7z = "a=? b=? m=? p=? r=? s=? t=? x=? y"
)
