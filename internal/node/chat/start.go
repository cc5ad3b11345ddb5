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
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/node/api"
	"mycelium/internal/run/book"
	"mycelium/internal/state"
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

// Start starts an agent in a new tmux window, and returns its name when it has started. It checks the folder again, because the person
// chose it a while ago. If the agent works in another project, the bot asks for that one from now on, unless it has a bot of its own.
func (c *Chats) Start(ctx context.Context, dir, prompt, resume string, bot api.Bot) (name string, err error) {
	conf := c.Project().File.Spawn
	if err := approval.CheckPlace(conf.SearchPaths, dir); err != nil {
		return "", err
	}
	// Outside of a project no hook tells of the agent, and Claude Code may ask at a terminal that nobody sees whether it may trust the folder.
	project := hook.Nearest(dir, "", "", func(dir string, beyond bool) bool { return hook.IsNearest(c.State.Of(dir), beyond) })
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
	undo := func() {}
	if project != c.Dir {
		if undo, err = c.askFor(project, bot); err != nil {
			return "", err
		}
	}
	began := time.Now()
	pane, err := tmux.Server{}.Open(ctx, tmux.Window{Session: "mycelium", Name: filepath.Base(dir), Dir: dir, Command: argv})
	if err != nil {
		undo()
		return "", err
	}
	return c.awaitStart(ctx, pane, project, began)
}

// askFor notes that a bot asks for another project. undo restores the note of before.
func (c *Chats) askFor(project string, bot api.Bot) (undo func(), err error) {
	var before state.Bot
	at := c.State.Of(project)
	err = at.ChangeBot(func(b *state.Bot) {
		before = *b
		b.Started, b.StartedTerms = bot.Digest, bot.Terms
	})
	return func() {
		if err := at.ChangeBot(func(b *state.Bot) { b.Started, b.StartedTerms = before.Started, before.StartedTerms }); err != nil {
			c.Logger.Warn("this Telegram bot asks for a project in which no agent was started", "project", project, "error", err)
		}
	}, err
}

// awaitStart waits until the hook of the agent in a pane has told of it, and returns its name. An agent of another project tells another
// daemon, whose book has it then.
func (c *Chats) awaitStart(ctx context.Context, pane tmux.Pane, project string, began time.Time) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	look := time.NewTicker(startLook)
	defer look.Stop()
	for {
		if name := c.toldOf(pane, project, began); name != "" {
			return name, nil
		}
		panes, err := tmux.Server{}.Panes(ctx)
		at := slices.IndexFunc(panes, func(p tmux.Pane) bool { return p.ID == pane.ID })
		switch {
		case err != nil && !errors.Is(err, tmux.ErrNoServer):
		case at < 0 || panes[at].Dead:
			return "", errors.New("its program ended at once: start it at a terminal in that folder to see why")
		default:
			if screen := shown(ctx, pane); harness.AsksAtStart(screen) {
				return "", fmt.Errorf("it waits at a question in its window: tmux attach -t %s:%s shows it. It begins: %s", pane.Session, pane.Window,
					approval.Short(screen, 200))
			}
		}
		select {
		case <-ctx.Done():
			return "", unheard(context.WithoutCancel(ctx), pane)
		case <-look.C:
		}
	}
}

// toldOf returns the name of the agent in a pane if its hook has told of it since a time; "" if it has not.
func (c *Chats) toldOf(pane tmux.Pane, project string, since time.Time) string {
	sessions := c.Runs.Sessions()
	if project != c.Dir {
		sessions, _ = book.Read(c.State.Of(project).Agents()) // what cannot be read tells nothing
	}
	for _, s := range sessions {
		if s.Pane == pane.ID && s.Seen.After(since) && (pane.Socket == "" || approval.SocketOf(s.Tmux) == pane.Socket) {
			return s.Label
		}
	}
	return ""
}

// shown is the text in a pane; "" if it cannot be read.
func shown(ctx context.Context, pane tmux.Pane) string {
	screen, _ := tmux.Server{}.Screen(ctx, pane.ID)
	return strings.Join(strings.Fields(screen), " ")
}

// unheard says what the pane of an agent shows that gave no sign. The window stays: the agent may wait for its person there.
func unheard(ctx context.Context, pane tmux.Pane) error {
	words := strings.Fields(shown(ctx, pane))
	last := strings.Join(words[max(0, len(words)-20):], " ")
	return fmt.Errorf("its window is open, but its hook has not told of it within %v. It may wait for you: tmux attach -t %s:%s. It shows: %s",
		startWithin, pane.Session, pane.Window, cmp.Or(last, "an empty window"))
}
