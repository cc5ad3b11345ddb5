package cloud

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// dockerCommands are the subcommands of docker and podman.
var dockerCommands = []program.Row{
	{Name: "ps|images|logs|version|info|stats|top|port|history|diff|search|events|df",
		Options: "f|filter=v n|tail=v format=v since=v until=v", Does: effect.Read},
	{Name: "inspect", Options: inspectOptions, Does: effect.Read, Handle: inspected},
	{Name: "run|create", Style: program.First, Options: dockerRun, Parse: container},
	{Name: "exec", Style: program.First, Options: dockerRun, Parse: container},
	{Name: "buildx", Rest: effect.Container, Subs: []program.Row{
		{Name: "ls|inspect|version|du", Operands: "v*"},
		{Name: "imagetools", Rest: effect.Container | effect.Publish, Subs: []program.Row{{Name: "inspect", Does: effect.Read | effect.Network}}},
		{Name: "build|b", Options: buildOptions, Operands: "u*", Does: effect.ProjectCode | effect.Network, Handle: buildImage},
		{Name: "bake", Options: "f|file=u set=v push load print allow=v builder=v metadata-file=w no-cache pull provenance=v sbom=v " +
			"list=v var=v", Operands: "v*", Does: effect.ProjectCode | effect.Network, Handle: buildImage},
	}},
	{Name: "build|bake", Options: buildOptions, Operands: "u*", Does: effect.ProjectCode | effect.Network, Handle: buildImage},
	{Name: "compose", Options: "f|file=x p|project-name=v env-file=r profile=v project-directory=k", Handle: composeFiles,
		Subs: composeCommands},
	{Name: "pull|login|logout", Does: effect.Container | effect.Network},
	{Name: "push", Does: effect.Publish | effect.Network | effect.Container},
	{Name: "rm|rmi|stop|kill|start|restart|pause|unpause|tag|rename|wait|update|commit|attach", Does: effect.Container},
	{Name: "cp", Operands: "b*", Does: effect.Container},
	{Name: "save|export", Options: "o|output=w", Does: effect.Container},
	{Name: "load|import", Options: "i|input=r", Operands: "r*", Does: effect.Container},
	{Name: "system|volume|network|image|container|builder|context", Rest: effect.Container, Subs: []program.Row{
		{Name: "ls|list|inspect|df|info|history|logs|top|stats|port|events|diff|show", Options: inspectOptions, Does: effect.Read,
			Handle: inspected},
		{Name: "prune|rm|remove", Does: effect.Container | effect.Destructive},
		{Name: "run|exec|create", Style: program.First, Options: dockerRun, Parse: container},
	}},
	{Name: "stack|service|node|plugin|trust", Rest: effect.Container | effect.Cloud, Subs: []program.Row{
		{Name: "ls|list|ps|logs|inspect|services", Options: inspectOptions, Does: effect.Read, Handle: inspected},
	}},
	{Name: "secret|config", Rest: effect.Container | effect.Cloud, Subs: []program.Row{
		{Name: "ls|list", Options: inspectOptions, Does: effect.Read},
	}},
	{Name: "manifest", Rest: effect.Container | effect.Cloud, Subs: []program.Row{{Name: "inspect", Does: effect.Read | effect.Network}}},
	{Name: "swarm", Does: effect.Container | effect.Cloud},
}

// inspectOptions are the options of commands of docker that show something.
const inspectOptions = "f|format=v s|size type=v filter=v n|tail=v since=v until=v no-trunc q|quiet a|all H|human"

// buildOptions are the options of docker build.
const buildOptions = "f|file=u t|tag=v build-arg=v target=v o|output=v secret=v ssh=v platform=v push load pull q|quiet no-cache " +
	"cache-from=v cache-to=v iidfile=w metadata-file=w network=v progress=v builder=v build-context=v allow=v add-host=v label=v " +
	"annotation=v attest=v provenance=v sbom=v no-cache-filter=v shm-size=v ulimit=v cgroup-parent=v call=v check"

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
	{Name: "get|describe|logs|top|version|explain|api-resources|api-versions|diff|wait|events",
		Options: "raw=v f|filename=u k|kustomize=r tail=v since=v c|container=v sort-by=v for=v timeout=v template=v " + kubeOptions,
		Does:    effect.Read | effect.Network, Handle: kubeQuery},
	{Name: "cluster-info", Options: "output-directory=w namespaces=v " + kubeOptions, Does: effect.Read | effect.Network,
		Handle: kubeIdentity},
	{Name: "config", Rest: effect.Container | effect.Cloud, Subs: []program.Row{
		{Name: "view|get-contexts|current-context|get-clusters", Options: "raw flatten minify " + kubeOptions, Does: effect.Read,
			Handle: showSecrets},
	}},
	{Name: "auth", Rest: effect.Container | effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "can-i|whoami", Options: "list subresource=v q|quiet " + kubeOptions, Does: effect.Read | effect.Network},
	}},
	{Name: "rollout", Rest: effect.Container | effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "status|history", Options: "revision=v timeout=v w|watch f|filename=u " + kubeOptions, Does: effect.Read | effect.Network,
			Handle: kubeIdentity},
	}},
	{Name: "plugin", Subs: []program.Row{{Name: "list", Options: "name-only", Does: effect.Read}}},
	{Name: "completion|options|help", Operands: "v*"},
	{Name: "exec|cp|rsh|rsync", Options: "c|container=v i|stdin t|tty image=v",
		Does: effect.Container | effect.Cloud | effect.Network | effect.EnterCluster},
	{Name: "attach|debug|run|port-forward|proxy", Options: "c|container=v i|stdin t|tty image=v",
		Does: effect.Container | effect.Cloud | effect.Network},
	{Name: "delete|drain|cordon", Options: "f|filename=r k=r all force grace-period=v",
		Does: effect.Container | effect.Cloud | effect.Destructive | effect.Network},
	{Name: "apply|create|replace|patch", Options: "f|filename=u k|kustomize=r dry-run=? p=v type=v",
		Does: effect.Container | effect.Cloud | effect.Network},
	{Name: "kustomize", Options: kustomizeOptions, Operands: "g*", Does: effect.Read, Handle: overlays},
}

// kustomizeOptions are the options of kustomize.
const kustomizeOptions = "o|output=w load-restrictor=v enable-exec enable-alpha-plugins enable-helm enable-star helm-command=c " +
	"mount=b e|env=v network network-name=v as-current-user reorder=v"

// kubeOptions are the options of every subcommand of kubectl.
const kubeOptions = "n|namespace=v context=v kubeconfig=x l|selector=v o|output=v A|all-namespaces cluster=v user=v s|server=h token=v " +
	"as=v as-group=v as-uid=v cache-dir=w certificate-authority=r client-certificate=r client-key=r request-timeout=v " +
	"tls-server-name=v v=v insecure-skip-tls-verify username=v password=v profile-output=w log-file=w"

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

// dockerRun are the options of docker run and docker exec that matter: what is mounted is read and written.
const dockerRun = "v|volume=v mount=v e|env=v env-file=r u|user=v w|workdir=v p|publish=v name=v network|net=v entrypoint=v rm " +
	"i|interactive t|tty d|detach privileged cap-add=v device=b pid=v ipc=v userns=v security-opt=v h|hostname=v l|label=v " +
	"m|memory=v cpus=v restart=v platform=v pull=v add-host=v tmpfs=v ulimit=v gpus=v init cidfile=w label-file=r log-driver=v " +
	"log-opt=v dns=v link=v volumes-from=v shm-size=v stop-signal=v detach-keys=v group-add=v runtime=v a|attach=v"
