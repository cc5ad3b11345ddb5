// Package project knows programs that build, test and format the code of a project, and package managers of languages.
package project

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Rows are the tools of projects, sorted by name.
var Rows = []program.Row{
	{Name: "act", Does: effect.Container | effect.ProjectCode},
	{Name: "ant", Here: "r", Does: effect.ProjectCode, Parse: program.RunProject},
	{Name: "ar86", Operands: "v*"},
	{Name: "as", Style: program.Single, Listed: true, Plain: "D f J K L|keep-locals M|mri R W|no-warn w X Z V v k g|gen-debug 32 64 x32 alternate " +
		"compress-debug-sections=? nocompress-debug-sections dump-config debug-prefix-map=v defsym=v execstack noexecstack size-check=? " +
		"elf-stt-common=? sectname-subst generate-missing-build-notes=? gsframe hash-size=? help target-help multibyte-handling=? nocpp " +
		"no-pad-sections reduce-memory-overheads statistics strip-local-absolute traditional-format version warn fatal-warnings " +
		"listing-lhs-width=v listing-lhs-width2=v listing-rhs-width=v listing-cont-lines=v", Options: "o=w MD=w I=r", Operands: "r*",
		Parse: assemble},
	{Name: "asdf", Plain: "h help V version v verbose", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "current|where|which|version|info|help|shimversions", Plain: "h help no-header", Does: effect.Read},
		{Name: "list", Plain: "h help", Rest: effect.Read, Subs: []program.Row{{Name: "all", Plain: "h help",
			Does: effect.Read | effect.Network}}},
		{Name: "exec", Style: program.First, Plain: "h help", Parse: program.RunOperands},
	}},
	{Name: "autoconf", Plain: "v verbose f force d debug h help V version W=v warnings=v",
		Options: "o|output=w I|include=e B|prepend-include=e", Operands: "g*", Here: "rw", Does: effect.ProjectCode},
	{Name: "automake", Plain: "v verbose a add-missing c copy f force-missing foreign gnu no-force i ignore-deps h help version W=v " +
		"warnings=v", Options: "libdir=e", Operands: "g*", Here: "rw", Does: effect.ProjectCode},
	{Name: "bazel", Here: "rw", Does: effect.ProjectCode, Parse: labels},
	{Name: "biome", Plain: plainBiome, Options: biomeOptions, Operands: "f*", Here: "rw"},
	{Name: "black", Plain: plainBlack, Options: "l|line-length=v t|target-version=v config=r exclude=v include=v c|code=v check diff",
		Operands: "f*", Here: "r"},
	{Name: "buck", Here: "rw", Does: effect.ProjectCode, Parse: labels},
	{Name: "bun", Plain: plainBunRun, Options: rootBun, Handle: npmOptions, Other: packageScript, Subs: bunCommands},
	{Name: "bundle", Plain: "h help version verbose", Subs: []program.Row{
		{Name: "exec", Style: program.First, Plain: "keep-file-descriptors", Options: "gemfile=x", Parse: program.RunOperands},
		{Name: "install|update|lock", Plain: plainBundle, Options: "bundler=? gemfile=x path=w binstubs=? standalone=? lockfile=w",
			Operands: "g*", Here: "rw", Does: effect.Deps | effect.Network | effect.ProjectCode, Handle: bundler},
		{Name: "add", Operands: "g*", Here: "rw", Does: effect.Install | effect.Network | effect.ProjectCode},
		{Name: "list|show|info|outdated|check|platform|version", Plain: plainBundle + " path", Options: "gemfile=x", Operands: "g*", Here: "r"},
		{Name: "config", Plain: plainBundle + " parseable", Operands: "g*", Here: "rw", Handle: bundleConfig},
	}},
	{Name: "bunx", Parse: runPackage},
	{Name: "cabal", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "build|test|run|bench|check|clean|haddock|list-bin|v2-build|v2-test",
			Plain: "h help v=? verbose=? j=? jobs=? O=? enable-tests " +
				"enable-benchmarks disable-tests only-dependencies dry-run offline f=v flags=v test-show-details=v test-options=v ghc-version=v",
			Options: "w|with-compiler=x builddir=w project-file=x project-dir=k", Parse: runNamed},
		{Name: "list|info|outdated|path", Plain: "h help v=? installed simple-output exact", Operands: "v*"},
		{Name: "install|get|update|fetch|init", Does: effect.Install | effect.Network},
		{Name: "upload|report", Does: effect.Publish | effect.Network},
	}},
	{Name: "cargo", Plain: plainCargo + " explain=v", Options: "C=k config=x Z=v color=v manifest-path=r lockfile-path=w",
		Handle: cargoSettings, Subs: cargoCommands},
	{Name: "clang-format", Style: program.Single,
		Plain: "n dry-run Werror Wno-error=v fallback-style=v sort-includes lines=v offset=v length=v " +
			"cursor=v output-replacements-xml verbose ferror-limit=v fno-color-diagnostics fcolor-diagnostics help version dump-config " +
			"qualifier-alignment=v fail-on-incomplete-format", Options: "i style=v assume-filename=v files=n", Operands: "f*"},
	{Name: "clang-tidy", Style: program.Single, Plain: "checks=v header-filter=v exclude-header-filter=v line-filter=v system-headers " +
		"warnings-as-errors=v format-style=v list-checks explain-config dump-config enable-check-profile quiet use-color allow-no-checks " +
		"verify-config help version", Options: "p=r config=v config-file=r fix fix-errors fix-notes export-fixes=w load=x " +
		"store-check-profile=w vfsoverlay=r", Operands: "f*"},
	{Name: "cmake", Style: program.Single, Plain: plainCmake,
		Options: "S=r B=w G=v D=v U=v build=w C=x P=x E=v T=v A=v j|parallel=? t|target=v config=v install=r install-prefix=w preset=v " +
			"prefix=w toolchain=x graphviz=w trace-redirect=w profiling-output=w", Operands: "r*", Here: "rw", Does: effect.ProjectCode,
		Parse: cmake},
	{Name: "composer", Plain: plainComposer, Options: "d|working-dir=k", Subs: []program.Row{
		{Name: "install|update|dump-autoload|dumpautoload", Plain: plainComposer, Options: "d|working-dir=k", Operands: "g*", Here: "rw",
			Does: effect.Deps | effect.Network | effect.ProjectCode},
		{Name: "require|create-project|global", Operands: "g*", Here: "rw", Does: effect.Install | effect.Network | effect.ProjectCode},
		{Name: "run|run-script|exec|test|check", Style: program.First, Plain: plainComposer, Options: "d|working-dir=k", Operands: "g*",
			Here: "r",
			Does: effect.ProjectCode},
		{Name: "show|info|outdated|validate|why|licenses|diagnose|audit", Plain: plainComposerShow, Options: "d|working-dir=k", Operands: "g*",
			Here: "r"},
	}},
	{Name: "corepack", Does: effect.Install | effect.Network},
	{Name: "coverage", Plain: "h help version", Subs: []program.Row{
		{Name: "run", Style: program.First, Plain: "a append branch timid L pylib p parallel-mode m|module h help debug=v context=v " +
			"concurrency=v include=v omit=v source=v", Options: "rcfile=x data-file=w", Parse: runNamed},
		{Name: "report|html|xml|json|combine|erase|debug", Plain: "m|show-missing i|ignore-errors skip-covered skip-empty precision=v sort=v " +
			"contexts=v title=v show-contexts pretty-print q|quiet a|append keep h help branch include=v omit=v fail-under=v format=v",
			Options: "d|directory=w o=w rcfile=x data-file=r", Operands: "g*", Here: "rw"},
	}},
	{Name: "cpp", Style: program.Single, Listed: true, Plain: plainGcc, Options: compilerOptions, Operands: "rw", Parse: compile},
	{Name: "crystal", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "build|run|spec|docs", Plain: "h help release debug d static no-color progress s stats t time v verbose error-trace D=v " +
			"define=v O=v e=v " +
			"example=v tag=v fail-fast order=v p", Options: "o|output=w cross-compile", Parse: runNamed},
		{Name: "eval", Does: effect.InlineCode},
		{Name: "env|version", Plain: "h help", Operands: "v*"},
	}},
	{Name: "ctest", Style: program.Single, Plain: plainCtest,
		Options: "test-dir=k R=v E=v j=? C=v O|output-log=w output-junit=w S|script=x " +
			"SP|script-new-process=x", Operands: "g*", Here: "r", Does: effect.ProjectCode, Parse: ctest},
	{Name: "deno", Plain: "q quiet L=v log-level=v h help V version", Alone: effect.InlineCode, Subs: []program.Row{
		{Name: "run", Style: program.First, Plain: plainDeno, Options: denoOptions, Parse: deno},
		{Name: "test|bench|serve|compile", Plain: plainDeno, Options: denoOptions, Parse: deno},
		{Name: "eval|repl|jupyter", Does: effect.InlineCode},
		{Name: "fmt|lint|check|doc|info|types|coverage", Plain: plainDeno, Options: "c|config=r import-map=r o|output=w", Operands: "b*",
			Here: "r"},
		{Name: "task", Style: program.First, Plain: "q quiet h help r recursive f=v filter=v", Options: "c|config=x cwd=k",
			Operands: "g*", Here: "r", Does: effect.ProjectCode},
		{Name: "install|add|cache|upgrade", Does: effect.Install | effect.Network},
		{Name: "publish|deploy", Does: effect.Publish | effect.Network},
	}},
	{Name: "dotnet", Plain: "h help info version list-sdks list-runtimes d diagnostics", Subs: []program.Row{
		{Name: "build|test|run|clean|watch|msbuild|publish|pack|vstest", Plain: plainDotnet, Options: dotnetOptions, Parse: dotnet},
		{Name: "restore", Plain: plainDotnet, Options: dotnetOptions, Operands: "g*", Here: "rw", Does: effect.Deps | effect.Network},
		{Name: "add|tool|workload|new", Operands: "g*", Here: "rw", Does: effect.Install | effect.Network},
		{Name: "format|list|--info|--version|sln|remove", Plain: plainDotnet, Options: dotnetOptions, Operands: "g*", Here: "rw"},
		{Name: "nuget", Does: effect.Publish | effect.Network},
	}},
	{Name: "dune", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "build|test|runtest|fmt|clean|promote", Plain: "h help w watch j=v f force verbose display=v profile=v release " +
			"auto-promote p=v " +
			"only-packages=v no-buffer error-reporting=v preview", Options: "root=k build-dir=w workspace=x", Parse: runNamed},
		{Name: "describe|show|rules", Plain: "h help format=v lang=v", Options: "root=k", Operands: "g*", Here: "r", Does: effect.ProjectCode},
		{Name: "exec", Style: program.First, Plain: "h help", Parse: program.RunOperands},
	}},
	{Name: "eslint", Plain: plainEslint, Options: eslintOptions, Operands: "f*", Here: "r", Does: effect.ProjectCode, Handle: byPath},
	{Name: "flake8", Plain: plainFlake8, Options: "config=x append-config=x max-line-length=v select=v ignore=v extend-ignore=v exclude=v " +
		"output-file=w", Operands: "r*", Here: "r"},
	{Name: "fnm", Same: "nvm"},
	{Name: "gcc", Style: program.Single, Listed: true, Plain: plainGcc, Options: compilerOptions, Operands: "r*", Parse: compile},
	{Name: "gem", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "list|search|info|env|environment|which|contents|specification|outdated",
			Plain: "h help V verbose q quiet silent l local r remote b " +
				"both a all d details i installed I e exact prerelease versions v=v version=v spec ruby yaml marshal platform=v n=v",
			Operands: "v*"},
		{Name: "install|update|fetch", Does: effect.Install | effect.Network},
		{Name: "push|yank|owner", Does: effect.Publish | effect.Network},
		{Name: "build", Plain: "h help V verbose q quiet strict force platform=v", Options: "o|output=w C=k", Operands: "r*", Here: "rw"},
		{Name: "uninstall|cleanup", Does: effect.Install | effect.Delete},
	}},
	{Name: "gfortran", Same: "gcc"},
	{Name: "gmake", Same: "make"},
	{Name: "go", Style: program.Single, Plain: "h help", Options: "C=k", Subs: goCommands},
	{Name: "gofmt", Style: program.Single, Plain: plainGofmt, Options: "w l d s r=v cpuprofile|memprofile|trace=w", Operands: "r*",
		Instead: "w f*"},
	{Name: "gofumpt", Same: "gofmt"},
	{Name: "goimports", Same: "gofmt"},
	{Name: "golangci-lint", Plain: "h help v verbose color=v version", Subs: []program.Row{
		{Name: "run|fmt", Plain: plainGolangci, Options: golangciOptions, Operands: "r*", Here: "r"},
		{Name: "linters|formatters|config|version|help|cache|migrate", Plain: plainGolangci, Options: golangciOptions, Operands: "g*",
			Here: "r"},
	}},
	{Name: "gradle", Plain: plainGradle, Options: "I|init-script=x b|build-file=x c|settings-file=x p|project-dir=e g|gradle-user-home=e " +
		"project-cache-dir=w include-build=x D|system-prop=v P|project-prop=v", Here: "rw", Parse: gradle},
	{Name: "gradlew", Same: "gradle"},
	{Name: "hatch", Plain: "h help V version v verbose", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "run", Style: program.First, Plain: "h help", Parse: pdmRun},
		{Name: "test|fmt|build|version|clean", Plain: "h help a all c cover check r randomize p parallel retries=v python=v i=v include=v " +
			"x=v exclude=v " +
			"preview t=v target=v clean hooks-only no-hooks ext", Operands: "g*", Here: "rw", Does: effect.ProjectCode | effect.Deps},
		{Name: "status|dep", Plain: "h help", Operands: "g*", Here: "r"},
		{Name: "publish", Does: effect.Publish | effect.Network},
	}},
	{Name: "isort", Plain: plainIsort, Options: "settings-path|settings-file|sp=r profile=v check diff", Operands: "f*", Here: "r"},
	{Name: "javac", Style: program.Single, Listed: true, Plain: plainJavac, Options: "d=o h=o s=o cp|classpath|class-path=v " +
		"sourcepath|source-path=r processorpath|processor-path=v processor-module-path=v processor=v p|module-path=r module-source-path=r " +
		"upgrade-module-path=r patch-module=v bootclasspath|boot-class-path=r endorseddirs=r extdirs=r Xstdout=w", Operands: "r*",
		Parse: javac},
	{Name: "jest", Plain: plainJest, Options: jestOptions, Here: "rw", Parse: runNamed},
	{Name: "just", Style: program.First,
		Plain: "l|list n|dry-run q|quiet v|verbose s|show=v summary dump evaluate variables u|unsorted check " +
			"unstable yes timestamp one no-deps list-heading=v list-prefix=v h help V version fmt groups color=v command-color=v highlight",
		Options: "f|justfile=x d|working-directory=k dotenv-path=r dotenv-filename=v set=2", Here: "r", Parse: runNamed},
	{Name: "lerna", Plain: "scope=v ignore=v since=? include-dependents include-dependencies no-private concurrency=v stream parallel " +
		"no-bail " +
		"sort no-sort loglevel=v l all a json toposort graph profile npm-client=v h help v version", Here: "rw", Parse: runNamed},
	{Name: "make", Plain: plainMake, Options: "C|directory=k f|file|makefile=x I|include-dir=r j|jobs=? o=v W=v E|eval=c l=? " +
		"n|just-print|dry-run|recon q|question t|touch k s B O=?", Does: effect.ProjectCode, Handle: makeTargets},
	{Name: "meson", Plain: "D=v buildtype=v reconfigure wipe v verbose j=v num-processes=v suite=v no-suite=v t=v timeout-multiplier=v " +
		"print-errorlogs repeat=v list clean no-rebuild benchmark logbase=v maxfail=v q quiet backend=v werror warnlevel=v default-library=v " +
		"optimization=v debug h help version all targets tests i indent",
		Options: "C=k native-file=x cross-file=x prefix=w destdir=w wrapper|wrap=c " +
			"gdb-path=x", Here: "rw", Parse: runNamed},
	{Name: "mix", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "run|eval", Style: program.First, Plain: plainMix, Options: "e|eval=i r|require=x", Handle: mixRun},
		{Name: "test|compile|format|credo|dialyzer|phx.server|ecto.migrate|deps.compile", Plain: plainMix,
			Options: "r|require=x dot-formatter=x " +
				"repo=v", Parse: runNamed},
		{Name: "help|deps|phx.routes|hex.outdated|xref", Plain: plainMix, Operands: "g*", Here: "r", Does: effect.ProjectCode},
		{Name: "ecto.drop|ecto.reset|ecto.rollback", Does: effect.Database | effect.ProjectCode},
		{Name: "deps.get|deps.update", Plain: "h help", Operands: "g*", Here: "rw", Does: effect.Deps | effect.Network},
		{Name: "hex.publish", Does: effect.Publish | effect.Network},
	}},
	{Name: "mocha", Plain: plainMocha, Options: mochaOptions, Here: "rw", Parse: runNamed},
	{Name: "mvn", Style: program.Single, Plain: plainMvn, Options: "f|file=x s|settings=x gs|global-settings=x is|install-settings=x " +
		"t|toolchains=x gt|global-toolchains=x l|log-file=w", Here: "rw", Parse: maven},
	{Name: "mvnw", Same: "mvn"},
	{Name: "mypy", Plain: plainMypy, Options: "config-file=x cache-dir=w p|package=v m|module=v c|command=v python-version=v " +
		"python-executable=x install-types junit-xml=w any-exprs-report=w cobertura-xml-report=w html-report=w linecount-report=w " +
		"linecoverage-report=w lineprecision-report=w txt-report=w xml-report=w xslt-html-report=w xslt-txt-report=w " +
		"custom-typeshed-dir=r package-root=r shadow-file=3", Operands: "r*", Here: "r", Handle: installTypes},
	{Name: "next", Plain: plainNext, Options: nextOptions, Here: "rw", Parse: webTool},
	{Name: "ng", Plain: plainNg, Options: "output-path=w ts-config=x main=x karma-config=x host=?", Here: "rw", Parse: webTool},
	{Name: "ninja", Plain: "v verbose n k=v l=v d=v w=v quiet version h help", Options: "C=k f=x j=v t=v", Operands: "g*", Here: "rw",
		Does: effect.ProjectCode},
	{Name: "nodenv", Same: "pyenv"},
	{Name: "nox", Plain: "s|session|sessions|e=v k|keywords=v t|tags=v l|list R r reuse-existing-virtualenvs no-install " +
		"p|python|pythons=v v " +
		"verbose error-on-missing-interpreters x stop-on-first-error h help version force-color no-color non-interactive",
		Options: "f|noxfile=x report=w envdir=w", Here: "rw", Parse: runNamed},
	{Name: "npm", Plain: plainNpm, Options: optionsNpm, Handle: npmOptions, Other: packageScript, Subs: npmCommands},
	{Name: "npx", Parse: runPackage},
	{Name: "nvm", Plain: "h help V version v verbose", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "ls|list|current|version|which|--version|help", Plain: "no-colors no-alias silent h help", Does: effect.Read},
	}},
	{Name: "nx", Plain: plainNg, Options: "output-path=w runner=x", Here: "rw", Parse: runNamed},
	{Name: "nyc", Style: program.First, Plain: "all a check-coverage lines=v functions=v branches=v statements=v per-file r=v " +
		"reporter=v s silent x=v " +
		"exclude=v n=v include=v e=v extension=v clean no-clean cache no-cache h help version source-map show-process-tree skip-full",
		Options: "report-dir=w t|temp-dir=w cwd=k nycrc-path=x i|require=x", Parse: program.RunOperands},
	{Name: "oxlint", Plain: plainOxlint, Options: oxlintOptions, Operands: "r*", Here: "r"},
	{Name: "pdm", Plain: "h help V version v verbose q quiet no-cache I ignore-python",
		Options: "p|project=k c|config=x", Rest: effect.Install | effect.Network, Subs: []program.Row{
			{Name: "run", Style: program.First, Plain: "h help v verbose q quiet", Options: "s|site-packages p|project=k", Parse: pdmRun},
			{Name: "list|show|info|outdated", Plain: "h help v verbose q quiet json csv markdown freeze tree graph r reverse fields=v sort=v " +
				"include=v " +
				"exclude=v python env where packages name version summary license", Options: "p|project=k", Operands: "g*", Here: "r"},
			{Name: "build", Plain: "h help v verbose q quiet no-sdist no-wheel no-clean no-isolation", Options: "p|project=k d|dest=w",
				Operands: "g*", Here: "rw", Does: effect.ProjectCode | effect.Deps},
			{Name: "publish", Does: effect.Publish | effect.Network},
		}},
	{Name: "phpunit", Plain: plainPhpunit, Options: phpunitOptions, Here: "rw", Parse: runNamed},
	{Name: "pip", Plain: plainPip, Options: pipOptions, Subs: pipCommands},
	{Name: "pipenv", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "run", Style: program.First, Plain: "h help", Parse: program.RunOperands},
		{Name: "install|sync|update|lock", Plain: "h help d dev deploy ignore-pipfile keep-outdated pre skip-lock clear verbose v quiet q " +
			"categories=v bare", Here: "rw", Does: effect.Network, Handle: install},
		{Name: "graph|check|verify|requirements|--venv", Plain: "h help bare json json-tree reverse dev dev-only hash exclude-markers " +
			"categories=v " +
			"quiet output=v", Operands: "g*", Here: "r"},
	}},
	{Name: "pipx", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "list|environment", Plain: "h help json short verbose q v include-injected skip-maintenance value=v V=v", Operands: "v*"},
		{Name: "run", Parse: runPackage},
		{Name: "install|upgrade|inject|upgrade-all|reinstall", Does: effect.Install | effect.Network},
		{Name: "uninstall", Does: effect.Install | effect.Delete},
	}},
	{Name: "playwright", Plain: "h help V version", Subs: []program.Row{
		{Name: "test|show-report|codegen|merge-reports", Plain: plainPlaywright, Options: playwrightOptions, Parse: runNamed},
		{Name: "install|install-deps", Does: effect.Install | effect.Network},
	}},
	{Name: "pnpm", Plain: plainPnpm, Options: optionsPnpm, Handle: npmOptions, Other: packageScript, Subs: pnpmCommands},
	{Name: "pnpx", Parse: runPackage},
	{Name: "poetry", Plain: plainPoetry, Options: "C|directory=k P|project=k", Subs: []program.Row{
		{Name: "run", Style: program.First, Plain: "h help", Parse: program.RunOperands},
		{Name: "install|lock|sync", Plain: plainPoetry, Options: poetryOptions, Operands: "g*", Here: "rw",
			Does: effect.Deps | effect.Network | effect.ProjectCode},
		{Name: "add|update|self", Plain: plainPoetry, Options: poetryOptions, Operands: "g*", Here: "rw",
			Does: effect.Install | effect.Network},
		{Name: "remove|version|init|new|build|export|cache", Plain: plainPoetry, Options: poetryOptions, Operands: "g*", Here: "rw",
			Does: effect.ProjectCode},
		{Name: "config", Plain: plainPoetry, Options: poetryOptions, Operands: "g*", Here: "rw", Handle: poetryConfig},
		{Name: "source", Plain: "h help V version v verbose", Rest: effect.Install, Subs: []program.Row{{Name: "show", Plain: plainPoetry,
			Does: effect.Read}}},
		{Name: "show|check|about|list|search", Plain: plainPoetry, Options: "C|directory=k P|project=k o|outdated", Operands: "g*", Here: "r"},
		{Name: "env", Plain: "h help V version v verbose", Rest: effect.Install, Subs: []program.Row{
			{Name: "info|list|activate", Plain: "full-path p|path e|executable " + plainPoetry, Options: poetryOptions, Operands: "g*",
				Here: "r"},
		}},
		{Name: "publish", Does: effect.Publish | effect.Network},
	}},
	{Name: "pre-commit", Plain: "h help V version", Subs: []program.Row{
		{Name: "run", Plain: "a all-files v verbose show-diff-on-failure s|from-ref|source=v o|to-ref|origin=v hook-stage=v color=v " +
			"fail-fast h help",
			Options: "c|config=x files=r", Operands: "g*", Here: "rw", Does: effect.ProjectCode | effect.Deps | effect.Network},
		{Name: "install|uninstall|autoupdate|install-hooks|migrate-config", Plain: "f overwrite allow-missing-config install-hooks " +
			"t|hook-type=v bleeding-edge freeze j|jobs=v color=v h help", Options: "c|config=x", Operands: "g*", Here: "rw",
			Does: effect.Deps | effect.Network},
		{Name: "validate-config|sample-config", Plain: "h help color=v", Operands: "g*", Here: "r"},
	}},
	{Name: "prettier", Plain: plainPrettier, Options: prettierOptions, Operands: "r*", Instead: "w f*", Here: "r",
		Does: effect.ProjectCode, Handle: byPath},
	{Name: "prisma", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "generate|format|validate|studio|init", Plain: "h help watch generator=v no-engine no-hints data-proxy accelerate sql check " +
			"allow-no-models p=v port=v browser=v b=v datasource-provider=v", Options: "schema=r config=x", Operands: "g*", Here: "rw",
			Does: effect.ProjectCode},
		{Name: "migrate|db", Operands: "g*", Here: "rw", Does: effect.Database | effect.ProjectCode},
	}},
	{Name: "protoc", Plain: "h help version encode=v decode=v decode_raw include_imports include_source_info retain_options " +
		"error_format=v fatal_warnings print_free_field_numbers enable_codegen_trace deterministic_output go_opt=v go-grpc_opt=v " +
		"python_opt=v ts_proto_opt=v experimental_allow_proto3_optional", Options: "I|proto_path=r go_out=w go-grpc_out=w python_out=w " +
		"pyi_out=w grpc_python_out=w java_out=w cpp_out=w js_out=w ts_out=w ruby_out=w csharp_out=w kotlin_out=w php_out=w rust_out=w " +
		"o|descriptor_set_out=w descriptor_set_in=r dependency_out=w plugin=v", Operands: "r*", Handle: protoc},
	{Name: "pyenv", Plain: "h help V version v verbose", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "versions|version|version-name|which|whence|root|prefix|commands|help|shims",
			Plain: "bare skip-aliases skip-envs path sh no-sh short " +
				"h help nosystem", Does: effect.Read},
		{Name: "local", Plain: "unset f force h help", Operands: "g*", Here: "rw"},
		{Name: "exec", Style: program.First, Plain: "h help", Parse: program.RunOperands},
	}},
	{Name: "pylint", Plain: plainPylint, Options: "rcfile=x load-plugins=v init-hook=i output=w disable=v enable=v source-roots=r",
		Operands: "r*",
		Here:     "r"},
	{Name: "pyright", Plain: "h help version outputjson level=v stats warnings w watch skipunannotated verifytypes=v ignoreexternal lib " +
		"dependencies threads=? pythonplatform=v pythonversion=v verbose", Options: "p|project=r t|typeshedpath|typeshed-path=r " +
		"pythonpath=x v|venvpath|venv-path=r", Operands: "r*", Here: "r"},
	{Name: "pytest", Plain: plainPytest, Options: pytestOptions, Here: "rw", Parse: runPytest},
	{Name: "rails", Plain: plainRails, Options: "b|binding=v", Here: "rw", Parse: rails},
	{Name: "rake", Plain: plainRake,
		Options: "e|execute=i E|execute-continue=i p|execute-print=i f|rakefile=x r|require=x I|libdir=e R|rakelibdir=e " +
			"C|directory=k", Here: "rw", Parse: rake},
	{Name: "rbenv", Same: "pyenv"},
	{Name: "rspec", Plain: plainRspec, Options: "I=e r|require=x O|options=x o|out=w deprecation-out=w default-path=r", Here: "rw",
		Parse: runNamed},
	{Name: "rubocop", Plain: plainRubocop, Options: "c|config=x r|require=x plugin=x a|autocorrect A o|out=w cache-root=w", Operands: "f*",
		Here: "r"},
	{Name: "ruff", Plain: "h help V version v verbose q quiet s silent isolated color=v", Options: "config=r", Subs: []program.Row{
		{Name: "check|format|rule|linter|config|version|clean|analyze", Plain: plainRuff,
			Options: "config=r select=v ignore=v exclude=v o|output-file=w target-version=v line-length=v cache-dir=w fix", Operands: "f*",
			Here: "r"},
	}},
	{Name: "rustc", Listed: true, Plain: plainRustc, Options: "o=w out-dir=o L=v crate-type=v edition=v extern=v codegen|C=v target=v " +
		"emit=v Z=v sysroot=e cfg=v print=v explain=v cap-lints=v", Operands: "r*", Here: "w", Handle: compileRust},
	{Name: "rustfmt", Plain: plainRustfmt, Options: "edition=v config=v config-path=r check", Operands: "b*"},
	{Name: "rustup", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "show|which|check|doc|--version", Plain: "v verbose h help toolchain=v path alloc book cargo core edition-guide nomicon " +
			"proc_macro " +
			"reference rust-by-example rustc rustdoc std test", Operands: "v*"},
		{Name: "update|install|self|default", Does: effect.Install | effect.Network},
		{Name: "component|target|toolchain|override", Plain: "h help V version v verbose", Rest: effect.Install | effect.Network,
			Subs: []program.Row{{Name: "list", Plain: "installed v verbose q quiet toolchain=v h help", Does: effect.Read}}},
		{Name: "run", Style: program.First, Plain: "h help", Parse: program.RunOperands},
	}},
	{Name: "sbt", Here: "rw", Parse: sbt},
	{Name: "scons", Here: "rw", Parse: program.RunProject},
	{Name: "shellcheck", Plain: plainShellcheck, Options: "s|shell=v e|exclude=v f|format=v x|external-sources P|source-path=r rcfile=r",
		Operands: "r*"},
	{Name: "shfmt", Style: program.Single, Plain: plainShfmt, Options: "w|write i|indent=v l|list=? d|diff ln|language-dialect=v s|simplify",
		Operands: "r*", Instead: "w f*"},
	{Name: "stack", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "build|test|bench|haddock|clean|run", Plain: "h help fast pedantic test bench haddock copy-bins coverage file-watch j=v " +
			"jobs=v flag=v " +
			"ghc-options=v ta=v test-arguments=v only-dependencies dry-run no-run-tests v verbose silent resolver=v",
			Options: "stack-yaml=x work-dir=w",
			Parse:   runNamed},
		{Name: "path|ls|query|dot", Plain: "h help bin-path local-bin project-root local-install-root snapshot-install-root ghc-paths " +
			"depth=v " +
			"external no-include-base", Does: effect.Read},
		{Name: "install|setup|upgrade|update|unpack|new|init", Does: effect.Install | effect.Network},
		{Name: "upload", Does: effect.Publish | effect.Network},
	}},
	{Name: "standard", Plain: "fix v verbose version h help env=v global=v globals=v ext=v stdin", Operands: "f*", Here: "r"},
	{Name: "staticcheck", Style: program.Single, Plain: "checks=v explain=v f=v fail=v go=v list-checks matrix merge show-ignored " +
		"tags=v tests version debug.version h help", Operands: "r*", Here: "r"},
	{Name: "stylelint", Plain: plainStylelint, Options: stylelintOptions, Operands: "f*", Here: "r"},
	{Name: "swift", Plain: "h help version", Alone: effect.InlineCode, Subs: []program.Row{{Name: "build|test|run|package",
		Plain: "c|configuration=v product=v " +
			"target=v j|jobs=v v|verbose q|quiet filter=v skip=v parallel num-workers=v enable-code-coverage show-bin-path build-tests " +
			"skip-build l list-tests static-swift-stdlib h help version arch=v", Options: "package-path=e scratch-path|build-path=w",
		Parse: runNamed}}},
	{Name: "tox", Plain: "e=v m=v f=v r|recreate p|parallel=? parallel-no-spinner parallel-live o q|quiet v|verbose l|listenvs " +
		"a|listenvs-all h help version showconfig notest n skip-pkg-install develop skip-missing-interpreters=? recreate-pkg provision=? " +
		"colored=v hashseed=v skip-env=v k=v", Options: "c|conf=x workdir=w root=k result-json=w", Here: "rw", Parse: runNamed},
	{Name: "tsc", Listed: true, Plain: plainTsc, Options: tscOptions, Operands: "g*", Here: "rw"},
	{Name: "turbo", Plain: plainTurbo, Options: turboOptions, Here: "rw", Parse: webTool},
	{Name: "twine", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "check", Plain: "strict h help no-color", Operands: "r*"},
		{Name: "upload|register", Operands: "r*", Does: effect.Publish | effect.Network},
	}},
	{Name: "uv", Plain: plainUv, Options: uvOptions, Subs: uvCommands},
	{Name: "uvx", Parse: runPackage},
	{Name: "vite", Plain: plainVite, Options: viteOptions, Here: "rw", Parse: webTool},
	{Name: "vitest", Plain: plainVitest, Options: vitestOptions, Here: "rw", Parse: runNamed},
	{Name: "volta", Plain: "h help V version v verbose", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "list|ls|which|help", Plain: "h help c current d default format=v verbose quiet", Does: effect.Read},
		{Name: "run", Style: program.First, Plain: "bundled-npm no-yarn no-pnpm verbose quiet h help",
			Options: "node=v npm=v pnpm=v yarn=v env=v", Parse: program.RunOperands},
	}},
	{Name: "vue-tsc", Same: "tsc"},
	{Name: "webpack", Plain: plainWebpack, Options: webpackOptions, Here: "rw", Parse: webTool},
	{Name: "xcodebuild", Here: "rw", Parse: xcodebuild},
	{Name: "yarn", Plain: plainYarn, Options: optionsYarn, Handle: npmOptions,
		Alone: effect.Deps | effect.Network | effect.ProjectCode, Other: packageScript, Subs: yarnCommands},
	{Name: "yarnpkg", Same: "yarn"},
}
