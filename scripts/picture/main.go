// Command picture makes docs/demo.svg: it runs "myc demo" in a tmux of its own and draws what stands on the screen.
//
//	go run ./scripts/picture bin/myc docs/demo.svg
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: picture MYC FILE.svg")
		os.Exit(2)
	}
	if err := picture(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// picture writes the picture of a demo of the program myc.
func picture(ctx context.Context, myc, file string) error {
	screen, err := record(ctx, myc)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	return os.WriteFile(file, []byte(draw(lines)), 0o644) //nolint:gosec // a picture for everybody
}

const columns, rows = 160, 90 // of the terminal: the whole demo stands on it

// record returns the screen, with the escape sequences of its colours, when the demo has ended.
func record(ctx context.Context, myc string) (screen string, err error) {
	if myc, err = filepath.Abs(myc); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "picture-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tmux := func(args ...string) (string, error) {
		argv := append([]string{"-u", "-f", "/dev/null", "-S", filepath.Join(dir, "t")}, args...)
		out, err := exec.CommandContext(ctx, "tmux", argv...).CombinedOutput() //nolint:gosec // the arguments are ours
		if err != nil {
			return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
		}
		return string(out), nil
	}
	// The pane stays until the screen was read; wait-for returns when the demo has ended.
	script := `env -u NO_COLOR -u CLAUDECODE TERM=xterm-256color "$0" demo; echo $? > "$1/code"; ` +
		`tmux -S "$1/t" wait-for -S done; exec sleep 60`
	size := []string{"-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows)}
	if _, err := tmux(append(append([]string{"new-session", "-d"}, size...), "--", "sh", "-c", script, myc, dir)...); err != nil {
		return "", err
	}
	defer func() { _, e := tmux("kill-server"); err = errors.Join(err, e) }()
	if _, err := tmux("wait-for", "done"); err != nil {
		return "", err
	}
	if screen, err = tmux("capture-pane", "-p", "-e"); err != nil {
		return "", err
	}
	code, err := os.ReadFile(filepath.Join(dir, "code"))
	if err == nil && strings.TrimSpace(string(code)) != "0" {
		err = fmt.Errorf("the demo failed:\n%s", screen)
	}
	return screen, err
}
