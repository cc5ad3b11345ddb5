package project

// The options of compilers and of what builds: see plain.go.

// compilerOptions are the options of C compilers that name files, folders and programs. Sources: gcc 12 and clang 15, --help with all their
// classes, and the manual of gcc 14.
const compilerOptions = "o|output=w I|include-directory|include-directory-after=r L|library-directory=r l=v D|define-macro=v " +
	"U|undefine-macro=v include=r imacros=r isystem=r iquote=r idirafter=r isysroot=r sysroot=r iprefix=r iwithprefix=r " +
	"iwithprefixbefore=r imultilib=r F=r include-pch=r cxx-isystem=r isystem-after=r iframework=r iframeworkwithsysroot=r " +
	"iwithsysroot=r stdlib++-isystem=r working-directory=k " +
	"x|language=v T=x MF=w MJ=w MT=v MQ=v write-dependencies write-user-dependencies J=o dumpdir=o dumpbase=w dumpbase-ext=v aux-info=w " +
	"gnatO=w objcmt-allowlist-dir-path|objcmt-whitelist-dir-path=r serialize-diagnostics=w dependency-file=w dependency-dot=w dsym-dir=o gen-cdb-fragment-path=o module-dependency-dir=o " +
	"arcmt-migrate-report-output=w output-pch=w index-header-map " +
	"wrapper=c specs=x fplugin=x fpass-plugin=x hipspv-pass-plugin=x B|prefix=e iplugindir=e gcc-toolchain=e gcc-install-dir=e " +
	"ccc-install-dir=e ccc-gcc-name=x resource-dir=e config=x config-user-dir=e config-system-dir=e ld-path=x fuse-ld=x load=x " +
	"cuda-path=e hip-path=e rocm-path=e ptxas-path=x ivfsoverlay=x vfsoverlay=x " +
	"fprofile-note=?w fprofile-generate=?o fprofile-dir=?o fprofile-instr-generate=?w fcs-profile-generate=?o ftime-trace=?w " +
	"foptimization-record-file=?w fcrash-diagnostics-dir=?o fproc-stat-report=?w fmodules-cache-path=?o fmodules-user-build-path=o " +
	"fmodule-output=?w fdeps-file=?w fdoc-dir=?o fdoc-file=?w fdoc-inc=?w fsave-mixins=?w fgo-c-header=?w fmemory-profile=?o " +
	"fthin-link-bitcode=?w fltrans-output-list=?w " +
	"fprofile-use=?r fprofile-instr-use=?r fprofile-sample-use=?r fauto-profile=?r fprofile-list=?r fprofile-remapping-file=?r " +
	"fmodule-map-file=?r fprebuilt-module-path=?r fbuild-session-file=?r frandomize-layout-seed-file=?r fxray-always-instrument=?r " +
	"fxray-attr-list=?r fxray-never-instrument=?r fthinlto-index=?r fgo-embedcfg=?r fpre-include=?r fintrinsic-modules-path=?r " +
	"fsanitize-blacklist=?r fsanitize-ignorelist=?r fsanitize-coverage-allowlist=?r fsanitize-coverage-ignorelist=?r"

// plainGcc are the others. Those of -f that have values must stand here; -W, -m, -O and -g have families: see ofFamily.
const plainGcc = "c S E v w s W O Ofast g P C CC H M MM MD MMD MP MG p pg pipe pthread static shared " +
	"rdynamic r t z=v Z u=v e=v h Q ansi pedantic pedantic-errors traditional traditional-cpp trigraphs undef remap " +
	"std=? stdlib=? rtlib=? unwindlib=? param=v coverage save-temps=? save-stats=? time target=v arch=v framework=v nostdlib nodefaultlibs " +
	"nostartfiles nolibc nostdinc nostdinc++ nostdlib++ pie no-pie static-pie static-libgcc static-libstdc++ static-libasan " +
	"static-libubsan static-libgfortran static-openmp shared-libgcc dM dD dN dI dU dumpmachine dumpversion dumpfullversion dumpspecs " +
	"print-file-name=? print-prog-name=? print-search-dirs print-libgcc-file-name print-multi-lib " +
	"print-multi-directory print-multiarch print-sysroot print-sysroot-headers-suffix print-multi-os-directory print-resource-dir " +
	"print-targets print-supported-cpus help=? version target-help ### no-canonical-prefixes no-integrated-as integrated-as " +
	"integrated-cpp Qunused-arguments emit-llvm analyze no-sysroot-suffix install_name=v dynamiclib bundle dead_strip all_load ObjC " +
	"current_version=v compatibility_version=v mmacosx-version-min=? A|assert=v G=v cpp=? object-file-name=v nocpp pass-exit-codes mthread-model=v " +
	"driver-mode=? rsp-quoting=? completion=? cuda-gpu-arch=? offload-arch=? " +
	"fRTS=? fabi-compat-version=? fabi-version=? fada-spec-parent=? falign-functions=? falign-jumps=? " +
	"falign-labels=? falign-loops=? faligned-new=? faltivec-src-compat=? fanalyzer-checker=? fanalyzer-verbosity=? " +
	"fasan-shadow-offset=? fbasic-block-sections=? fbinutils-version=? fblas-matmul-limit=? fbounds-check=? " +
	"fbuild-session-timestamp=? fc++-abi=? fcallgraph-info=? fcf-protection=? fcheck=? fcheckaction=? fchecking=? " +
	"fclang-abi-compat=? fcoarray=? fcomment-block-commands=? fconcepts-diagnostics-depth=? fcondition-coverage=? " +
	"fconst-string-class=? fconstexpr-cache-depth=? fconstexpr-depth=? fconstexpr-loop-limit=? " +
	"fconstexpr-ops-limit=? fconvert=? fcoverage-compilation-dir=? fdbg-cnt=? fdebug=? fdebug-compilation-dir=? " +
	"fdebug-default-version=? fdiagnostics-color=? fdiagnostics-column-origin=? fdiagnostics-column-unit=? " +
	"fdiagnostics-escape-format=? fdiagnostics-format=? fdiagnostics-hotness-threshold=? " +
	"fdiagnostics-minimum-margin-width=? fdiagnostics-misexpect-tolerance=? fdiagnostics-path-format=? " +
	"fdiagnostics-show-location=? fdiagnostics-text-art-charset=? fdiagnostics-urls=? fembed-bitcode=? " +
	"femit-dwarf-unwind=? femit-struct-debug-detailed=? fexcess-precision=? fexec-charset=? fextend-arguments=? " +
	"ffile-compilation-dir=? ffp-contract=? ffp-eval-method=? ffp-exception-behavior=? ffp-model=? ffpe-summary=? " +
	"ffpe-trap=? ffuchsia-api-level=? fgnat-encodings=? fgnuc-version=? fgo-debug-escape-hash=? fgo-pkgpath=? " +
	"fgo-prefix=? fgo-relative-import-path=? fgpu-default-stream=? fgpu-inline-threshold=? " +
	"fharden-control-flow-redundancy=? fhardened=? finit-character=? finit-integer=? finit-logical=? finit-real=? " +
	"finline-limit=? finline-matmul-limit=? finput-charset=? finstrument-functions-exclude-file-list=? " +
	"finstrument-functions-exclude-function-list=? fira-algorithm=? fira-region=? fira-verbose=? " +
	"flax-vector-conversions=? flifetime-dse=? flive-patching=? flto=? flto-compression-level=? flto-jobs=? " +
	"flto-partition=? fmax-array-constructor=? fmax-errors=? fmax-identifier-length=? fmax-include-depth=? " +
	"fmax-stack-var-size=? fmax-subrecord-length=? fmax-tokens=? fmax-type-align=? fmessage-length=? " +
	"fmodule-header=? fmodule-name=? fmodules-ignore-macro=? fmodules-prune-after=? fmodules-prune-interval=? " +
	"fms-compatibility-version=? fmsc-version=? fnew-alignment=? fno-sanitize=? fno-sanitize-coverage=? " +
	"fno-sanitize-recover=? fno-sanitize-trap=? fobjc-abi-version=? fobjc-arc=? fobjc-runtime=? foffload-abi=? " +
	"foffload-lto=? foffload-options=? fopenacc-dim=? fopenmp=? fopenmp-targets=? fopenmp-version=? " +
	"foptimization-record-passes=? fpack-struct=? fpatchable-function-entry=? fpermitted-flt-eval-methods=? " +
	"fprofile-exclude-files=? fprofile-filter-files=? fprofile-function-groups=? fprofile-info-section=? " +
	"fprofile-reproducible=? fprofile-selected-function-group=? fprofile-update=? frandom-seed=? " +
	"frandomize-layout-seed=? freorder-blocks-algorithm=? fsanitize=? fsanitize-address-destructor=? " +
	"fsanitize-address-field-padding=? fsanitize-address-use-after-return=? fsanitize-coverage=? " +
	"fsanitize-hwaddress-abi=? fsanitize-memory-track-origins=? fsanitize-memtag-mode=? fsanitize-recover=? " +
	"fsanitize-sections=? fsanitize-trap=? fsanitize-undefined-strip-path-components=? fsave-optimization-record=? " +
	"fsched-stalled-insns=? fsched-stalled-insns-dep=? fsched-verbose=? fshow-overloads=? fsimd-cost-model=? " +
	"fsso-struct=? fstack-check=? fstack-limit-register=? fstack-limit-symbol=? fstack-reuse=? fstrict-flex-arrays=? " +
	"fstrong-eval-order=? fswift-async-fp=? ftabstop=? ftail-call-workaround=? ftemplate-backtrace-limit=? " +
	"ftemplate-depth=? ftime-report=? ftime-trace-granularity=? ftls-model=? ftrack-macro-expansion=? " +
	"ftrap-function=? ftrapv-handler=? ftree-parallelize-loops=? ftrivial-auto-var-init=? " +
	"ftrivial-auto-var-init-stop-after=? fuse-cuid=? fveclib=? fvect-cost-model=? fversion=? fvisibility=? " +
	"fvisibility-dllexport=? fvisibility-externs-dllimport=? fvisibility-externs-nodllstorageclass=? " +
	"fvisibility-nodllstorageclass=? fvtable-verify=? fwide-exec-charset=? fxray-function-groups=? " +
	"fxray-instruction-threshold=? fxray-instrumentation-bundle=? fxray-modes=? fxray-selected-function-group=? " +
	"fzero-call-used-regs=?"

const plainCmake = "L LA LAH LH N V h help version v verbose fresh list-presets=? log-level=v loglevel=v " +
	"log-context debug-trycompile debug-output debug-find trace trace-expand trace-format=v trace-source=v " +
	"warn-uninitialized no-warn-unused-cli check-system-vars clean-first use-stderr component=v " +
	"default-directory-permissions=v strip resolve-package-references=v compile-no-warning-as-error " +
	"link-no-warning-as-error profiling-format=v workflow help-full help-manual=v help-manual-list help-command=v " +
	"help-command-list help-commands help-module=v help-module-list help-modules help-policy=v help-policy-list " +
	"help-property=v help-property-list help-variable=v help-variable-list help-variables"

const plainCtest = "V|verbose VV|extra-verbose Q|quiet N|show-only=? L|label-regex=v LE|label-exclude=v " +
	"U|union I|tests-information=v F rerun-failed repeat=v repeat-until-fail=v max-width=v interactive-debug-mode=v " +
	"no-label-summary no-subproject-summary timeout=v stop-time=v stop-on-failure output-on-failure progress " +
	"parallel=v test-load=v schedule-random schedule-random-seed=v print-labels no-tests=v tests-regex=v " +
	"exclude-regex=v tests-from-file=v FA|fixture-exclude-any=v FS|fixture-exclude-setup=v " +
	"FC|fixture-exclude-cleanup=v test-output-size-passed=v test-output-size-failed=v test-output-truncation=v " +
	"preset=v build-config=v list-presets h help version"

const plainMvn = "B|batch-mode C|strict-checksums c|lax-checksums cpu|check-plugin-updates D|define=v " +
	"P|activate-profiles=v T|threads=v N|non-recursive U|update-snapshots V|show-version X|debug am|also-make " +
	"amd|also-make-dependents b|builder=v color=v e|errors fae|fail-at-end ff|fail-fast fn|fail-never h help " +
	"llr|legacy-local-repository npr|no-plugin-registry npu|no-plugin-updates nsu|no-snapshot-updates " +
	"ntp|no-transfer-progress o|offline pl|projects=v q|quiet rf|resume-from=v up|update-plugins v|version " +
	"itr|ignore-transitive-repositories"

const plainGradle = "? h help v version V show-version S|full-stacktrace s|stacktrace q|quiet w|warn i|info " +
	"d|debug x|exclude-task=v m|dry-run t|continuous a|no-rebuild A U|refresh-dependencies offline build-cache " +
	"configuration-cache configuration-cache-problems=v configure-on-demand console=v continue daemon max-workers=v " +
	"parallel priority=v profile rerun-tasks rerun write-locks update-locks=v watch-fs warning-mode=v status stop " +
	"no-search-upward u isolated-projects problems-report property-upgrade-report task-graph non-interactive fail-fast " +
	"tests=v test-dry-run args=v configuration=v dependency=v dependency-insight=v all group=v types no-all task=v " +
	"single-path"

const plainShellcheck = "a|check-sourced C|color=? o|enable=v i|include=v list-optional norc S|severity=v " +
	"V|version W|wiki-link-count=v extended-analysis=v help"

const plainShfmt = "version h help mn|minify bn|binary-next-line ci|case-indent sr|space-redirects " +
	"kp|keep-padding fn|func-next-line f|find=? filename=v tojson|to-json fromjson|from-json p|posix exp.recover " +
	"apply-ignore"
