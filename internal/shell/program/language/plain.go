package language

// The options of which an interpreter or an editor only changes how it works or what it shows: see Plain of [program.Row]. They are those
// of the manuals without what the rows name; what is missing in both asks.

const plainNode = "abort-on-uncaught-exception allow-addons allow-child-process allow-wasi allow-worker " +
	"completion-bash disable-proto=v disable-wasm-trap-handler disallow-code-generation-from-strings " +
	"enable-etw-stack-walking enable-fips enable-network-family-autoselection network-family-autoselection " +
	"enable-source-maps experimental-detect-module experimental-eventsource experimental-fetch " +
	"experimental-global-customevent experimental-global-navigator experimental-global-webcrypto " +
	"experimental-import-meta-resolve experimental-permission permission experimental-print-required-tla " +
	"experimental-repl-await experimental-require-module experimental-shadow-realm experimental-specifier-resolution=v " +
	"experimental-sqlite experimental-strip-types strip-types experimental-test-coverage " +
	"experimental-test-module-mocks experimental-test-snapshots experimental-transform-types experimental-vm-modules " +
	"experimental-wasi-unstable-preview1 experimental-wasm-modules experimental-websocket experimental-webstorage " +
	"experimental-worker expose-gc expose_gc extra-info-on-fatal-exception force-async-hooks-checks " +
	"force-context-aware force-fips force-node-api-uncaught-exceptions-policy frozen-intrinsics global-search-paths " +
	"addons deprecation warnings harmony huge-max-old-generation-size inspect-publish-uid=v " +
	"interpreted-frames-native-stack jitless max-semi-space-size=v max_old_space_size=v node-memory-debug " +
	"node-snapshot openssl-legacy-provider openssl-shared-config pending-deprecation preserve-symlinks " +
	"preserve-symlinks-main prof report-compact report-exclude-env report-exclude-network report-on-fatalerror " +
	"report-on-signal report-signal=v report-uncaught-exception stack-size=v test-force-exit test-only " +
	"test-update-snapshots throw-deprecation tls-max-v1.2 tls-max-v1.3 tls-min-v1.0 tls-min-v1.1 tls-min-v1.2 " +
	"tls-min-v1.3 trace-atomics-wait trace-deprecation trace-env trace-exit trace-gc trace-promises " +
	"trace-require-module=? trace-sigint trace-sync-io trace-tls trace-uncaught trace-warnings track-heap-objects " +
	"use-bundled-ca use-openssl-ca use-system-ca v8-options verify-base-objects watch-preserve-output " +
	"zero-fill-buffers"

// plainTsx are those of tsx, which takes those of node.
const plainTsx = plainNode + " cache exclude=v include=v ignore=v clear-screen"

const plainTsNode = "v version h help T|transpileOnly|transpile-only H|compilerHost|compiler-host I|ignore=v " +
	"O|compilerOptions|compiler-options=v D|ignoreDiagnostics|ignore-diagnostics=v i|interactive files pretty " +
	"skipProject|skip-project skipIgnore|skip-ignore preferTsExts|prefer-ts-exts logError|log-error " +
	"noExperimentalReplAwait emit esm scope showConfig|show-config cwdMode|cwd-mode typeCheck|type-check " +
	"experimentalSpecifierResolution=v"

const plainPython = "b B d E h i I O P q R s S t u v V x 3 ? help help-all help-env help-xoptions version"

const plainPerl = "# f g h s t T U V=? W X ? help"

const plainRuby = "# h help copyright s T=? U W=? y d|debug|verbose disable=? enable=? dump=? jit yjit " +
	"yydebug backtrace-limit=v"

const plainPhp = "e h help i|info H n q s w ini rf|rfunction=v rc|rclass=v re|rextension=v ri|rextinfo=v " +
	"C"

const plainR = "save no-save restore no-restore no-restore-data no-restore-history no-environ " +
	"no-site-file no-init-file vanilla q quiet s silent slave no-echo verbose interactive no-readline args version " +
	"help h arch=v max-ppsize=v max-connections=v min-nsize=v min-vsize=v"

const plainJulia = "q quiet v version h help help-hidden i banner=? color=v depwarn=v history-file=v " +
	"startup-file=v O=? optimize=? g=? check-bounds=v compiled-modules=v warn-overwrite=v warn-scope=v math-mode=v " +
	"inline=v pkgimages=v gcthreads=v heap-size-hint=v min-optlevel=v handle-signals=v compile=v"

const plainJava = "? h help help-extra X Xbatch Xcheck Xcomp Xdebug Xdiag Xfuture Xint Xinternalversion " +
	"Xmixed Xnoclassgc Xrs XshowSettings Xverify add-exports=v add-modules=v add-opens=v add-reads=v client " +
	"d|describe-module=v da|disableassertions disable-@files dry-run dsa|disablesystemassertions ea|enableassertions " +
	"enable-native-access=v enable-preview esa|enablesystemassertions illegal-access=v limit-modules=v list-modules " +
	"server show-module-resolution show-version|showversion source=v sun-misc-unsafe-memory-access=v validate-modules " +
	"verbose"

const plainLess = "# ? ~ a A b=v B c C d D=v e E f F g G h=v i I j=v J K L m M n N P=v q Q r R s S t=v u U " +
	"V w W x=v X y=v z=v auto-buffers buffers=v chop-long-lines clear-screen color=v CLEAR-SCREEN dumb " +
	"exit-follow-on-close file-size follow-name force header=v help hilite-search hilite-unread ignore-case " +
	"IGNORE-CASE incsearch jump-target=v line-num-width=v LINE-NUMBERS line-numbers long-prompt LONG-PROMPT " +
	"match-shift=v modelines=v mouse no-init no-keypad no-number-headers no-paste no-search-headers no-vbell prompt=v " +
	"quiet QUIET quit-at-eof QUIT-AT-EOF quit-if-one-screen quit-on-intr raw-control-chars RAW-CONTROL-CHARS " +
	"redraw-on-quit rscroll=v save-marks search-options=v search-screen SEARCH-SCREEN shift=v show-preproc-errors " +
	"silent SILENT squeeze-blank-lines status-column status-line tabs=v tag=v tilde underline-special " +
	"UNDERLINE-SPECIAL use-backslash use-color version wheel-lines=v window=v wordwrap"

const plainVim = "# b d D f g h l L M m N n O=? o=? p=? R v X y Z clean help literal nofork noplugin " +
	"not-a-term ttyfail version"

// optionsSwift are the options of swiftc that name files and programs. What hands options on is left out: -Xfrontend, -Xcc, -Xllvm.
const optionsSwift = "o=w emit-module-path=w emit-module-interface-path=w emit-private-module-interface-path=w emit-objc-header-path=w " +
	"emit-dependencies-path=w emit-reference-dependencies-path=w emit-loaded-module-trace-path=w emit-module-doc-path=w " +
	"emit-module-source-info-path=w emit-tbd-path=w emit-const-values-path=w emit-abi-descriptor-path=w serialize-diagnostics-path=w " +
	"save-optimization-record-path=w module-cache-path=o index-store-path=o index-unit-output-path=v stats-output-dir=o " +
	"trace-stats-events import-objc-header=r I=r F=r Fsystem=r L=r sdk=r resource-dir=e sysroot=r working-directory=k vfsoverlay=x " +
	"output-file-map=x load-plugin-executable=x load-plugin-library=x plugin-path=e external-plugin-path=e tools-directory=e " +
	"use-ld=v ld-path=x B=e profile-use=?r profile-coverage-mapping profile-generate Xlinker=v"

const plainSwift = "c S O Onone Osize Ounchecked g gnone gdwarf-types gline-tables-only j=v l=v v version help h parse typecheck " +
	"dump-ast dump-parse print-ast emit-library emit-module emit-executable emit-object emit-assembly emit-ir emit-bc emit-sil emit-silgen " +
	"emit-dependencies emit-objc-header emit-module-interface emit-imported-modules serialize-diagnostics save-temps static " +
	"static-stdlib static-executable parse-as-library module-name=v module-link-name=v swift-version=v target=v target-cpu=v " +
	"enable-testing enable-library-evolution wmo whole-module-optimization num-threads=v suppress-warnings warnings-as-errors " +
	"no-warnings-as-errors continue-building-after-errors color-diagnostics no-color-diagnostics driver-print-jobs incremental " +
	"enforce-exclusivity=? application-extension sanitize=? D=v framework=v strict-concurrency=? enable-upcoming-feature=v " +
	"enable-experimental-feature=v enable-bare-slash-regex print-target-info diagnostic-style=v require-explicit-availability " +
	"debug-time-function-bodies"

const plainLd = "# A|architecture=v b|format=v d dc dp E|export-dynamic EB EL f|auxiliary=v F|filter=v g " +
	"G|gpsize=v I=v M|print-map n|nmagic N|omagic O q|emit-relocs r|i|relocatable s|strip-all S|strip-debug t|trace " +
	"u|undefined=v Ur v|version V w|no-warnings x|discard-all X|discard-locals y|trace-symbol=v z=v a=v " +
	"accept-unknown-input-arch as-needed assert=v Bdynamic dy call_shared Bstatic dn non_shared static Bno-symbolic " +
	"Bsymbolic Bsymbolic-functions Bgroup Bshareable shared pie pic-executable no-pie check-sections " +
	"copy-dt-needed-entries defsym=v demangle=? discard-none embedded-relocs enable-new-dtags disable-new-dtags " +
	"eh-frame-hdr exclude-libs=v fatal-warnings fini=v init=v force-exe-suffix force-group-allocation gc-sections " +
	"gc-keep-exported print-gc-sections hash-size=v hash-style=v help target-help no-undefined allow-shlib-undefined " +
	"allow-multiple-definition undefined-version default-symver default-imported-symver warn-mismatch whole-archive " +
	"noinhibit-exec nostdlib oformat=v print-output-format print-sysroot print-memory-usage print-map-discarded " +
	"reduce-memory-overheads max-cache-size=v relax require-defined=v sort-common=? sort-section=v " +
	"spare-dynamic-tags=v split-by-file=? split-by-reloc=? start-group end-group stats strip-discarded task-link=v " +
	"traditional-format section-start=v Tbss=v Tdata=v Ttext=v Ttext-segment=v Trodata-segment=v unique=? " +
	"unresolved-symbols=v verbose=? version-exports-section=v dynamic-list-data dynamic-list-cpp-new " +
	"dynamic-list-cpp-typeinfo export-dynamic-symbol=v warn-common warn-constructors warn-execstack warn-rwx-segments " +
	"warn-once warn-section-align warn-textrel warn-unresolved-symbols error-unresolved-symbols wrap=v " +
	"ignore-unresolved-symbol=v push-state pop-state orphan-handling=v build-id=? compress-debug-sections=v icf=v " +
	"threads=v thread-count=v dead_strip"

const plainDart = "v|verbose h help version enable-asserts define|D=v enable-experiment=v N=v n|name=v " +
	"plain-name=v t|tags=v x|exclude-tags=v P|preset=v p|platform=v j|concurrency=v total-shards=v shard-index=v " +
	"timeout=v ignore-timeouts pause-after-load chain-stack-traces retry=v test-randomize-ordering-seed=v fail-fast " +
	"r|reporter=v color run-skipped set-exit-if-changed l|line-length=v page-width=v fix summary show=v fatal-infos " +
	"fatal-warnings dry-run apply d|device-id=v release debug profile flavor=v target=v dart-define=v build-name=v " +
	"build-number=v pub web-renderer=v web-port=v hot update-goldens coverage machine track-widget-creation " +
	"split-per-abi obfuscate analyze-size tree-shake-icons simulator codesign config-only offline congratulate " +
	"preamble watch suppress-analytics"
