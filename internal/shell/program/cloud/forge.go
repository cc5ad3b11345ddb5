package cloud

import (
	"path"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// forgeOptions looks for options that lead gh and glab to another machine.
func forgeOptions(c *program.Call) {
	for i, t := range c.Words {
		name, _, _ := strings.Cut(t.Text, "=")
		if name == "--hostname" || i > 0 && strings.Count(t.Text, "/") > 1 &&
			(namesRepo(c.Words[i-1].Text) || strings.HasPrefix(t.Text, "-") && strings.Contains(t.Text, "R") || name == "--repo") {
			c.Unclear(otherService)
		}
	}
}

// namesRepo reports whether a word is an option, maybe the last of several letters, whose value is a repository.
func namesRepo(word string) bool {
	return word == "--repo" || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "R")
}

// checkoutRequest handles pr checkout: another machine has the files.
func checkoutRequest(c *program.Call) {
	c.Part.Trees = append(c.Part.Trees, policy.TreeUnknown)
	program.Fetch(c, program.Known("."))
}

// cloneForge handles repo clone: behind two hyphens stand options of git clone.
func cloneForge(c *program.Call) {
	switch {
	case len(c.Operands) > 1 && !strings.HasPrefix(c.Operands[1].Text, "-"):
		program.Fetch(c, c.Operands[1])
	case len(c.Operands) > 0:
		at := c.Operands[0]
		at.Text = strings.TrimSuffix(path.Base(at.Text), ".git")
		program.Fetch(c, at)
	}
	for i, w := range c.Words {
		if w.Text != "--" {
			continue
		}
		for _, option := range c.Words[i+1:] {
			name, _, _ := strings.Cut(option.Text, "=")
			if strings.HasPrefix(name, "-") && !program.Named("--depth|--single-branch|--branch|-b|--quiet|-q|--no-tags|--bare", name) {
				c.Unclear("what an option of git clone does is not known here")
			}
		}
	}
}

// download handles run download and release download: another machine says the names, unless they come into a folder of their own.
func download(c *program.Call) {
	if file, one := c.Value("O"); one {
		program.Fetch(c, file)
		return
	}
	dir, ok := c.Value("D")
	if ok {
		program.Fetch(c, dir)
	} else {
		program.Fetch(c, program.Known("."))
	}
	if !ok || strings.HasPrefix(dir.Text, ".") {
		c.Unclear("another machine says which files it writes")
	}
}

// forgeAPI handles gh api: with a field or a method it changes something, unless it is a question in GraphQL.
func forgeAPI(c *program.Call) {
	method := ""
	if v, ok := c.Value("X"); ok {
		if method = strings.ToUpper(v.Text); v.Unknown {
			method = "?"
		}
	}
	if method != "GET" && (method != "" || c.HasAny("f", "F", "input")) && !asksGraph(c) {
		c.Does |= effect.Publish | effect.Upload
	}
	for _, o := range c.Options {
		if _, file, ok := strings.Cut(o.Value.Text, "=@"); ok && o.Name == "F" {
			c.File(policy.Read, o.Value.Tail(len(o.Value.Text)-len(file)))
			c.Does |= effect.Upload
		}
	}
	for _, t := range c.Operands {
		if strings.Contains(t.Text, "://") {
			c.Address(t)
		}
	}
}

// asksGraph reports whether the fields are a query in GraphQL, which changes nothing, and its variables.
func asksGraph(c *program.Call) bool {
	if len(c.Operands) == 0 || c.Operands[0].Text != "graphql" || c.HasAny("X", "input") {
		return false
	}
	asks := false
	for _, o := range c.Options {
		if o.Name != "f" && o.Name != "F" {
			continue
		}
		text, isQuery := strings.CutPrefix(o.Value.Text, "query=")
		text = strings.TrimSpace(text)
		switch {
		case o.Value.Unknown, strings.Contains(text, "mutation"), o.Name == "F" && strings.Contains(o.Value.Text, "=@"):
			return false
		case isQuery && !strings.HasPrefix(text, "query") && !strings.HasPrefix(text, "{"):
			return false
		}
		asks = asks || isQuery
	}
	return asks
}

// showToken handles auth status, which shows the token with -t.
func showToken(c *program.Call) {
	if c.Has("t") {
		c.Does |= effect.Secrets
	}
}

// showSetting handles config get and list.
func showSetting(c *program.Call) {
	for _, t := range c.Operands {
		if t.Unknown || program.ContainsAny(strings.ToLower(t.Text), "token", "password", "secret") {
			c.Does |= effect.Secrets
		}
	}
}

// showVariables handles variable list and get: those of GitLab are secrets too.
func showVariables(c *program.Call) {
	if c.Part.Program == "glab" {
		c.Does |= effect.Secrets
	}
}
