package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/atomicfile"
	"mycelium/internal/daemon"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/rpc"
)

// attachOwner attaches to the daemon of the project, and starts one if none runs.
func (a *app) attachOwner(ctx context.Context, dir string) (*daemon.Client, error) {
	paths, err := daemon.PathsOf(dir)
	if err != nil {
		return nil, err
	}
	argv, env, err := a.Detached(dir, "serve", "--auto")
	if err != nil {
		return nil, err
	}
	c, err := daemon.Attach(ctx, paths, argv, env)
	if err != nil {
		return nil, err
	}
	if err := a.HandOver(ctx, c); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// agentTTL bounds the session of an agent whose launcher was killed and could not end it.
const agentTTL = 7 * 24 * time.Hour

// mintFor mints the session of an agent that a person starts.
func (a *app) mintFor(ctx context.Context, c *daemon.Client, role string) (api.SessionReply, error) {
	p := api.SessionParams{Name: "claude", Role: role, TTL: int64(agentTTL)}
	if role == "" {
		project, err := a.Load()
		if err != nil {
			return api.SessionReply{}, err
		}
		p.May = project.File.Session.Roles
	}
	var s api.SessionReply
	if err := base.Answered(c.Call(ctx, "session/new", p, &s)); err != nil {
		return s, err
	}
	if s.Role == "" {
		fmt.Fprintln(a.Err, "myc: warning: this session has no role, so it may use nothing\nhint: set session.defaultRole in mycelium.yaml, or say --role")
	}
	return s, nil
}

// endFor ends the session of an agent that has gone. Its daemon may be another by now.
func (a *app) endFor(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), base.AnswerWithin)
	defer cancel()
	c, _, err := a.Running(ctx)
	if err == nil && c != nil {
		defer c.Close()
		err = c.Call(ctx, "session/end", api.ChangeParams{ID: id}, nil)
	}
	if gone := (*rpc.Error)(nil); errors.As(err, &gone) && gone.Code == rpc.CodeInvalidParams {
		fmt.Fprintf(a.Err, "myc: the session had ended before its agent\nhint: myc audit denials may say why\n")
		return
	}
	if err != nil {
		fmt.Fprintf(a.Err, "myc: the session %s could not be ended: %v\nhint: myc session end %s\n", id, err, id)
	}
}

// claudeFiles writes the settings and the MCP configuration of one run. They stand in the project's state, where no agent can write:
// Claude Code would keep settings from its command line in a file that one can.
func (a *app) claudeFiles(dir, id string) (folder string, err error) {
	agent, _ := harness.Named("claude")
	s, err := a.setup(agent, false)
	if err != nil {
		return "", err
	}
	settings, err := s.Settings()
	if err != nil {
		return "", err
	}
	gateway := map[string]any{"command": s.Myc, "args": []string{"-C", dir, "mcp"}} // a --config is the daemon's already
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{gatewayName: gateway}},
		json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return "", fmt.Errorf("write the MCP configuration: %w", err)
	}
	folder = filepath.Join(dir, ".mycelium", "run", id)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for this run: %w", err)
	}
	for name, text := range map[string][]byte{"settings.json": settings, "mcp.json": servers} {
		if err := atomicfile.Note(filepath.Join(folder, name), text, 0o600); err != nil {
			return "", errors.Join(err, os.RemoveAll(folder))
		}
	}
	return folder, nil
}

// runAgent runs a program on our own terminal, with the token of its session. What ends us ends it; its exit code is ours.
func (a *app) runAgent(program string, argv []string, token string) error {
	env := slices.DeleteFunc(slices.Clone(a.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{hook.TokenVar, "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE"}, name)
	})
	env = append(env, hook.TokenVar+"="+token)
	cmd := exec.Command(program, argv...) //nolint:noctx // an interrupt at the terminal is for the agent itself
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, a.In, a.Out, a.Err
	cmd.Dir = a.Dir
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(ends)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
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
			return &failure.Error{Code: code}
		}
	}
}
