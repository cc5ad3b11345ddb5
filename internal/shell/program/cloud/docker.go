package cloud

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// buildImage handles docker build and buildx build: folders and machines that its options name, secrets, and what it publishes.
func buildImage(c *program.Call) {
	if v, ok := c.Value("secret"); ok {
		c.Does |= effect.Secrets
		if _, src, found := strings.Cut(v.Text, "src="); found {
			c.File(policy.Read, v.Tail(len(v.Text)-len(src)))
		}
	}
	if c.Has("push") {
		c.Does |= effect.Publish
	}
	builder(c)
	for _, o := range c.Options {
		switch o.Name {
		case "o", "cache-to":
			exported(c, o.Value)
		case "cache-from":
			if _, src, found := strings.Cut(o.Value.Text, "src="); found {
				src, _, _ = strings.Cut(src, ",")
				c.Role('r', program.Word{Text: src, Unknown: o.Value.Unknown})
			}
		case "ssh":
			c.Does |= effect.Secrets
		case "allow":
			c.Does |= effect.Privilege
		case "build-context":
			_, from, _ := strings.Cut(o.Value.Text, "=")
			c.Role('u', o.Value.Tail(len(o.Value.Text)-len(from)))
		case "set":
			if program.ContainsAny(o.Value.Text, "output", "secret", "ssh", "context", "cache") || o.Value.Unknown {
				c.Unclear("what the build takes and where its result goes is set by an option")
			}
		}
	}
	for _, t := range c.Operands {
		if strings.Contains(t.Text, "://") || strings.HasPrefix(t.Text, "git@") || strings.HasPrefix(t.Text, "github.com/") {
			c.Does |= effect.Install | effect.Network // its Dockerfile runs
		}
	}
}

// builder looks for the option that gives a build to another machine.
func builder(c *program.Call) {
	if v, ok := c.Value("builder"); ok && !program.Named("default|desktop-linux", v.Text) {
		c.Unclear(otherService)
	}
}

// exported is where the result of a build goes: a folder, or fields of which one names it.
func exported(c *program.Call, to program.Word) {
	if to.Unknown {
		c.Unclear("where the result of the build goes is not known")
		return
	}
	if !strings.Contains(to.Text, "=") {
		c.Role('w', to)
		return
	}
	for field := range strings.SplitSeq(to.Text, ",") {
		key, value, _ := strings.Cut(field, "=")
		switch {
		case key == "dest":
			c.Role('w', program.Known(value))
		case key == "push" && value == "true", key == "type" && !program.Named("local|tar|docker|oci|image|inline|cacheonly", value):
			c.Does |= effect.Publish
		}
	}
}

// dockerOptions looks for options that lead docker to another machine.
func dockerOptions(c *program.Call) {
	privileged(c)
	if c.HasAny("H", "c", "config") {
		c.Unclear(otherService)
	}
}

// podmanOptions looks for options that lead podman to another machine.
func podmanOptions(c *program.Call) {
	privileged(c)
	if c.HasAny("url", "c", "identity", "r", "module") {
		c.Unclear(otherService)
	}
}

// composeFiles looks for files of docker compose that are elsewhere.
func composeFiles(c *program.Call) {
	privileged(c)
	if c.HasAny("H", "c") {
		c.Unclear(otherService)
	}
	for _, o := range c.Options {
		if o.Name == "f" && (strings.Contains(o.Value.Text, "://") || strings.HasPrefix(o.Value.Text, "git@")) {
			c.Address(o.Value)
			c.Unclear("another machine says what the containers are")
		}
	}
}

// inspected handles commands that show a container, or all: a format may pick the environment.
func inspected(c *program.Call) {
	if v, ok := c.Value("f"); ok && (v.Unknown || strings.Contains(v.Text, "Env")) {
		c.Does |= effect.Secrets
	}
}
