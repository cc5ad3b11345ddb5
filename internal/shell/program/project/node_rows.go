package project

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// npmCommands are the subcommands of npm.
var npmCommands = []program.Row{
	{Name: "test|t|tst|start|stop|restart|lint|build|dev|check|typecheck|format|install-test|it|run|run-script|rum|urn|setup",
		Plain: plainNpm, Options: scriptNpm, Parse: namedScript},
	{Name: "exec|x|dlx|create|init|innit", Parse: packageScript},
	{Name: "explore", Style: program.First, Plain: plainNpm, Options: optionsNpm, Parse: explore},
	{Name: "ci|clean-install|rebuild|rb|dedupe|prune|import|fetch|install-clean", Plain: plainNpm, Options: optionsNpm, Operands: "g*",
		Here: "rw", Does: effect.Deps | effect.Network | effect.ProjectCode},
	{Name: "install|i|add|in|upgrade|update|up|link|ln|install-ci-test|self-update|upgrade-interactive|patch|patch-commit|" +
		"approve-builds", Plain: plainNpm, Options: optionsNpm, Here: "rw", Does: effect.Network, Handle: install},
	{Name: "uninstall|remove|rm|un|unlink|r", Plain: plainNpm, Options: optionsNpm, Operands: "g*", Here: "rw", Handle: uninstall},
	{Name: "publish|unpublish|deprecate|undeprecate|dist-tag|access|owner|team|org|hook|stage|star|unstar", Plain: plainNpm,
		Options: optionsNpm, Operands: "g*", Does: effect.Publish | effect.Network, Handle: publish},
	{Name: "login|logout|adduser|token|profile|whoami", Does: effect.Secrets | effect.Network},
	{Name: "ls|list|la|ll|outdated|view|info|show|v|why|explain|search|s|find|ping|help|--version|-v|version-info|doctor|bin|" +
		"root|prefix|licenses|fund|query|docs|repo|bugs|issues|home|diff|sbom|dedupe-check|completion|edit",
		Plain: plainNpm, Options: optionsNpm, Operands: "g*", Here: "r"},
	{Name: "audit", Plain: plainNpm, Options: optionsNpm, Operands: "g*", Here: "r", Does: effect.Network, Handle: audit},
	{Name: "pack", Plain: plainNpm, Options: optionsNpm, Operands: "g*", Here: "rw", Does: effect.ProjectCode, Handle: pack},
	{Name: "version", Plain: plainNpm, Options: optionsNpm, Operands: "g*", Here: "rw", Does: effect.ProjectCode},
	{Name: "config|c", Plain: plainNpm, Options: optionsNpm, Operands: "g*", Here: "rw", Handle: npmConfig},
	{Name: "get", Plain: plainNpm, Options: optionsNpm, Operands: "g*", Here: "r", Handle: npmGet},
	{Name: "set", Plain: plainNpm, Options: optionsNpm, Operands: "g*", Here: "rw", Handle: npmSet},
	{Name: "pkg|cache", Plain: plainNpm, Options: optionsNpm, Operands: "g*", Here: "rw", Handle: npmSettings},
	{Name: "set-script", Plain: plainNpm, Options: optionsNpm, Operands: "g*", Here: "rw", Does: effect.Write, Handle: laterScript},
	{Name: "shrinkwrap", Plain: plainNpm, Options: optionsNpm, Operands: "g*", Here: "rw"},
}

// pnpmCommands are the subcommands of pnpm.
var pnpmCommands = []program.Row{
	{Name: "run|run-script|rum|urn", Style: program.First, Plain: plainPnpm, Options: scriptPnpm, Parse: namedScript},
	{Name: "test|t|tst|start|stop|restart|lint|build|dev|check|typecheck|format|install-test|it|exec|x|dlx|create|init|innit",
		Parse: packageScript},
	{Name: "explore", Style: program.First, Plain: plainPnpm, Options: optionsPnpm, Parse: explore},
	{Name: "ci|clean-install|rebuild|rb|dedupe|prune|import|fetch|install-clean", Plain: plainPnpm, Options: optionsPnpm, Operands: "g*",
		Here: "rw", Does: effect.Deps | effect.Network | effect.ProjectCode},
	{Name: "install|i|add|in|upgrade|update|up|link|ln|install-ci-test|self-update|upgrade-interactive|patch|patch-commit|" +
		"approve-builds", Plain: plainPnpm, Options: optionsPnpm, Here: "rw", Does: effect.Network, Handle: install},
	{Name: "uninstall|remove|rm|un|unlink|r", Plain: plainPnpm, Options: optionsPnpm, Operands: "g*", Here: "rw", Handle: uninstall},
	{Name: "publish|unpublish|deprecate|undeprecate|dist-tag|access|owner|team|org|hook|stage|star|unstar", Plain: plainPnpm,
		Options: optionsPnpm, Operands: "g*", Does: effect.Publish | effect.Network, Handle: publish},
	{Name: "login|logout|adduser|token|profile|whoami", Does: effect.Secrets | effect.Network},
	{Name: "ls|list|la|ll|outdated|view|info|show|v|why|explain|search|s|find|ping|help|--version|-v|version-info|doctor|bin|" +
		"root|prefix|licenses|fund|query|docs|repo|bugs|issues|home|diff|sbom|dedupe-check|completion|edit",
		Plain: plainPnpm, Options: optionsPnpm, Operands: "g*", Here: "r"},
	{Name: "audit", Plain: plainPnpm, Options: optionsPnpm, Operands: "g*", Here: "r", Does: effect.Network, Handle: audit},
	{Name: "pack", Plain: plainPnpm, Options: optionsPnpm, Operands: "g*", Here: "rw", Does: effect.ProjectCode, Handle: pack},
	{Name: "version", Plain: plainPnpm, Options: optionsPnpm, Operands: "g*", Here: "rw", Does: effect.ProjectCode},
	{Name: "config|c", Plain: plainPnpm, Options: optionsPnpm, Operands: "g*", Here: "rw", Handle: npmConfig},
	{Name: "get", Plain: plainPnpm, Options: optionsPnpm, Operands: "g*", Here: "r", Handle: npmGet},
	{Name: "set", Plain: plainPnpm, Options: optionsPnpm, Operands: "g*", Here: "rw", Handle: npmSet},
	{Name: "pkg|cache", Plain: plainPnpm, Options: optionsPnpm, Operands: "g*", Here: "rw", Handle: npmSettings},
	{Name: "setup", Plain: plainPnpm, Options: scriptPnpm, Parse: packageScript},
	{Name: "env", Plain: "h help V version v verbose", Rest: effect.Install | effect.Network, Subs: []program.Row{{Name: "list|ls",
		Plain: plainPnpm, Does: effect.Read}}},
	{Name: "store", Plain: "h help V version v verbose", Rest: effect.Install, Subs: []program.Row{{Name: "path|status", Plain: plainPnpm,
		Does: effect.Read}}},
}

// yarnCommands are the subcommands of yarn.
var yarnCommands = []program.Row{
	{Name: "run|run-script|rum|urn", Style: program.First, Plain: plainYarn, Options: scriptYarn, Parse: namedScript},
	{Name: "test|t|tst|start|stop|restart|lint|build|dev|check|typecheck|format|install-test|it|setup|exec|x|dlx|create|init|innit",
		Parse: packageScript},
	{Name: "explore", Style: program.First, Plain: plainYarn, Options: optionsYarn, Parse: explore},
	{Name: "ci|clean-install|rebuild|rb|dedupe|prune|import|fetch|install-clean", Plain: plainYarn, Options: optionsYarn, Operands: "g*",
		Here: "rw", Does: effect.Deps | effect.Network | effect.ProjectCode},
	{Name: "install|i|add|in|upgrade|update|up|link|ln|install-ci-test|self-update|upgrade-interactive|patch|patch-commit|" +
		"approve-builds", Plain: plainYarn, Options: optionsYarn, Here: "rw", Does: effect.Network, Handle: install},
	{Name: "uninstall|remove|rm|un|unlink|r", Plain: plainYarn, Options: optionsYarn, Operands: "g*", Here: "rw", Handle: uninstall},
	{Name: "publish|unpublish|deprecate|undeprecate|dist-tag|access|owner|team|org|hook|stage|star|unstar", Plain: plainYarn,
		Options: optionsYarn, Operands: "g*", Does: effect.Publish | effect.Network, Handle: publish},
	{Name: "login|logout|adduser|token|profile|whoami", Does: effect.Secrets | effect.Network},
	{Name: "ls|list|la|ll|outdated|view|info|show|v|why|explain|search|s|find|ping|help|--version|-v|version-info|doctor|bin|" +
		"root|prefix|licenses|fund|query|docs|repo|bugs|issues|home|diff|sbom|dedupe-check|completion|edit",
		Plain: plainYarn, Options: optionsYarn, Operands: "g*", Here: "r"},
	{Name: "audit", Plain: plainYarn, Options: optionsYarn, Operands: "g*", Here: "r", Does: effect.Network, Handle: audit},
	{Name: "pack", Plain: plainYarn, Options: "f|filename|out=w " + optionsYarn, Operands: "g*", Here: "rw", Does: effect.ProjectCode,
		Handle: pack},
	{Name: "version", Plain: plainYarn, Options: optionsYarn, Operands: "g*", Here: "rw", Does: effect.ProjectCode},
	{Name: "config|c", Plain: plainYarn, Options: optionsYarn, Operands: "g*", Here: "rw", Handle: npmConfig},
	{Name: "get", Plain: plainYarn, Options: optionsYarn, Operands: "g*", Here: "r", Handle: npmGet},
	{Name: "set", Plain: plainYarn, Options: optionsYarn, Operands: "g*", Here: "rw", Handle: npmSet},
	{Name: "pkg|cache", Plain: plainYarn, Options: optionsYarn, Operands: "g*", Here: "rw", Handle: npmSettings},
	{Name: "npm", Plain: "h help V version v verbose", Rest: effect.Publish | effect.Network, Subs: []program.Row{
		{Name: "audit|info", Plain: plainYarn, Options: optionsYarn, Does: effect.Read | effect.Network},
		{Name: "login|logout|whoami", Does: effect.Secrets | effect.Network},
	}},
	{Name: "global", Plain: plainYarn, Options: optionsYarn, Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "list|bin|dir", Plain: plainYarn, Options: optionsYarn, Does: effect.Read},
	}},
	{Name: "plugin", Plain: "h help V version v verbose", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "list|runtime", Plain: plainYarn, Options: optionsYarn, Does: effect.Read},
	}},
	{Name: "policies", Does: effect.Install | effect.Network},
	{Name: "workspace", Style: program.First, Parse: inWorkspace},
	{Name: "workspaces", Style: program.First, Plain: "h help json", Options: "include=v exclude=v from=v since=? j|jobs=v A|all " +
		"p|parallel i|interlaced v|verbose t|topological topological-dev R|recursive W|worktree no-private n|dry-run",
		Parse: inWorkspaces},
}

// bunCommands are the subcommands of bun.
var bunCommands = []program.Row{
	{Name: "test", Plain: plainBunTest, Options: optionsBunTest, Parse: namedScript},
	{Name: "build", Plain: plainBunBuild, Options: optionsBunBuild, Parse: namedScript},
	{Name: "run|run-script|rum|urn", Style: program.First, Plain: plainBunRun, Options: scriptBun, Parse: namedScript},
	{Name: "t|tst|start|stop|restart|lint|dev|check|typecheck|format|install-test|it|setup|exec|x|dlx|create|init|innit",
		Parse: packageScript},
	{Name: "explore", Style: program.First, Plain: plainBun, Options: optionsBun, Parse: explore},
	{Name: "ci|clean-install|rebuild|rb|dedupe|prune|import|fetch|install-clean", Plain: plainBun, Options: optionsBun, Operands: "g*",
		Here: "rw", Does: effect.Deps | effect.Network | effect.ProjectCode},
	{Name: "install|i|add|in|upgrade|update|up|link|ln|install-ci-test|self-update|upgrade-interactive|patch|patch-commit|" +
		"approve-builds", Plain: plainBun, Options: optionsBun, Here: "rw", Does: effect.Network, Handle: install},
	{Name: "uninstall|remove|rm|un|unlink|r", Plain: plainBun, Options: optionsBun, Operands: "g*", Here: "rw", Handle: uninstall},
	{Name: "publish|unpublish|deprecate|undeprecate|dist-tag|access|owner|team|org|hook|stage|star|unstar", Plain: plainBun,
		Options: optionsBun, Operands: "g*", Does: effect.Publish | effect.Network, Handle: publish},
	{Name: "login|logout|adduser|token|profile|whoami", Does: effect.Secrets | effect.Network},
	{Name: "ls|list|la|ll|outdated|view|info|show|v|why|explain|search|s|find|ping|help|--version|-v|version-info|doctor|bin|" +
		"root|prefix|licenses|fund|query|docs|repo|bugs|issues|home|diff|sbom|dedupe-check|completion|edit",
		Plain: plainBun, Options: optionsBun, Operands: "g*", Here: "r"},
	{Name: "audit", Plain: plainBun, Options: optionsBun, Operands: "g*", Here: "r", Does: effect.Network, Handle: audit},
	{Name: "pack", Plain: plainBun, Options: optionsBun, Operands: "g*", Here: "rw", Does: effect.ProjectCode, Handle: pack},
	{Name: "version", Plain: plainBun, Options: optionsBun, Operands: "g*", Here: "rw", Does: effect.ProjectCode},
	{Name: "config|c", Plain: plainBun, Options: optionsBun, Operands: "g*", Here: "rw", Handle: npmConfig},
	{Name: "get", Plain: plainBun, Options: optionsBun, Operands: "g*", Here: "r", Handle: npmGet},
	{Name: "set", Plain: plainBun, Options: optionsBun, Operands: "g*", Here: "rw", Handle: npmSet},
	{Name: "pkg|cache", Plain: plainBun, Options: optionsBun, Operands: "g*", Here: "rw", Handle: npmSettings},
	{Name: "pm", Rest: effect.Install, Plain: plainBun, Subs: []program.Row{
		{Name: "ls|list|bin|hash|hash-string|hash-print|untrusted|default-trusted|why|view", Plain: "g all trusted prod dev long json " +
			plainBun, Options: optionsBun, Does: effect.Read},
		{Name: "pack", Plain: "ignore-scripts gzip-level=v quiet help h", Options: "destination=w filename=w dry-run", Operands: "g*",
			Here: "rw", Does: effect.ProjectCode},
	}},
}
