package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The limits of the issue, from the start of the process to its answer.
const (
	hookDaemonLimit = 10 * time.Millisecond
	hookAloneLimit  = 30 * time.Millisecond
)

// hookEvent is a command that the rules of the project are tried on, one after the other.
const hookEvent = `{"session_id":"bench","transcript_path":"/none","cwd":"%s","permission_mode":"default","hook_event_name":"PreToolUse",` +
	`"tool_name":"Bash","tool_input":{"command":"go test ./internal/policy","description":"Tests"},"tool_use_id":"toolu_%d"}`

// hookRules are as many rules as the issue names, ten of them with a condition.
func hookRules() string {
	var b strings.Builder
	b.WriteString("version: 1\nrules:\n")
	for i := range 59 {
		effect := []string{"deny", "ask", "allow"}[i%3]
		if i%6 == 0 {
			fmt.Fprintf(&b, "  - {name: r%d, action: %s, tool: Bash, when: 'args.command == \"never %d\"'}\n", i, effect, i)
			continue
		}
		fmt.Fprintf(&b, "  - {name: r%d, action: %s, tool: \"Bash|Write|files__write_file\", match: {path: [{glob: \"part%d/**\"}]}}\n", i, effect, i)
	}
	b.WriteString("  - {name: tests, action: allow, tool: Bash, args: {command: \"go test ./internal/policy\"}}\n") // the last one: all are tried
	return b.String()
}

// hookProject is a project with 13 skills and 60 rules.
func (b *bed) hookProject(ctx context.Context) (string, error) {
	dir, err := b.project(ctx, "hook", false)
	if err != nil {
		return "", err
	}
	files := map[string]string{"mycelium.yaml": "session: {defaultRole: developer}\npolicy: {rules: [bench.yaml]}\n", "bench.yaml": hookRules()}
	for i := range 13 {
		files[fmt.Sprintf("skills/bench%d/SKILL.md", i)] = fmt.Sprintf("---\nname: bench%d\ndescription: Works with tools of its own.\nallowedRoles: [developer]\n"+
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
	_, err = b.output(ctx, dir, "trust")
	return dir, err
}

// measureHook starts the hook with a daemon and without one, and two programs that do nothing beside it, by turns.
func measureHook(ctx context.Context, b *bed, o options) error {
	dir, err := b.hookProject(ctx)
	if err != nil {
		return err
	}
	alone := filepath.Join(b.dir, "alone")
	if err := os.CopyFS(alone, os.DirFS(dir)); err != nil {
		return err
	}
	if _, err := b.output(ctx, alone, "trust"); err != nil {
		return err
	}
	if _, err := b.output(ctx, dir, "serve", "--background", "--addr", "127.0.0.1:0"); err != nil {
		return err
	}
	bare := filepath.Join(b.dir, "bare")
	if out, err := b.goBuild(ctx, bare, "mycelium/bench/bare"); err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	ways := []*starts{{name: "myc hook claude, with a daemon"}, {name: "myc hook claude, without"}, {name: "(a Go program that reads and answers)"}}
	for n := range 10 * o.starts {
		for i, d := range []string{dir, alone, dir} {
			program := []string{b.myc, "hook", "claude", "-C", d, "--event", "PreToolUse", "--limit", "10m0s", "--gateway", "mycelium"}
			if i == 2 {
				program = []string{bare}
			}
			if err := b.hookOnce(ctx, d, program, n, ways[i]); err != nil {
				return fmt.Errorf("%s: %w", ways[i].name, err)
			}
		}
	}
	if _, err := b.output(ctx, dir, "stop"); err != nil {
		return err
	}
	rows := [][]string{{"one event, from start to answer", "least", "median", "p99", "of the limit", "bare starts", "CPU median"}}
	for i, s := range ways {
		median, ofLimit := quantile(s.wall, 0.5), "–"
		if i < 2 {
			ofLimit = fmt.Sprintf("%.0f %%", 100*float64(median)/float64([]time.Duration{hookDaemonLimit, hookAloneLimit}[i]))
		}
		rows = append(rows, []string{s.name, ms(quantile(s.wall, 0)), ms(median), ms(quantile(s.wall, 0.99)), ofLimit,
			fmt.Sprintf("%.1f", float64(median)/float64(quantile(ways[2].wall, 0.5))), ms(quantile(s.used, 0.5))})
	}
	fmt.Println()
	table(rows)
	return nil
}

// hookOnce measures one run; it has to answer.
func (b *bed) hookOnce(ctx context.Context, dir string, program []string, n int, s *starts) error {
	c := b.command(ctx, dir)
	c.Path, c.Args = program[0], program
	c.Stdin = strings.NewReader(fmt.Sprintf(hookEvent, dir, n))
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	began := time.Now()
	err := c.Run()
	took := time.Since(began)
	if err != nil || !bytes.Contains(out.Bytes(), []byte("permissionDecision")) {
		return fmt.Errorf("%w: %s%s", err, out.Bytes(), stderr.Bytes())
	}
	s.wall = append(s.wall, took)
	s.used = append(s.used, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
	return nil
}
