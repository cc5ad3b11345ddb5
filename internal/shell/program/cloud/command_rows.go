package cloud

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// forgeCommands are the subcommands of gh and glab, by two words.
var forgeCommands = []program.Row{
	{Name: "pr|mr|issue", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list|view|status|diff|checks", Does: effect.Network},
		{Name: "checkout|co", Here: "rw", Does: effect.Network, Handle: checkoutRequest},
		{Name: "merge", Does: effect.Network | effect.Push | effect.Publish},
	}},
	{Name: "run|workflow|ci|pipeline", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list|view|watch|status|trace", Does: effect.Network},
		{Name: "download", Options: "D|dir=w n|name=v p|pattern=v", Here: "rw", Does: effect.Network, Handle: download},
	}},
	{Name: "repo", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "view|list", Does: effect.Network},
		{Name: "deploy-key|autolink|license|gitignore", Rest: effect.Network | effect.Publish,
			Subs: []program.Row{{Name: "list|view", Does: effect.Network}}},
		{Name: "clone", Operands: "vwv*", Here: "rw", Does: effect.Network},
		{Name: "delete|archive|rename|edit", Does: effect.Network | effect.Publish | effect.Destructive},
	}},
	{Name: "release", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list|view", Does: effect.Network},
		{Name: "download", Options: "D|dir=w p|pattern=v O|output=w A|archive=v", Here: "rw",
			Does: effect.Network, Handle: download},
	}},
	{Name: "search|status|browse|label|ruleset|org", Rest: effect.Network, Subs: []program.Row{
		{Name: "create|delete|edit|clone", Does: effect.Network | effect.Publish},
	}},
	{Name: "api",
		Options: "X|method=v f|raw-field=v F|field=v H|header=v input=r jq|q=v t|template=v paginate hostname=h p=v cache=v",
		Does:    effect.Network, Handle: forgeAPI},
	{Name: "auth", Rest: effect.Secrets | effect.Network, Subs: []program.Row{
		{Name: "status", Options: "t|show-token h|hostname=h a|active json=v q|jq=v", Does: effect.Network, Handle: showToken},
	}},
	{Name: "secret|ssh-key|gpg-key|codespace|cs|gist|project|cache", Rest: effect.Network | effect.Publish,
		Subs: []program.Row{
			{Name: "list|view|get|item-list|field-list", Does: effect.Network},
		}},
	{Name: "variable", Rest: effect.Network | effect.Publish | effect.Secrets, Subs: []program.Row{
		{Name: "list|get", Does: effect.Network, Handle: showVariables},
	}},
	{Name: "config", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list|get", Options: "h|host=v g|global", Does: effect.Read, Handle: showSetting},
	}},
	{Name: "attestation", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "verify|trusted-root", Options: "R|repo=v o|owner=v b|bundle=r custom-trusted-root=r hostname=h format=v",
			Operands: "r*", Does: effect.Network},
	}},
	{Name: "alias", Rest: effect.Install | effect.Unknown, Subs: []program.Row{{Name: "list", Does: effect.Read}}},
	{Name: "extension|ext", Rest: effect.Install | effect.Network | effect.Unknown, Subs: []program.Row{
		{Name: "list", Does: effect.Read},
		{Name: "search", Does: effect.Network},
	}},
	{Name: "copilot|models|agent-task|skill", Does: effect.Install | effect.Network | effect.Unknown},
	{Name: "version|help|completion|--version", Operands: "v*"},
}
