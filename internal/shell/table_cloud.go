package shell

// dockerRun are the options of docker run and docker exec that matter: what is mounted is read and written.
const dockerRun = "v|volume=v mount=v e|env=v env-file=r u|user=v w|workdir=v p|publish=v name=v network|net=v entrypoint=v rm i|interactive t|tty d|detach privileged cap-add=v device=b pid=v ipc=v userns=v " +
	"security-opt=v h|hostname=v l|label=v m|memory=v cpus=v restart=v platform=v pull=v add-host=v tmpfs=v ulimit=v gpus=v init cidfile=w label-file=r log-driver=v log-opt=v dns=v link=v volumes-from=v shm-size=v stop-signal=v detach-keys=v group-add=v runtime=v a|attach=v"

// dockerCommands are the subcommands of docker and podman.
var dockerCommands = []program{
	{name: "ps|images|logs|inspect|version|info|stats|top|port|history|diff|search|events|df", does: doesRead, opts: "f|filter=v n|tail=v format=v since=v until=v"},
	{name: "run|create", opts: dockerRun, style: first, raw: asContainer},
	{name: "exec", opts: dockerRun, style: first, raw: asContainer},
	{name: "buildx", subs: []program{{name: "ls|inspect|version|du"}, {name: "build|b|bake", opts: "f|file=r t|tag=v build-arg=v target=v o|output=g secret=v platform=v push load builder=v", operands: "r*", does: doesProjectCode | doesNetwork, do: withDryRun}}, rest: doesContainer},
	{name: "build|bake", opts: "f|file=r t|tag=v build-arg=v target=v o|output=g secret=v ssh=v platform=v push cache-from=v cache-to=v iidfile=w network=v progress=v builder=v", operands: "r*", does: doesProjectCode | doesNetwork, do: withDryRun},
	{name: "compose", opts: "f|file=x p|project-name=v env-file=r profile=v project-directory=k", subs: composeCommands},
	{name: "pull|login|logout", does: doesContainer | doesNetwork},
	{name: "push", does: doesPublish | doesNetwork | doesContainer},
	{name: "rm|rmi|stop|kill|start|restart|pause|unpause|tag|rename|wait|update|commit|attach", does: doesContainer},
	{name: "cp", operands: "b*", does: doesContainer},
	{name: "save|export", opts: "o|output=w", does: doesContainer},
	{name: "load|import", opts: "i|input=r", operands: "r*", does: doesContainer},
	{name: "system|volume|network|image|container|builder|context", subs: []program{
		{name: "ls|list|inspect|df|info|history|logs|top|stats|port", does: doesRead},
		{name: "prune|rm|remove", does: doesContainer | doesDestructive},
		{name: "run|exec|create", opts: dockerRun, style: first, raw: asContainer},
	}, rest: doesContainer},
	{name: "swarm|stack|service|node|secret|config|plugin|manifest|trust", does: doesContainer | doesCloud},
}

var composeCommands = []program{
	{name: "ps|logs|config|images|top|version|ls|port|events", does: doesRead},
	{name: "exec|run", opts: dockerRun, style: first, raw: asContainer},
	{name: "down", opts: "v|volumes rmi=v remove-orphans t=v", does: doesContainer},
	{name: "push|publish", does: doesPublish | doesNetwork | doesContainer},
	{name: "build", opts: "build-arg=v progress=v", here: "r", does: doesProjectCode | doesNetwork},
	{name: "up|pull|start|stop|restart|rm|kill|create|pause|unpause|cp|watch|scale|wait|attach", does: doesContainer},
}

// cloudTools change what is elsewhere: containers, clusters, clouds, databases.
var cloudTools = []program{
	{name: "ansible", opts: "i|inventory=r m|module-name=v a|args=v", does: doesCloud | doesNetwork | doesInlineCode},
	{name: "ansible-playbook", opts: "i|inventory=r e|extra-vars=v check syntax-check", operands: "x*", shows: "syntax-check", does: doesCloud | doesNetwork},
	{name: "argocd", subs: []program{{name: "version|context"}}, rest: doesCloud | doesNetwork},
	{name: "aws", opts: "profile=v region=v output=v query=v endpoint-url=h", subs: []program{{name: "configure", does: doesSecrets | doesCloud}, {name: "help"}}, other: asCloud},
	{name: "az", opts: "subscription=v o|output=v query=v g|resource-group=v n|name=v", subs: []program{{name: "version|help"}}, other: asCloud},
	{name: "bq", does: doesCloud | doesNetwork | doesDatabase},
	{name: "cdk", subs: []program{{name: "ls|list|diff|doctor|version", does: doesProjectCode}, {name: "synth", here: "rw", does: doesProjectCode}}, rest: doesCloud | doesNetwork},
	{name: "createdb", does: doesDatabase},
	{name: "docker", opts: "H|host=h c|context=v config=r l|log-level=v", subs: dockerCommands, do: withElsewhere},
	{name: "docker-compose", opts: "f|file=x p|project-name=v env-file=r profile=v project-directory=k", subs: composeCommands},
	{name: "doctl", does: doesCloud | doesNetwork},
	{name: "dropdb", does: doesDatabase | doesDestructive},
	{name: "eksctl", does: doesCloud | doesNetwork},
	{name: "firebase", subs: []program{{name: "help|--version|projects:list"}}, rest: doesCloud | doesNetwork},
	{name: "fly", same: "flyctl"},
	{name: "flyctl", does: doesCloud | doesNetwork},
	{name: "gcloud", opts: "project=v region=v zone=v format=v filter=v", subs: []program{{name: "version|help|info"}, {name: "auth", does: doesSecrets | doesCloud | doesNetwork}}, other: asCloud},
	{name: "gh", opts: "R|repo=v", subs: ghCommands, do: withElsewhere},
	{name: "glab", opts: "R|repo=v", subs: ghCommands, do: withElsewhere},
	{name: "gsutil", does: doesCloud | doesNetwork},
	{name: "helm", opts: "n|namespace=v kube-context=v kubeconfig=x", subs: []program{{name: "list|ls|status|history|get|show|search|version|env|repo-list", does: doesRead | doesNetwork}, {name: "template|lint|dependency|create|package", opts: "f|values=r output-dir=w", operands: "g*", here: "rw"}, {name: "push", does: doesPublish | doesNetwork}}, rest: doesCloud | doesContainer | doesNetwork},
	{name: "heroku", does: doesCloud | doesNetwork},
	{name: "k9s", does: doesContainer | doesCloud},
	{name: "kind", does: doesContainer},
	{name: "kubectl", opts: "n|namespace=v context=v kubeconfig=x l|selector=v o|output=v A|all-namespaces cluster=v user=v s|server=h token=v as=v", subs: kubeCommands},
	{name: "kubectx", does: doesContainer},
	{name: "kustomize", operands: "g*", does: doesRead},
	{name: "mariadb", same: "mysql"},
	{name: "minikube", does: doesContainer},
	{name: "mongo", same: "mongosh"},
	{name: "mongodump", opts: "o|out=w uri=h h|host=h", does: doesDatabase | doesNetwork},
	{name: "mongorestore", opts: "uri=h h|host=h", operands: "r*", does: doesDatabase | doesNetwork | doesDestructive},
	{name: "mongosh", opts: "eval=s f|file=x host=h", does: doesDatabase | doesNetwork, do: withStatement},
	{name: "mysql", opts: "e|execute=s h|host=h u|user=v p|password=? P|port=v D|database=v defaults-file=r init-command=s tee=w", does: doesDatabase, do: withStatement},
	{name: "mysqladmin", does: doesDatabase | doesDestructive},
	{name: "mysqldump", opts: "h|host=h u|user=v p|password=? P|port=v r|result-file=w", does: doesDatabase},
	{name: "netlify", does: doesCloud | doesNetwork | doesPublish},
	{name: "nomad", does: doesCloud | doesNetwork},
	{name: "oc", same: "kubectl"},
	{name: "packer", subs: []program{{name: "validate|fmt|inspect|version", operands: "g*", here: "r"}}, rest: doesCloud | doesNetwork},
	{name: "pg_dump", opts: "f|file=w h|host=h U|username=v d|dbname=v p|port=v t|table=v", does: doesDatabase},
	{name: "pg_dumpall", same: "pg_dump"},
	{name: "pg_isready"},
	{name: "pg_restore", opts: "d|dbname=v h|host=h c|clean", operands: "r*", does: doesDatabase | doesDestructive},
	{name: "podman", opts: "url=h", subs: dockerCommands},
	{name: "psql", opts: "c|command=s f|file=x h|host=h U|username=v d|dbname=v p|port=v o|output=w L|log-file=w v|set=v l|list t A q X", does: doesDatabase, shows: "l", do: withStatement},
	{name: "pulumi", subs: []program{{name: "version|about|whoami"}, {name: "preview", does: doesProjectCode | doesNetwork}}, rest: doesCloud | doesNetwork | doesProjectCode},
	{name: "redis-cli", opts: "h=h p=v a=v n=v u=h eval=x", does: doesDatabase, do: withStatement},
	{name: "serverless", does: doesCloud | doesNetwork | doesPublish},
	{name: "sls", same: "serverless"},
	{name: "sqlcmd", opts: "Q=s q=s i=x S=h o=w", does: doesDatabase, do: withStatement},
	{name: "sqlite", same: "sqlite3"},
	{name: "sqlite3", opts: "cmd=s init=x separator=v nullvalue=v version", style: single, operands: "bs*", does: doesDatabase, shows: "version", do: withStatement},
	{name: "supabase", does: doesCloud | doesDatabase | doesNetwork},
	{name: "terraform", opts: "chdir=k", style: single, subs: []program{
		{name: "output", style: single, opts: "json raw state=r", here: "r", does: doesRead | doesNetwork, do: withSecrets},
		{name: "plan|validate|show|providers|graph|version|state-list|console|get|test|metadata", style: single, opts: "out=w var=v var-file=r target=v", operands: "g*", here: "r", does: doesNetwork},
		{name: "fmt", style: single, operands: "b*", here: "rw"},
		{name: "init", style: single, opts: "backend-config=g from-module=u plugin-dir=x", here: "rw", does: doesDeps | doesNetwork},
		{name: "destroy", style: single, does: doesCloud | doesDestructive | doesNetwork},
	}, rest: doesCloud | doesNetwork},
	{name: "tofu", same: "terraform"},
	{name: "vagrant", subs: []program{{name: "status|version|global-status"}}, rest: doesContainer},
	{name: "vault", does: doesSecrets | doesNetwork},
	{name: "vercel", does: doesCloud | doesNetwork | doesPublish},
	{name: "wrangler", subs: []program{{name: "dev|types|whoami", does: doesProjectCode | doesNetwork}}, rest: doesCloud | doesNetwork | doesPublish},
}

var kubeCommands = []program{
	{name: "get|describe|logs|top|version|explain|api-resources|api-versions|cluster-info|diff|wait|events", opts: "raw=v f|filename=r k=r tail=v since=v c|container=v sort-by=v", does: doesRead | doesNetwork, do: withSecrets},
	{name: "config", subs: []program{{name: "view|get-contexts|current-context|get-clusters", opts: "raw flatten", does: doesRead, do: withSecrets}}, rest: doesContainer | doesCloud},
	{name: "exec|cp|attach|debug|run|port-forward|proxy", opts: "c|container=v i|stdin t|tty image=v", does: doesContainer | doesCloud | doesNetwork},
	{name: "delete|drain|cordon", opts: "f|filename=r k=r all force grace-period=v", does: doesContainer | doesCloud | doesDestructive | doesNetwork},
	{name: "apply|create|replace|patch", opts: "f|filename=u k|kustomize=r dry-run=? p=v type=v", does: doesContainer | doesCloud | doesNetwork},
	{name: "kustomize", operands: "g*", does: doesRead},
}

// ghCommands are the subcommands of gh and glab, by two words.
var ghCommands = []program{
	{name: "pr|mr|issue", subs: []program{
		{name: "list|view|status|diff|checks", does: doesNetwork},
		{name: "checkout|co", here: "rw", does: doesNetwork},
		{name: "merge", does: doesNetwork | doesPush | doesPublish},
	}, rest: doesNetwork | doesPublish},
	{name: "run|workflow|ci|pipeline", subs: []program{{name: "list|view|watch|status|trace", does: doesNetwork}, {name: "download", opts: "D|dir=w n|name=v", here: "rw", does: doesNetwork}}, rest: doesNetwork | doesPublish},
	{name: "repo", subs: []program{{name: "view|list", does: doesNetwork}, {name: "clone", operands: "v", here: "rw", does: doesNetwork}, {name: "delete|archive|rename|edit", does: doesNetwork | doesPublish | doesDestructive}}, rest: doesNetwork | doesPublish},
	{name: "release", subs: []program{{name: "list|view", does: doesNetwork}, {name: "download", opts: "D|dir=w p|pattern=v O|output=w", here: "rw", does: doesNetwork}}, rest: doesNetwork | doesPublish},
	{name: "search|status|browse|label|ruleset|org", subs: []program{{name: "create|delete|edit|clone", does: doesNetwork | doesPublish}}, rest: doesNetwork},
	{name: "api", opts: "X|method=v f|raw-field=v F|field=v H|header=v input=r jq|q=v t|template=v paginate hostname=h p=v cache=v", does: doesNetwork, do: withRequest},
	{name: "auth", subs: []program{{name: "status", does: doesNetwork}}, rest: doesSecrets | doesNetwork},
	{name: "secret|variable|ssh-key|gpg-key|codespace|cs|gist|project|cache|config", subs: []program{{name: "list|view|get", does: doesNetwork}}, rest: doesNetwork | doesPublish},
	{name: "extension|ext|alias|copilot|models|agent-task|skill", does: doesInstall | doesNetwork | doesUnknown},
	{name: "version|help|completion|--version"},
}
