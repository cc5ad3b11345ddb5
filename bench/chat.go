package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
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
	for range o.starts {
		began := time.Now()
		if err := b.command(ctx, dir, "version").Run(); err != nil {
			return err
		}
		bare = append(bare, time.Since(began))
		shown, open, err := b.chatOnce(ctx, dir)
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
	_, err = b.output(ctx, dir, "stop")
	return err
}

// chatOnce starts one chat and ends it. It returns the time to the prompt, and to the line of keys that an open session has.
func (b *bed) chatOnce(ctx context.Context, dir string) (prompt, ready time.Duration, err error) {
	c := b.command(ctx, dir)
	s := exec.CommandContext(ctx, "script", "-qfec", "stty rows 24 cols 80; exec "+c.Path, "/dev/null") //nolint:gosec // our own program
	s.Dir, s.Env = dir, append(c.Env, "TERM=xterm-256color", "ANTHROPIC_API_KEY=none", "SHELL=/bin/sh")
	keys, err := s.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	screen, err := s.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := s.Start(); err != nil {
		return 0, 0, err
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
			return 0, 0, errors.Join(fmt.Errorf("the chat ended: %q: %w", seen, err), s.Wait())
		}
	}
	if _, err := io.WriteString(keys, "\x04"); err != nil { // Ctrl-D
		return 0, 0, err
	}
	_, _ = io.Copy(io.Discard, screen)
	return prompt, ready, s.Wait()
}
