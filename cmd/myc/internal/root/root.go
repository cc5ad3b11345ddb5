// Package root is the tree of commands, and one run of it.
package root

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/agents"
	"mycelium/cmd/myc/internal/approvals"
	"mycelium/cmd/myc/internal/audit"
	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/chat"
	"mycelium/cmd/myc/internal/cost"
	"mycelium/cmd/myc/internal/demo"
	"mycelium/cmd/myc/internal/eject"
	"mycelium/cmd/myc/internal/engine"
	"mycelium/cmd/myc/internal/manual"
	"mycelium/cmd/myc/internal/memory"
	"mycelium/cmd/myc/internal/modes"
	"mycelium/cmd/myc/internal/policy"
	"mycelium/cmd/myc/internal/project"
	"mycelium/cmd/myc/internal/question"
	"mycelium/cmd/myc/internal/repl"
	"mycelium/cmd/myc/internal/role"
	"mycelium/cmd/myc/internal/sandbox"
	"mycelium/cmd/myc/internal/serve"
	"mycelium/cmd/myc/internal/server"
	"mycelium/cmd/myc/internal/session"
	"mycelium/cmd/myc/internal/settings"
	"mycelium/cmd/myc/internal/skill"
	"mycelium/cmd/myc/internal/swarm"
	"mycelium/cmd/myc/internal/tools"
	"mycelium/cmd/myc/internal/web"
	loaded "mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// Main runs the program, prints its error, and returns its exit code.
func Main(ctx context.Context, args []string, in io.Reader, out, errs io.Writer, environ []string) int {
	err := Execute(ctx, args, in, out, errs, environ)
	if err == nil {
		return 0
	}
	if exit := (base.Exit{}); errors.As(err, &exit) {
		return exit.Code
	}
	f := failure.Of(err)
	fmt.Fprintf(errs, "myc: %s\n", text.Visible(f.Error()))
	if hint := text.HintOf(err); hint != "" {
		fmt.Fprintf(errs, "hint: %s\n", text.Visible(hint))
	}
	return f.Kind.Exit()
}

// Execute runs the program, and returns the error that Main prints; a [base.Exit] where another program has the exit code.
func Execute(ctx context.Context, args []string, in io.Reader, out, errs io.Writer, environ []string) error {
	if code, ok := sandbox.Quick(ctx, args); ok {
		return base.ExitWith(code)
	}
	if code, ok := agents.Shell(ctx, os.Args[0], args, environ); ok {
		return base.ExitWith(code)
	}
	a := &base.App{In: in, Out: out, Loader: loaded.Loader{Err: errs, Environ: environ, Version: base.Version()}}
	if code, ok := agents.QuickHook(ctx, a, args); ok {
		return base.ExitWith(code)
	}
	root := command(a)
	root.SetArgs(args)
	root.SetContext(ctx)
	return root.Execute()
}

// command is the whole tree.
func command(a *base.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "myc [\"question\"]",
		Short: "Decides and records what AI agents do",
		Long: "Mycelium stands between AI agents and their tools. Skills name the tools that an agent may see; other tools do not exist\n" +
			"for it. Every call passes one policy and is recorded in an audit log.\n" +
			"myc \"question\" asks an agent that has the tools of a role and no others. It goes through the same door as every agent.",
		Example: "  myc demo                    # the main job in ten seconds\n  myc init && myc tools --role guest\n" +
			"  myc \"what is in this project?\" --role guest\n  git diff | myc \"review this\" - --json",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          question.Args,

		PersistentPreRunE: func(c *cobra.Command, args []string) error { return find(a, c, args) },
	}
	o, ask := question.Flags(a, root)
	root.RunE = func(c *cobra.Command, args []string) error {
		if asked, err := ask(c.Context(), args); asked || err != nil {
			return err
		}
		if !repl.Fits(a) {
			return c.Help()
		}
		return repl.Run(c.Context(), a, *o, Execute)
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	a.GlobalFlags(root)
	root.CompletionOptions.DisableDefaultCmd = true
	for _, g := range groups(a) {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
		}
		root.AddCommand(g.commands...)
	}
	root.SetHelpCommandGroupID("This program:")
	cobra.EnableCommandSorting = false // each group begins with what comes first
	complete(a, root)
	base.StrictNames(root)
	return root
}

// group is what the help lists under one title.
type group struct {
	title    string
	commands []*cobra.Command
}

// groups are the commands in the order in which somebody meets them.
func groups(a *base.App) []group {
	mcp := serve.MCP(a)
	mcp.AddCommand(project.Status(a))
	skills := skill.Command(a)
	skills.AddCommand(server.Grant(a), eject.Skill(a))
	roles := policy.Roles(a)
	roles.AddCommand(append(role.Commands(a), eject.Roles(a))...)
	return []group{
		{"Start here:", []*cobra.Command{demo.Command(a), project.Init(a, agents.Install(a)), agents.Claude(a), approvals.Command(a),
			web.Command(a), audit.Command(a),
			project.Doctor(a, agents.Check(a), sandbox.Check(a), memory.Check(a), engine.Check(a), swarm.Check(a))}},
		{"Agents of our own:", []*cobra.Command{modes.Workflow(a, Execute), modes.Adhoc(a, Execute), modes.Run(a), modes.SubAgent(a),
			swarm.Command(a)}},
		{"What agents may do:", []*cobra.Command{roles, skills, policy.Command(a), project.Trust(a), project.Edit(a),
			project.Watch(a)}},
		{"Tools and sessions:", []*cobra.Command{tools.Tools(a), tools.Call(a), session.Command(a), memory.Command(a), chat.Command(a),
			sandbox.Command(a),
			cost.Command(a)}},
		{"How agents come in:", []*cobra.Command{agents.Codex(a), agents.Gemini(a), server.Command(a), mcp, agents.Hook(a)}},
		{"This program:", []*cobra.Command{serve.Serve(a), project.Status(a), serve.Stop(a), settings.Command(a), project.Version(a),
			project.Completion(a), manual.Command(a), serve.Keeper(a)}},
	}
}
