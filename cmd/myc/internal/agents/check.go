package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/hook/install"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// hookCheck proves with a real agent that the hook stops it.
func (a *app) hookCheck(ctx context.Context, agent string) error {
	if err := a.NeedPerson("check a hook"); err != nil {
		return err
	}
	known, ok := harness.Named(agent)
	if !ok {
		return failure.Usagef("hook check: unknown agent %q: the known agents are %s", agent, strings.Join(harness.Names(), ", "))
	}
	program, err := known.Find(a.Environ)
	if err != nil {
		return failure.Hint(fmt.Errorf("hook check: %w", err), "install it, for example: npm install -g "+known.Package)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	s, err := a.setup(known, harness.User)
	if err != nil {
		return err
	}
	if err := a.checkable(s); err != nil {
		return err
	}
	c := proving{agent: known, program: program, setup: *s,
		prepare: func(ctx context.Context, dir string, environ []string) (func(), error) {
			return prepareCheck(ctx, self, dir, environ)
		}}
	p, err := c.run(ctx)
	if errors.Is(err, harness.ErrNoScript) {
		return failure.Hint(fmt.Errorf("hook check: %w", err), "docs/proofs/agents.md says why")
	}
	if a.JSON && (err == nil || p.Version != "") {
		if err := a.PrintJSON(p); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("hook check: the check failed, so it proves nothing: %w%s", err, tail(p.Output))
	}
	name := known.Title + " " + p.Version
	switch {
	case !p.Blocked:
		return failure.Hint(fmt.Errorf("hook check: %s ran a command that was denied: the hook does not block%s", name,
			tail(p.Output)), "do not rely on the hook with this version; report it with the output above and that of myc version")
	case !p.Ran:
		return failure.Hint(fmt.Errorf("hook check: %s did not run a command that was allowed%s", name, tail(p.Output)),
			"the hook blocks, but the agent cannot work either; the agent was told: "+p.Told)
	case a.JSON:
		return nil
	}
	fmt.Fprintf(a.Out, "%s asked for two commands.\n✓ the denied one did not run; the agent was told: %s\n✓ the allowed one ran\nThe "+
		"hook blocks.\n", name, text.Cell(p.Told, 300))
	return nil
}

// checkable makes a check of the program that is installed, or of the one that would be.
func (a *app) checkable(s *install.Setup) error {
	if _, err := os.Stat(s.Small); err == nil {
		return nil
	}
	s.Small = filepath.Join(filepath.Dir(s.Myc), hook.Small)
	if _, err := os.Stat(s.Small); err != nil {
		return failure.Hint(fmt.Errorf("hook check: %w", err), "build it beside myc: make build")
	}
	return nil
}

// tail formats the output of an agent for the end of a message.
func tail(output string) string {
	if output == "" {
		return ""
	}
	return "\nit said:\n" + output
}

// checkProject is a project in which one command is denied and another allowed, whatever the default rules are.
func checkProject() map[string]string {
	return map[string]string{
		"mycelium.yaml": "session: {defaultRole: developer}\n",
		"skills/shell/SKILL.yaml": "name: shell\ndescription: The shell of the check.\nallowedRoles: [developer]\nallowedTools: " +
			"[agent__Bash]\n",
		"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: check-denies, action: deny, tool: Bash, args: {command: [" + deniedCommand +
			"]}, reason: the check denies this command}\n" +
			"  - {name: check-allows, action: allow, tool: Bash, args: {command: [" + allowedCommand + "]}}\n",
	}
}

// prepareCheck writes the project, trusts it and starts its daemon.
func prepareCheck(ctx context.Context, self, dir string, environ []string) (end func(), err error) {
	for name, text := range checkProject() {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	run := func(ctx context.Context, args ...string) error {
		cmd := exec.CommandContext(ctx, self, append([]string{"-C", dir}, args...)...)
		cmd.Env, cmd.Dir = environ, dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("myc %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
		}
		return nil
	}
	if err := run(ctx, "trust", "--yes"); err != nil {
		return nil, err
	}
	if err := run(ctx, "serve", "--background", "--addr", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	return func() { _ = run(context.WithoutCancel(ctx), "stop", "-f") }, nil
}
