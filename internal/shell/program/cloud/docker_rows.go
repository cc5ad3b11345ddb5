package cloud

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// dockerCommands are the subcommands of docker and podman.
var dockerCommands = []program.Row{
	{Name: "ps", Options: listOptions, Plain: plainList, Does: effect.Read},
	{Name: "images", Options: listOptions, Plain: plainList, Does: effect.Read},
	{Name: "logs", Options: logOptions, Plain: plainLogs, Does: effect.Read},
	{Name: "version|info", Options: "f|format=v", Plain: "help", Does: effect.Read},
	{Name: "stats|history|search|port|diff|events", Options: lookOptions, Plain: plainLook, Does: effect.Read},
	{Name: "top", Style: program.First, Plain: "help l latest", Operands: "v*", Does: effect.Read},
	{Name: "inspect", Options: inspectOptions, Plain: plainInspect, Does: effect.Read, Handle: inspected},
	{Name: "run|create", Style: program.First, Options: dockerRun, Plain: plainRun, Parse: container},
	{Name: "exec", Style: program.First, Options: dockerRun, Plain: plainRun, Parse: container},
	{Name: "buildx", Options: "builder=v", Plain: "D|debug help", Handle: builder, Rest: effect.Container, Subs: []program.Row{
		{Name: "ls|inspect|version|du", Options: "builder=v filter=v format=v timeout=v",
			Plain:    "bootstrap no-trunc verbose D|debug help",
			Operands: "v*"},
		{Name: "imagetools", Options: "builder=v", Plain: "D|debug help", Handle: builder, Rest: effect.Container | effect.Publish,
			Subs: []program.Row{
				{Name: "inspect", Options: "builder=v format=v", Plain: "raw D|debug help", Does: effect.Read | effect.Network},
			}},
		{Name: "build|b", Options: buildOptions, Plain: plainBuild, Operands: "u*", Does: effect.ProjectCode | effect.Network,
			Handle: buildImage},
		{Name: "bake", Options: bakeOptions, Plain: plainBake, Operands: "v*", Does: effect.ProjectCode | effect.Network,
			Handle: buildImage},
	}},
	{Name: "build", Options: buildOptions, Plain: plainBuild, Operands: "u*", Does: effect.ProjectCode | effect.Network,
		Handle: buildImage},
	{Name: "bake", Options: bakeOptions, Plain: plainBake, Operands: "v*", Does: effect.ProjectCode | effect.Network, Handle: buildImage},
	{Name: "compose", Options: composeOptions, Plain: plainCompose, Handle: composeFiles, Subs: composeCommands},
	{Name: "pull|login|logout", Options: "platform=v p|password=v u|username=v", Plain: "a|all-tags q|quiet disable-content-trust " +
		"password-stdin help", Does: effect.Container | effect.Network},
	{Name: "push", Options: "platform=v", Plain: "a|all-tags q|quiet disable-content-trust help",
		Does: effect.Publish | effect.Network | effect.Container},
	{Name: "rm|rmi", Options: "platform=v", Plain: "f|force l|link v|volumes no-prune help", Does: effect.Container},
	{Name: "stop|kill|restart|rename|pause|unpause|tag|wait", Options: "s|signal=v t|timeout|time=v", Plain: "help",
		Does: effect.Container},
	{Name: "start|attach", Options: "detach-keys=v checkpoint=v checkpoint-dir=r",
		Plain: "a|attach i|interactive no-stdin sig-proxy help",
		Does:  effect.Container},
	{Name: "update", Options: "blkio-weight=v cpu-period=v cpu-quota=v cpu-rt-period=v cpu-rt-runtime=v c|cpu-shares=v cpus=v " +
		"cpuset-cpus=v cpuset-mems=v m|memory=v memory-reservation=v memory-swap=v pids-limit=v restart=v kernel-memory=v",
		Plain: "help", Does: effect.Container},
	{Name: "commit", Options: "a|author=v c|change=v m|message=v", Plain: "p|pause no-pause help", Does: effect.Container},
	{Name: "cp", Plain: "a|archive L|follow-link q|quiet help", Operands: "b*", Does: effect.Container},
	{Name: "save|export", Options: "o|output=w platform=v", Plain: "help", Does: effect.Container},
	{Name: "load", Options: "i|input=r platform=v", Plain: "q|quiet help", Operands: "r*", Does: effect.Container},
	{Name: "import", Options: "i|input=r platform=v c|change=v m|message=v", Plain: "help", Operands: "r*", Does: effect.Container},
	{Name: "system|volume|network|image|container|builder|context", Plain: "help", Rest: effect.Container, Subs: dockerKinds},
	{Name: "stack|service|node|plugin|trust", Options: "orchestrator=v", Plain: "help", Rest: effect.Container | effect.Cloud,
		Subs: []program.Row{
			{Name: "ls|list|ps|services", Options: listOptions, Plain: plainList, Does: effect.Read},
			{Name: "inspect", Options: inspectOptions, Plain: plainInspect, Does: effect.Read, Handle: inspected},
			{Name: "logs", Options: logOptions, Plain: plainLogs, Does: effect.Read},
		}},
	{Name: "secret|config", Plain: "help", Rest: effect.Container | effect.Cloud, Subs: []program.Row{
		{Name: "ls|list", Options: listOptions, Plain: plainList, Does: effect.Read},
	}},
	{Name: "manifest", Plain: "help", Rest: effect.Container | effect.Cloud, Subs: []program.Row{
		{Name: "inspect", Plain: "insecure v|verbose help", Does: effect.Read | effect.Network},
	}},
	{Name: "swarm", Does: effect.Container | effect.Cloud},
}

// dockerKinds are the subcommands of docker image, docker container and the like.
var dockerKinds = []program.Row{
	{Name: "ls|list", Options: listOptions, Plain: plainList, Does: effect.Read},
	{Name: "inspect|show", Options: inspectOptions, Plain: plainInspect, Does: effect.Read, Handle: inspected},
	{Name: "logs", Options: logOptions, Plain: plainLogs, Does: effect.Read},
	{Name: "df", Options: "format=v", Plain: "v|verbose help", Does: effect.Read},
	{Name: "info", Options: "f|format=v", Plain: "help", Does: effect.Read},
	{Name: "history|stats|port|events|diff", Options: lookOptions, Plain: plainLook, Does: effect.Read},
	{Name: "top", Style: program.First, Plain: "help l latest", Operands: "v*", Does: effect.Read},
	{Name: "prune", Options: "filter=v keep-storage=v", Plain: "a|all f|force volumes help", Does: effect.Container | effect.Destructive},
	{Name: "rm|remove", Options: "platform=v", Plain: "f|force l|link v|volumes no-prune help",
		Does: effect.Container | effect.Destructive},
	{Name: "run|exec|create", Style: program.First, Options: dockerRun, Plain: plainRun, Parse: container},
	{Name: "build", Options: buildOptions, Plain: plainBuild, Operands: "u*", Does: effect.ProjectCode | effect.Network,
		Handle: buildImage},
}

// The options of commands of docker and podman that list and show something.
const (
	listOptions = "f|filter=v n|last=v format=v w|watch=v sort=v"
	plainList   = "a|all l|latest no-trunc q|quiet s|size digests tree cluster no-resolve ns p|pod sync external noheading history help"

	logOptions = "since=v n|tail=v until=v"
	plainLogs  = "f|follow t|timestamps details no-resolve no-task-ids no-trunc raw l|latest color names help"

	lookOptions = "f|filter=v since=v until=v format=v limit=v platform=v"
	plainLook   = "a|all no-stream no-trunc no-reset q|quiet H|human l|latest help"

	inspectOptions = "f|format=v type|t=v filter=v n|tail=v since=v until=v platform=v"
	plainInspect   = "s|size no-trunc q|quiet a|all H|human v|verbose pretty l|latest help"
)

// buildOptions are the options of docker build.
const buildOptions = "f|file=u t|tag=v build-arg=v target=v o|output=v secret=v ssh=v platform=v push load pull q|quiet no-cache " +
	"cache-from=v cache-to=v iidfile=w metadata-file=w network=v progress=v builder=v build-context=v allow=v add-host=v label=v " +
	"annotation=v attest=v provenance=v sbom=v no-cache-filter=v shm-size=v ulimit=v cgroup-parent=v call=v check"

const plainBuild = "compress cpu-period=v cpu-quota=v c|cpu-shares=v cpuset-cpus=v cpuset-mems=v D|debug disable-content-trust " +
	"force-rm isolation=v m|memory=v memory-swap=v rm squash help"

// bakeOptions are the options of docker buildx bake.
const bakeOptions = "f|file=u set=v push load print allow=v builder=v metadata-file=w no-cache pull provenance=v sbom=v list=v var=v " +
	"call=v progress=v"

const plainBake = "check D|debug help"

// composeOptions are the options of docker compose before its subcommand.
const composeOptions = "f|file=x p|project-name=v env-file=r profile=v project-directory=k"

const plainCompose = "all-resources ansi=v compatibility dry-run parallel=v progress=v v|version help"

// composeCommands are the subcommands of docker compose.
var composeCommands = []program.Row{
	{Name: "ps|ls|images|volumes", Options: "filter=v format=v status=v", Plain: "a|all no-trunc orphans q|quiet services dry-run help",
		Does: effect.Read},
	{Name: "logs", Options: "since=v n|tail=v until=v index=v", Plain: "f|follow no-color no-log-prefix t|timestamps dry-run help",
		Does: effect.Read},
	{Name: "top|version|port|events|stats", Options: "f|format=v index=v protocol=v since=v until=v",
		Plain: "short json no-stream no-trunc a|all dry-run help", Does: effect.Read},
	{Name: "config|convert", Options: "o|output=w services volumes images profiles q|quiet hash=v",
		Plain: "environment format=v lock-image-digests models networks no-consistency no-env-resolution no-interpolate no-normalize " +
			"no-path-resolution resolve-image-digests variables dry-run help",
		Does: effect.Read, Shows: "services volumes images profiles q", Handle: resolved},
	{Name: "exec|run", Style: program.First, Options: dockerRun, Plain: plainRun, Parse: container},
	{Name: "down", Options: "v|volumes rmi=v remove-orphans t|timeout=v", Plain: "dry-run help", Does: effect.Container},
	{Name: "push|publish", Options: "oci-version=v",
		Plain: "ignore-push-failures include-deps q|quiet resolve-image-digests with-env app " +
			"insecure-registry y|yes dry-run help", Does: effect.Publish | effect.Network | effect.Container},
	{Name: "build", Options: "build-arg=v builder=v ssh=v push m|memory=v progress=v provenance=v sbom=v", Plain: plainComposeBuild,
		Here: "r", Does: effect.ProjectCode | effect.Network, Handle: buildImage},
	{Name: "rm", Plain: "f|force s|stop v|volumes a dry-run help", Does: effect.Container},
	{Name: "up|pull|start|stop|restart|kill|create|pause|unpause|cp|watch|scale|wait|attach",
		Options: "s|signal=v t|timeout=v policy=v " +
			"scale=v pull=v index=v exit-code-from=v wait-timeout=v attach=v no-attach=v detach-keys=v", Plain: plainUp,
		Does: effect.Container},
}

const plainComposeBuild = "check compress force-rm no-cache no-rm parallel print pull q|quiet with-dependencies dry-run help"

const plainUp = "d|detach build no-build no-deps no-recreate force-recreate always-recreate-deps remove-orphans quiet-pull " +
	"quiet-build abort-on-container-exit abort-on-container-failure attach-dependencies menu no-color no-log-prefix no-start " +
	"V|renew-anon-volumes timestamps wait w|watch y|yes ignore-buildable ignore-pull-failures include-deps q|quiet a|archive all " +
	"L|follow-link no-up prune down-project no-stdin sig-proxy dry-run help"

// dockerRun are the options of docker run, docker exec and docker compose run: what is mounted is read and written.
const dockerRun = "v|volume=v mount=v e|env=v env-file=r u|user=v w|workdir=v p|publish=v name=v network|net=v entrypoint=v rm " +
	"i|interactive t|tty d|detach privileged cap-add=v device=b pid=v ipc=v userns=v security-opt=v h|hostname=v l|label=v " +
	"m|memory=v cpus=v restart=v platform=v pull=v add-host=v tmpfs=v ulimit=v gpus=v init cidfile=w label-file=r log-driver=v " +
	"log-opt=v dns=v link=v volumes-from=v shm-size=v stop-signal=v detach-keys=v group-add=v runtime=v a|attach=v uts=v cgroupns=v " +
	"device-cgroup-rule=v sysctl=v cgroup-parent=v use-api-socket volume-driver=v storage-opt=v env-from-file=r"

const plainRun = "annotation=v blkio-weight=v blkio-weight-device=v cap-drop=v cpu-count=v cpu-percent=v cpu-period=v cpu-quota=v " +
	"cpu-rt-period=v cpu-rt-runtime=v c|cpu-shares=v cpuset-cpus=v cpuset-mems=v device-read-bps=v device-read-iops=v " +
	"device-write-bps=v device-write-iops=v disable-content-trust dns-option=v dns-search=v domainname=v expose=v health-cmd=v " +
	"health-interval=v health-retries=v health-start-interval=v health-start-period=v health-timeout=v io-maxbandwidth=v " +
	"io-maxiops=v ip=v ip6=v isolation=v kernel-memory=v link-local-ip=v mac-address=v memory-reservation=v memory-swap=v " +
	"memory-swappiness=v network-alias=v no-healthcheck oom-kill-disable oom-score-adj=v pids-limit=v P|publish-all q|quiet " +
	"read-only sig-proxy stop-timeout=v help T|no-TTY|no-tty no-deps service-ports use-aliases quiet-pull quiet-build remove-orphans " +
	"build index=v dry-run"
