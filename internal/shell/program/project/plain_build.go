package project

// The options of compilers and of what builds: see plain.go.

const plainGcc = "c S E v w s W O Ofast g P C CC H M MM MD MMD MP MG p pg pipe pthread static shared " +
	"rdynamic r t z=v Z u=v e=v h Q ansi pedantic pedantic-errors traditional traditional-cpp trigraphs undef remap " +
	"std=v stdlib=v param=v coverage save-temps=? time target=v arch=v framework=v nostdlib nodefaultlibs nostartfiles " +
	"nolibc nostdinc nostdinc++ nostdlib++ pie no-pie static-pie static-libgcc static-libstdc++ static-libasan " +
	"static-libubsan static-openmp shared-libgcc dM dD dN dI dU dumpmachine dumpversion dumpfullversion dumpspecs " +
	"print-file-name=v print-prog-name=v print-search-dirs print-libgcc-file-name print-multi-lib " +
	"print-multi-directory print-multiarch print-sysroot print-resource-dir print-targets print-supported-cpus help=? " +
	"version target-help ### no-canonical-prefixes no-integrated-as integrated-as integrated-cpp Qunused-arguments " +
	"emit-llvm analyze no-sysroot-suffix install_name=v dynamiclib bundle dead_strip all_load ObjC current_version=v " +
	"compatibility_version=v mmacosx-version-min=v parse-as-library emit-library emit-module emit-executable " +
	"module-name=v Onone sdk=v enable-testing whole-module-optimization"

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
