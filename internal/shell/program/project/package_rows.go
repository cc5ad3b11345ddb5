package project

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// npmCommands are the subcommands of npm, pnpm, yarn and bun.
var npmCommands = []program.Row{
	{Name: "test|t|tst|run|run-script|rum|urn|start|stop|restart|lint|build|dev|check|typecheck|format|install-test|it|exec|x|" +
		"dlx|create|init|innit|explore", Parse: packageScript},
	{Name: "ci|clean-install|rebuild|rb|dedupe|prune|import|fetch|install-clean", Here: "rw",
		Does: effect.Deps | effect.Network | effect.ProjectCode},
	{Name: "install|i|add|in|upgrade|update|up|link|ln|install-ci-test|self-update|upgrade-interactive|patch|patch-commit|" +
		"approve-builds", Options: "g|global D|save-dev E|save-exact O|save-optional P|save-prod prefix=k registry=h " +
		"w|workspace=v filter=v C|dir=k cwd=k omit=v include=v", Here: "rw", Does: effect.Network, Handle: install},
	{Name: "uninstall|remove|rm|un|unlink|r", Options: "g|global", Here: "rw"},
	{Name: "publish|unpublish|deprecate|dist-tag|access|owner|team|org|hook|stage|star|unstar",
		Options: "tag=v access=v registry=h otp=v dry-run", Operands: "g*", Does: effect.Publish | effect.Network, Handle: publish},
	{Name: "login|logout|adduser|token|profile|whoami", Does: effect.Secrets | effect.Network},
	{Name: "ls|list|la|ll|outdated|view|info|show|v|why|explain|search|s|find|ping|help|--version|-v|version-info|doctor|bin|" +
		"root|prefix|licenses|fund|query|docs|repo|bugs|diff|sbom|pm|store|env|dedupe-check|workspaces|get|completion",
		Here: "r"},
	{Name: "audit", Options: "fix force", Here: "r", Does: effect.Network, Handle: audit},
	{Name: "pack", Options: "pack-destination=w dry-run", Here: "rw", Does: effect.ProjectCode, Handle: pack},
	{Name: "version", Here: "rw", Does: effect.ProjectCode},
	{Name: "config|c|set|pkg|cache", Here: "rw", Handle: npmSettings},
	{Name: "shrinkwrap", Here: "rw"},
}

// pipCommands are the subcommands of pip and of uv pip.
var pipCommands = []program.Row{
	{Name: "install|download|wheel|sync|compile",
		Options: "r|requirement=u c|constraint=u e|editable=r t|target=w d|dest=w prefix=w root=w i|index-url=h " +
			"extra-index-url=h f|find-links=u w|wheel-dir=w o|output-file=w cache-dir=w log|log-file=w report=w src=w build=w user " +
			"U|upgrade python=v p=v platform=v",
		Here: "rw", Does: effect.Network, Handle: install},
	{Name: "uninstall", Options: "r|requirement=r y|yes log=w", Does: effect.Install},
	{Name: "list|show|freeze|check|search|index|debug|help|inspect|hash|--version|tree",
		Options: "log|log-file=w cache-dir=w python=x proxy=h r|requirement=r", Operands: "v*"},
	{Name: "config|cache", Options: "log=w", Handle: settings},
}

// cargoCommands are the subcommands of cargo.
var cargoCommands = []program.Row{
	{Name: "build|b|check|c|test|t|run|r|bench|clippy|nextest|miri|llvm-cov|tarpaulin|doc|d|rustdoc|rustc|expand|watch|fix|insta",
		Options: "manifest-path=r target-dir=w p|package=v bin=v example=v test=v features|F=v target=v profile=v j|jobs=v " +
			"out-dir=w config=v message-format=v exclude=v color=v", Parse: program.RunProject},
	{Name: "fmt|clean|metadata|tree|verify-project|locate-project|pkgid|version|help|search|info|generate-lockfile|report|" +
		"outdated|audit|deny|machete|udeps|read-manifest|--version|-V|--list", Options: "manifest-path=r p|package=v",
		Here: "rw"},
	{Name: "fetch|update|vendor", Here: "rw", Does: effect.Deps | effect.Network},
	{Name: "remove|rm|new|init", Here: "rw"},
	{Name: "add", Here: "rw", Does: effect.Install | effect.Network},
	{Name: "install|binstall", Does: effect.Install | effect.Network},
	{Name: "uninstall", Does: effect.Delete},
	{Name: "publish|yank|owner|login|logout|package|release", Options: "n|dry-run token=v registry=h", Here: "r",
		Does: effect.Publish | effect.Network, Handle: publish},
}

// goCommands are the subcommands of go.
var goCommands = []program.Row{
	{Name: "build|vet|list|doc|version|fix|tool|fmt", Style: program.Single,
		Options: "o=w C=k p=v tags=v ldflags=v gcflags=v asmflags=v mod=v modfile=x overlay=x pkgdir=w toolexec=c vettool=x f=v " +
			"buildmode=v", Operands: "r*", Here: "rw", Does: effect.ProjectCode | effect.Write, Handle: goBuild},
	{Name: "run", Style: program.SingleFirst, Options: "exec=c C=k mod=v modfile=x overlay=x pkgdir=w tags=v ldflags=v gcflags=v " +
		"asmflags=v p=v toolexec=c race",
		Does: effect.ProjectCode | effect.Write, Handle: goRun},
	{Name: "test", Style: program.Single,
		Options: "o=w C=k run=v bench=v count=v timeout=v coverprofile=w cpuprofile=w memprofile=w blockprofile=w mutexprofile=w " +
			"trace=w outputdir=w exec=c toolexec=c tags=v ldflags=v p=v parallel=v fuzz=v fuzztime=v benchtime=v cpu=v skip=v " +
			"list=v coverpkg=v covermode=v vet=v mod=v modfile=x overlay=x shuffle=v args", Operands: "r*", Here: "rw",
		Does: effect.ProjectCode, Handle: goBuild},
	{Name: "generate", Style: program.Single, Operands: "r*", Here: "rw", Does: effect.ProjectCode},
	{Name: "env", Style: program.Single, Options: "w u", Handle: settings},
	{Name: "mod", Subs: []program.Row{
		{Name: "tidy|download|vendor|verify|init", Style: program.Single, Options: "o=w C=k modfile=x", Here: "rw",
			Does: effect.Deps | effect.Network},
		{Name: "edit", Style: program.Single, Here: "rw", Does: effect.Install},
		{Name: "graph|why", Style: program.Single, Here: "r"},
	}},
	{Name: "work", Subs: []program.Row{{Name: "init|use|sync|edit|vendor", Style: program.Single, Operands: "g*", Here: "rw"}}},
	{Name: "get|install", Style: program.Single, Options: "tags=v ldflags=v u C=k mod=v modfile=x overlay=x toolexec=c", Here: "rw",
		Does: effect.Network, Handle: install},
	{Name: "clean", Style: program.Single, Options: "modcache cache fuzzcache testcache", Here: "rw", Handle: cleanCaches},
	{Name: "help|bug|telemetry", Style: program.Single, Operands: "v*"},
}
