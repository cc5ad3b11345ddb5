package cloud

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// container handles docker run and docker exec. Mounted folders are ours; paths inside the container are not.
func container(c *program.Call, args []program.Word) {
	c.Scan(args)
	c.Does |= effect.Container
	for _, o := range c.Options {
		switch o.Name {
		case "privileged", "cap-add", "device":
			c.Does |= effect.Privilege
		case "pid", "ipc", "userns", "network":
			if o.Value.Text == "host" {
				c.Does |= effect.Privilege
			}
		case "security-opt":
			c.Does |= effect.Privilege
		case "v":
			mounted(c, o.Value)
		case "mount":
			for part := range strings.SplitSeq(o.Value.Text, ",") {
				if k, v, _ := strings.Cut(part, "="); k == "source" || k == "src" {
					mounted(c, program.Word{Text: v, Unknown: o.Value.Unknown})
				}
			}
		}
	}
	c.Finish()
}

// privileged looks for the option that gives a container the rights of the machine, also after the name of a subcommand.
func privileged(c *program.Call) {
	for _, t := range c.Words {
		if t.Text == "--privileged" || strings.HasPrefix(t.Text, "--privileged=") && t.Text != "--privileged=false" {
			c.Does |= effect.HostRights
		}
	}
}

// mounted handles one of our folders that a container mounts.
func mounted(c *program.Call, t program.Word) {
	src, _, _ := strings.Cut(t.Text, ":")
	if t.Unknown {
		c.Unclear("which folder the container gets is not known")
		return
	}
	if strings.ContainsAny(src, "/.~") {
		c.Role('b', program.Known(src))
		if src == "/" || strings.HasSuffix(src, "docker.sock") {
			c.Does |= effect.Privilege
		}
	}
}

// inputStatement is a client of a database, whose statements may come from its input.
func inputStatement(c *program.Call) {
	switch {
	case c.Input.Document != nil:
		program.Statement(c, *c.Input.Document)
	case c.Input.Output != nil:
		if t, ok := c.Input.Output(); ok {
			program.Statement(c, t)
		} else {
			c.Unclear("the statements are not known")
		}
	case c.Input.File != nil:
		c.Role('x', *c.Input.File)
	}
}

// redis is redis-cli, whose operands are the statement.
func redis(c *program.Call) {
	if len(c.Operands) > 0 && redisReads(c.Operands[0].Text) {
		c.Does = c.Does&^effect.Database | effect.Read
		return
	}
	for _, t := range c.Operands {
		program.Statement(c, t)
	}
}

// redisReads reports whether a command of redis changes nothing.
func redisReads(s string) bool {
	switch strings.ToLower(s) {
	case "ping", "info", "get", "mget", "keys", "scan", "ttl", "type", "exists", "dbsize", "llen", "hget", "hgetall", "lrange", "smembers":
		return true
	}
	return false
}

// cloudCommand handles aws, gcloud and az. A command that begins with describe, get, list or show changes nothing.
func cloudCommand(c *program.Call, _ []program.Word) {
	c.Does |= effect.Network
	if len(c.Part.Hosts) > 0 { // not the cloud's own address
		c.Does |= effect.Cloud
	}
	reads, secret := false, false
	for _, t := range c.Operands {
		word, _, _ := strings.Cut(t.Text, "-")
		switch word {
		case "describe", "get", "list", "ls", "show", "head", "search", "tail", "lookup", "help", "wait", "filter":
			reads = true
		case "secretsmanager", "secrets", "secret", "keyvault", "ssm", "kms", "credential", "credentials", "token", "print", "account-keys",
			"keys":
			secret = secret || t.Text != "account"
		case "create", "delete", "put", "update", "set", "run", "start", "stop", "terminate", "rm", "cp", "sync", "mv", "deploy", "add",
			"remove", "attach", "detach", "invoke", "publish", "send", "ssh", "execute":
			c.Does |= effect.Cloud
		}
		secret = secret || program.Named("get-session-token|get-login-password|get-access-token|get-password-data", t.Text)
		if t.Unknown {
			c.Unclear("which command runs is not known")
		}
	}
	if !reads {
		c.Does |= effect.Cloud
	}
	if secret {
		c.Does |= effect.Secrets
	}
	c.Guess(c.Operands)
	c.Finish()
}

// evaluate handles what evaluates the expressions of terraform: a function reads any file, and a source of data may run a program.
func evaluate(c *program.Call) {
	for _, dir := range [...]string{".", c.Walk.Dir} {
		if dir != "" {
			c.File(policy.Execute, program.Word{Text: globs.Quote(dir) + "/**/*.tf{,vars,test.hcl,.json}", Pattern: true})
		}
	}
	if program.ContainsText(c.Words, "console") && (c.Input.Document != nil || c.Input.Output != nil || c.Input.File != nil) {
		c.RunInput()
	}
}

// overlays handles kustomize: its files name others, of which it shows the contents.
func overlays(c *program.Call) {
	c.File(policy.Execute, program.Word{Text: globs.Quote(c.Walk.Dir) + "/**/[Kk]ustomization{,.yaml,.yml}", Pattern: true})
	for _, t := range c.Operands {
		c.Role('x', t)
	}
}

// kubeQuery handles kubectl get and diff.
func kubeQuery(c *program.Call) {
	showSecrets(c)
	if c.Has("k") {
		overlays(c)
	}
}

// resolved handles docker compose config, which shows the values of .env and of other files.
func resolved(c *program.Call) { program.Everything(c, program.Known(".")) }

// showSecrets shows values that may be secrets.
func showSecrets(c *program.Call) {
	if c.HasAny("raw", "json") {
		c.Does |= effect.Secrets
	}
	for _, t := range c.Operands {
		if strings.HasPrefix(t.Text, "secret") || t.Unknown {
			c.Does |= effect.Secrets
		}
	}
}

// buildImage reads secrets, and may publish what it builds.
func buildImage(c *program.Call) {
	if v, ok := c.Value("secret"); ok {
		c.Does |= effect.Secrets
		if _, src, found := strings.Cut(v.Text, "src="); found {
			c.File(policy.Read, v.Tail(len(v.Text)-len(src)))
		}
	}
	if v, _ := c.Value("o"); c.Has("push") || strings.Contains(v.Text, "push=true") || strings.Contains(v.Text, "type=registry") {
		c.Does |= effect.Publish
	}
}

// otherService is the reason why a program is unclear that connects to a machine outside of the project.
const otherService = "the service is another one"

// dockerOptions looks for options that lead docker to another machine.
func dockerOptions(c *program.Call) {
	privileged(c)
	for i, t := range c.Words {
		name, _, _ := strings.Cut(t.Text, "=")
		if i > 0 && i < 3 && (strings.HasPrefix(t.Text, "-H") || program.Named("-c|--host|--context|--config", name)) {
			c.Unclear(otherService)
		}
	}
}

// forgeOptions looks for options that lead gh and glab to another machine.
func forgeOptions(c *program.Call) {
	for i, t := range c.Words {
		name, _, _ := strings.Cut(t.Text, "=")
		if name == "--hostname" || i > 0 && strings.Count(t.Text, "/") > 1 &&
			(program.Named("-R|--repo", c.Words[i-1].Text) || strings.HasPrefix(t.Text, "-R") || name == "--repo") {
			c.Unclear(otherService)
		}
	}
}

// checkoutRequest handles pr checkout: another machine has the files.
func checkoutRequest(c *program.Call) { c.Part.Trees = append(c.Part.Trees, policy.TreeUnknown) }

// download handles run download and release download: another machine says the names, unless they come into a folder of their own.
func download(c *program.Call) {
	if _, one := c.Value("O"); one {
		return
	}
	dir, ok := c.Value("D")
	if !ok || strings.HasPrefix(dir.Text, ".") {
		c.Unclear("another machine says which files it writes")
	}
}

// forgeAPI handles gh api: with a field or a method it changes something.
func forgeAPI(c *program.Call) {
	method := ""
	if v, ok := c.Value("X"); ok {
		method = strings.ToUpper(v.Text)
	}
	if method != "GET" && (method != "" || c.HasAny("f", "F", "input")) {
		c.Does |= effect.Publish | effect.Upload
	}
}
