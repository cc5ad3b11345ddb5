package project

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// pipCommands are the subcommands of pip and of uv pip.
var pipCommands = []program.Row{
	{Name: "install|download|wheel|sync|compile|lock", Plain: plainPipInstall,
		Options: "r|requirement=u c|constraint=u e|editable=r t|target=w d|dest=w prefix=w root=w w|wheel-dir=w o|output-file=w " +
			"report=w src=w build=w user U|upgrade platform=v global-option=v build-option=v install-option=v " + pipOptions,
		Here: "rw", Does: effect.Network, Handle: install},
	{Name: "uninstall", Plain: plainPip + " root-user-action=v", Options: "r|requirement=r y|yes " + pipOptions, Does: effect.Install},
	{Name: "show", Plain: plainPip + " f files", Options: "log|log-file|local-log=w cache-dir=w proxy=h cert=r client-cert=r " +
		"trusted-host|allow-insecure-host=h p|python=x keyring-provider=v timeout=v retries=v", Operands: "v*"},
	{Name: "list|freeze|check|search|index|debug|help|inspect|hash|--version|tree", Plain: plainPipList,
		Options: "r|requirement=r o|outdated u|uptodate e|editable l|local format=v path=r exclude=v " + pipOptions, Operands: "v*"},
	{Name: "config", Plain: plainPip, Options: "log=w global user site editor=c", Handle: pipConfig},
	{Name: "cache", Plain: plainPip, Options: "format=v " + pipOptions, Handle: settings},
}

// pipOptions are the options of every subcommand of pip that name files, programs and machines.
const pipOptions = "log|log-file|local-log=w cache-dir=w proxy=h cert=r client-cert=r trusted-host|allow-insecure-host=h p|python=x " +
	"i|index-url|pypi-url|default-index=h extra-index-url|index=h f|find-links=u keyring-provider=v timeout=v retries=v"

// cargoCommands are the subcommands of cargo.
var cargoCommands = []program.Row{
	{Name: "rustc|rustdoc|clippy", Plain: plainCargoBuild, Options: cargoOptions, Parse: cargoCompiler},
	{Name: "run|r", Style: program.First, Plain: plainCargoBuild, Options: cargoOptions, Parse: cargoBuild},
	{Name: "build|b|check|c|test|t|bench|doc|d|fix", Plain: plainCargoBuild, Options: cargoOptions, Parse: cargoBuild},
	{Name: "nextest|miri|llvm-cov|tarpaulin|expand|insta|xtask", Parse: program.RunProject},
	{Name: "watch", Style: program.First, Plain: "why no-vcs-ignores no-ignore no-gitignore ignore-nothing no-restart N poll postpone " +
		"notify=? debug h help V version", Options: "s|shell=c x|exec=v w|watch=r i|ignore=v d|delay=v C|workdir=k B=v E|env=v " +
		"use-shell=c c|clear q|quiet features=v env-file=r", Does: effect.ProjectCode, Handle: cargoWatch},
	{Name: "clean", Plain: plainCargoShow, Options: "manifest-path=r target-dir=d p|package=v config=x registry=v index=h Z=v color=v " +
		"target=v",
		Operands: "g*", Here: "rw", Handle: cargoSource},
	{Name: "fmt", Plain: plainCargoShow, Options: cargoOptions, Parse: cargoFormat},
	{Name: "metadata|tree|verify-project|locate-project|pkgid|version|help|search|info|generate-lockfile|report|" +
		"outdated|audit|deny|machete|udeps|read-manifest|--version|-V|--list", Plain: plainCargoShow, Options: cargoOptions, Operands: "g*",
		Here: "rw", Handle: cargoSource},
	{Name: "fetch|update", Plain: plainCargoShow, Options: cargoOptions, Operands: "g*", Here: "rw", Does: effect.Deps | effect.Network,
		Handle: cargoSource},
	{Name: "vendor", Plain: plainCargoShow, Options: "s|sync=r " + cargoOptions, Operands: "w", Here: "rw",
		Does: effect.Deps | effect.Network, Handle: cargoSource},
	{Name: "remove|rm", Plain: plainCargoShow, Options: cargoOptions, Operands: "g*", Here: "rw", Handle: cargoSource},
	{Name: "new|init", Plain: plainCargoShow, Options: cargoOptions, Operands: "w", Here: "rw", Handle: cargoSource},
	{Name: "add", Operands: "g*", Here: "rw", Does: effect.Install | effect.Network},
	{Name: "install|binstall", Options: "list root=w path=r git=h", Does: effect.Install | effect.Network, Shows: "list"},
	{Name: "uninstall", Does: effect.Install | effect.Delete},
	{Name: "owner", Plain: plainCargo, Options: "a|add=v r|remove=v l|list token=v registry=h index=h config=x Z=v color=v",
		Does: effect.Network, Handle: cargoOwner},
	{Name: "package", Plain: plainCargoShow, Options: cargoOptions, Operands: "g*", Here: "rw", Does: effect.ProjectCode,
		Handle: cargoSource},
	{Name: "publish|yank|login|logout|release", Plain: plainCargoShow, Options: "n|dry-run token=v registry=h manifest-path=r target-dir=w " +
		"p|package=v config=x index=h Z=v color=v target=v", Operands: "g*", Here: "r", Does: effect.Publish | effect.Network, Handle: publish},
}

// goCommands are the subcommands of go.
var goCommands = []program.Row{
	{Name: "build|fmt", Style: program.Single, Plain: plainGoBuild, Options: "o=w f=v " + goOptions, Operands: "r*", Here: "rw",
		Does: effect.ProjectCode | effect.Write, Handle: goBuild},
	{Name: "list|version", Style: program.Single, Plain: plainGoList, Options: "f=v reuse=r " + goOptions, Operands: "r*", Here: "rw",
		Does: effect.ProjectCode | effect.Write, Handle: goBuild},
	{Name: "vet|fix", Style: program.Single, Plain: plainGoVet, Options: "vettool|fixtool=x " + goOptions, Operands: "r*", Here: "rw",
		Does: effect.ProjectCode | effect.Write, Handle: goBuild},
	{Name: "run", Style: program.SingleFirst, Plain: plainGoBuild, Options: "exec=c " + goOptions, Does: effect.ProjectCode | effect.Write,
		Handle: goRun},
	{Name: "test", Style: program.Single, Plain: plainGoTest,
		Options: "o=w run=v bench=v count=v timeout=v coverprofile=w cpuprofile=w memprofile=w blockprofile=w mutexprofile=w " +
			"trace=w outputdir=w exec=c parallel=v fuzz=v fuzztime=v benchtime=v cpu=v skip=v list=v vet=v shuffle=v args " + goOptions,
		Operands: "r*", Here: "rw", Does: effect.ProjectCode, Parse: goTest},
	{Name: "doc", Style: program.Single, Plain: "ex", Options: "C=k http all c cmd short src u", Operands: "r*", Does: effect.Read,
		Handle: listens},
	{Name: "tool", Style: program.SingleFirst, Plain: "h", Options: "n modfile=x C=k", Other: projectTools, Subs: goTools},
	{Name: "generate", Style: program.Single, Plain: plainGoBuild, Options: "run=v skip=v " + goOptions, Operands: "r*", Here: "rw",
		Does: effect.ProjectCode, Handle: goBuild},
	{Name: "env", Style: program.Single, Plain: "h", Options: "w u json changed C=k", Handle: goSettings},
	{Name: "mod", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "tidy|download|vendor|verify|init", Style: program.Single, Plain: plainGoMod,
			Options: "o=w C=k modfile=x go=v compat=v reuse=r", Operands: "g*", Here: "rw", Does: effect.Deps | effect.Network, Handle: goBuild},
		{Name: "edit", Style: program.Single, Plain: "n x", Options: "fmt json print C=k", Operands: "g*", Here: "rw", Handle: modEdit},
		{Name: "graph|why", Style: program.Single, Plain: plainGoMod, Options: "go=v C=k modfile=x", Operands: "g*", Here: "r"},
	}},
	{Name: "work", Plain: "h help V version v verbose", Subs: []program.Row{{Name: "init|use|sync|edit|vendor", Style: program.Single,
		Plain:   "r v n x e fmt print json go=v",
		Options: "o=w C=k", Operands: "g*", Here: "rw", Handle: workspace}}},
	{Name: "get|install", Style: program.Single, Plain: "t tool " + plainGoBuild, Options: "u " + goOptions, Here: "rw", Does: effect.Network,
		Handle: install},
	{Name: "clean", Style: program.Single, Plain: plainGoBuild, Options: "modcache cache fuzzcache testcache " + goOptions,
		Operands: "g*", Here: "rw", Handle: cleanCaches},
	{Name: "telemetry", Plain: "h help V version v verbose", Rest: effect.Upload | effect.Network,
		Subs: []program.Row{{Name: "off|local", Plain: "h help",
			Does: effect.Write}}},
	{Name: "help|bug", Style: program.Single, Plain: "h", Operands: "v*"},
}

// goTools are the tools of Go.
var goTools = []program.Row{
	{Name: "pprof", Style: program.Single, Plain: plainPprof, Options: "http=v output=w symbolize=v base=u diff_base=u source_path=r",
		Operands: "u*", Handle: listens},
	{Name: "trace", Style: program.Single, Plain: "h", Options: "http=v pprof=v d=v", Operands: "r*", Handle: listens},
	{Name: "compile|link|asm|cgo|dist|preprofile", Style: program.Single, Options: "o=w", Operands: "r*", Handle: compilerTool},
	{Name: "vet|fix", Style: program.Single, Plain: plainGoVet, Operands: "r*", Does: effect.Read},
	{Name: "doc", Style: program.Single, Plain: "ex", Options: "C=k http all c cmd short src u", Operands: "r*", Does: effect.Read,
		Handle: listens},
	{Name: "cover|nm|objdump|addr2line|test2json|covdata|buildid|pack|api", Style: program.Single, Plain: plainGoTools,
		Options: "o=w i=r html=r func=r pkgcfg=r outfilelist=r", Operands: "r*", Does: effect.Read},
}

// uvCommands are the subcommands of uv.
var uvCommands = []program.Row{
	{Name: "run", Style: program.First, Plain: plainUvProject,
		Options: "with|w=v with-editable=v with-requirements=r env-file=r extra=v group=v only-group=v no-group=v package=v m|module=v " +
			"s|script=v n U|upgrade P=v C=v isolated active resolution=v prerelease=v exclude-newer=v reinstall-package=v refresh-package=v " +
			"no-build-package=v no-binary-package=v link-mode=v only-extra=v no-extra=v fork-strategy=v python-platform=v torch-backend=v " +
			"no-project no-sync locked frozen all-extras dev no-dev q v " + uvOptions,
		Does: effect.Deps, Parse: uvRun},
	{Name: "sync|lock|tree|version|export|remove|build|format", Plain: plainUvProject,
		Options: "o|output-file|out-dir=w script=r build-constraint|b=u " +
			uvOptions, Operands: "g*", Here: "rw",
		Does: effect.Deps | effect.Network},
	{Name: "venv|init", Plain: plainUvNew, Options: "seed system-site-packages prompt=v name=v lib app package bare " + uvOptions,
		Operands: "w", Here: "rw",
		Does: effect.Deps | effect.Network},
	{Name: "python", Plain: "h help V version v verbose", Rest: effect.Install | effect.Network,
		Subs: []program.Row{{Name: "list|find|dir|pin",
			Plain: plainUvProject + " all-versions all-platforms all-arches only-installed only-downloads show-urls bin resolved system " +
				"virtual rm global " +
				"no-project show-version", Options: uvOptions, Does: effect.Read}}},
	{Name: "cache", Plain: plainUv + " ci force", Options: uvOptions, Does: effect.Write},
	{Name: "add", Operands: "g*", Here: "rw", Does: effect.Install | effect.Network},
	{Name: "pip", Plain: plainUv, Options: uvOptions, Subs: pipCommands},
	{Name: "tool", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "run", Parse: runPackage},
		{Name: "list|dir", Plain: plainUv + " show-paths show-version-specifiers show-with show-extras show-python bin", Options: uvOptions,
			Operands: "v*"},
		{Name: "install|upgrade|uninstall|update-shell", Does: effect.Install | effect.Network},
	}},
	{Name: "self", Plain: plainUv, Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "version", Plain: plainUv + " short output-format=v", Does: effect.Read},
	}},
	{Name: "auth", Does: effect.Secrets | effect.Network},
	{Name: "publish", Does: effect.Publish | effect.Network},
	{Name: "help", Plain: plainUv, Operands: "v*"},
}

// uvOptions are the options of every subcommand of uv.
const uvOptions = "directory=k project=k p|python=x cache-dir=w config-file=x index|extra-index-url=h i|default-index|index-url=h " +
	"f|find-links=u allow-insecure-host|trusted-host=h index-strategy=v keyring-provider=v color=v native-tls offline"
