package cloud

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// kubeCommands are the subcommands of kubectl.
var kubeCommands = []program.Row{
	{Name: "get|describe|top|version|explain|api-resources|api-versions|diff|wait|events",
		Options: "raw=v f|filename=u k|kustomize=v sort-by=v for=v timeout=v template=v field-selector=v " + kubeOptions,
		Plain:   plainKubeQuery + plainKube, Does: effect.Read | effect.Network, Handle: kubeQuery},
	{Name: "logs", Options: "tail=v since=v since-time=v c|container=v " + kubeOptions, Plain: plainKubeLogs + plainKube,
		Does: effect.Read | effect.Network, Handle: kubeQuery},
	{Name: "cluster-info", Options: "output-directory=w namespaces=v template=v " + kubeOptions, Plain: "allow-missing-template-keys " +
		"pod-running-timeout=v show-managed-fields " + plainKube, Does: effect.Read | effect.Network, Handle: kubeQuery},
	{Name: "config", Options: kubeOptions, Plain: plainKube, Rest: effect.Container | effect.Cloud, Subs: []program.Row{
		{Name: "view|get-contexts|current-context|get-clusters|get-users", Options: "raw flatten minify template=v " + kubeOptions,
			Plain: "merge no-headers allow-missing-template-keys show-managed-fields " + plainKube, Does: effect.Read, Handle: kubeQuery},
	}},
	{Name: "auth", Options: kubeOptions, Plain: plainKube, Rest: effect.Container | effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "whoami", Options: "template=v " + kubeOptions, Plain: "allow-missing-template-keys show-managed-fields " + plainKube,
			Does: effect.Read | effect.Network, Handle: kubeQuery},
		{Name: "can-i", Options: "list subresource=v q|quiet template=v " + kubeOptions, Plain: "no-headers " +
			"allow-missing-template-keys show-managed-fields " + plainKube, Does: effect.Read | effect.Network, Handle: templateFiles},
	}},
	{Name: "rollout", Options: kubeOptions, Plain: plainKube, Rest: effect.Container | effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "status|history", Options: "revision=v timeout=v w|watch f|filename=u k|kustomize=v template=v " + kubeOptions,
			Plain: "R|recursive allow-missing-template-keys show-managed-fields " + plainKube, Does: effect.Read | effect.Network,
			Handle: kubeQuery},
	}},
	{Name: "plugin", Plain: "help", Subs: []program.Row{{Name: "list", Options: "name-only", Plain: "help", Does: effect.Read}}},
	{Name: "completion|options|help", Plain: "help", Operands: "v*"},
	{Name: "exec|cp|rsh|rsync", Options: "c|container=v f|filename=u " + kubeOptions, Plain: "i|stdin t|tty q|quiet " +
		"pod-running-timeout=v no-preserve retries=v " + plainKube,
		Does: effect.Container | effect.Cloud | effect.Network | effect.EnterCluster},
	{Name: "attach|run|port-forward", Options: "c|container=v f|filename=u k|kustomize=r image=v overrides=v template=v privileged " +
		kubeOptions, Plain: "labels=v " + plainKubeRun + plainKube, Does: effect.Container | effect.Cloud | effect.Network},
	{Name: "debug", Options: "c|container=v f|filename=u image=v custom=r profile=v copy-to=v " + kubeOptions,
		Plain: "arguments-only attach env=v image-pull-policy=v keep-annotations keep-init-containers keep-labels keep-liveness " +
			"keep-readiness keep-startup q|quiet replace same-node set-image=v share-processes i|stdin target=v t|tty " + plainKube,
		Does: effect.Container | effect.Cloud | effect.Network},
	{Name: "proxy", Options: "p|port=v u|unix-socket=w w|www=r P|www-prefix=v address=v accept-hosts=v accept-paths=v api-prefix=v " +
		"reject-methods=v reject-paths=v disable-filter " + kubeOptions, Plain: "append-server-path keepalive=v " + plainKube,
		Does: effect.Container | effect.Cloud | effect.Network | effect.Listen},
	{Name: "delete|drain|cordon", Options: "f|filename=r k|kustomize=r all force grace-period=v raw=v field-selector=v pod-selector=v " +
		kubeOptions, Plain: plainKubeDelete + plainKube,
		Does: effect.Container | effect.Cloud | effect.Destructive | effect.Network},
	{Name: "apply|create|replace|patch", Options: "f|filename=u k|kustomize=r dry-run=? p|patch=v type=v patch-file=r raw=v prune " +
		"prune-allowlist=v template=v " + kubeOptions, Plain: plainKubeApply + plainKube,
		Does: effect.Container | effect.Cloud | effect.Network},
	{Name: "kustomize", Options: kustomizeOptions, Plain: plainKustomize, Operands: "g*", Does: effect.Read, Handle: overlays},
}

// kubeOptions are the options of every subcommand of kubectl.
const kubeOptions = "n|namespace=v context=v kubeconfig=x l|selector=v o|output=v A|all-namespaces cluster=v user=v s|server=h " +
	"token=v as=v as-group=v as-uid=v cache-dir=w certificate-authority=r client-certificate=r client-key=r request-timeout=v " +
	"tls-server-name=v v=v insecure-skip-tls-verify username=v password=v profile-output=w log-file=w log-dir=w"

// The options of kubectl that change nothing, first those of every subcommand.
const (
	plainKube = "disable-compression log-flush-frequency=v match-server-version profile=v vmodule=v warnings-as-errors h|help " +
		"alsologtostderr logtostderr stderrthreshold=v log-backtrace-at=v"
	plainKubeQuery = "w|watch R|recursive L|label-columns=v allow-missing-template-keys chunk-size=v ignore-not-found no-headers " +
		"output-watch-events server-print show-kind show-labels show-managed-fields subresource=v watch-only show-events containers " +
		"sum use-protocol-buffers show-capacity client short recursive api-version=v output-version=v api-group=v cached " +
		"categories=v namespaced verbs=v concurrency=v field-manager=v force-conflicts prune prune-allowlist=v server-side all local " +
		"types=v "
	plainKubeLogs = "f|follow p|previous all-containers all-pods ignore-errors insecure-skip-tls-verify-backend limit-bytes=v " +
		"max-log-requests=v pod-running-timeout=v prefix timestamps "
	plainKubeRun = "i|stdin t|tty q|quiet pod-running-timeout=v address=v allow-missing-template-keys annotations=v attach cascade=? " +
		"command dry-run=? env=v expose field-manager=v force grace-period=v image-pull-policy=v leave-stdin-open override-type=v " +
		"port=v R|recursive restart=v rm save-config show-managed-fields timeout=v wait "
	plainKubeDelete = "cascade=? dry-run=? ignore-not-found i|interactive now R|recursive timeout=v wait chunk-size=v " +
		"delete-emptydir-data disable-eviction ignore-daemonsets skip-wait-for-delete-timeout=v "
	plainKubeApply = "all allow-missing-template-keys cascade=? field-manager=v force force-conflicts grace-period=v openapi-patch " +
		"overwrite R|recursive server-side show-managed-fields subresource=v timeout=v validate=? wait edit save-config " +
		"windows-line-endings local "
	plainKustomize = "helm-api-versions=v helm-debug helm-kube-version=v stack-trace " + plainKube
)

// kustomizeOptions are the options of kustomize.
const kustomizeOptions = "o|output=w load-restrictor=v enable-exec enable-alpha-plugins enable-helm enable-star helm-command=c " +
	"mount=b e|env=v network network-name=v as-current-user reorder=v"
