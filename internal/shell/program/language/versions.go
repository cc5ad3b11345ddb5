package language

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// VersionRows are programs that manage versions of languages, and tools of languages that look at code, sorted by name. Each names all
// options of its manual that do no harm; an option that is missing asks.
var VersionRows = []program.Row{
	{Name: "actionlint", Style: program.Single, Options: "config-file=r", Plain: "format=v color no-color oneline ignore=v verbose " +
		"debug version " +
		"h help", Operands: "r*", Here: "r"},
	{Name: "alembic", Style: program.First, Options: "c|config=x n|name=v", Plain: "h help version",
		Rest: effect.Database | effect.ProjectCode,
		Subs: []program.Row{
			{Name: "history|heads|show|branches|current|check", Plain: "v verbose r=v rev-range=v i indicate-current resolve-dependencies",
				Operands: "v*", Does: effect.ProjectCode},
		}},
	{Name: "ansible-inventory", Options: "i|inventory|inventory-file=x playbook-dir=r", Plain: "graph list host=v y yaml toml l=v " +
		"limit=v v " +
		"vars version h help", Operands: "v*", Does: effect.ProjectCode},
	{Name: "autopep8", Options: "i|in-place", Plain: "d diff a aggressive v verbose r recursive j=v jobs=v max-line-length=v select=v " +
		"ignore=v " +
		"exit-code list-fixes exclude=v version", Operands: "r*", Instead: "i f*"},
	{Name: "ava", Here: "rw", Parse: program.RunProject},
	{Name: "bandit", Options: "c|configfile=r ini=r o|output=w b|baseline=r", Plain: "r recursive a=v aggregate=v n=v number=v f=v " +
		"format=v t=v " +
		"tests=v s=v skip=v l level severity-level=v i confidence confidence-level=v x=v exclude=v v verbose d debug q quiet silent " +
		"ignore-nosec " +
		"p=v profile=v exit-zero version h help", Operands: "r*"},
	{Name: "bats", Options: "o|output=w report-formatter=v F|formatter=v", Plain: "c count f=v filter=v t tap p pretty j=v jobs=v r " +
		"recursive " +
		"T timing x trace verbose-run show-output-of-passing-tests print-output-on-failure no-tempdir-cleanup filter-tags=v v version h help",
		Operands: "x*", Does: effect.ProjectCode, Handle: testFormat},
	{Name: "ccache", Style: program.First, Plain: "s show-stats v verbose V version h help p show-config", Parse: program.RunOperands},
	{Name: "codespell", Options: "D|dictionary=r x|exclude-file=r I|ignore-words=r config=r toml=r w|write-changes", Plain: "L=v " +
		"ignore-words-list=v S=v skip=v q=v quiet-level=v f check-filenames H check-hidden c enable-colors d disable-colors count A=v " +
		"after-context=v B=v before-context=v C=v context=v builtin=v r=v regex=v s summary uri-ignore-words-list=v stdin-single-line " +
		"version " +
		"h help", Operands: "r*", Instead: "w b*", Here: "r"},
	{Name: "commitlint", Here: "rw", Parse: program.RunProject},
	{Name: "conda", Plain: "V version h help no-plugins", Rest: effect.Install | effect.Network, Subs: condaCommands},
	{Name: "cppcheck", Options: "I=r includes-file=r output-file=w cppcheck-build-dir=w project=r suppressions-list=r", Plain: "enable=v " +
		"inline-suppr q quiet std=v language=v x=v platform=v D=v U=v force f j=v error-exitcode=v suppress=v template=v v verbose xml " +
		"xml-version=v inconclusive max-configs=v check-level=v i=v errorlist version h help", Operands: "r*"},
	{Name: "cpplint", Plain: "filter=v linelength=v recursive quiet verbose=v counting=v extensions=v exclude=v output=v headers=v v=v " +
		"version help",
		Operands: "r*"},
	{Name: "cspell", Here: "rw", Parse: program.RunProject},
	{Name: "direnv", Plain: "help version", Subs: []program.Row{
		{Name: "status|version", Plain: "json", Does: effect.Read},
	}},
	{Name: "dlv", Plain: "h help", Rest: effect.Process, Subs: []program.Row{{Name: "version|help", Plain: "v h help", Does: effect.Read}}},
	{Name: "errcheck", Style: program.Single, Options: "exclude=r", Plain: "blank asserts ignoretests ignoregenerated tags=v verbose " +
		"abspath mod=v",
		Operands: "r*", Here: "r"},
	{Name: "esbuild", Here: "rw", Parse: program.RunProject},
	{Name: "flask", Here: "rw", Parse: program.RunProject},
	{Name: "gcov", Plain: "a all-blocks b branch-probabilities c branch-counts f function-summaries h help i json-format j " +
		"human-readable k " +
		"use-colors l long-file-names m demangled-names n no-output p preserve-paths q use-hotness-colors r relative-only s=v " +
		"source-prefix=v t " +
		"stdout u unconditional-branches v version w verbose x hash-filenames", Options: "o|object-directory=r", Operands: "r*", Here: "w"},
	{Name: "genhtml", Options: "o|output-directory=w p|prefix=v", Plain: "q quiet legend t=v title=v branch-coverage num-spaces=v sort " +
		"h help " +
		"version", Operands: "r*"},
	{Name: "goenv", Same: "pyenv"},
	{Name: "gotestsum", Here: "rw", Parse: summarizedTests},
	{Name: "hugo", Plain: "quiet verbose h help", Alone: effect.ProjectCode, Rest: effect.Unknown, Subs: []program.Row{
		{Name: "server|serve|build|check", Parse: program.RunProject},
		{Name: "version|env|list|config", Plain: "h help", Operands: "v*", Here: "r"},
	}},
	{Name: "jar", Parse: javaArchive},
	{Name: "javap", Style: program.Single, Options: "cp|classpath|class-path=r", Plain: "v verbose c p private public protected " +
		"package l s " +
		"sysinfo constants version help", Operands: "g*"},
	{Name: "jdeps", Options: "cp|class-path=r dotoutput=w", Plain: "s summary v verbose R recursive multi-release=v ignore-missing-deps " +
		"print-module-deps list-deps list-reduced-deps q version h help", Operands: "r*"},
	{Name: "jenv", Same: "pyenv"},
	{Name: "jj", Options: "R|repository=k", Plain: "no-pager color=v quiet h help V version", Subs: []program.Row{
		{Name: "log|status|st|diff|show|evolog|obslog", Plain: "r=v revisions=v n=v limit=v T=v template=v p patch s summary stat git " +
			"no-graph " +
			"types name-only color=v no-pager from=v to=v context=v reversed", Operands: "g*", Here: "rw"},
	}},
	{Name: "jps", Plain: "q m l v V", Does: effect.Read},
	{Name: "jstack", Plain: "l e", Operands: "v*"},
	{Name: "jstat", Style: program.Single, Plain: "gc gcutil gccapacity gccause gcnew gcold class compiler options t h=v J=?",
		Operands: "v*"},
	{Name: "knip", Here: "rw", Parse: program.RunProject},
	{Name: "latexmk", Style: program.Single, Options: "outdir|auxdir|output-directory=w", Plain: "pdf xelatex lualatex pdfxe pdflua " +
		"dvi ps c C g f " +
		"halt-on-error interaction=v file-line-error synctex=v silent quiet verbose v version help", Operands: "r*", Here: "rw",
		Does: effect.ProjectCode},
	{Name: "lcov", Options: "o|output-file=w summary=r l|list=r a|add-tracefile=r d|directory=r r|remove=r e|extract=r", Plain: "c " +
		"capture q quiet " +
		"no-external t=v test-name=v h help v version", Operands: "v*"},
	{Name: "lefthook", Plain: "h help", Rest: effect.Unknown, Subs: []program.Row{
		{Name: "run", Parse: program.RunProject},
		{Name: "validate|dump|version|check-install", Plain: "f full json h help", Here: "r"},
	}},
	{Name: "lein", Here: "rw", Parse: program.RunProject},
	{Name: "llvm-nm", Same: "nm"},
	{Name: "llvm-objdump", Same: "objdump"},
	{Name: "llvm-size", Same: "size"},
	{Name: "luacheck", Options: "config=x", Plain: "q codes no-color std=v ignore=v only=v globals=v no-unused no-redefined " +
		"max-line-length=v " +
		"no-max-line-length formatter=v ranges", Operands: "r*", Does: effect.ProjectCode},
	{Name: "lualatex", Same: "pdflatex"},
	{Name: "mamba", Same: "conda"},
	{Name: "mdbook", Plain: "h help V version", Rest: effect.Unknown, Subs: []program.Row{
		{Name: "build|test|serve|watch|clean", Parse: program.RunProject},
	}},
	{Name: "micromamba", Options: "r|root-prefix=r", Plain: "q quiet v verbose h help version json", Rest: effect.Install | effect.Network,
		Subs: condaCommands},
	{Name: "mise", Options: "C|cd=k", Plain: "v verbose q quiet silent h help version V",
		Rest: effect.Install | effect.Network | effect.Unknown,
		Subs: []program.Row{
			{Name: "ls|list", Plain: "c current g global i installed o offline J json l local m missing no-header outdated prefix=v prunable " +
				"h help", Operands: "v*"},
			{Name: "current|where|which|version|v|root|bin-paths", Plain: "plugin t=v tool=v h help", Operands: "v*"},
			{Name: "tasks", Plain: "h help", Rest: effect.Unknown, Subs: []program.Row{
				{Name: "ls", Plain: "no-header x extended hidden J json sort=v sort-order=v l local g global h help", Does: effect.Read},
			}},
		}},
	{Name: "mkdocs", Plain: "q quiet v verbose h help V version", Rest: effect.Publish | effect.Network, Subs: []program.Row{
		{Name: "build|serve", Parse: program.RunProject},
	}},
	{Name: "opam", Plain: "version help", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "list|show|info", Plain: "a all i installed A available s short columns=v f=v field=v color=v switch=v", Operands: "v*"},
		{Name: "switch", Plain: "help", Rest: effect.Install | effect.Network, Subs: []program.Row{
			{Name: "list|show|list-available", Plain: "s short", Operands: "v*"},
		}},
	}},
	{Name: "patchelf", Plain: "print-rpath print-interpreter print-soname print-needed print-os-abi h help version", Operands: "r*"},
	{Name: "pdflatex", Style: program.Single, Options: "output-directory|aux-directory=w", Plain: "interaction=v halt-on-error " +
		"file-line-error " +
		"no-shell-escape synctex=v draftmode recorder jobname=v output-format=v version help", Operands: "r*", Here: "rw",
		Does: effect.ProjectCode},
	{Name: "phpenv", Same: "pyenv"},
	{Name: "pkg-config", Plain: "cflags libs modversion exists list-all static variable=v print-errors short-errors silence-errors " +
		"atleast-version=v exact-version=v max-version=v cflags-only-I cflags-only-other libs-only-l libs-only-L libs-only-other " +
		"print-variables print-requires print-requires-private print-provides validate version help", Operands: "v*"},
	{Name: "plenv", Same: "pyenv"},
	{Name: "pm2", Plain: "h help v version", Rest: effect.Process, Subs: []program.Row{
		{Name: "list|ls|l|status|describe|show|desc", Plain: "m s silent sort=v", Operands: "v*"},
		{Name: "logs|log", Plain: "json format raw err out lines=v nostream timestamp=? highlight=v", Operands: "v*"},
	}},
	{Name: "prove", Here: "rw", Parse: program.RunProject},
	{Name: "pycodestyle", Options: "config=r", Plain: "v verbose q quiet r repeat first exclude=v filename=v select=v ignore=v show-source " +
		"show-pep8 statistics count max-line-length=v max-doc-length=v indent-size=v hang-closing format=v version h help", Operands: "r*"},
	{Name: "radon", Plain: "v version h help", Rest: effect.Unknown, Subs: []program.Row{
		{Name: "cc|mi|raw|hal", Options: "O|output-file=w", Plain: "s show show-complexity a average total-average n=v min=v x=v max=v e=v " +
			"exclude=v i=v ignore=v j json md xml codeclimate o=v order=v m multi summary show-closures no-assert f functions", Operands: "r*"},
	}},
	{Name: "revive", Style: program.Single, Options: "config=r", Plain: "formatter=v exclude=v set_exit_status max_open_files=v version",
		Operands: "r*", Here: "r"},
	{Name: "rollup", Here: "rw", Parse: program.RunProject},
	{Name: "rvm", Plain: "version help", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "list|current|version|gemdir", Plain: "help", Operands: "v*"},
	}},
	{Name: "sdk", Plain: "help", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "current|c|version|v|home|h", Plain: "help", Operands: "v*"},
	}},
	{Name: "size-limit", Here: "rw", Parse: program.RunProject},
	{Name: "sphinx-build", Here: "rw", Parse: program.RunProject},
	{Name: "sqlfluff", Plain: "version help", Rest: effect.Unknown, Subs: []program.Row{
		{Name: "lint|parse|rules|dialects|version", Options: "config=r", Plain: "dialect=v d=v f=v format=v r=v rules=v e=v " +
			"exclude-rules=v p=v " +
			"processes=v nofail v verbose n nocolor", Operands: "r*", Does: effect.ProjectCode},
		{Name: "fix|format", Options: "config=r", Plain: "dialect=v d=v f force r=v rules=v e=v exclude-rules=v p=v processes=v v n",
			Operands: "f*",
			Does:     effect.ProjectCode},
	}},
	{Name: "standardrb", Options: "fix a", Plain: "no-fix format=v", Operands: "r*", Instead: "fix f* a f*", Here: "rw",
		Does: effect.ProjectCode},
	{Name: "storybook", Here: "rw", Parse: program.RunProject},
	{Name: "strip", Listed: true, Options: "o|output-file=w", Plain: "s strip-all d g S strip-debug strip-unneeded x discard-all X " +
		"discard-locals v verbose p preserve-dates R=v remove-section=v K=v keep-symbol=v N=v strip-symbol=v V version h help", Operands: "b*"},
	{Name: "stylua", Options: "c|check f|config-path=r", Plain: "v verbose g=v glob=v s search-parent-directories allow-hidden verify " +
		"color=v " +
		"column-width=v indent-type=v indent-width=v output-format=v", Operands: "f*", Instead: "c r*"},
	{Name: "swiftenv", Same: "pyenv"},
	{Name: "swiftformat", Options: "lint dryrun config=r output=w", Plain: "rules=v disable=v enable=v swiftversion=v quiet verbose " +
		"strict lenient " +
		"exclude=v indent=v version help", Operands: "f*", Instead: "lint r* dryrun r*"},
	{Name: "swiftlint", Plain: "h help version", Alone: effect.Read, Rest: effect.Unknown, Subs: []program.Row{
		{Name: "lint|rules|version", Options: "config=r", Plain: "quiet strict reporter=v no-cache force-exclude enabled disabled " +
			"lenient progress",
			Operands: "r*", Here: "r"},
	}},
	{Name: "task", Options: "d|dir=k t|taskfile=x", Plain: "l list a list-all n dry s silent v verbose f force p parallel C=v " +
		"concurrency=v c=v " +
		"color=v o=v output=v summary j json status x exit-code version h help", Does: effect.ProjectCode, Handle: taskTargets},
	{Name: "tfenv", Plain: "help", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "list|version-name", Plain: "help", Does: effect.Read},
	}},
	{Name: "tflint", Options: "chdir=k c|config=x", Plain: "recursive f=v format=v filter=v only=v enable-rule=v disable-rule=v " +
		"minimum-failure-severity=v module no-module call-module-type=v color no-color force v version h help", Here: "r",
		Does: effect.ProjectCode},
	{Name: "typos", Options: "c|config=r w|write-changes", Plain: "format=v diff j=v threads=v exclude=v hidden no-hidden locale=v " +
		"type=v sort " +
		"files type-list isolated color=v q quiet v verbose words identifiers force-exclude no-ignore no-ignore-vcs h help V version",
		Operands: "r*", Instead: "w f*", Here: "r"},
	{Name: "uvicorn", Here: "rw", Parse: program.RunProject},
	{Name: "vale", Options: "config=r output=g", Plain: "minAlertLevel=v glob=v no-exit no-wrap ext=v ignore-syntax sort no-global v " +
		"version h help",
		Operands: "r*", Here: "r", Handle: proseCommands},
	{Name: "vulture", Plain: "min-confidence=v exclude=v ignore-names=v ignore-decorators=v sort-by-size make-whitelist v verbose " +
		"version h help",
		Operands: "r*"},
	{Name: "xelatex", Same: "pdflatex"},
	{Name: "yapf", Options: "i|in-place style=g", Plain: "d diff r recursive e=v exclude=v p parallel m print-modified q quiet vv " +
		"verbose l=v " +
		"lines=v version h help", Operands: "r*", Instead: "i f*"},
}

// condaCommands are the subcommands of conda and its kin. What shows tokens of channels, or variables, is left out.
var condaCommands = []program.Row{
	{Name: "list", Options: "p|prefix=r", Plain: "n=v name=v c canonical e export f full-name json v verbose q quiet no-pip reverse " +
		"md5 explicit " +
		"sha256 h help", Operands: "v*"},
	{Name: "env", Plain: "h help", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "list", Plain: "json v verbose q quiet h help", Does: effect.Read},
	}},
	{Name: "info", Plain: "e envs base json v verbose q quiet h help", Does: effect.Read},
}

// summarizedTests handles gotestsum: two of its options run a command.
func summarizedTests(c *program.Call, args []program.Word) {
	for _, w := range args {
		if name := strings.TrimLeft(w.Text, "-"); w.Unknown || strings.HasPrefix(name, "post-run-command") || name == "raw-command" {
			c.Unclear("gotestsum runs a command of its arguments")
		}
	}
	program.RunProject(c, args)
}

// testFormat handles bats: a formatter by its path is a program.
func testFormat(c *program.Call) {
	for _, name := range [...]string{"F", "report-formatter"} {
		if v, ok := c.Value(name); ok && !program.Named("pretty|tap|tap13|junit", v.Text) {
			c.Role('x', v)
		}
	}
}

// taskTargets handles task: the words are tasks of the project, and NAME=VALUE.
func taskTargets(c *program.Call) {
	program.ExecuteTasks(c, c.Operands)
	program.Targets(c, c.Operands)
	c.Guess(c.Operands)
	c.WorkHere("rw")
}

// proseCommands handles the words of vale that are no files.
func proseCommands(c *program.Call) {
	if len(c.Operands) > 0 && program.Named("sync|fix|install|host-install|host-uninstall|tag|compile|run", c.Operands[0].Text) {
		c.Does |= effect.Unknown
	}
}

// javaArchive handles jar: it lists an archive, or does more.
func javaArchive(c *program.Call, args []program.Word) {
	if len(args) > 1 && !args[0].Unknown {
		letters := strings.TrimPrefix(args[0].Text, "-")
		if lists := letters == "tf" || letters == "tvf" || letters == "ft"; lists {
			c.File(policy.Read, args[1])
			c.Finish()
			return
		}
	}
	c.Unclear("what jar writes is not known")
	c.Guess(args)
	c.Finish()
}
