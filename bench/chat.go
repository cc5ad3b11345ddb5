package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/agent/journal"
	"mycelium/internal/model"
	"mycelium/internal/state"
)

// chatLimit is the limit of the issue on the time from the start of the chat to its prompt, over the bare start of the program.
const chatLimit = 100 * time.Millisecond

// measureChat starts the chat on a terminal of script(1), beside a daemon that runs, and the bare program, by turns.
func measureChat(ctx context.Context, b *bed, o options) error {
	dir, err := b.project(ctx, "chat", false)
	if err != nil {
		return err
	}
	if _, err := b.output(ctx, dir, "serve", "--background", "--addr", "127.0.0.1:0"); err != nil {
		return err
	}
	var bare, prompt, ready []time.Duration
	if _, _, _, err := b.chatOnce(ctx, dir); err != nil { // makes the folder of conversations
		return err
	}
	for range o.starts {
		began := time.Now()
		if err := b.onTerminal(ctx, dir, "version").Run(); err != nil {
			return err
		}
		bare = append(bare, time.Since(began))
		shown, open, _, err := b.chatOnce(ctx, dir)
		if err != nil {
			return err
		}
		prompt, ready = append(prompt, shown), append(ready, open)
	}
	rows := [][]string{{"myc alone, the daemon runs", "least", "median", "over myc version", "of the limit"}}
	first := quantile(bare, 0.5)
	for _, s := range []struct {
		name string
		wall []time.Duration
	}{{"(myc version)", bare}, {"to its prompt", prompt}, {"to its open session", ready}} {
		over := quantile(s.wall, 0.5) - first
		rows = append(rows, []string{s.name, ms(quantile(s.wall, 0)), ms(quantile(s.wall, 0.5)), ms(over),
			fmt.Sprintf("%.0f %%", 100*float64(over)/float64(chatLimit))})
	}
	fmt.Println()
	table(rows)
	if err := b.longTalk(); err != nil {
		return err
	}
	_, _, keys, err := b.chatOnce(ctx, dir, "--continue")
	if err != nil {
		return err
	}
	fmt.Println()
	slowest := slices.Index(keys, slices.Max(keys)) + 1 // the first keys come while the session is still asked what it is
	table([][]string{{"a key to the screen, 10,000 lines of history", "least", "median", "9 of 10", "most", "which key"},
		{"myc --continue", ms(quantile(keys, 0)), ms(quantile(keys, 0.5)), ms(quantile(keys, 0.9)), ms(quantile(keys, 1)),
			fmt.Sprintf("%d of %d", slowest, len(keys))}})
	_, err = b.output(ctx, dir, "stop")
	return err
}

// longTalk keeps a conversation of 10,000 lines on the screen, with which the next chat goes on.
func (b *bed) longTalk() error {
	var folder string
	err := filepath.WalkDir(string(b.state()), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == state.Talks {
			folder = p
		}
		return err
	})
	if err != nil || folder == "" {
		return errors.Join(errors.New("no folder of conversations"), err)
	}
	j, err := journal.New(folder, journal.Head{Engine: "api"})
	if err != nil {
		return err
	}
	for n := range 1250 { // of eight lines
		said := fmt.Sprintf("question %d", n)
		answer := "An **answer** with a list:\n\n- one\n- 日本語\n"
		if err := errors.Join(j.Append(journal.Line{Kind: journal.Said, Text: said, Blocks: []model.Block{{Type: "text", Text: said}}}),
			j.Append(journal.Line{Kind: journal.Text, Text: answer}),
			j.Append(journal.Line{Kind: journal.Answer, Blocks: []model.Block{{Type: "text", Text: answer}}})); err != nil {
			return err
		}
	}
	return j.Close()
}

// onTerminal is the program on a terminal of script(1), which costs the same whatever runs there.
func (b *bed) onTerminal(ctx context.Context, dir string, args ...string) *exec.Cmd {
	c := b.command(ctx, dir)
	line := "stty rows 24 cols 80; exec " + strings.Join(append([]string{c.Path}, args...), " ")
	s := exec.CommandContext(ctx, "script", "-qfec", line, "/dev/null") //nolint:gosec // our own program
	s.Dir, s.Env = dir, append(slices.Clone(c.Env), "TERM=xterm-256color", "ANTHROPIC_API_KEY=none", "SHELL=/bin/sh")
	return s
}

// chatOnce starts one chat and ends it. It returns the time to the prompt, to the line of keys that an open session has, and of each key
// to the screen.
func (b *bed) chatOnce(ctx context.Context, dir string, args ...string) (prompt, ready time.Duration, typed []time.Duration, err error) {
	s := b.onTerminal(ctx, dir, args...)
	keys, err := s.StdinPipe()
	if err != nil {
		return 0, 0, nil, err
	}
	screen, err := s.StdoutPipe()
	if err != nil {
		return 0, 0, nil, err
	}
	began := time.Now()
	if err := s.Start(); err != nil {
		return 0, 0, nil, err
	}
	var seen []byte
	for piece := make([]byte, 4096); ready == 0; {
		n, err := screen.Read(piece)
		seen = append(seen, piece[:n]...)
		if prompt == 0 && bytes.Contains(seen, []byte("❯")) {
			prompt = time.Since(began)
		}
		if bytes.Contains(seen, []byte("/help")) {
			ready = time.Since(began)
		}
		if err != nil {
			return 0, 0, nil, errors.Join(fmt.Errorf("the chat ended: %q: %w", seen, err), s.Wait())
		}
	}
	piece := make([]byte, 4096)
	for _, r := range "あいうえおかきくけこさしすせそたちつてと" { // no bytes of them are in an escape sequence
		began := time.Now()
		if _, err := io.WriteString(keys, string(r)); err != nil {
			return 0, 0, nil, err
		}
		for seen = nil; !bytes.ContainsRune(seen, r); {
			n, err := screen.Read(piece)
			if seen = append(seen, piece[:n]...); err != nil {
				return 0, 0, nil, err
			}
		}
		typed = append(typed, time.Since(began))
	}
	if _, err := io.WriteString(keys, "\x15\x04"); err != nil { // Ctrl-U, Ctrl-D
		return 0, 0, nil, err
	}
	_, _ = io.Copy(io.Discard, screen)
	return prompt, ready, typed, s.Wait()
}
