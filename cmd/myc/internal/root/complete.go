package root

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/harness"
	"mycelium/internal/node/project"
	"mycelium/internal/text"
)

// names are the words that may stand at a place of the command line.
type names func(ctx context.Context, a *base.App) []string

// complete makes the shell complete roles, skills, tools, sessions and the ids of requests. It starts no daemon and says nothing where it
// fails, and an agent is told nothing: what governs it is not for it to list.
func complete(a *base.App, root *cobra.Command) {
	for path, list := range map[string][]names{
		"roles show":        {roles},
		"skill show":        {skills},
		"skill preview":     {skills},
		"skill load":        {skills},
		"skill eject":       {skills},
		"skill export":      {skills},
		"roles eject":       {roles},
		"roles edit":        {roles},
		"roles delete":      {roles},
		"roles history":     {roles},
		"roles restore":     {roles},
		"memory edit":       {roles},
		"skill grant":       {skills, roles},
		"skill approve":     {skills},
		"server test":       {servers},
		"server remove":     {servers},
		"hook install":      {agentNames},
		"hook uninstall":    {agentNames},
		"hook check":        {agentNames},
		"call":              {toolNames},
		"approvals show":    {requests},
		"approvals approve": {requests},
		"approvals deny":    {requests},
		"session show":      {sessions},
		"session set-role":  {sessions, roles},
		"session skills":    {sessions, skillChanges},
		"session end":       {sessions},
	} {
		c, _, err := root.Find(strings.Fields(path))
		if err != nil || c.ValidArgsFunction != nil || c.Name() == "myc" {
			continue
		}
		c.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) >= len(list) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return found(c, a, list[len(args)], begun)
		}
	}
	completeFlags(a, root, map[string]names{"role": roles, "may": roles, "skill": skills, "tool": toolNames, "session": sessions})
	completeAgents(a, root)
}

// completeAgents completes the role of the commands that start an agent, which read their flags themselves. All other words are the agent's.
func completeAgents(a *base.App, root *cobra.Command) {
	for _, agent := range harness.Names() {
		c, _, err := root.Find([]string{agent})
		if err != nil {
			continue
		}
		c.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && args[len(args)-1] == "--role" {
				return found(c, a, roles, begun)
			}
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
}

// completeFlags completes the flags of a command and of its subcommands.
func completeFlags(a *base.App, c *cobra.Command, flags map[string]names) {
	for flag, list := range flags {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
				return found(c, a, list, begun)
			})
		}
	}
	for _, sub := range c.Commands() {
		completeFlags(a, sub, flags)
	}
}

// found returns the words with a beginning for a person, and none for an agent.
func found(c *cobra.Command, a *base.App, list names, begun string) ([]string, cobra.ShellCompDirective) {
	if a.NeedPerson("complete") != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(c.Context(), completeWithin)
	defer cancel()
	quiet := *a
	quiet.Err = io.Discard
	if quiet.Find(project.NeedsProject) != nil { // also above this folder
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, word := range list(ctx, &quiet) {
		if name, about, described := strings.Cut(word, "\t"); strings.HasPrefix(name, begun) {
			if name = text.Flatten(name); described {
				name += "\t" + text.Flatten(about)
			}
			out = append(out, name)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
