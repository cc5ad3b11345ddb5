package cloud

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// terraformCommands are the subcommands of terraform.
var terraformCommands = []program.Row{
	{Name: "output", Style: program.Single, Options: "json raw no-color state=r", Plain: "help", Here: "r",
		Does: effect.Read | effect.Network, Handle: outputs},
	{Name: "show", Style: program.Single, Options: "json no-color", Plain: "help", Operands: "r*", Here: "r", Does: effect.Network,
		Handle: showSecrets},
	{Name: "validate|version|get|metadata", Style: program.Single, Options: "var=v var-file=r no-color test-directory=r",
		Plain: "json no-tests update help", Operands: "g*", Here: "r", Does: effect.Network},
	{Name: "providers", Style: program.Single, Options: "test-directory=r", Plain: "help", Rest: effect.Network | effect.Deps,
		Alone: effect.Network, Subs: []program.Row{
			{Name: "mirror", Style: program.Single, Options: "platform=v", Plain: "lock-file help", Operands: "w",
				Does: effect.Deps | effect.Network},
			{Name: "lock|schema", Style: program.Single, Options: "fs-mirror=r net-mirror=h platform=v json",
				Plain: "enable-plugin-cache help", Here: "rw", Does: effect.Deps | effect.Network},
		}},
	{Name: "state", Style: program.Single, Plain: "help", Rest: effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "list|show", Style: program.Single, Options: "state=r id=v", Plain: "no-color help", Here: "r",
			Does: effect.Read | effect.Network},
		{Name: "pull", Plain: "no-color help", Does: effect.Secrets | effect.Network},
	}},
	{Name: "workspace", Style: program.Single, Plain: "help", Rest: effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "list|show", Style: program.Single, Plain: "no-color help", Here: "r", Does: effect.Read | effect.Network},
	}},
	{Name: "plan|graph", Style: program.Single, Options: "out=w state=r plan=r var=v var-file=r target=v generate-config-out=w",
		Plain: "compact-warnings destroy detailed-exitcode input json lock lock-timeout=v no-color parallelism=v refresh refresh-only " +
			"replace=v draw-cycles module-depth=v type=v help",
		Operands: "g*", Here: "r", Does: effect.Network, Handle: evaluate},
	// A test applies the configuration, unless it says otherwise.
	{Name: "test", Style: program.Single, Options: "var=v var-file=r cloud-run=v junit-xml=w test-directory=r", Plain: "filter=v json " +
		"no-color parallelism=v verbose help", Operands: "g*", Here: "r", Does: effect.Network | effect.Cloud, Handle: evaluate},
	{Name: "console", Style: program.Single, Options: "state=r plan var=v var-file=r", Plain: "help", Operands: "g*", Here: "r",
		Does: effect.Network, Handle: evaluate},
	{Name: "fmt", Style: program.Single, Plain: "check diff list no-color recursive write help", Operands: "b*", Here: "rw"},
	{Name: "init", Style: program.Single,
		Options: "backend-config=g from-module=u plugin-dir=x migrate-state force-copy test-directory=r",
		Plain:   "backend get ignore-remote-version input json lock lock-timeout=v lockfile=v no-color reconfigure upgrade help",
		Here:    "rw", Does: effect.Deps | effect.Network, Handle: stateMoves},
	{Name: "destroy", Style: program.Single, Does: effect.Cloud | effect.Destructive | effect.Network},
}
