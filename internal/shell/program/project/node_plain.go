package project

// The options of npm, pnpm, yarn and bun: those that do something, and the harmless ones of the manuals. What is missing in both asks:
// other registries, certificates and passwords, other programs, other rules of which scripts of dependencies run.

const moreNpm = "g|global L|location=v D|save-dev E|save-exact O|save-optional P|save-prod force|f l|long json no-redacted dry-run " +
	"fix w|workspace=v registry|reg=h tag=v access=v otp=v omit=v include=v cache=w logs-dir=w pack-destination=w provenance " +
	"provenance-file=r package=v git=x browser=c editor=c viewer=c userconfig=r script-shell=x"

const optionsNpm = "prefix|C=k " + moreNpm

// scriptNpm are the same behind a script: [elsewhere] goes to the folder.
const scriptNpm = "prefix|C=v " + moreNpm

const plainNpm = "a|all h H help|usage m|message=v S|save B|save-bundle p|parseable|porcelain v|version versions d q s n y|yes silent " +
	"quiet verbose dd ddd desc|description local ws|workspaces iwr|include-workspace-root workspaces-update loglevel=v " +
	"audit audit-level=v fund ignore-scripts prefer-offline prefer-online offline legacy-peer-deps strict-peer-deps " +
	"package-lock package-lock-only shrinkwrap dev production optional if-present depth=v before|enjoy-by=v bin-links " +
	"commit-hooks git-tag-version color=? engine-strict expect-result-count=v expect-results fetch-retries=v " +
	"fetch-retry-factor=v fetch-retry-maxtimeout=v fetch-retry-mintimeout=v fetch-timeout=v foreground-scripts " +
	"format-package-lock global-style heading=v include-attestations include-staged init-author-email=v init-author-name=v " +
	"init-author-url=v init-license=v init-private init-type=v init-version=v init.author.email=v init.author.name=v " +
	"init.author.url=v init.license=v init.version=v install-links install-strategy=v cpu=v libc=v os=v legacy-bundling " +
	"link lockfile-version=v logs-max=v maxsockets=v name=v omit-lockfile-registry-resolved prefer-dedupe preid=v progress " +
	"read-only|readonly rebuild-bundle allow-same-version save-peer save-prefix=v sbom-format=v sbom-type=v scope=v " +
	"searchexclude=v searchlimit=v searchopts=v searchstaleness=v strict-allow-scripts tag-version-prefix=v timing unicode " +
	"update-notifier diff=v diff-dst-prefix=v diff-ignore-all-space diff-name-only diff-no-prefix diff-src-prefix=v " +
	"diff-text diff-unified=v cache-max=v cache-min=v"

const morePnpm = "g|global D|save-dev|dev E|save-exact O|save-optional P|save-prod|prod F|filter|filter-prod=v r|recursive " +
	"w|workspace-root l long json fix L|latest dry-run tag=v access=v otp=v registry=h omit=v lockfile-dir=w modules-dir=w " +
	"store-dir=w virtual-store-dir=w global-dir=w pnpmfile=x global-pnpmfile=x pack-destination|out=w cache-dir=w editor=c " +
	"browser=c"

const optionsPnpm = morePnpm + " C|dir=k"

// scriptPnpm are the same behind run.
const scriptPnpm = morePnpm + " C|dir=v"

const plainPnpm = "h help v version s|silent y yes i|interactive 1 aggregate-output changed-files-ignore-pattern=v child-concurrency=v " +
	"workspace-concurrency=v network-concurrency=v fail-if-no-match if-present bail parallel sequential sort stream " +
	"report-summary reporter-hide-prefix resume-from=v reporter=v loglevel=v use-stderr color frozen-lockfile " +
	"prefer-frozen-lockfile fix-lockfile lockfile lockfile-only merge-git-branch-lockfiles ignore-scripts ignore-workspace " +
	"ignore-pnpmfile ignore-workspace-cycles offline prefer-offline optional production force save save-prefix=v save-peer " +
	"save-catalog save-catalog-name=v workspace hoist hoist-pattern=v public-hoist-pattern=v shamefully-hoist " +
	"optimistic-repeat-install package-import-method=v resolution-only side-effects-cache side-effects-cache-readonly " +
	"strict-peer-dependencies auto-install-peers link-workspace-packages shared-workspace-lockfile test-pattern=v " +
	"update-checksums depth=v parseable only-projects exclude-peers compatible format=v sort-by=v table audit-level=v " +
	"ignore=v ignore-unfixable ignore-registry-errors git-checks publish-branch=v pending remote"

const moreYarn = "g|global registry=h cache-folder=w global-folder=w link-folder=w modules-folder=w preferred-cache-folder=w " +
	"D|dev|save-dev E|exact|save-exact O|optional|save-optional P|peer|save-peer dry-run|n fix force l|long L|latest tag=v " +
	"access=v otp=v no-redacted A|all include=v exclude=v"

const optionsYarn = "cwd=k " + moreYarn

// scriptYarn are the same behind run.
const scriptYarn = "cwd=v " + moreYarn

const plainYarn = "h help S v|verbose version s|silent T|tilde|save-tilde C|caret R|recursive W|ignore-workspace-root-check F|fixed " +
	"i|interactive B binaries-only json save production|prod=? emoji=? audit check-files frozen-lockfile pure-lockfile " +
	"lockfile flat focus ignore-engines ignore-optional ignore-platform ignore-scripts link-duplicates bin-links " +
	"non-interactive offline prefer-offline progress node-version-check network-concurrency=v network-timeout=v pnp " +
	"enable-pnp disable-pnp strict-semver scripts-prepend-node-path=? depth=v pattern=? scope=? groups=v level=v summary " +
	"immutable immutable-cache check-cache check-resolutions refresh-lockfile inline-builds mode=v cached prefer-dev peers " +
	"severity=v environment=v ignore=v no-deprecations top-level manifest virtuals dependents name-only only=v " +
	"update-checksums why"

const optionsBun = "g|global d|dev E|exact cwd=k c|config=x F|filter=v env-file=r registry=h cache-dir=w dry-run n fix force tag=v " +
	"access=v otp=v outdated L|latest l"

const plainBun = "h help f p|production|prod y|yarn r|recursive i|interactive backend=v concurrent-scripts=v network-concurrency=v " +
	"cpu=v libc=v os=v depth=v frozen-lockfile ignore-scripts linker=v lockfile-only cache env-file progress save " +
	"save-prod save-text-lockfile summary verify offline omit=v only-missing optional peer prefer-offline quiet silent " +
	"verbose audit-level=v ignore=v json all top=v why use-bundled-ca use-openssl-ca use-system-ca"

const scriptBun = "e|eval=i p|print=i preload|r|require|import=x c|config=x cwd=v env-file=r b|bun F|filter=v i|install=? port=v hot " +
	"watch smol silent inspect|inspect-brk|inspect-wait=? tsconfig-override=r redirect-warnings=w cpu-prof cpu-prof-dir=w " +
	"cpu-prof-name=w heap-prof heap-prof-dir=w heap-prof-name=w"

// rootBun are the same before a subcommand.
const rootBun = "e|eval=i p|print=i preload|r|require|import=x c|config=x cwd=k env-file=r b|bun F|filter=v i|install=? port=v hot " +
	"watch smol silent inspect|inspect-brk|inspect-wait=? tsconfig-override=r redirect-warnings=w cpu-prof cpu-prof-dir=w " +
	"cpu-prof-name=w heap-prof heap-prof-dir=w heap-prof-name=w"

const plainBunRun = "h help v version revision check conditions=v console-depth=v cpu-prof-interval=v cpu-prof-md d|define=v " +
	"disable-warning=v dns-result-order=v drop=v elide-lines=v expose-gc extension-order=v feature=v heap-prof-interval=v " +
	"heap-prof-md if-present ignore-dce-annotations interactive jsx-factory=v jsx-fragment=v jsx-import-source=v " +
	"jsx-runtime=v jsx-side-effects l|loader=v main-fields=v max-http-header-size=v addons clear-screen deprecation " +
	"exit-on-error ffi-cc macros orphans warnings parallel sequential pending-deprecation prefer-latest prefer-offline " +
	"preserve-symlinks preserve-symlinks-main shell=v throw-deprecation title=v trace-deprecation trace-warnings " +
	"unhandled-rejections=v use-bundled-ca use-openssl-ca use-system-ca watch-kill-signal=v workspaces zero-fill-buffers"

const optionsBunTest = "coverage-dir=w reporter-outfile=w timings=w e|eval=i p|print=i preload|r|require|import=x c|config=x cwd=v " +
	"env-file=r " +
	"b|bun F|filter=v i|install=? hot watch smol silent inspect|inspect-brk|inspect-wait=? tsconfig-override=r " +
	"redirect-warnings=w cpu-prof cpu-prof-dir=w cpu-prof-name=w heap-prof heap-prof-dir=w heap-prof-name=w"

const plainBunTest = "bail=? changed=? concurrent coverage coverage-reporter=v dots isolate max-concurrency=v only only-failures " +
	"parallel-delay=v parallel=? pass-with-no-tests path-ignore-patterns=v randomize reporter=v rerun-each=v retry=v " +
	"seed=v shard=v t|test-name-pattern=v test-worker timeout=v todo u|update-snapshots update-timings h help v version " +
	"revision check conditions=v console-depth=v cpu-prof-interval=v cpu-prof-md d|define=v disable-warning=v " +
	"dns-result-order=v drop=v elide-lines=v expose-gc extension-order=v feature=v heap-prof-interval=v heap-prof-md " +
	"if-present ignore-dce-annotations interactive jsx-factory=v jsx-fragment=v jsx-import-source=v jsx-runtime=v " +
	"jsx-side-effects l|loader=v main-fields=v max-http-header-size=v addons clear-screen deprecation exit-on-error ffi-cc " +
	"macros orphans warnings pending-deprecation prefer-latest prefer-offline preserve-symlinks preserve-symlinks-main " +
	"shell=v throw-deprecation title=v trace-deprecation trace-warnings unhandled-rejections=v use-bundled-ca " +
	"use-openssl-ca use-system-ca watch-kill-signal=v workspaces zero-fill-buffers"

const optionsBunBuild = "outdir=w outfile=w metafile=w metafile-md=w root=r cwd=v c|config=x compile-executable-path=x e|external=v"

const plainBunBuild = "app asset-naming=v asset=v banner=v bytecode bytecode-depth=v bytecode-order=v check chunk-naming=v compile " +
	"compile-autoload-bunfig compile-autoload-dotenv compile-autoload-package-json compile-autoload-tsconfig " +
	"compile-jit-policy=v conditions=v css-chunking define=v drop=v emit-dce-annotations entry-naming=v footer=v format=v " +
	"h help jsx-factory=v keep-names min-chunk-size=v minify minify-identifiers minify-syntax minify-whitespace bundle " +
	"clear-screen packages=v production public-path=v react-compiler react-fast-refresh reject-unresolved sourcemap=? " +
	"splitting target=v watch windows-hide-console windows-title=v windows-version=v windows-publisher=v " +
	"windows-description=v windows-copyright=v"
