package sandboxed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"mycelium/internal/gate/control"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/served"
	"mycelium/internal/skill"
	"mycelium/internal/state"
)

// Scripts returns how scripts of skills run on a project: in the sandbox, in a copy of the skill's folder.
func Scripts(find Find, folder string, paths state.Paths, home string, environ []string) control.Runner {
	return func(ctx context.Context, s control.Script) (out control.ScriptResult, err error) {
		c, err := scriptCommand(find, folder, paths, home, environ, s)
		if err != nil {
			return out, err
		}
		self, err := Self()
		if err != nil {
			return out, err
		}
		stdout, stderr := &served.Output{Tell: s.Tell}, &served.Output{Tell: s.Tell}
		c.Out, c.Err = stdout, stderr
		result, err := sandbox.Run(ctx, self, c)
		var start *jail.StartError
		switch {
		case errors.As(err, &start):
			return out, errors.New(start.Reason)
		case err != nil:
			return out, err
		}
		return control.ScriptResult{
			Success: result.ExitCode == 0 && !result.TimedOut, ExitCode: result.ExitCode, Stdout: stdout.String(), Stderr: stderr.String(),
			TimedOut: result.TimedOut, Dropped: served.Violations(result.Left),
		}, nil
	}
}

// scriptCommand is the command of the sandbox that runs a script (requirements, A20).
func scriptCommand(find Find, folder string, paths state.Paths, home string, environ []string, s control.Script) (*sandbox.Command, error) {
	name := s.Sandbox
	if name == "" {
		name = "standard"
	}
	p, ok := find(name)
	if !ok || !slices.Contains(skill.Sandboxes(), name) {
		return nil, fmt.Errorf("the skill asks for a profile %q of the sandbox, which scripts do not get", name)
	}
	if p.Seconds == 0 {
		p.Seconds = served.MaxTimeout.Seconds()
	}
	c, err := Command(cmp.Or(s.Folder, folder), paths, home, environ)
	if err != nil {
		return nil, err
	}
	c.Closed = s.Closed
	c.Argv, c.Profile, c.Files, c.Dir = slices.Concat(s.Argv, []string{s.Path}, s.Args), p, s.Files, sandbox.Folder
	c.Env = []string{"SKILL_ID=" + s.Skill, "SKILL_DIR=" + sandbox.Folder}
	return &c, nil
}
