package cloud

// plainMinikube are the options of minikube, before and behind a subcommand.
const plainMinikube = "l|layout=v w|watch=? n|node|namespace=v short components d|docs light alsologtostderr logtostderr v=v " +
	"b|bootstrapper=v rootless skip-audit user=v h|help"

// The options of cdk and of pulumi preview.
const (
	cdkOptions = "o|output=w a|app=c c|context=v p|plugin=x r|role-arn=v profile=v proxy=h ca-bundle-path=r template=r"
	plainCdk   = "trace strict lookups ignore-errors j|json v|verbose debug i|ec2creds version-reporting path-metadata " +
		"asset-metadata notices no-color ci e|exclusively q|quiet validation l|long d|show-dependencies context-lines=v " +
		"security-only fail processed change-set import-existing-resources staging unstable=v h|help version"
	plainPulumi = "c|config=v config-path debug diff expect-no-changes j|json m|message=v p|parallel=v r|refresh=? replace=v " +
		"show-config show-reads show-replacement-steps show-sames suppress-outputs suppress-permalink=? t|target=v target-dependents " +
		"target-replace=v color=v e|emoji logtostderr memprofilerate=v non-interactive v|verbose=v h|help"
)

// plainPlaybook are the options of ansible-playbook. What says how to connect, and --vault-id, which may run a program, is left out.
const plainPlaybook = "D|diff flush-cache force-handlers f|forks=v K|ask-become-pass k|ask-pass l|limit=v list-hosts list-tags " +
	"list-tasks skip-tags=v start-at-task=v step t|tags=v T|timeout=v v|verbose version h|help b|become become-method=v become-user=v"
