package project

// The options of go and its tools.

// goOptions are those of everything that builds: they name files and programs, or have values.
const goOptions = "C=k p=v tags=v ldflags=v gcflags=v asmflags=v gccgoflags=v compiler=v mod=v modfile=x " +
	"overlay=x pkgdir=w toolexec=c buildmode=v pgo=g debug-trace=w debug-actiongraph=w"

const plainGoBuild = "a asan cover covermode=v coverpkg=v buildvcs=? installsuffix=v linkshared modcacherw " +
	"msan n race trimpath v work x json=?"

const plainGoList = "a asan cover covermode=v coverpkg=v buildvcs=? installsuffix=v linkshared modcacherw " +
	"msan n race trimpath v work x json=? m u=? e deps test find compiled export retracted versions diff"

const plainGoVet = "a asan cover covermode=v coverpkg=v buildvcs=? installsuffix=v linkshared modcacherw " +
	"msan n race trimpath v work x json V all appends asmdecl assign atomic bool bools buildtag buildtags c=v cgocall " +
	"composites composites.whitelist compositewhitelist copylocks defers diff directive errorsas flags framepointer " +
	"hostport httpresponse ifaceassert loopclosure lostcancel methods nilfunc printf printf.funcs=v printfuncs=v " +
	"rangeloops shift sigchanyzer slog source stdmethods stdversion stringintconv structtag testinggoroutine " +
	"testinggoroutine.subtest tests timeformat unmarshal unreachable unsafeptr unusedfuncs=v unusedresult " +
	"unusedresult.funcs=v unusedresult.stringmethods=v unusedstringmethods=v waitgroup any fmtappendf forvar inline " +
	"inline.allow_binding_decl inline.lazy_edits mapsloop minmax newexpr omitzero plusbuild rangeint reflecttypefor " +
	"slicescontains slicessort stditerators stringsbuilder stringscut stringscutprefix stringsseq testingcontext"

// plainGoTest has, besides those of go test, the option by which tests by custom write what they compare with.
const plainGoTest = "update a asan cover covermode=v coverpkg=v buildvcs=? installsuffix=v linkshared modcacherw " +
	"msan n race trimpath v work x json artifacts benchmem blockprofilerate=v memprofilerate=v mutexprofilefraction=v " +
	"c failfast fullpath fuzzminimizetime=v i short"

const plainGoMod = "n x v e m json diff vendor t tool"

const plainPprof = "callgrind comments disasm=v dot gif list=v pdf peek=v png proto ps raw svg tags text " +
	"top topproto traces tree call_tree compact_labels divide_by=v drop_negative edgefraction=v focus=v hide=v " +
	"ignore=v intel_syntax mean nodecount=v nodefraction=v noinlines normalize prune_from=v relative_percentages " +
	"sample_index=v show=v show_from=v showcolumns tagfocus=v taghide=v tagignore=v tagleaf=v tagroot=v tagshow=v trim " +
	"trim_path=v unit=v functions filefunctions files lines addresses cum flat seconds=v timeout=v buildid=v " +
	"add_comment=v no_browser inuse_space inuse_objects alloc_space alloc_objects total_delay contentions mean_delay h"

const plainGoTools = "n size type sort=v s=v gnu S p=v t mode=v var=v V=? h pkg=v pod c=v flags json"

// plainGofmt are those of gofmt, goimports and gofumpt.
const plainGofmt = "e v version format-only local=v srcdir=v extra lang=v modpath=v"

const golangciOptions = "c|config=x fix out-format=v timeout=v E|enable=v D|disable=v cpu-profile-path=w " +
	"mem-profile-path=w trace-path=w new-from-patch=r output.checkstyle.path=w output.code-climate.path=w " +
	"output.html.path=w output.json.path=w output.junit-xml.path=w output.sarif.path=w output.tab.path=w " +
	"output.teamcity.path=w output.text.path=w"

const plainGolangci = "h help v verbose n no-config color=v allow-parallel-runners allow-serial-runners " +
	"build-tags=v j|concurrency=v default=v d diff diff-colored enable-only=v fast-only format=v issues-exit-code=v " +
	"json max-issues-per-linter=v max-same-issues=v modules-download-mode=v new new-from-merge-base=v new-from-rev=v " +
	"output.junit-xml.extended output.tab.colors output.tab.print-linter-name output.text.colors " +
	"output.text.print-issued-lines output.text.print-linter-name path-mode=v path-prefix=v show-stats skip-validation " +
	"stdin tests uniq-by-line whole-files"
