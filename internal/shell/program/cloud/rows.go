// Package cloud knows programs that change what is elsewhere: containers, clusters, clouds, forges and databases.
package cloud

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Rows are the programs of containers, clusters, clouds, forges and databases, sorted by name.
var Rows = []program.Row{
	{Name: "ansible", Options: "i|inventory=r m|module-name=v a|args=v", Does: effect.Cloud | effect.Network | effect.InlineCode},
	{Name: "ansible-playbook", Options: "i|inventory=r e|extra-vars=v check syntax-check", Operands: "x*",
		Does: effect.Cloud | effect.Network, Shows: "syntax-check"},
	{Name: "argocd", Rest: effect.Cloud | effect.Network, Subs: []program.Row{{Name: "version|context", Operands: "v*"}}},
	{Name: "aws", Options: "profile=v region=v output=v query=v endpoint-url=h", Other: cloudCommand, Subs: []program.Row{
		{Name: "configure", Does: effect.Secrets | effect.Cloud},
		{Name: "help", Operands: "v*"},
	}},
	{Name: "az", Options: "subscription=v o|output=v query=v g|resource-group=v n|name=v", Other: cloudCommand, Subs: []program.Row{
		{Name: "version|help", Operands: "v*"},
	}},
	{Name: "bq", Does: effect.Cloud | effect.Network | effect.Database},
	{Name: "cdk", Rest: effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "ls|list|diff|doctor|version", Does: effect.ProjectCode},
		{Name: "synth", Here: "rw", Does: effect.ProjectCode},
	}},
	{Name: "createdb", Does: effect.Database},
	{Name: "docker", Options: "H|host=h c|context=v config=r l|log-level=v", Handle: dockerOptions, Subs: dockerCommands},
	{Name: "docker-compose", Options: "f|file=x p|project-name=v env-file=r profile=v project-directory=k",
		Handle: privileged, Subs: composeCommands},
	{Name: "doctl", Does: effect.Cloud | effect.Network},
	{Name: "dropdb", Does: effect.Database | effect.Destructive},
	{Name: "eksctl", Does: effect.Cloud | effect.Network},
	{Name: "firebase", Rest: effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "help|--version|projects:list", Operands: "v*"},
	}},
	{Name: "fly", Same: "flyctl"},
	{Name: "flyctl", Does: effect.Cloud | effect.Network},
	{Name: "gcloud", Options: "project=v region=v zone=v format=v filter=v", Other: cloudCommand, Subs: []program.Row{
		{Name: "version|help|info", Operands: "v*"},
		{Name: "auth", Does: effect.Secrets | effect.Cloud | effect.Network},
	}},
	{Name: "gh", Options: "R|repo=v", Handle: forgeOptions, Subs: forgeCommands},
	{Name: "glab", Options: "R|repo=v", Handle: forgeOptions, Subs: forgeCommands},
	{Name: "gsutil", Does: effect.Cloud | effect.Network},
	{Name: "helm", Options: "n|namespace=v kube-context=v kubeconfig=x", Rest: effect.Cloud | effect.Container | effect.Network,
		Subs: []program.Row{
			{Name: "list|ls|status|history|get|show|search|version|env|repo-list", Does: effect.Read | effect.Network},
			{Name: "template|lint|dependency|create|package", Options: "f|values=r output-dir=w", Operands: "g*", Here: "rw"},
			{Name: "push", Does: effect.Publish | effect.Network},
		}},
	{Name: "heroku", Does: effect.Cloud | effect.Network},
	{Name: "k9s", Does: effect.Container | effect.Cloud},
	{Name: "kind", Does: effect.Container},
	{Name: "kubectl", Options: "n|namespace=v context=v kubeconfig=x l|selector=v o|output=v A|all-namespaces cluster=v user=v " +
		"s|server=h token=v as=v as-group=v as-uid=v cache-dir=v certificate-authority=r client-certificate=r client-key=r " +
		"request-timeout=v tls-server-name=v v=v", Subs: kubeCommands},
	{Name: "kubectx", Does: effect.Container},
	{Name: "kustomize", Options: "o|output=w", Operands: "g*", Does: effect.Read, Handle: overlays},
	{Name: "mariadb", Same: "mysql"},
	{Name: "minikube", Does: effect.Container},
	{Name: "mongo", Same: "mongosh"},
	{Name: "mongodump", Options: "o|out=w uri=h h|host=h", Does: effect.Database | effect.Network},
	{Name: "mongorestore", Options: "uri=h h|host=h", Operands: "r*", Does: effect.Database | effect.Network | effect.Destructive},
	{Name: "mongosh", Options: "eval=s f|file=x host=h", Does: effect.Database | effect.Network, Handle: inputStatement},
	{Name: "mysql",
		Options: "e|execute=s h|host=h u|user=v p|password=? P|port=v D|database=v defaults-file=r init-command=s tee=w",
		Does:    effect.Database, Handle: inputStatement},
	{Name: "mysqladmin", Does: effect.Database | effect.Destructive},
	{Name: "mysqldump", Options: "h|host=h u|user=v p|password=? P|port=v r|result-file=w", Does: effect.Database},
	{Name: "nerdctl", Operands: "g*", Does: effect.Unknown, Handle: privileged},
	{Name: "netlify", Does: effect.Cloud | effect.Network | effect.Publish},
	{Name: "nomad", Does: effect.Cloud | effect.Network},
	{Name: "oc", Same: "kubectl"},
	{Name: "packer", Rest: effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "validate|fmt|inspect|version", Operands: "g*", Here: "r"},
	}},
	{Name: "pg_dump", Options: "f|file=w h|host=h U|username=v d|dbname=v p|port=v t|table=v", Does: effect.Database},
	{Name: "pg_dumpall", Same: "pg_dump"},
	{Name: "pg_isready", Operands: "v*"},
	{Name: "pg_restore", Options: "d|dbname=v h|host=h c|clean", Operands: "r*", Does: effect.Database | effect.Destructive},
	{Name: "podman", Options: "url=h", Handle: privileged, Subs: dockerCommands},
	{Name: "podman-compose", Operands: "g*", Does: effect.Unknown, Handle: privileged},
	{Name: "psql",
		Options: "c|command=s f|file=x h|host=h U|username=v d|dbname=v p|port=v o|output=w L|log-file=w v|set=v l|list t A q X",
		Does:    effect.Database, Shows: "l", Handle: inputStatement},
	{Name: "pulumi", Rest: effect.Cloud | effect.Network | effect.ProjectCode, Subs: []program.Row{
		{Name: "version|about|whoami", Operands: "v*"},
		{Name: "preview", Does: effect.ProjectCode | effect.Network},
	}},
	{Name: "redis-cli", Options: "h=h p=v a=v n=v u=h eval=x", Does: effect.Database, Handle: redis},
	{Name: "serverless", Does: effect.Cloud | effect.Network | effect.Publish},
	{Name: "sls", Same: "serverless"},
	{Name: "sqlcmd", Options: "Q=s q=s i=x S=h o=w", Does: effect.Database, Handle: inputStatement},
	{Name: "sqlite", Same: "sqlite3"},
	{Name: "sqlite3", Style: program.Single, Options: "cmd=s init=x separator=v nullvalue=v version", Operands: "bs*",
		Does: effect.Database, Shows: "version", Handle: inputStatement},
	{Name: "supabase", Does: effect.Cloud | effect.Database | effect.Network},
	{Name: "terraform", Style: program.Single, Options: "chdir=k", Rest: effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "output", Style: program.Single, Options: "json raw state=r", Here: "r", Does: effect.Read | effect.Network,
			Handle: showSecrets},
		{Name: "validate|show|providers|version|state-list|get|metadata", Style: program.Single,
			Options: "var=v var-file=r", Operands: "g*", Here: "r", Does: effect.Network},
		{Name: "plan|console|test|graph", Style: program.Single, Options: "out=w state=r plan=r var=v var-file=r target=v",
			Operands: "g*", Here: "r", Does: effect.Network, Handle: evaluate},
		{Name: "fmt", Style: program.Single, Operands: "b*", Here: "rw"},
		{Name: "init", Style: program.Single, Options: "backend-config=g from-module=u plugin-dir=x", Here: "rw",
			Does: effect.Deps | effect.Network},
		{Name: "destroy", Style: program.Single, Does: effect.Cloud | effect.Destructive | effect.Network},
	}},
	{Name: "tofu", Same: "terraform"},
	{Name: "vagrant", Rest: effect.Container, Subs: []program.Row{{Name: "status|version|global-status", Operands: "v*"}}},
	{Name: "vault", Does: effect.Secrets | effect.Network},
	{Name: "vercel", Does: effect.Cloud | effect.Network | effect.Publish},
	{Name: "wrangler", Rest: effect.Cloud | effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "dev|types|whoami", Does: effect.ProjectCode | effect.Network},
	}},
}
