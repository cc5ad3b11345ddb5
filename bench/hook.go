package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/hook"
	"mycelium/internal/hook/web"
	"mycelium/internal/node/agentshell"
	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/node/api"
)

// The limits: through the small program with a daemon, as a multiple of a program that reads and answers; and the time that an event over
// HTTP adds to the agent's own.
const (
	hookSmallLimit = 1.5
	hookHTTPLimit  = time.Millisecond
)

// hookEvent is a command that reaches every rule of the project.
const hookEvent = `{"session_id":"bench","transcript_path":"/none","cwd":"%s","permission_mode":"default","hook_event_name":"PreToolUse",` +
	`"tool_name":"Bash","tool_input":{"command":"go test ./internal/policy","description":"Tests"},"tool_use_id":"toolu_%d"}`

// hookRules returns as many rules as the issue names. Ten of them have a condition.
func hookRules() string {
	var b strings.Builder
	b.WriteString("version: 1\nrules:\n")
	for i := range 59 {
		effect := []string{"deny", "ask", "allow"}[i%3]
		if i%6 == 0 {
			fmt.Fprintf(&b, "  - {name: r%d, action: %s, tool: Bash, when: 'args.command == \"never %d\"'}\n", i, effect, i)
			continue
		}
		fmt.Fprintf(&b, "  - {name: r%d, action: %s, tool: \"Bash|Write|files__write_file\", match: {path: [{glob: \"part%d/**\"}]}}\n", i,
			effect, i)
	}
	// the last rule, so that all rules before it are evaluated
	b.WriteString("  - {name: tests, action: allow, tool: Bash, args: {command: \"go test ./internal/policy\"}}\n")
	return b.String()
}

// hookProject creates a project with 13 skills and 60 rules.
func (b *bed) hookProject(ctx context.Context) (string, error) {
	dir, err := b.project(ctx, "hook", false)
	if err != nil {
		return "", err
	}
	files := map[string]string{"mycelium.yaml": "session: {defaultRole: developer}\npolicy: {rules: [bench.yaml]}\n",
		"bench.yaml": hookRules()}
	for i := range 13 {
		files[fmt.Sprintf("skills/bench%d/SKILL.md", i)] = fmt.Sprintf("---\nname: bench%d\ndescription: Works with tools of its "+
			"own.\nallowedRoles: [developer]\n"+
			"allowedTools: [agent__Bash, agent__Write, agent__Read, files__read_file]\n---\nDo %d.\n", i, i)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	_, err = b.output(ctx, dir, "trust", "--yes")
	return dir, err
}

// measureHook runs the hook with and without a daemon, as `myc hook` and as the small program, and by turns with them a program that does
// nothing. Then it posts events to the daemon.
func measureHook(ctx context.Context, b *bed, o options) error {
	dir, err := b.hookProject(ctx)
	if err != nil {
		return err
	}
	alone := filepath.Join(b.dir, "alone")
	if err := os.CopyFS(alone, os.DirFS(dir)); err != nil {
		return err
	}
	if _, err := b.output(ctx, alone, "trust", "--yes"); err != nil {
		return err
	}
	if _, err := b.output(ctx, dir, "serve", "--background", "--addr", "127.0.0.1:0"); err != nil {
		return err
	}
	bare, small := filepath.Join(b.dir, "bare"), filepath.Join(b.dir, "small", hook.Small)
	if err := os.Mkdir(filepath.Dir(small), 0o700); err != nil {
		return err
	}
	if err := os.Symlink(b.myc, filepath.Join(filepath.Dir(small), "myc")); err != nil {
		return err
	}
	for path, pkg := range map[string]string{bare: "mycelium/bench/bare", small: "mycelium/cmd/myc-hook"} {
		if out, err := b.goBuild(ctx, path, pkg, "CGO_ENABLED=0"); err != nil {
			return fmt.Errorf("build: %w: %s", err, out)
		}
	}
	ways, err := b.hookWays(ctx, bare, small, dir, alone)
	if err != nil {
		return err
	}
	for n := range 10 * o.starts {
		for i := range ways {
			w := &ways[i]
			program := append(slices.Clone(w.program), "claude", "-C", w.dir, "--state", string(b.state()),
				"--event", "PreToolUse", "--limit", "10m0s", "--gateway", "mycelium")
			if err := b.hookOnce(ctx, w, program, n); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	printWays(ways)
	if err := b.measurePosts(ctx, dir, 100*o.starts); err != nil {
		return err
	}
	_, err = b.output(ctx, dir, "stop")
	return err
}

// printWays prints the time of each way as a multiple of the first.
func printWays(ways []hookWay) {
	rows := [][]string{{"one event, from start to answer", "least", "median", "p99", "bare starts", "CPU median"}}
	for i := range ways {
		s := &ways[i].starts
		ratio := float64(quantile(s.wall, 0.5)) / float64(quantile(ways[0].wall, 0.5))
		text := fmt.Sprintf("%.2f", ratio)
		if i == 1 {
			text += fmt.Sprintf(" (at most %.1f)", hookSmallLimit)
		}
		rows = append(rows, []string{s.name, ms(quantile(s.wall, 0)), ms(quantile(s.wall, 0.5)), ms(quantile(s.wall, 0.99)), text,
			ms(quantile(s.used, 0.5))})
	}
	fmt.Println()
	table(rows)
}

// hookWays returns the ways to answer an event: with a daemon in dir, without one in alone.
func (b *bed) hookWays(ctx context.Context, bare, small, dir, alone string) ([]hookWay, error) {
	with, err := b.ofShell(ctx, dir)
	if err != nil {
		return nil, err
	}
	without, err := b.ofShell(ctx, alone)
	if err == nil {
		_, err = b.output(ctx, alone, "stop")
	}
	if err != nil {
		return nil, err
	}
	return []hookWay{
		{starts{name: "(a Go program that reads and answers)"}, dir, []string{bare}, nil},
		{starts{name: "myc-hook claude, with a daemon"}, dir, []string{small}, nil},
		{starts{name: "the same, with a token"}, dir, []string{small}, with[:1]},
		{starts{name: "the same, and a ticket for the shell"}, dir, []string{small}, with},
		{starts{name: "myc hook claude, with a daemon"}, dir, []string{b.myc, "hook"}, nil},
		{starts{name: "myc-hook claude, without"}, alone, []string{small}, nil},
		{starts{name: "the same, with a token, without a daemon"}, alone, []string{small}, without[:1]},
		{starts{name: "the same, and a ticket, without a daemon"}, alone, []string{small}, without},
		{starts{name: "myc hook claude, without"}, alone, []string{b.myc, "hook"}, nil},
	}, nil
}

// hookWay is one way to answer an event.
type hookWay struct {
	starts
	dir     string
	program []string
	environ []string // of the agent, besides that of every program
}

// session mints the session of an agent.
func (b *bed) session(ctx context.Context, dir string) (s api.Session, err error) {
	text, err := b.output(ctx, dir, "session", "new", "--role", "developer", "--json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &s)
	}
	return s, err
}

// ofShell returns the environment of an agent whose shell runs only what was admitted: its token, and the program before the shell.
func (b *bed) ofShell(ctx context.Context, dir string) ([]string, error) {
	s, err := b.session(ctx, dir)
	if err != nil {
		return nil, err
	}
	paths := b.state().Of(dir)
	folder := paths.Run(s.ID)
	n := agentshell.Note{Agent: "claude", Folder: dir, Project: dir, State: string(paths.Root)}
	return []string{hook.TokenVar + "=" + s.Token, "CLAUDE_CODE_SHELL_PREFIX=" + shim.Path(folder)},
		agentshell.Prepare(folder, b.myc, n, os.Environ())
}

// measurePosts posts events as Claude Code does, in sequence on one connection, to a listener like that of `myc claude`.
func (b *bed) measurePosts(ctx context.Context, dir string, n int) error {
	session, err := b.session(ctx, dir)
	if err != nil {
		return err
	}
	h := &web.AgentEvents{Token: session.Token, Program: func() *hook.Program {
		return &hook.Program{Project: b.state().Of(dir), Alone: func(context.Context, hook.Command) int { return 1 }}
	}}
	addr, end, err := h.Listen()
	if err != nil {
		return err
	}
	defer end()
	url := web.URL(addr, "claude", "PreToolUse", 10*time.Minute, "mycelium")
	s := starts{name: "over HTTP"}
	for i := range n {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(fmt.Sprintf(hookEvent, dir, i)))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+session.Token)
		began := time.Now()
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(answer.Body)
		took := time.Since(began)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"allow"`)) {
			return fmt.Errorf("post an event: %w: %d %s", err, answer.StatusCode, body)
		}
		s.wall = append(s.wall, took)
	}
	median := quantile(s.wall, 0.5)
	fmt.Println()
	table([][]string{{"one event over HTTP, from request to answer", "least", "median", "p99", "of the limit"},
		{"with a daemon", ms(quantile(s.wall, 0)), ms(median), ms(quantile(s.wall, 0.99)),
			fmt.Sprintf("%.0f %%", 100*float64(median)/float64(hookHTTPLimit))}})
	return nil
}

// hookOnce measures one run, which must answer.
func (b *bed) hookOnce(ctx context.Context, w *hookWay, program []string, n int) error {
	c := b.command(ctx, w.dir)
	c.Env = append(c.Env, w.environ...)
	c.Path, c.Args = program[0], program
	c.Stdin = strings.NewReader(fmt.Sprintf(hookEvent, w.dir, n))
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	began := time.Now()
	err := c.Run()
	took := time.Since(began)
	if err != nil || !bytes.Contains(out.Bytes(), []byte("permissionDecision")) {
		return fmt.Errorf("%w: %s%s", err, out.Bytes(), stderr.Bytes())
	}
	w.wall = append(w.wall, took)
	w.used = append(w.used, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
	return nil
}
