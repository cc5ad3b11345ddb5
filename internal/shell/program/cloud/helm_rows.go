package cloud

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// helmCommands are the subcommands of helm. A release has the values that it was installed with, and secrets among its objects.
var helmCommands = []program.Row{
	{Name: "list|ls|status|history|hist|version|env", Options: "o|output=v f|filter=v revision=v max|m=v a|all A|all-namespaces d|date " +
		"r|reverse q|short show-desc show-resources " + helmOptions, Plain: "deployed failed no-headers offset=v pending l|selector=v " +
		"superseded time-format=v uninstalled uninstalling template=v client h|help", Does: effect.Read | effect.Network, Handle: helmIdentity},
	{Name: "search", Options: helmOptions, Plain: "h|help", Handle: helmIdentity, Rest: effect.Network | effect.Cloud, Subs: []program.Row{
		{Name: "repo|hub", Options: "endpoint=h o|output=v l|versions version=v r|regexp max-col-width=v " + helmOptions,
			Plain: "devel fail-on-no-result list-repo-url h|help", Does: effect.Read | effect.Network},
	}},
	{Name: "get", Options: helmOptions, Plain: "h|help", Rest: effect.Read | effect.Network | effect.Secrets, Subs: []program.Row{
		{Name: "notes|metadata", Options: "revision=v o|output=v " + helmOptions, Plain: "h|help", Does: effect.Read | effect.Network,
			Handle: helmIdentity},
	}},
	{Name: "show|inspect", Options: "repo=h version=v devel jsonpath=v verify " + chartSource + helmOptions, Plain: "h|help",
		Operands: "vu", Does: effect.Read | effect.Network, Handle: helmIdentity},
	{Name: "template|lint", Options: "f|values=u set=v set-string=v set-json=v set-literal=v set-file=v post-renderer=c " +
		"post-renderer-args=v output-dir=w repo=h version=v a|api-versions=v s|show-only=v name-template=v kube-version=v validate " +
		"is-upgrade include-crds skip-tests no-hooks strict quiet with-subcharts g|generate-name dependency-update dry-run=? " +
		chartSource + helmOptions, Plain: "atomic create-namespace description=v devel disable-openapi-validation force hide-notes " +
		"l|labels=v release-name render-subchart-notes replace skip-crds skip-schema-validation take-ownership timeout=v verify wait " +
		"wait-for-jobs h|help", Operands: "u*", Here: "r", Does: effect.Network, Handle: chart},
	{Name: "dependency|dep|dependencies", Options: helmOptions, Plain: "h|help", Rest: effect.Deps | effect.Network, Subs: []program.Row{
		{Name: "list|ls", Options: helmOptions, Plain: "max-col-width=v h|help", Operands: "r", Here: "r"},
		{Name: "update|up|build", Options: "skip-refresh verify " + chartSource + helmOptions, Plain: "h|help", Operands: "b", Here: "rw",
			Does: effect.Deps | effect.Network},
	}},
	{Name: "create", Options: "p|starter=r " + helmOptions, Plain: "h|help", Operands: "w"},
	{Name: "package", Options: "d|destination=w sign key=v passphrase-file=r u|dependency-update version=v app-version=v " + chartSource +
		helmOptions, Plain: "h|help", Operands: "r*", Here: "rw", Handle: signed},
	{Name: "repo", Options: helmOptions, Plain: "h|help", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "list|ls", Options: "o|output=v " + helmOptions, Plain: "h|help", Does: effect.Read},
		{Name: "update|up", Options: helmOptions, Plain: "fail-on-repo-update-fail h|help", Does: effect.Deps | effect.Network},
	}},
	{Name: "plugin", Options: helmOptions, Plain: "h|help", Rest: effect.Install | effect.Network, Subs: []program.Row{
		{Name: "list|ls", Options: helmOptions, Plain: "h|help", Does: effect.Read},
	}},
	{Name: "completion|help", Options: helmOptions, Plain: "no-descriptions h|help", Operands: "v*"},
	{Name: "push", Options: chartSource + helmOptions, Plain: "h|help", Does: effect.Publish | effect.Network},
}

// helmOptions are the options of every subcommand of helm.
const helmOptions = "n|namespace=v kube-context=v kubeconfig=x kube-apiserver=h kube-as-user=v kube-as-group=v kube-ca-file=r " +
	"kube-tls-server-name=v kube-token=v kube-insecure-skip-tls-verify registry-config=r repository-config=r repository-cache=w " +
	"content-cache=w burst-limit=v qps=v debug"

// chartSource are the options that say how helm reaches a chart.
const chartSource = "ca-file=r cert-file=r key-file=r username=v password=v keyring=r insecure-skip-tls-verify plain-http " +
	"pass-credentials "
