package root

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/serve"
	"mycelium/internal/hook"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
)

// find finds the project of a command before it runs. A hook finds its own, from the folder of the agent; a command that reads its flags
// itself does so before it knows the folder.
func find(a *base.App, c *cobra.Command, args []string) error {
	if c.DisableFlagParsing || path(c) == "hook" {
		return nil
	}
	if !tells(path(c)) {
		return serve.Unserved(a, c, a.Find(needOf(c, args)))
	}
	refused := a.NeedPerson("tell what governs agents")
	if refused != nil && (a.Getenv(hook.TokenVar) == "" || !mayBeTold(path(c))) {
		return refused
	}
	if err := a.Find(needOf(c, args)); err != nil || refused == nil || granted(c.Context(), a, path(c)) {
		return err
	}
	return refused
}

// granted reports whether the daemon says that the session of this process's credential may run a command. Without a credential or a
// daemon no session does.
func granted(ctx context.Context, a *base.App, command string) bool {
	d, err := a.Running(ctx)
	if err != nil || d == nil {
		return false
	}
	defer d.Close()
	ok, err := base.Call(ctx, d, api.SessionTold, api.ToldParams{Token: a.Getenv(hook.TokenVar), Command: command})
	return err == nil && ok
}

// mayBeTold reports whether a skill can give a command to an agent: it tells, and changes nothing.
func mayBeTold(path string) bool {
	switch path {
	case "audit tail", "audit query", "audit stats", "audit denials", "audit thinking", "audit verify",
		"policy check", "policy roles", "policy explain", "policy test", "policy eval", "policy replay", "policy words list",
		"roles", "roles list", "roles show", "skill list", "skill show", "skill preview",
		"server list", "mcp status", "config show", "doctor", "status", "cost":
		return true
	}
	return false
}

// tells reports whether a command tells what governs agents: hidden tools, rules, roles, and the log. An agent that knows them knows where
// to look for a way around.
func tells(path string) bool {
	switch family, name, _ := strings.Cut(path, " "); family {
	case "audit", "policy":
		return name != "" // without one it prints its help
	case "roles", "doctor", "status", "watch", "cost":
		return true
	case "skill":
		return name == "" || name == "list" || name == "show" || name == "preview"
	case "server":
		return name == "" || name == "list" || name == "test"
	case "mcp":
		return name == "status"
	case "config":
		return name == "show" || name == "get" || name == "export" || strings.HasPrefix(name, "mcp ")
	case "tools":
		return name == "sync"
	}
	return false
}

// path returns the names of a command, without the program's.
func path(c *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), c.Root().Name()), " ")
}

// needOf says what a command needs to know of a project. A command that is not named here is about a project.
func needOf(c *cobra.Command, args []string) project.Need {
	if path(c) == "" && len(args) > 0 { // a question
		return project.NeedsProject
	}
	switch path(c) {
	case "trust":
		if len(args) > 0 { // a folder that it names
			return project.NeedsFolder
		}
		return project.MayHave
	case "", "help", "demo", "init", "version", "completion", "man", "keeper", "audit", "policy", "config", "config mcp", "config schema",
		"web", "web devices", "web devices revoke", "web devices add", "web request":
		return project.NeedsFolder
	case "sandbox", "sandbox exec", "sandbox profiles", "sandbox capabilities",
		"hook status", "hook check", "skill templates", "mcp login", "mcp logout", "stop", "mcp stop":
		return project.MayHave
	case "config migrate":
		if write := c.Flags().Lookup("write"); len(args) > 0 && write.Value.String() == "false" { // a file that is only shown
			return project.MayHave
		}
	case "skill validate", "policy test":
		if len(args) > 0 { // files that it names
			return project.MayHave
		}
	}
	for _, name := range []string{"user", "managed", "outside"} { // not about a project
		if f := c.Flags().Lookup(name); f != nil && f.Value.String() == "true" {
			return project.MayHave
		}
	}
	return project.NeedsProject
}
