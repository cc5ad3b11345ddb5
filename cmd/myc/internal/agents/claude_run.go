package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/atomicfile"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/hook/install"
	"mycelium/internal/hook/web"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
)

// attach attaches to the daemon of the project, and starts one if none runs.
func (a *app) attach(ctx context.Context) (*base.Client, error) {
	c, err := a.Attach(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.HandOver(ctx, c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// agentTTL is how long a session lives if its launcher was killed and could not end it.
const agentTTL = 7 * 24 * time.Hour

// mintFor mints the session of an agent that a person starts.
func (a *app) mintFor(ctx context.Context, c *base.Client, o startOptions) (api.Session, error) {
	p := api.SessionParams{Name: o.agent.Name, Role: o.role, Skills: o.skills, TTL: int64(agentTTL), Ask: o.ask, Writes: o.writes,
		Worker: o.worker}
	if o.worker {
		p.Folder = o.dir
	}
	if o.role == "" {
		project, err := a.Load()
		if err != nil {
			return api.Session{}, err
		}
		p.Role, p.May = project.File.Session.RoleOfAgent(), project.File.Session.Roles
	}
	s, err := base.Call(ctx, c, api.SessionNew, p)
	if err != nil {
		return s, err
	}
	if s.Writes != o.writes || s.Folder != p.Folder { // a daemon of another version
		a.endFor(ctx, s.ID)
		return s, failure.Hint(errors.New("the daemon of this project does not know sessions that change one file or one folder only"),
			"myc stop, and start again")
	}
	if s.Role == "" {
		fmt.Fprintln(a.Err, "myc: warning: this session has no role, so every tool is refused\nhint: set session.agentRole in "+
			"mycelium.yaml, or use --role")
	}
	return s, nil
}

// endFor ends the session of an agent that has exited. Another daemon may be running by now.
func (a *app) endFor(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), base.AnswerWithin)
	defer cancel()
	c, err := a.Running(ctx)
	if err == nil && c != nil {
		defer c.Close()
		_, err = base.Call(ctx, c, api.SessionEnd, api.SessionRef{ID: id})
	}
	if failure.Of(err).Kind == failure.NotFound {
		fmt.Fprintf(a.Err, "myc: the session ended before its agent did\nhint: myc audit denials may show why\n")
		return
	}
	if err != nil {
		fmt.Fprintf(a.Err, "myc: the session %s could not be ended: %v\nhint: myc session end %s\n", id, err, id)
	}
}

// claudeFiles writes the settings and the MCP configuration of one run into the state of the project, where no agent can write. If
// they were passed on the command line, Claude Code would store them in a file that an agent can write. end stops to answer its events.
func (a *app) claudeFiles(ctx context.Context, program, dir string, of api.Session, o startOptions) (folder string,
	end func(), err error) {
	end = func() {}
	defer func() {
		if err != nil {
			end()
		}
	}()
	agent, _ := harness.Named("claude")
	s, err := a.setup(agent, harness.Project)
	if err != nil {
		return "", end, err
	}
	paths := s.State.For(dir)
	folder = paths.Run(of.ID)
	s.Token, s.Shell = of.Token, a.shellOf(folder, s)
	if s.Shell == "" && o.within != "" {
		return "", end, &UnprovedError{"its commands would run in its own sandbox and not in ours"}
	}
	if s.Version, err = agent.Version(ctx, program, a.Environ); err != nil {
		s.Version = "" // the form that every version takes
	}
	if agent.BlocksOnFailure(s.Version) && !proxied(a.Environ) {
		if s.Addr, end, err = a.events(paths, of.Token, s.Shell).Listen(); err != nil {
			return "", func() {}, err
		}
	}
	settings, err := s.Settings()
	if err != nil {
		return "", end, err
	}
	argv := gatewayCommand(s, paths)
	gateway := map[string]any{"command": argv[0], "args": argv[1:]}
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{install.DefaultGateway: gateway}},
		json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return "", end, fmt.Errorf("write the MCP configuration: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", end, fmt.Errorf("make a folder for this run: %w", err)
	}
	if err := a.prepareShell(folder, s, paths, settings, argv, o); err != nil {
		return "", end, errors.Join(err, os.RemoveAll(folder))
	}
	for name, text := range map[string][]byte{settingsName: settings, mcpName: servers} {
		if err := atomicfile.Note(filepath.Join(folder, name), text, 0o600); err != nil {
			return "", end, errors.Join(err, os.RemoveAll(folder))
		}
	}
	return folder, end, nil
}

// events answers the events of the agent of a session, by the daemon, or by the files while none runs.
func (a *app) events(project state.Paths, token, shell string) *web.AgentEvents {
	l := a.Loader
	l.Err = io.Discard // the terminal is the agent's
	l.Environ = append(slices.Clone(a.Environ), hook.TokenVar+"="+token)
	return &web.AgentEvents{Token: token, Shell: shell, Program: func() *hook.Program {
		p := program(&l)
		p.Project = project
		return p
	}}
}

// runAgent runs a program on this terminal, with the token of its session. It passes signals on, and returns the program's exit code.
func (a *app) runAgent(launched *Launch, program string, argv []string) error {
	cmd := exec.Command(program, argv...) //nolint:noctx // an interrupt at the terminal is for the agent itself
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = launched.Environ, a.In, a.Out, a.Err
	if !a.Found { // else the agent works where the person is, below the project
		cmd.Dir = a.Dir
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(ends)
	runtime.LockOSThread() // the agent dies with the thread that starts it
	defer runtime.UnlockOSThread()
	if err := launched.begin(cmd); err != nil {
		return err
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	for {
		select {
		case s := <-ends:
			_ = cmd.Process.Signal(s)
			continue
		case err := <-gone:
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				return err
			}
			code := exit.ExitCode()
			if st, ok := exit.Sys().(syscall.WaitStatus); ok && st.Signaled() {
				code = 128 + int(st.Signal())
			}
			return base.Exit{Code: code}
		}
	}
}
