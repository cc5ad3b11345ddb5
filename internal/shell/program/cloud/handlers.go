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
		case "privileged", "cap-add", "device", "device-cgroup-rule", "use-api-socket":
			c.Does |= effect.Privilege
		case "pid", "ipc", "userns", "network", "uts", "cgroupns":
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
	if c.Row.Operands != "" {
		for _, t := range c.Operands {
			overlay(c, t)
		}
	}
	if v, ok := c.Value("k"); ok {
		overlay(c, v)
	}
	if c.HasAny("enable-exec", "enable-alpha-plugins", "enable-helm", "enable-star", "helm-command", "network") {
		c.Unclear("plugins run, which the files name")
	}
}

// overlay is a folder whose files name others, or one on another machine, as in github.com/a/b.
func overlay(c *program.Call, t program.Word) {
	first, _, below := strings.Cut(t.Text, "/")
	if strings.ContainsAny(t.Text, ":@?") || below && strings.Contains(strings.TrimLeft(first, "."), ".") {
		c.Address(t)
		c.Unclear("another machine says what is shown")
		return
	}
	c.Role('x', t)
}

// resolved handles docker compose config, which shows the values of .env and of other files.
func resolved(c *program.Call) {
	program.Everything(c, program.Known("."))
	c.Does |= effect.Secrets
}

// otherService is the reason why a program is unclear that connects to a machine outside of the project.
const otherService = "the service is another one"
