package cloud

import (
	"strings"

	"mycelium/internal/credential"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// kubeQuery handles what of kubectl shows something: get, describe, diff, logs, config view.
func kubeQuery(c *program.Call) {
	showSecrets(c)
	kubeIdentity(c)
	if c.Has("k") {
		overlays(c)
	}
	templateFiles(c)
	out, _ := c.Value("o")
	for i, t := range c.Operands {
		for kind := range strings.SplitSeq(strings.ToLower(t.Text), ",") {
			kind, _, named := strings.Cut(kind, "/")
			kind, _, _ = strings.Cut(kind, ".")
			if (i == 0 || named) && (strings.HasPrefix(kind, "secret") ||
				kind == "all" && !program.Named("|wide|name", strings.TrimPrefix(out.Text, "="))) {
				c.Does |= effect.Secrets
			}
		}
	}
}

// templateFiles handles options that name a file with a template. A template may only hold a text, and kubectl shows it.
func templateFiles(c *program.Call) {
	out, _ := c.Value("o")
	template, _ := c.Value("template")
	for _, w := range [...]program.Word{out, template} {
		if _, file, ok := strings.Cut(w.Text, "-file="); ok {
			c.Role('r', w.Tail(len(w.Text)-len(file)))
		} else if strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "..") {
			c.Role('r', w)
		}
	}
}

// kubeIdentity looks for options with which kubectl asks as somebody else.
func kubeIdentity(c *program.Call) {
	if c.HasAny("token", "as", "as-group", "as-uid", "username", "password", "client-key") {
		c.Does |= effect.Privilege
	}
}

// showSecrets shows values that may be secrets.
func showSecrets(c *program.Call) {
	if c.HasAny("raw", "json", "flatten") {
		c.Does |= effect.Secrets
	}
	for _, t := range c.Operands {
		if strings.HasPrefix(t.Text, "secret") || t.Unknown {
			c.Does |= effect.Secrets
		}
	}
}

// stateMoves handles terraform init: with some options the state goes to another place, and it has secrets.
func stateMoves(c *program.Call) {
	if c.HasAny("migrate-state", "force-copy") {
		c.Does |= effect.Cloud
	}
}

// outputs handles terraform output: it hides values that are secret, unless it is asked for one by name.
func outputs(c *program.Call) {
	showSecrets(c)
	for _, t := range c.Operands {
		if credential.MayBeVariable(t.Text) || program.ContainsAny(strings.ToLower(t.Text), "kubeconfig", "cred", "dsn", "connection") {
			c.Does |= effect.Secrets
		}
	}
}

// helmIdentity looks for options with which helm asks as somebody else.
func helmIdentity(c *program.Call) {
	if c.HasAny("kube-token", "kube-as-user", "kube-as-group") {
		c.Does |= effect.Privilege
	}
}

// chart handles helm template: files that its options name behind an equals sign.
func chart(c *program.Call) {
	for _, o := range c.Options {
		if o.Name != "set-file" {
			continue
		}
		for field := range strings.SplitSeq(o.Value.Text, ",") {
			_, file, _ := strings.Cut(field, "=")
			c.Role('u', program.Word{Text: file, Unknown: o.Value.Unknown})
		}
	}
	if c.Has("post-renderer") {
		c.Does |= effect.ProjectCode
	}
	if v, ok := c.Value("dry-run"); ok && v.Text != "client" { // a template may look up secrets of the cluster
		c.Does |= effect.Secrets
	}
	helmIdentity(c)
}

// signed handles helm package, which may use a key of the user.
func signed(c *program.Call) {
	if c.HasAny("sign", "key") {
		c.Does |= effect.Secrets
	}
}

// kubeContext is kubectx, which lists contexts, or goes to another one.
func kubeContext(c *program.Call) {
	if len(c.Operands) > 0 || c.HasAny("d", "u") {
		c.Does |= effect.Container
	}
}
