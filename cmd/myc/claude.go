package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/spf13/cobra"

	"mycelium/internal/atomicfile"
	"mycelium/internal/daemon"
	"mycelium/internal/harness"
	"mycelium/internal/rpc"
)

func (a *app) claudeCmd() *cobra.Command {
	var role string
	c := &cobra.Command{
		Use: "claude [--role R] [ARG …]", Short: "Claude Code with our gateway as its only MCP server, our hook and one session",
		Long: "Starts the Claude Code that is installed here. Its own tools pass our hook, its only MCP server is our gateway, and both\n" +
			"are one session, which ends with it. What follows --role is passed on: myc claude -p \"fix the test\".\n" +
			"A daemon is started if none runs. --help behind -- is Claude Code's own.",
		Example:            "  myc claude\n  myc claude --role developer -p \"run the tests\"",
		DisableFlagParsing: true,
	}
	c.Flags().StringVar(&role, "role", "", "role of the session (default: session.defaultRole; developer in a folder that is set up now)")
	c.RunE = func(c *cobra.Command, args []string) error {
		for len(args) > 0 {
			if args[0] == "--help" || args[0] == "-h" {
				return c.Help()
			}
			name, _, _ := strings.Cut(args[0], "=")
			if !slices.Contains([]string{"--role", "-C", "--dir", "--config"}, name) {
				break
			}
			flags := c.InheritedFlags()
			if name == "--role" {
				flags = c.LocalNonPersistentFlags()
			}
			taken, err := takeFlag(flags, args)
			if err != nil || taken == 0 {
				return usageError("claude: %s wants a value", name)
			}
			args = args[taken:]
		}
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		return a.claude(c.Context(), role, args)
	}
	return c
}

// ungoverned are arguments with which Claude Code would run without our hook or with other servers, or beyond our session.
var ungoverned = []string{"--settings", "--setting-sources", "--bare", "--safe-mode", "--mcp-config", "--strict-mcp-config", "--bg", "--background", "--tmux", "--remote", "--teleport"}

// noSession are commands of Claude Code that start no session of its own here.
var noSession = []string{"agents", "auth", "auto-mode", "config", "daemon", "doctor", "install", "mcp", "plugin", "plugins", "project", "remote-control", "setup-token", "update", "upgrade"}

// governable refuses arguments that would leave our session.
func governable(args []string) error {
	if len(args) > 0 && slices.Contains(noSession, args[0]) {
		return &failure{code: exitUsage, err: fmt.Errorf("claude: %q starts no session that could be governed", args[0]), hint: "run it yourself: claude " + args[0]}
	}
	for _, arg := range args {
		if arg == "--" {
			break
		}
		if name, _, _ := strings.Cut(arg, "="); slices.Contains(ungoverned, name) {
			return &failure{code: exitUsage, err: fmt.Errorf("claude: %s would lead around the gateway or the hook", name),
				hint: "servers belong into mycelium.yaml, settings into .claude/settings.json; without Mycelium: claude " + name}
		}
	}
	return nil
}

// claude runs Claude Code in a session of its own.
func (a *app) claude(ctx context.Context, role string, args []string) error {
	if err := a.needPerson("start an agent"); err != nil {
		return err
	}
	if err := governable(args); err != nil {
		return err
	}
	known, _ := harness.Named("claude")
	program, err := known.Find(a.environ)
	if err != nil {
		return hinted(fmt.Errorf("claude: %w", err), "install it: npm install -g "+known.Package)
	}
	made, err := a.needProject()
	if err != nil {
		return err
	}
	if made && role == "" {
		role = "developer" // the one that init made for a coding agent; a client's default is guest
	}
	dir, err := a.projectDir()
	if err != nil {
		return err
	}
	if err := a.warnHands(role); err != nil {
		return err
	}
	c, err := a.attachOwner(ctx, dir)
	if err != nil {
		return err
	}
	defer c.Close() // while we are attached an automatic daemon does not end
	s, err := a.mintFor(ctx, c, role)
	if err != nil {
		return err
	}
	defer a.endFor(ctx, s.ID)
	files, err := a.claudeFiles(dir, s.ID)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(files) }()
	// --mcp-config takes as many words as follow it: were it the last of ours, a prompt would be taken for a file.
	argv := append([]string{"--strict-mcp-config", "--mcp-config", filepath.Join(files, "mcp.json"), "--settings", filepath.Join(files, "settings.json")}, args...)
	return a.runAgent(program, argv, s.Token)
}

// needProject wants a project: at a terminal it asks to set one up. made: it did.
func (a *app) needProject() (made bool, err error) {
	dir, err := a.projectDir()
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(filepath.Join(dir, "mycelium.yaml")); !errors.Is(err, fs.ErrNotExist) || a.config != "" {
		return false, a.firstUse()
	}
	if !stdinIsTerminal(a.in) {
		return false, hinted(fmt.Errorf("claude: %s is no project of Mycelium yet: there is no mycelium.yaml", dir), "myc -C "+dir+" init sets it up")
	}
	fmt.Fprintf(a.err, "%s is no project of Mycelium yet. Set it up, with roles, skills and rules for a coding agent? [Y/n] ", dir)
	if answer, err := a.readLine(); err != nil || strings.HasPrefix(strings.ToLower(answer), "n") {
		return false, fmt.Errorf("claude: nothing was started")
	}
	return true, a.init(false, "")
}

// readLine reads one line of the terminal and not a byte more: the rest is the agent's.
func (a *app) readLine() (string, error) {
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := a.in.Read(b); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return strings.TrimSpace(string(line)), nil
		}
		line = append(line, b[0])
	}
}

// attachOwner attaches to the daemon of the project, and starts one if none runs.
func (a *app) attachOwner(ctx context.Context, dir string) (*daemon.Client, error) {
	paths, err := daemon.PathsOf(dir)
	if err != nil {
		return nil, err
	}
	argv, env, err := a.detached(dir, "serve", "--auto")
	if err != nil {
		return nil, err
	}
	c, err := daemon.Attach(ctx, paths, argv, env)
	if err != nil {
		return nil, err
	}
	if err := a.handOver(ctx, c); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// agentTTL bounds the session of an agent whose launcher was killed and could not end it.
const agentTTL = 7 * 24 * time.Hour

// mintFor mints the session of an agent that a person starts.
func (a *app) mintFor(ctx context.Context, c *daemon.Client, role string) (sessionReply, error) {
	p := sessionParams{Name: "claude", Role: role, TTL: int64(agentTTL)}
	if role == "" {
		project, err := a.load()
		if err != nil {
			return sessionReply{}, err
		}
		p.May = project.File.Session.Roles
	}
	var s sessionReply
	if err := answered(c.Call(ctx, "session/new", p, &s)); err != nil {
		return s, err
	}
	if s.Role == "" {
		fmt.Fprintln(a.err, "myc: warning: this session has no role, so it may use nothing\nhint: set session.defaultRole in mycelium.yaml, or say --role")
	}
	return s, nil
}

// endFor ends the session of an agent that has gone. Its daemon may be another by now.
func (a *app) endFor(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	c, _, err := a.running(ctx)
	if err == nil && c != nil {
		defer c.Close()
		err = c.Call(ctx, "session/end", changeParams{ID: id}, nil)
	}
	if gone := (*rpc.Error)(nil); errors.As(err, &gone) && gone.Code == rpc.CodeInvalidParams {
		fmt.Fprintf(a.err, "myc: the session had ended before its agent\nhint: myc audit denials may say why\n")
		return
	}
	if err != nil {
		fmt.Fprintf(a.err, "myc: the session %s could not be ended: %v\nhint: myc session end %s\n", id, err, id)
	}
}

// claudeFiles writes the settings and the MCP configuration of one run. They stand in the project's state, where no agent can write:
// Claude Code would keep settings from its command line in a file that one can.
func (a *app) claudeFiles(dir, id string) (folder string, err error) {
	s, err := a.setup("claude", false)
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
	env := slices.DeleteFunc(slices.Clone(a.environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{tokenVar, "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE"}, name)
	})
	env = append(env, tokenVar+"="+token)
	cmd := exec.Command(program, argv...) //nolint:noctx // an interrupt at the terminal is for the agent itself
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, a.in, a.out, a.err
	cmd.Dir = a.dir
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
			return &failure{code: code}
		}
	}
}
