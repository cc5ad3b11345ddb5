// Package cloud knows programs that change what is elsewhere: containers, clusters, clouds, forges and databases.
package cloud

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Rows are the programs of containers, clusters, clouds, forges and databases, sorted by name.
var Rows = []program.Row{
	{Name: "ansible", Options: "i|inventory=x m|module-name=v a|args=v", Does: effect.Cloud | effect.Network | effect.InlineCode},
	{Name: "ansible-doc", Options: "M|module-path=e t|type=v playbook-dir=e r|roles-path=e",
		Plain: "F|list_files j|json l|list s|snippet v|verbose e|entry-point=v metadata-dump no-fail-on-errors version h|help",
		Does:  effect.Read},
	{Name: "ansible-playbook", Options: "i|inventory=x e|extra-vars=v C|check syntax-check vault-password-file|vault-pass-file=x " +
		"private-key|key-file=r M|module-path=e", Plain: plainPlaybook, Operands: "x*",
		Does: effect.Cloud | effect.Network, Shows: "syntax-check"},
	{Name: "argocd", Plain: "h|help", Rest: effect.Cloud | effect.Network, Subs: []program.Row{{Name: "version|context",
		Plain: "client short o|output=v h|help", Operands: "v*"}}},
	{Name: "aws", Options: "profile=v region=v output=v query=v endpoint-url=h color=v cli-read-timeout=v " +
		"cli-connect-timeout=v " +
		"cli-binary-format=v cli-error-format=v no-cli-pager no-paginate no-verify-ssl no-sign-request debug v|version",
		Plain: "cli-auto-prompt no-cli-auto-prompt help", Other: providerCommand, Subs: []program.Row{
			{Name: "configure", Alone: effect.Secrets | effect.Cloud, Rest: effect.Secrets | effect.Cloud, Subs: []program.Row{
				{Name: "list|list-profiles", Options: "profile=v region=v", Plain: "help", Does: effect.Read},
				{Name: "get", Options: "profile=v region=v", Plain: "help", Does: effect.Read, Handle: awsSetting},
			}},
			{Name: "help", Operands: "v*"},
		}},
	{Name: "az", Options: "subscription=v o|output=v query=v g|resource-group=v n|name=v",
		Plain: "debug h|help only-show-errors verbose version", Other: providerCommand, Subs: []program.Row{
			{Name: "version|help", Plain: "o|output=v query=v h|help debug verbose only-show-errors", Operands: "v*"},
		}},
	{Name: "bq", Does: effect.Cloud | effect.Network | effect.Database},
	{Name: "cdk", Options: cdkOptions, Plain: plainCdk, Rest: effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "ls|list|diff|doctor|version", Options: cdkOptions, Plain: plainCdk, Operands: "v*", Does: effect.ProjectCode},
		{Name: "synth", Options: cdkOptions, Plain: plainCdk, Operands: "v*", Here: "rw", Does: effect.ProjectCode},
	}},
	{Name: "createdb", Options: pgOptions, Plain: plainPgCreate, Does: effect.Database},
	{Name: "docker", Options: "H|host=h c|context=v config=r l|log-level=v D|debug tls tlsverify tlscacert=r tlscert=r " +
		"tlskey=r v|version", Plain: "help", Handle: dockerOptions, Subs: dockerCommands},
	{Name: "docker-compose", Options: composeOptions + " H|host=h c|context=v log-level=v tlscacert=r tlscert=r tlskey=r",
		Plain: plainCompose + " tls tlsverify skip-hostname-check no-ansi verbose", Handle: composeFiles, Subs: composeCommands},
	{Name: "doctl", Does: effect.Cloud | effect.Network},
	{Name: "dropdb", Options: pgOptions, Plain: "e|echo f|force i|interactive if-exists " + plainPg,
		Does: effect.Database | effect.Destructive},
	{Name: "eksctl", Does: effect.Cloud | effect.Network},
	{Name: "firebase", Plain: "h|help V|version", Rest: effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "help|--version|projects:list", Operands: "v*"},
	}},
	{Name: "fly", Same: "flyctl"},
	{Name: "flyctl", Does: effect.Cloud | effect.Network},
	{Name: "gcloud", Options: "project=v region=v zone=v format=v filter=v account=v configuration=v flags-file=r access-token-file=r " +
		"impersonate-service-account=v billing-project=v verbosity=v q|quiet",
		Plain: "flatten=v h|help log-http trace-token=v user-output-enabled no-user-output-enabled version", Other: providerCommand,
		Subs: []program.Row{
			{Name: "version|help|info", Plain: "format=v filter=v h|help q|quiet verbosity=v show-log anonymize run-diagnostics",
				Operands: "v*"},
			{Name: "auth", Rest: effect.Secrets | effect.Cloud | effect.Network, Subs: []program.Row{
				{Name: "list", Options: "format=v filter=v filter-account=v project=v",
					Plain: "flatten=v limit=v sort-by=v h|help q|quiet", Does: effect.Read},
			}},
		}},
	{Name: "gh", Options: "R|repo=v", Plain: "version help", Handle: forgeOptions, Subs: forgeCommands},
	{Name: "glab", Options: "R|repo=v", Plain: "version help", Handle: forgeOptions, Subs: forgeCommands},
	{Name: "gsutil", Does: effect.Cloud | effect.Network},
	{Name: "helm", Options: helmOptions, Plain: "h|help", Handle: helmIdentity,
		Rest: effect.Cloud | effect.Container | effect.Network, Subs: helmCommands},
	{Name: "heroku", Does: effect.Cloud | effect.Network},
	{Name: "k3d", Plain: "verbose trace timestamps h|help version", Rest: effect.Container, Subs: []program.Row{
		{Name: "cluster|node|registry", Plain: "verbose trace timestamps h|help", Rest: effect.Container,
			Subs: []program.Row{{Name: "list|ls", Options: "o|output=v",
				Plain: "no-headers verbose trace timestamps h|help", Does: effect.Read}}},
		{Name: "version|help", Plain: "o|output=v h|help", Operands: "v*"},
	}},
	{Name: "k9s", Does: effect.Container | effect.Cloud},
	{Name: "kind", Plain: "q|quiet v|verbosity=v h|help version", Rest: effect.Container, Subs: []program.Row{
		{Name: "get", Plain: "q|quiet v|verbosity=v h|help", Rest: effect.Container | effect.Secrets,
			Subs: []program.Row{{Name: "clusters|nodes", Options: "n|name=v",
				Plain: "A|all-clusters q|quiet v|verbosity=v h|help", Does: effect.Read}}},
		{Name: "version|help", Operands: "v*"},
	}},
	{Name: "kubectl", Options: kubeOptions, Plain: plainKube, Handle: kubeIdentity, Subs: kubeCommands},
	{Name: "kubectx", Plain: "h|help V|version", Options: "d=v c|current u|unset", Handle: kubeContext},
	{Name: "kustomize", Options: kustomizeOptions, Plain: plainKustomize, Operands: "g*", Does: effect.Read, Handle: overlays},
	{Name: "mariadb", Same: "mysql"},
	{Name: "minikube", Options: "p|profile=v", Plain: plainMinikube, Rest: effect.Container, Subs: []program.Row{
		{Name: "status|ip|version|help", Options: "p|profile=v f|format=v o|output=v", Plain: plainMinikube, Does: effect.Read},
		{Name: "profile|addons|service|image", Options: "p|profile=v", Plain: plainMinikube, Rest: effect.Container, Subs: []program.Row{
			{Name: "list|ls", Options: "p|profile=v f|format=v o|output=v", Plain: plainMinikube, Does: effect.Read},
		}},
	}},
	{Name: "mongo", Same: "mongosh"},
	{Name: "mongodump", Plain: plainMongodump,
		Options: "o|out=w uri=h h|host=h archive=? config=r sslCAFile=r sslPEMKeyFile=r queryFile=r",
		Does:    effect.Database | effect.Network},
	{Name: "mongorestore", Plain: plainMongodump, Options: "uri=h h|host=h archive=? config=r sslCAFile=r sslPEMKeyFile=r dir=r drop",
		Operands: "r*", Does: effect.Database | effect.Network | effect.Destructive},
	{Name: "mongosh", Options: mongoOptions, Plain: plainMongo, Does: effect.Database | effect.Network, Handle: inputStatement},
	{Name: "mysql", Options: mysqlOptions, Plain: plainMysql, Does: effect.Database, Handle: inputStatement},
	{Name: "mysqladmin", Style: program.First, Options: mysqladminOptions, Plain: plainMysqladmin, Rest: effect.Database | effect.Process,
		Subs: []program.Row{
			{Name: "status|extended-status|processlist|version|ping|variables", Options: mysqladminOptions, Plain: plainMysqladmin,
				Does: effect.Read, Handle: onlyOne},
			{Name: "drop", Does: effect.Database | effect.Destructive},
		}},
	{Name: "mysqldump", Options: "h|host=h u|user=v p|password=? P|port=v r|result-file=w T|tab=w log-error=w defaults-file=x " +
		"defaults-extra-file=x plugin-dir=e ssl-ca=r ssl-cert=r ssl-key=r ssl-capath=r ssl-crl=r ssl-crlpath=r character-sets-dir=r " +
		"S|socket=v",
		Plain: plainMysqldump, Does: effect.Database},
	{Name: "nerdctl", Operands: "g*", Does: effect.Unknown, Handle: privileged},
	{Name: "netlify", Does: effect.Cloud | effect.Network | effect.Publish},
	{Name: "nomad", Does: effect.Cloud | effect.Network},
	{Name: "oc", Same: "kubectl"},
	{Name: "packer", Plain: "help version machine-readable", Rest: effect.Cloud | effect.Network, Subs: []program.Row{
		{Name: "validate|fmt|inspect|version", Style: program.Single, Options: "var=v var-file=r only=v except=v",
			Plain: "syntax-only no-warn-undeclared-var machine-readable " +
				"check diff recursive write help", Operands: "g*",
			Here: "r"},
	}},
	{Name: "pg_dump", Options: "f|file=w t|table=v " + pgOptions, Plain: plainPgDump, Does: effect.Database},
	{Name: "pg_dumpall", Same: "pg_dump"},
	{Name: "pg_isready", Options: "h|host=h p|port=v d|dbname=v U|username=v t|timeout=v", Plain: "q|quiet V|version help",
		Operands: "v*"},
	{Name: "pg_restore", Options: "c|clean f|file=w L|use-list=r " + pgOptions, Plain: plainPgRestore, Operands: "r*",
		Does: effect.Database | effect.Destructive},
	{Name: "podman", Options: "url=h c|connection=v identity=r r|remote ssh=v log-level=v runtime=x conmon=x root=w runroot=w tmpdir=w " +
		"hooks-dir=e module=x config=r storage-driver=v storage-opt=v " +
		"network-cmd-path=x network-config-dir=r out=w imagestore=w volumepath=w cdi-spec-dir=r",
		Plain: "cgroup-manager=v events-backend=v runtime-flag=v syslog transient-store noout v|version help", Handle: podmanOptions,
		Subs: dockerCommands},
	{Name: "podman-compose", Operands: "g*", Does: effect.Unknown, Handle: privileged},
	{Name: "psql", Options: psqlOptions, Plain: "V|version help=?", Does: effect.Database, Shows: "l", Handle: inputStatement},
	{Name: "pulumi", Options: "C|cwd=k profiling=w tracing=h",
		Plain: "color=v e|emoji logtostderr memprofilerate=v non-interactive v|verbose=v h|help",
		Rest:  effect.Cloud | effect.Network | effect.ProjectCode, Subs: []program.Row{
			{Name: "version|about|whoami", Options: "s|stack=v", Plain: "j|json t|transitive v|verbose=? non-interactive color=v h|help",
				Operands: "v*"},
			{Name: "preview", Options: "s|stack=v C|cwd=k config-file=r policy-pack=x policy-pack-config=r save-plan=w profiling=w tracing=h",
				Plain: plainPulumi, Does: effect.ProjectCode | effect.Network},
		}},
	{Name: "redis-cli", Style: program.First, Options: redisOptions, Plain: plainRedis, Does: effect.Database, Handle: redis},
	{Name: "serverless", Does: effect.Cloud | effect.Network | effect.Publish},
	{Name: "sls", Same: "serverless"},
	{Name: "sqlcmd", Options: "Q=s q=s i=x S=h o=w", Does: effect.Database, Handle: inputStatement},
	{Name: "sqlite", Same: "sqlite3"},
	{Name: "sqlite3", Style: program.Single, Options: sqliteOptions, Plain: "help nofollow", Operands: "bs*",
		Does: effect.Database, Shows: "version", Handle: inputStatement},
	{Name: "supabase", Does: effect.Cloud | effect.Database | effect.Network},
	{Name: "terraform", Style: program.Single, Options: "chdir=k", Plain: "version help", Rest: effect.Cloud | effect.Network,
		Subs: terraformCommands},
	{Name: "tofu", Same: "terraform"},
	{Name: "vagrant", Plain: "help v|version color no-color machine-readable debug timestamp", Rest: effect.Container,
		Subs: []program.Row{{Name: "status|version|global-status", Plain: "machine-readable prune color no-color h|help",
			Operands: "v*"}}},
	{Name: "vault", Plain: "h|help v|version", Rest: effect.Secrets | effect.Network, Subs: []program.Row{{Name: "version", Plain: "help",
		Operands: "v*"}}},
	{Name: "vercel", Does: effect.Cloud | effect.Network | effect.Publish},
	{Name: "wrangler", Rest: effect.Cloud | effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "dev|types|whoami", Does: effect.ProjectCode | effect.Network},
	}},
}
