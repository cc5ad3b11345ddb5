package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/model/fake"
	"mycelium/internal/node/project"
)

// proving checks with a real agent that the hook blocks it. The agent runs in a temporary home and folder with a scripted model. It reads
// nothing of the person's and sends nothing to the network.
type proving struct {
	agent   harness.Agent
	program string // the agent's
	setup   install.Setup
	// prepare sets up a project in which deniedCommand is denied and allowedCommand is allowed. end undoes everything but files.
	prepare func(ctx context.Context, dir string, environ []string) (end func(), err error)
}

// The commands of a check, as arguments of the agent's shell.
const (
	deniedCommand  = "touch this-was-denied"
	allowedCommand = "touch this-was-allowed"
)

// Proof is `myc hook check --json`.
type Proof struct {
	Version string `json:"version"` // of the agent
	Blocked bool   `json:"blocked"` // the denied command did not run
	Ran     bool   `json:"ran"`     // the allowed one did
	Told    string `json:"told"`    // what the agent's model was told about the denied command
	Output  string `json:"output"`  // output of the agent, if the check fails
}

// checkWithin bounds a check, which takes a few seconds on an idle machine.
const checkWithin = 3 * time.Minute

// run runs the agent once. With an error, the check has no result.
func (c *proving) run(ctx context.Context) (p Proof, err error) {
	home, err := os.MkdirTemp("", "myc-check-") // short, because the path of a socket has a limit
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if err != nil {
		return p, fmt.Errorf("make a folder for the check: %w", err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	dir := filepath.Join(home, "project")
	for _, d := range []string{dir, filepath.Join(home, "run")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return p, fmt.Errorf("make a folder for the check: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	model := fake.New()
	defer model.Close()
	environ, err := c.agent.Scripted(home, model.URL(), fake.Key)
	if err != nil {
		return p, err
	}
	model.Play(fake.Step{ToolUses: []fake.ToolUse{shellUse(c.agent, deniedCommand)}},
		fake.Step{ToolUses: []fake.ToolUse{shellUse(c.agent, allowedCommand)}}, fake.Step{Text: "done"})
	// Requests to any other host go to a port without a listener.
	environ = append(environ, "XDG_RUNTIME_DIR="+filepath.Join(home, "run"), "HTTP_PROXY=http://127.0.0.1:9",
		"HTTPS_PROXY=http://127.0.0.1:9",
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")
	if p.Version, err = c.agent.Version(ctx, c.program, environ); err != nil {
		return p, err
	}
	end, err := c.prepare(ctx, dir, environ)
	if err != nil {
		return p, err
	}
	defer end()
	paths, err := (&project.Loader{Dir: dir, Environ: environ}).State()
	if err != nil {
		return p, err
	}
	s := c.setup
	s.Scope, s.Dir, s.Environ, s.State, s.Gateway, s.Version = harness.User, dir, environ, paths, "", p.Version
	if _, err := s.Install(); err != nil {
		return p, err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, c.program, c.agent.Headless("Do what the script says.")...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, environ, &out, &out, 5*time.Second
	runErr := cmd.Run()
	return p, c.judge(ctx, &p, dir, model, out.Bytes(), runErr)
}

func shellUse(a harness.Agent, command string) fake.ToolUse {
	tool, input := a.Shell(command)
	return fake.ToolUse{Name: tool, Input: input}
}

// judge examines the files after the run.
func (c *proving) judge(ctx context.Context, p *Proof, dir string, model *fake.Server, out []byte, runErr error) error {
	there := func(command string) bool {
		_, err := os.Lstat(filepath.Join(dir, strings.TrimPrefix(command, "touch ")))
		return err == nil
	}
	p.Blocked, p.Ran = !there(deniedCommand), there(allowedCommand)
	turns := model.Turns()
	p.Told = told(turns)
	if p.Blocked && p.Ran && runErr == nil {
		return nil
	}
	p.Output = strings.ToValidUTF8(string(out[max(0, len(out)-4000):]), "?")
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s did not end within %s", c.agent.Title, checkWithin)
	case len(turns) == 0:
		return errors.Join(fmt.Errorf("%s did not ask the scripted model anything", c.agent.Title), runErr)
	}
	return nil
}

// told returns the results of the calls of a model's first turn.
func told(turns []fake.Request) (text string) {
	if len(turns) > 1 {
		for _, b := range turns[1].ToolResults() {
			text += b.Text
		}
	}
	return text
}
