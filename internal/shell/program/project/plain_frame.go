package project

// The options of frameworks and of tools of Ruby, PHP, .NET, Elixir and Java: see plain.go.

const plainBundle = "quiet verbose V local deployment frozen clean full-index cache prune redownload force " +
	"prefer-local j|jobs=v retry=v without=v with=v all g|group|groups=v ruby=? minor major patch strict conservative " +
	"pre add-platform=v remove-platform=v normalize-platforms print color name-only paths only-group=v without-group=v " +
	"outdated parseable porcelain filter-major filter-minor filter-patch only-explicit dry-run h help global"

const plainRake = "n|dry-run q|quiet s|silent v|verbose T|tasks=? D|describe=? P|prereqs W|where=? A|all " +
	"t|trace=? j|jobs=? m|multitask N|no-search|nosearch G|no-system|nosystem job-stats=? rules suppress-backtrace=v " +
	"comments no-deprecation-warnings X B|build-all backtrace=? h H help V version"

const plainRspec = "f|format=v b|backtrace c|color|colour force-color p|profile=? dry-run w|warnings " +
	"fail-fast=? failure-exit-code=v error-exit-code=v order=v seed=v bisect=? only-failures n|next-failure " +
	"e|example=v E|example-matches=v t|tag=v h help v version fail-if-no-examples exclude-pattern=v P|pattern=v"

const plainRubocop = "l|lint x|fix-layout only=v except=v f|format=v S|display-style-guide " +
	"D|display-cop-names E|extra-details P|parallel F|fail-fast fail-level=v force-exclusion force-default-config " +
	"ignore-parent-exclusion ignore-unrecognized-cops only-guide-cops L|list-target-files d|debug cache=v display-time " +
	"display-only-fail-level-offenses display-only-correctable display-only-safe-correctable auto-gen-config " +
	"regenerate-todo exclude-limit=v auto-gen-only-exclude auto-gen-timestamp offense-counts safe safe-auto-correct " +
	"autocorrect-all auto-correct auto-correct-all disable-uncorrectable s|stdin=v color v|version V|verbose-version " +
	"show-cops=? show-docs-url=? h help"

const plainRails = "e|environment=v p|port=v P|pid=v d|daemon C|dev-caching u|using=v early-hints " +
	"log-to-stdout n|name=v s|seed=v v|verbose f|fail-fast c|defer-output color w|warnings pride q|quiet S|skip " +
	"F|force pretend T|tasks=? t|trace g|grep=v h help D|describe=? A|all api js=v css=v database=v skip-test skip-git " +
	"skip-bundle skip-migration skip-routes skip-helper skip-assets migration timestamps fixture parent=v helper " +
	"assets orm=v test-framework=v profile=? expanded controller=v sandbox unused version annotations=v a tag=v"

const plainComposer = "h help q|quiet V version v|verbose n|no-interaction ansi profile no-plugins no-scripts " +
	"no-cache prefer-source prefer-dist prefer-install=v dry-run dev autoloader progress install suggest " +
	"a|classmap-authoritative o|optimize-autoloader|optimize apcu-autoloader apcu-autoloader-prefix=v " +
	"ignore-platform-req=v ignore-platform-reqs audit audit-format=v lock w|with-dependencies W|with-all-dependencies " +
	"prefer-stable prefer-lowest m|minimal-changes root-reqs i|interactive strict-psr l|list timeout=v with=v"

const plainComposerShow = "h help q|quiet V version v|verbose n|no-interaction ansi profile no-plugins no-scripts " +
	"no-cache a|all|available locked i|installed p|platform s|self N|name-only P|path t|tree l|latest o|outdated " +
	"m|minor-only M|major-only patch-only A sort-by-age D|direct strict f|format=v dev ignore=v ignore-platform-req=v " +
	"ignore-platform-reqs check-all check-lock check-publish check-version with-dependencies r|recursive abandoned=v " +
	"ignore-severity=v"

const phpunitOptions = "c|configuration=x bootstrap=x include-path=e cache-directory=w cache-result-file=w " +
	"coverage-html=w coverage-clover=w coverage-xml=w coverage-php=w coverage-cobertura=w coverage-crap4j=w " +
	"coverage-text=? coverage-cache=w log-junit=w log-teamcity=w log-events-text=w log-events-verbose-text=w " +
	"testdox-html=w testdox-text=w extension=x printer=x loader=x"

const plainPhpunit = "filter=v testsuite=v exclude-testsuite=v group=v exclude-group=v covers=v uses=v " +
	"list-tests list-suites list-groups order-by=v random-order random-order-seed=v reverse-order stop-on-failure " +
	"stop-on-error stop-on-defect stop-on-warning stop-on-incomplete stop-on-skipped stop-on-risky fail-on-warning " +
	"fail-on-risky fail-on-empty-test-suite fail-on-incomplete fail-on-skipped fail-on-deprecation fail-on-notice " +
	"testdox colors=? v verbose debug coverage process-isolation do-not-cache-result cache-result progress output " +
	"results display-incomplete display-skipped display-deprecations display-errors display-notices display-warnings " +
	"columns=v teamcity strict-coverage repeat=v test-suffix=v h help version configuration logging extensions " +
	"path-coverage coverage-filter=v"

const dotnetOptions = "o|output=w p|property=v s|source=h project=x settings=x l|logger=v results-directory=w " +
	"diag=w artifacts-path=w test-adapter-path=e lock-file-path=w configfile=x packages=w"

const plainDotnet = "c|configuration=v f|framework=v r|runtime=v a|arch=v os=v v|verbosity=v e|environment=v " +
	"filter=v launch-profile=v nologo restore build incremental dependencies self-contained=? sc=? force interactive " +
	"use-current-runtime|ucr version-suffix=v tl=? disable-build-servers cache t|list-tests blame blame-crash " +
	"blame-hang blame-hang-timeout=v collect=v m=? nodereuse=v h help include-symbols include-source serviceable " +
	"ignore-failed-sources disable-parallel use-lock-file locked-mode force-evaluate hot-reload severity=v " +
	"verify-no-changes include=v exclude=v diagnostics=v include-generated binarylog=? highest-minor highest-patch " +
	"outdated deprecated vulnerable include-transitive include-prerelease format=v"

const plainMix = "trace stale only=v exclude=v include=v seed=v max-failures=v max-cases=v cover failed " +
	"force color warnings-as-errors slowest=v slowest-modules=v partitions=v formatter=v timeout=v start halt compile " +
	"deps-check archives-check elixir-version-check mix-exs parallel check-formatted dry-run migrate strict format=v " +
	"all-warnings verbose quiet export-coverage=v raise profile=v all check-unused check-locked only-umbrella n=v " +
	"step=v log-migrations-sql preload-modules v h help"

const plainJavac = "? help help-extra help-lint X Xlint Xdoclint Xprint XprintProcessorInfo XprintRounds " +
	"Werror add-exports=v add-modules=v add-reads=v default-module-for-created-files=v deprecation enable-preview " +
	"encoding=v g limit-modules=v module-version=v m|module=v nowarn parameters profile=v release=v source=v target=v " +
	"verbose version full-version Xmaxerrs=v Xmaxwarns=v system=v"

const plainDeno = "q|quiet check=? no-check=? watch=? watch-exclude=? watch-hmr=? lock remote npm prompt " +
	"unstable unstable-kv unstable-sloppy-imports unstable-detect-cjs unstable-node-globals unstable-temporal " +
	"unstable-worker-options ext=v seed=v location=v cached-only frozen=? node-modules-dir=? vendor=? clear-screen " +
	"code-cache filter=v fail-fast=? parallel shuffle=? reporter=v doc run trace-leaks permit-no-files ignore=? " +
	"target=v L|log-level=v h help version V fix json rules rules-tags=? rules-include=? rules-exclude=? compact " +
	"options-use-tabs options-line-width=v options-indent-width=v options-single-quote options-prose-wrap=v " +
	"options-no-semicolons private lint all detailed include=v exclude=v"

const denoOptions = "allow-read=? allow-write=? allow-net=? allow-env=? allow-run=? allow-ffi=? allow-sys=? " +
	"allow-import=? deny-read=? deny-write=? deny-net=? deny-env=? deny-run=? deny-ffi=? deny-sys=? A|allow-all " +
	"c|config=x import-map=x r|reload=? preload=x o|output=w coverage=? junit-path=w icon=r env-file=?"
