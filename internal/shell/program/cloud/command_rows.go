package cloud

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// dockerCommands are the subcommands of docker and podman.
var dockerCommands = []program.Row{
	{Name: "ps|images|logs|inspect|version|info|stats|top|port|history|diff|search|events|df",
		Options: "f|filter=v n|tail=v format=v since=v until=v", Does: effect.Read},
	{Name: "run|create", Style: program.First, Options: dockerRun, Parse: container},
	{Name: "exec", Style: program.First, Options: dockerRun, Parse: container},
	{Name: "buildx", Rest: effect.Container, Subs: []program.Row{
		{Name: "ls|inspect|version|du", Operands: "v*"},
		{Name: "build|b|bake", Options: "f|file=r t|tag=v build-arg=v target=v o|output=g secret=v platform=v push load builder=v",
			Operands: "r*", Does: effect.ProjectCode | effect.Network, Handle: buildImage},
	}},
	{Name: "build|bake", Options: "f|file=r t|tag=v build-arg=v target=v o|output=g secret=v ssh=v platform=v push cache-from=v " +
		"cache-to=v iidfile=w network=v progress=v builder=v", Operands: "r*", Does: effect.ProjectCode | effect.Network,
		Handle: buildImage},
	{Name: "compose", Options: "f|file=x p|project-name=v env-file=r profile=v project-directory=k", Subs: composeCommands},
	{Name: "pull|login|logout", Does: effect.Container | effect.Network},
	{Name: "push", Does: effect.Publish | effect.Network | effect.Container},
	{Name: "rm|rmi|stop|kill|start|restart|pause|unpause|tag|rename|wait|update|commit|attach", Does: effect.Container},
	{Name: "cp", Operands: "b*", Does: effect.Container},
	{Name: "save|export", Options: "o|output=w", Does: effect.Container},
	{Name: "load|import", Options: "i|input=r", Operands: "r*", Does: effect.Container},
	{Name: "system|volume|network|image|container|builder|context", Rest: effect.Container, Subs: []program.Row{
		{Name: "ls|list|inspect|df|info|history|logs|top|stats|port", Does: effect.Read},
		{Name: "prune|rm|remove", Does: effect.Container | effect.Destructive},
		{Name: "run|exec|create", Style: program.First, Options: dockerRun, Parse: container},
	}},
	{Name: "swarm|stack|service|node|secret|config|plugin|manifest|trust", Does: effect.Container | effect.Cloud},
}

// composeCommands are the subcommands of docker compose.
var composeCommands = []program.Row{
	{Name: "ps|logs|images|top|version|ls|port|events", Does: effect.Read},
	{Name: "config|convert", Options: "o|output=w services volumes images profiles q|quiet hash=v", Does: effect.Read,
		Shows: "services volumes images profiles q", Handle: resolved},
	{Name: "exec|run", Style: program.First, Options: dockerRun, Parse: container},
	{Name: "down", Options: "v|volumes rmi=v remove-orphans t=v", Does: effect.Container},
	{Name: "push|publish", Does: effect.Publish | effect.Network | effect.Container},
	{Name: "build", Options: "build-arg=v progress=v", Here: "r", Does: effect.ProjectCode | effect.Network},
	{Name: "up|pull|start|stop|restart|rm|kill|create|pause|unpause|cp|watch|scale|wait|attach", Does: effect.Container},
}

// kubeCommands are the subcommands of kubectl.
var kubeCommands = []program.Row{
	{Name: "get|describe|logs|top|version|explain|api-resources|api-versions|cluster-info|diff|wait|events",
		Options: "raw=v f|filename=r k|kustomize=r tail=v since=v c|container=v sort-by=v", Does: effect.Read | effect.Network,
		Handle: kubeQuery},
	{Name: "config", Rest: effect.Container | effect.Cloud, Subs: []program.Row{
		{Name: "view|get-contexts|current-context|get-clusters", Options: "raw flatten", Does: effect.Read, Handle: showSecrets},
	}},
	{Name: "exec|cp|rsh|rsync", Options: "c|container=v i|stdin t|tty image=v",
		Does: effect.Container | effect.Cloud | effect.Network | effect.EnterCluster},
	{Name: "attach|debug|run|port-forward|proxy", Options: "c|container=v i|stdin t|tty image=v",
		Does: effect.Container | effect.Cloud | effect.Network},
	{Name: "delete|drain|cordon", Options: "f|filename=r k=r all force grace-period=v",
		Does: effect.Container | effect.Cloud | effect.Destructive | effect.Network},
	{Name: "apply|create|replace|patch", Options: "f|filename=u k|kustomize=r dry-run=? p=v type=v",
		Does: effect.Container | effect.Cloud | effect.Network},
	{Name: "kustomize", Options: "o|output=w load-restrictor=v", Operands: "g*", Does: effect.Read, Handle: overlays},
}

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
		{Name: "clone", Operands: "v", Here: "rw", Does: effect.Network},
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
	{Name: "auth", Rest: effect.Secrets | effect.Network, Subs: []program.Row{{Name: "status", Does: effect.Network}}},
	{Name: "secret|variable|ssh-key|gpg-key|codespace|cs|gist|project|cache|config", Rest: effect.Network | effect.Publish,
		Subs: []program.Row{
			{Name: "list|view|get", Does: effect.Network},
		}},
	{Name: "extension|ext|alias|copilot|models|agent-task|skill", Does: effect.Install | effect.Network | effect.Unknown},
	{Name: "version|help|completion|--version", Operands: "v*"},
}

// dockerRun are the options of docker run and docker exec that matter: what is mounted is read and written.
const dockerRun = "v|volume=v mount=v e|env=v env-file=r u|user=v w|workdir=v p|publish=v name=v network|net=v entrypoint=v rm " +
	"i|interactive t|tty d|detach privileged cap-add=v device=b pid=v ipc=v userns=v security-opt=v h|hostname=v l|label=v " +
	"m|memory=v cpus=v restart=v platform=v pull=v add-host=v tmpfs=v ulimit=v gpus=v init cidfile=w label-file=r log-driver=v " +
	"log-opt=v dns=v link=v volumes-from=v shm-size=v stop-signal=v detach-keys=v group-add=v runtime=v a|attach=v"
