package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/hook"
	"mycelium/internal/tmux"
)

const (
	startWithin = 30 * time.Second       // how long a start from a chat waits for a sign of the agent
	startLook   = 200 * time.Millisecond // how often it looks
)

// Places returns the folders that a name can mean, below the search paths of the files.
func (c *Chats) Places(_ context.Context, name string) ([]string, error) {
	return approval.Places(c.Project().File.Spawn.SearchPaths, name)
}

// Start starts an agent in a new tmux window, and returns when the agent has started. It checks the folder again, because the person chose
// it a while ago.
func (c *Chats) Start(ctx context.Context, dir, prompt, resume string) (string, error) {
	conf := c.Project().File.Spawn
	if err := approval.CheckPlace(conf.SearchPaths, dir); err != nil {
		return "", err
	}
	// Outside of a project no hook tells of the agent, and Claude Code may ask at a terminal that nobody sees whether it may trust the folder.
	project := hook.Nearest(dir, "", func(dir string, beyond bool) bool { return hook.IsNearest(c.State.Of(dir), beyond) })
	if project == "" {
		return "", fmt.Errorf("%s is not a Mycelium project: myc init makes it one", dir)
	}
	argv := slices.Clone(conf.Command)
	if argv == nil {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find myc: %w", err)
		}
		if _, err := exec.LookPath("claude"); err != nil {
			return "", errors.New("claude is not on the PATH of the daemon")
		}
		argv = []string{self, "claude"}
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return "", fmt.Errorf("%s is not on the PATH of the daemon", argv[0])
	}
	if resume != "" {
		argv = append(argv, "--resume", resume)
	}
	if prompt = strings.TrimSpace(prompt); prompt != "" {
		if strings.HasPrefix(prompt, "-") {
			return "", errors.New("a prompt does not begin with -")
		}
		if err := checkTyped(prompt); err != nil {
			return "", err
		}
		argv = append(argv, prompt)
	}
	label, began := filepath.Base(dir), time.Now()
	pane, err := tmux.Server{}.Open(ctx, tmux.Window{Session: "mycelium", Name: label, Dir: dir, Command: argv})
	if err != nil {
		return label, err
	}
	return label, c.awaitStart(ctx, pane, project == c.Dir, began)
}

// awaitStart waits until the agent in a pane has started. An agent of this project tells so by its hook. One of another project tells
// another daemon: it has started if its pane runs it.
func (c *Chats) awaitStart(ctx context.Context, pane tmux.Pane, tells bool, began time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	look := time.NewTicker(startLook)
	defer look.Stop()
	for {
		if tells && c.toldOf(pane, began) {
			return nil
		}
		panes, err := tmux.Server{}.Panes(ctx)
		at := slices.IndexFunc(panes, func(p tmux.Pane) bool { return p.ID == pane.ID })
		switch {
		case err != nil && !errors.Is(err, tmux.ErrNoServer):
		case at < 0 || panes[at].Dead:
			return errors.New("its program ended at once: start it at a terminal in that folder to see why")
		case !tells && panes[at].Command != "myc" && isAgent(panes[at].Command):
			return nil
		}
		select {
		case <-ctx.Done():
			return c.unheard(context.WithoutCancel(ctx), pane)
		case <-look.C:
		}
	}
}

// toldOf reports whether the hook of an agent in a pane has told of it since a time.
func (c *Chats) toldOf(pane tmux.Pane, since time.Time) bool {
	return slices.ContainsFunc(c.Runs.Sessions(), func(s approval.AgentSession) bool {
		at := tmux.At(s.Tmux)
		return s.Pane == pane.ID && s.Seen.After(since) && (pane.Socket == "" || at.Socket == pane.Socket)
	})
}

// unheard says what the pane of an agent shows that gave no sign. The window stays: the agent may wait for its person there.
func (c *Chats) unheard(ctx context.Context, pane tmux.Pane) error {
	screen, _ := tmux.Server{}.Screen(ctx, pane.ID) // a screen that cannot be read says nothing either
	lines := strings.Fields(screen)
	shown := strings.Join(lines[max(0, len(lines)-20):], " ")
	return fmt.Errorf("its window is open, but its hook has not told of it within %v. It shows: %s", startWithin, cmp.Or(shown, "nothing"))
}
