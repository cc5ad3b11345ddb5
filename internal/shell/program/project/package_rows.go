package project

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// pipCommands are the subcommands of pip and of uv pip.
var pipCommands = []program.Row{
	{Name: "install|download|wheel|sync|compile|lock",
		Options: "r|requirement=u c|constraint=u e|editable=r t|target=w d|dest=w prefix=w root=w w|wheel-dir=w o|output-file=w " +
			"report=w src=w build=w user U|upgrade platform=v global-option=v build-option=v install-option=v " + pipOptions,
		Here: "rw", Does: effect.Network, Handle: install},
	{Name: "uninstall", Options: "r|requirement=r y|yes log=w", Does: effect.Install},
	{Name: "list|show|freeze|check|search|index|debug|help|inspect|hash|--version|tree",
		Options: "r|requirement=r o|outdated u|uptodate e|editable l|local format=v path=r exclude=v " + pipOptions, Operands: "v*"},
	{Name: "config", Options: "log=w global user site editor=c", Handle: pipConfig},
	{Name: "cache", Options: "format=v " + pipOptions, Handle: settings},
}

// pipOptions are the options of every subcommand of pip that name files, programs and machines.
const pipOptions = "log|log-file=w cache-dir=w proxy=h cert=r client-cert=r trusted-host|allow-insecure-host=h p|python=x " +
	"i|index-url|pypi-url|default-index=h extra-index-url|index=h f|find-links=u keyring-provider=v timeout=v retries=v"

// cargoCommands are the subcommands of cargo.
var cargoCommands = []program.Row{
	{Name: "rustc|rustdoc", Parse: cargoCompiler},
	{Name: "build|b|check|c|test|t|run|r|bench|clippy|nextest|miri|llvm-cov|tarpaulin|doc|d|expand|fix|insta|xtask",
		Options: "manifest-path=r target-dir=w p|package=v bin=v example=v test=v features|F=v target=v profile=v j|jobs=v " +
			"out-dir=w config=v message-format=v exclude=v color=v", Parse: program.RunProject},
	{Name: "watch", Style: program.First, Options: "s|shell=c x|exec=v w|watch=r i|ignore=v d|delay=v C|workdir=k B=v E|env=v " +
		"use-shell=c c|clear q|quiet features=v env-file=r", Does: effect.ProjectCode, Handle: cargoWatch},
	{Name: "clean", Options: "target-dir=d doc r|release profile=v target=v n|dry-run " + cargoOptions, Operands: "g*",
		Here: "rw", Handle: cargoSource},
	{Name: "fmt|metadata|tree|verify-project|locate-project|pkgid|version|help|search|info|generate-lockfile|report|" +
		"outdated|audit|deny|machete|udeps|read-manifest|--version|-V|--list", Options: cargoOptions, Operands: "g*",
		Here: "rw", Handle: cargoSource},
	{Name: "fetch|update", Options: cargoOptions, Operands: "g*", Here: "rw", Does: effect.Deps | effect.Network, Handle: cargoSource},
	{Name: "vendor", Options: "s|sync=r " + cargoOptions, Operands: "w", Here: "rw", Does: effect.Deps | effect.Network,
		Handle: cargoSource},
	{Name: "remove|rm", Options: cargoOptions, Operands: "g*", Here: "rw", Handle: cargoSource},
	{Name: "new|init", Options: "lib bin vcs=v edition=v name=v " + cargoOptions, Operands: "w", Here: "rw", Handle: cargoSource},
	{Name: "add", Operands: "g*", Here: "rw", Does: effect.Install | effect.Network},
	{Name: "install|binstall", Options: "list root=w path=r git=h", Does: effect.Install | effect.Network, Shows: "list"},
	{Name: "uninstall", Does: effect.Install | effect.Delete},
	{Name: "owner", Options: "a|add=v r|remove=v l|list token=v registry=h index=h", Does: effect.Network, Handle: cargoOwner},
	{Name: "package", Options: "l|list allow-dirty no-verify target-dir=w " + cargoOptions, Operands: "g*",
		Here: "rw", Does: effect.ProjectCode,
		Handle: cargoSource},
	{Name: "publish|yank|login|logout|release", Options: "n|dry-run token=v registry=h", Operands: "g*", Here: "r",
		Does: effect.Publish | effect.Network, Handle: publish},
}

// cargoOptions are the options of many subcommands of cargo.
const cargoOptions = "manifest-path=r p|package=v config=x registry=v index=h Z=v color=v"

// goCommands are the subcommands of go.
var goCommands = []program.Row{
	{Name: "build|vet|list|version|fix|fmt", Style: program.Single,
		Options: "o=w C=k p=v tags=v ldflags=v gcflags=v asmflags=v gccgoflags=v compiler=v mod=v modfile=x overlay=x pkgdir=w " +
			"toolexec=c vettool=x f=v buildmode=v debug-trace=w debug-actiongraph=w", Operands: "r*", Here: "rw",
		Does: effect.ProjectCode | effect.Write, Handle: goBuild},
	{Name: "run", Style: program.SingleFirst, Options: "exec=c C=k mod=v modfile=x overlay=x pkgdir=w tags=v ldflags=v gcflags=v " +
		"asmflags=v p=v toolexec=c race",
		Does: effect.ProjectCode | effect.Write, Handle: goRun},
	{Name: "test", Style: program.Single,
		Options: "o=w C=k run=v bench=v count=v timeout=v coverprofile=w cpuprofile=w memprofile=w blockprofile=w mutexprofile=w " +
			"trace=w outputdir=w exec=c toolexec=c tags=v ldflags=v p=v parallel=v fuzz=v fuzztime=v benchtime=v cpu=v skip=v " +
			"list=v coverpkg=v covermode=v vet=v mod=v modfile=x overlay=x shuffle=v args", Operands: "r*", Here: "rw",
		Does: effect.ProjectCode, Handle: goBuild},
	{Name: "doc", Style: program.Single, Options: "C=k http all c cmd short src u", Operands: "r*", Does: effect.Read, Handle: listens},
	{Name: "tool", Style: program.SingleFirst, Options: "n modfile=x C=k", Other: projectTools, Subs: goTools},
	{Name: "generate", Style: program.Single, Operands: "r*", Here: "rw", Does: effect.ProjectCode},
	{Name: "env", Style: program.Single, Options: "w u json changed", Handle: goSettings},
	{Name: "mod", Subs: []program.Row{
		{Name: "tidy|download|vendor|verify|init", Style: program.Single, Options: "o=w C=k modfile=x go=v compat=v", Operands: "g*", Here: "rw",
			Does: effect.Deps | effect.Network, Handle: goBuild},
		{Name: "edit", Style: program.Single, Options: "fmt json print", Operands: "g*", Here: "rw", Handle: modEdit},
		{Name: "graph|why", Style: program.Single, Operands: "g*", Here: "r"},
	}},
	{Name: "work", Subs: []program.Row{{Name: "init|use|sync|edit|vendor", Style: program.Single, Operands: "g*", Here: "rw"}}},
	{Name: "get|install", Style: program.Single, Options: "tags=v ldflags=v u C=k mod=v modfile=x overlay=x toolexec=c", Here: "rw",
		Does: effect.Network, Handle: install},
	{Name: "clean", Style: program.Single, Options: "modcache cache fuzzcache testcache", Operands: "g*", Here: "rw", Handle: cleanCaches},
	{Name: "telemetry", Rest: effect.Upload | effect.Network, Subs: []program.Row{{Name: "off|local", Does: effect.Write}}},
	{Name: "help|bug", Style: program.Single, Operands: "v*"},
}

// goTools are the tools of Go.
var goTools = []program.Row{
	{Name: "pprof", Style: program.Single, Options: "http=v output=w symbolize=v base=u diff_base=u", Operands: "u*", Handle: listens},
	{Name: "trace", Style: program.Single, Options: "http=v pprof=v d=v", Operands: "r*", Handle: listens},
	{Name: "compile|link|asm|cgo|dist|preprofile", Style: program.Single, Options: "o=w", Operands: "r*", Handle: compilerTool},
	{Name: "cover|nm|objdump|addr2line|test2json|covdata|vet|buildid|pack|api|fix|doc", Style: program.Single,
		Options: "o=w i=r html=r func=r pkgcfg=r outfilelist=r vettool=x", Operands: "r*", Does: effect.Read},
}

// uvCommands are the subcommands of uv.
var uvCommands = []program.Row{
	{Name: "run", Style: program.First,
		Options: "with|w=v with-editable=v with-requirements=r env-file=r extra=v group=v only-group=v no-group=v package=v m|module=v " +
			"s|script=v n U|upgrade P=v C=v isolated active resolution=v prerelease=v exclude-newer=v reinstall-package=v refresh-package=v " +
			"no-build-package=v no-binary-package=v link-mode=v only-extra=v no-extra=v fork-strategy=v python-platform=v torch-backend=v " +
			"no-project no-sync locked frozen all-extras dev no-dev q v " + uvOptions,
		Does: effect.Deps, Parse: uvRun},
	{Name: "sync|lock|tree|version|export|remove|build|format", Options: "o|output-file|out-dir=w " + uvOptions, Operands: "g*", Here: "rw",
		Does: effect.Deps | effect.Network},
	{Name: "venv|init", Options: "seed system-site-packages prompt=v name=v lib app package bare " + uvOptions, Operands: "w", Here: "rw",
		Does: effect.Deps | effect.Network},
	{Name: "python", Rest: effect.Install | effect.Network, Subs: []program.Row{{Name: "list|find|dir|pin", Does: effect.Read}}},
	{Name: "cache", Does: effect.Write},
	{Name: "add", Operands: "g*", Here: "rw", Does: effect.Install | effect.Network},
	{Name: "pip", Subs: pipCommands},
	{Name: "tool", Subs: []program.Row{
		{Name: "run", Parse: runPackage},
		{Name: "list|dir", Operands: "v*"},
		{Name: "install|upgrade|uninstall|update-shell", Does: effect.Install | effect.Network},
	}},
	{Name: "self", Rest: effect.Install | effect.Network, Subs: []program.Row{{Name: "version", Does: effect.Read}}},
	{Name: "auth", Does: effect.Secrets | effect.Network},
	{Name: "publish", Does: effect.Publish | effect.Network},
	{Name: "help", Operands: "v*"},
}

// uvOptions are the options of every subcommand of uv.
const uvOptions = "directory=k project=k p|python=x cache-dir=w config-file=x index|extra-index-url=h i|default-index|index-url=h " +
	"f|find-links=u allow-insecure-host|trusted-host=h index-strategy=v keyring-provider=v color=v native-tls offline"
