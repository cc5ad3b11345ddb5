package project

// The options of tools of JavaScript and TypeScript: those that name files or code, and the harmless ones of their manuals.

const tscOptions = "p|project=x outDir=o outFile=w declarationDir=o tsBuildInfoFile=w rootDir=r rootDirs=r " +
	"baseUrl=r typeRoots=r generateCpuProfile=w generateTrace=w pprofDir=w target|t=v module|m=v b|build noEmit"

const plainTsc = "d f h i v w all allowArbitraryExtensions allowImportingTsExtensions allowJs " +
	"allowSyntheticDefaultImports allowUmdGlobalAccess allowUnreachableCode allowUnusedLabels alwaysStrict " +
	"assumeChangesOnlyAffectDirectDependencies builders=v checkJs checkers=v clean composite customConditions=v " +
	"declaration declarationMap deduplicatePackages diagnostics disableReferencedProjectLoad disableSizeLimit " +
	"disableSolutionSearching disableSourceOfProjectReferenceRedirect downlevelIteration dry emitBOM " +
	"emitDeclarationOnly emitDecoratorMetadata erasableSyntaxOnly esModuleInterop exactOptionalPropertyTypes " +
	"excludeDirectories=v excludeFiles=v experimentalDecorators explainFiles extendedDiagnostics fallbackPolling=v " +
	"force forceConsistentCasingInFileNames help ignoreConfig importHelpers incremental init inlineSourceMap " +
	"inlineSources isolatedDeclarations isolatedModules jsx=v jsxFactory=v jsxFragmentFactory=v jsxImportSource=v " +
	"lib=v libReplacement listEmittedFiles listFiles listFilesOnly locale=v mapRoot=v maxNodeModuleJsDepth=v " +
	"moduleDetection=v moduleResolution=v moduleSuffixes=v newLine=v noCheck noEmitHelpers noEmitOnError " +
	"noErrorTruncation noFallthroughCasesInSwitch noImplicitAny noImplicitOverride noImplicitReturns noImplicitThis " +
	"noLib noPropertyAccessFromIndexSignature noResolve noUncheckedIndexedAccess noUncheckedSideEffectImports " +
	"noUnusedLocals noUnusedParameters preserveConstEnums preserveSymlinks preserveWatchOutput pretty quiet " +
	"reactNamespace=v removeComments resolveJsonModule resolvePackageJsonExports resolvePackageJsonImports " +
	"rewriteRelativeImportExtensions showConfig singleThreaded skipDefaultLibCheck skipLibCheck sourceMap sourceRoot=v " +
	"stableTypeOrdering stopBuildOnErrors strict strictBindCallApply strictBuiltinIteratorReturn strictFunctionTypes " +
	"strictNullChecks strictPropertyInitialization stripInternal synchronousWatchDirectory traceResolution types=v " +
	"useDefineForClassFields useUnknownInCatchVariables verbatimModuleSyntax verbose version watch watchDirectory=v " +
	"watchFile=v watchInterval=v ignoreDeprecations=v suppressImplicitAnyIndexErrors importsNotUsedAsValues=v"

const eslintOptions = "c|config=x rulesdir=x o|output-file=w ext=v f|format=v ignore-path=r max-warnings=v " +
	"rule=v cache-location|cache-file=w suppressions-location=w print-config=r plugin=v parser=x fix cache"

const plainEslint = "h v cache-strategy=v color concurrency debug env-info exit-on-fatal-error fix-dry-run " +
	"fix-type=v flag=v global=v help ignore-pattern=v parser-options=v pass-on-no-patterns " +
	"pass-on-unpruned-suppressions prune-suppressions quiet report-unused-disable-directives " +
	"report-unused-disable-directives-severity=v report-unused-inline-configs=v stats stdin stdin-filename=v " +
	"suppress-all suppress-rule=v version config-lookup error-on-unmatched-pattern ignore inline-config warn-ignored " +
	"eslintrc env=v no-eslintrc"

const prettierOptions = "c|check w|write config=x ignore-path=r plugin=x l|list-different parser=g log-level=v " +
	"cache-location=w find-config-path=r file-info=r"

const plainPrettier = "h u v arrow-parens=v bracket-same-line cache cache-strategy=v check-ignore-pragma " +
	"config-precedence=v cursor-offset=v embedded-language-formatting=v end-of-line=v experimental-operator-position=v " +
	"help html-whitespace-sensitivity=v ignore-unknown insert-pragma jsx-single-quote bracket-spacing color " +
	"editorconfig error-on-unmatched-pattern experimental-ternaries semi object-wrap=v print-width=v prose-wrap=v " +
	"quote-props=v range-end=v range-start=v require-pragma single-attribute-per-line single-quote stdin-filepath=v " +
	"support-info tab-width=v trailing-comma=v use-tabs version vue-indent-script-and-style with-node-modules " +
	"plugin-search"

const jestOptions = "c|config=x globalSetup=x globalTeardown=x setupFiles=x setupFilesAfterEnv=x rootDir=x " +
	"roots=r preset=x runner=x testRunner=x testEnvironment|env=x testSequencer=x reporters=x resolver=x transform=x " +
	"testResultsProcessor=x snapshotSerializers=x prettierPath=x filter=x modulePaths=e coverageDirectory=w " +
	"cacheDirectory=w outputFile=w projects=x"

const plainJest = "all automock bail cache changedFilesWithAncestor changedSince=v ci clearCache " +
	"clearMocks collectCoverage collectCoverageFrom=v collectTests color colors coverage coveragePathIgnorePatterns=v " +
	"coverageProvider=v coverageReporters=v coverageThreshold=v debug detectLeaks detectOpenHandles errorOnDeprecated " +
	"expand findRelatedTests forceExit ignoreProjects=v injectGlobals json lastCommit listTests logHeapUsage " +
	"maxConcurrency=v maxWorkers=v moduleDirectories=v moduleFileExtensions=v modulePathIgnorePatterns=v noStackTrace " +
	"notify notifyMode=v onlyChanged onlyFailures openHandlesTimeout=v passWithNoTests randomize resetMocks " +
	"resetModules restoreMocks runInBand runTestsByPath seed=v selectProjects=v shard=v showConfig showSeed silent " +
	"skipFilter testEnvironmentOptions=v testFailureExitCode=v testLocationInResults testMatch=v testNamePattern=v " +
	"testPathIgnorePatterns=v testPathPatterns=v testRegex=v testTimeout=v transformIgnorePatterns=v " +
	"unmockedModulePathPatterns=v updateSnapshot useStderr verbose waitForUnhandledRejections watch watchAll " +
	"watchPathIgnorePatterns=v watchman workerGracefulExitTimeout=v workerThreads b e f i o t=v u w=v h help v version " +
	"testPathPattern=v run-in-band update-snapshot pass-with-no-tests detect-open-handles force-exit max-workers=v " +
	"test-name-pattern=v test-path-pattern=v list-tests watch-all"

const vitestOptions = "c|config=x r|root=x dir=r outputFile=w attachmentsDir=w environment=x reporter=x diff=x " +
	"coverage.reportsDirectory=w coverage.provider=v"

const plainVitest = "h s=v t=v u=? v w allowOnly bail=v cache changed=? clearCache clearScreen " +
	"configLoader=v coverage dangerouslyIgnoreUnhandledErrors detectAsyncLeaks disableConsoleIntercept dom exclude=v " +
	"expandSnapshotDiff expect experimental=v fileParallelism globals help hideSkippedTests hookTimeout=v " +
	"includeTaskLocation isolate listTags=? logHeapUsage maxConcurrency=v maxWorkers=v mergeReports=? mode=v " +
	"passWithNoTests pool=v printConsoleTrace project=v retry=v run sequence=v shard=v silent=? slowTestThreshold=v " +
	"standalone strictTags tagsFilter=v teardownTimeout=v testNamePattern=v testTimeout=v typecheck update=? version " +
	"vmMemoryLimit=v watch coverage.enabled=? coverage.reporter=v coverage.include=v coverage.exclude=v coverage.all=? " +
	"coverage.clean=? coverage.thresholds.lines=v coverage.thresholds.functions=v coverage.thresholds.branches=v " +
	"coverage.thresholds.statements=v sequence.shuffle=? sequence.seed=v poolOptions.threads.singleThread=? " +
	"poolOptions.forks.singleFork=? no-color typecheck.only changed-since=v testPathPattern=v"

const mochaOptions = "config=x r|require=x file=x R|reporter=x u|ui=x package=r"

const plainMocha = "h help V version extension=v spec=v global|globals=v ignore|exclude=v watch-files=v " +
	"watch-ignore=v allow-uncaught A|async-only b|bail check-leaks clear-screen c|color|colors C delay diff dry-run " +
	"exit fail-hook-affected-tests pass-on-failing-test-suite fail-zero forbid-only forbid-pending full-trace " +
	"inline-diffs i|invert list-interfaces list-reporters p|parallel posix-exit-codes recursive S|sort w|watch " +
	"retries=v j|jobs=v f|fgrep=v g|grep=v s|slow=v t|timeout|timeouts=v"

const viteOptions = "outDir=w c|config=x ssr=? ssrManifest=? manifest=? host=?"

const plainVite = "port=v open cors strictPort force experimentalBundle base=v l|logLevel=v clearScreen=? " +
	"configLoader=v d|debug=? f|filter=v m|mode=v h help v version target=v assetsDir=v assetsInlineLimit=v " +
	"sourcemap=? minify=? emptyOutDir w|watch app"

const biomeOptions = "config-path=r log-path=w log-file=w reporter-file=w vcs-root=r"

const plainBiome = "h arrow-parentheses=v assist-enabled=v attribute-position=v bracket-same-line=v " +
	"bracket-spacing=v changed colors=v css-assist-enabled=v css-formatter-delimiter-spacing=v css-formatter-enabled=v " +
	"css-formatter-indent-style=v css-formatter-indent-width=v css-formatter-line-ending=v css-formatter-line-width=v " +
	"css-formatter-quote-style=v css-formatter-trailing-newline=v css-linter-enabled=v css-parse-css-modules=v " +
	"css-parse-tailwind-directives=v delimiter-spacing=v diagnostic-level=v enforce-assist=v error-on-warnings " +
	"expand=v files-ignore-unknown=v files-max-size=v fix format-with-errors=v formatter-enabled=v " +
	"graphql-assist-enabled=v graphql-formatter-enabled=v graphql-formatter-indent-style=v " +
	"graphql-formatter-indent-width=v graphql-formatter-line-ending=v graphql-formatter-line-width=v " +
	"graphql-formatter-quote-style=v graphql-formatter-trailing-newline=v graphql-linter-enabled=v " +
	"grit-assist-enabled=v grit-formatter-enabled=v grit-formatter-indent-style=v grit-formatter-indent-width=v " +
	"grit-formatter-line-ending=v grit-formatter-line-width=v grit-formatter-trailing-newline=v grit-linter-enabled=v " +
	"help html-assist-enabled=v html-formatter-attribute-position=v html-formatter-bracket-same-line=v " +
	"html-formatter-enabled=v html-formatter-indent-script-and-style=v html-formatter-indent-style=v " +
	"html-formatter-indent-width=v html-formatter-line-ending=v html-formatter-line-width=v " +
	"html-formatter-self-close-void-elements=v html-formatter-trailing-newline=v " +
	"html-formatter-whitespace-sensitivity=v html-linter-enabled=v indent-style=v indent-width=v " +
	"javascript-assist-enabled=v javascript-formatter-attribute-position=v javascript-formatter-bracket-spacing=v " +
	"javascript-formatter-delimiter-spacing=v javascript-formatter-enabled=v javascript-formatter-expand=v " +
	"javascript-formatter-indent-style=v javascript-formatter-indent-width=v javascript-formatter-line-ending=v " +
	"javascript-formatter-line-width=v javascript-formatter-operator-linebreak=v javascript-formatter-quote-style=v " +
	"javascript-formatter-trailing-newline=v javascript-linter-enabled=v json-assist-enabled=v " +
	"json-formatter-bracket-spacing=v json-formatter-delimiter-spacing=v json-formatter-enabled=v " +
	"json-formatter-expand=v json-formatter-indent-style=v json-formatter-indent-width=v json-formatter-line-ending=v " +
	"json-formatter-line-width=v json-formatter-trailing-commas=v json-formatter-trailing-newline=v " +
	"json-linter-enabled=v json-parse-allow-comments=v json-parse-allow-trailing-commas=v jsx-everywhere=v " +
	"jsx-quote-style=v line-ending=v line-width=v linter-enabled=v log-kind=v log-level=v log-prefix-name=v " +
	"max-diagnostics=v md-analyze-embeds=v md-formatter-enabled=v md-formatter-format-embeds=v " +
	"md-formatter-indent-style=v md-formatter-indent-width=v md-formatter-line-ending=v md-formatter-line-width=v " +
	"md-formatter-prose-wrap=v md-formatter-trailing-newline=v md-linter-enabled=v md-parse-frontmatter=v only=v " +
	"profile-rules profile-type-inference quote-properties=v reason=v reporter=v semicolons=v since=v skip=v " +
	"skip-parse-errors staged stdin-file-path=v suppress threads=v trailing-commas=v trailing-newline=v unsafe " +
	"use-editorconfig=v vcs-client-kind=v vcs-default-branch=v vcs-enabled=v vcs-use-ignore-file=v verbose watch write " +
	"yaml-formatter-bracket-spacing=v yaml-formatter-enabled=v yaml-formatter-indent-width=v " +
	"yaml-formatter-line-ending=v yaml-formatter-line-width=v yaml-formatter-quote-style=v " +
	"yaml-formatter-trailing-newline=v yaml-linter-enabled=v no-errors-on-unmatched apply apply-unsafe"

const stylelintOptions = "c|config=x custom-formatter=x custom-syntax=x config-basedir=r o|output-file=w " +
	"cache-location=w ignore-path|i=r suppress-location=w fix=?"

const plainStylelint = "f=v h q v aei allow-empty-input cache-strategy=v cei compute-edit-info di " +
	"disable-default-ignores formatter=v help id ignore-disables ignore-pattern=v ip=v max-warnings=v mw=v " +
	"print-config quiet quiet-deprecation-warnings rd rdd report-descriptionless-disables " +
	"report-invalid-scope-disables report-needless-disables risd stdin stdin-filename=v suppress=? version cache"

const oxlintOptions = "c|config=r tsconfig=r ignore-path=r"

const plainOxlint = "A=v D=v V W=v f=v h allow=v debug=v deny=v deny-warnings disable-nested-config " +
	"disable-oxc-plugin disable-typescript-plugin disable-unicorn-plugin fix fix-dangerously fix-suggestions format=v " +
	"help ignore-pattern=v import-plugin jest-plugin jsdoc-plugin jsx-a11y-plugin max-warnings=v nextjs-plugin " +
	"node-plugin print-config promise-plugin quiet react-perf-plugin react-plugin report-unused-disable-directives " +
	"report-unused-disable-directives-severity=v rules silent threads=v type-aware type-check version vitest-plugin " +
	"vue-plugin warn=v error-on-unmatched-pattern ignore"

const playwrightOptions = "c|config=x output=w last-failed-file=r test-list=r test-list-invert=r tsconfig=r " +
	"add-reporter=x reporter=x"

const plainPlaywright = "browser=v debug=? j|workers=v fail-on-flaky-tests forbid-only fully-parallel g|grep=v " +
	"G|grep-invert=v global-timeout=v headed ignore-snapshots last-failed list max-failures=v x no-deps only-changed=? " +
	"pass-with-no-tests project=v quiet repeat-each=v retries=v shard=v shuffle=? timeout=v trace=v " +
	"u|update-snapshots=? update-source-method=v h help version V port=v"

const plainNext = "analyze d|debug debug-prerender mangling profile experimental-app-only turbo turbopack " +
	"webpack experimental-build-mode=? experimental-debug-memory-usage experimental-next-config-strip-types " +
	"debug-build-paths=v experimental-cpu-prof p|port=v H|hostname=? disable-source-maps server-fast-refresh h help v " +
	"version lint fix strict cache max-warnings=v quiet f|format=v keepAliveTimeout=v"

const nextOptions = "c|config=x dir=r o|output-file=w cache-location=w"

const webpackOptions = "c|config=x e|extends=x entry=r o|output-path=w j|json=? defineProcessEnvNodeEnv=v"

const plainWebpack = "config-name=v m|merge env=v node-env=v config-node-env=v analyze progress=? " +
	"fail-on-warnings disable-interpret d|devtool=v mode=v name=v stats=? t|target=v w|watch watch-options-stdin color " +
	"v version h help=? port=v hot=? open=? host=? client-logging=v history-api-fallback compress"

const turboOptions = "cache-dir=w cwd=k log-file=? profile=? anon-profile=? graph=? summarize=? " +
	"root-turbo-json=x heap=w trace=w"

const plainTurbo = "cache=v force=? remote-only=? remote-cache-read-only=? cache-workers=v dry-run|dry=? " +
	"daemon parallel concurrency=v continue=? single-package framework-inference=? global-deps=v env-mode=? F|filter=v " +
	"affected output-logs=v log-order=v json only log-prefix=? h help version v vv vvv skip-infer update-notifier " +
	"color ui=v preflight remote-cache-timeout=v verbosity=v no-cache"

const plainNg = "configuration|c=v project=v prod production watch=? aot=? open|o port=v source-map=? " +
	"verbose progress=? optimization=? output-hashing=v base-href=v browsers=v code-coverage=? include=v exclude=v " +
	"fix=? format=v quiet force max-warnings=v localize=? named-chunks=? stats-json=? t|target|targets=v p|projects=v " +
	"parallel=? skip-nx-cache skipNxCache all base=v head=v affected output-style=v outputStyle=v nx-bail nxBail " +
	"files=v uncommitted untracked graph=? h help version testFile=v testNamePattern=v ci coverage=? passWithNoTests " +
	"updateSnapshot=? u runInBand i bail=? json"
