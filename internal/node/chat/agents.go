package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mycelium/internal/approval"
	"mycelium/internal/harness"
	"mycelium/internal/policy/sign"
	"mycelium/internal/tmux"
)

// paneID begins the id of an agent that is known from its tmux pane only.
const paneID = "pane:"

// Past returns the sessions that are not at work, and says which of them can be resumed.
func (c *Chats) Past(ctx context.Context) ([]approval.AgentSession, error) {
	all, err := c.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	past := slices.DeleteFunc(c.Runs.Past(), func(p approval.AgentSession) bool {
		return slices.ContainsFunc(all, func(s approval.AgentSession) bool { return s.Agent == p.Agent && s.ID == p.ID })
	})
	for i := range past {
		past[i].Resumable = c.resumable(past[i])
	}
	return past, nil
}

// resumable reports whether a past session can be resumed: by its agent, from its transcript, in a folder where chats may start agents.
func (c *Chats) resumable(s approval.AgentSession) bool {
	agent, _ := harness.Named(s.Agent)
	e := harness.Event{Agent: s.Agent, Transcript: s.Transcript}
	_, err := os.Stat(string(e.RunTranscript()))
	return agent.Resumes && err == nil && approval.CheckPlace(c.Project().File.Spawn.SearchPaths, s.Start) == nil
}

// Sessions returns the runs that the hooks know, and the agents that were only seen in tmux.
func (c *Chats) Sessions(ctx context.Context) ([]approval.AgentSession, error) {
	known, past := c.Runs.Sessions(), c.Runs.Past()
	seen := c.seenInTmux(ctx, serversOf(known, past))
	return approval.MergeSessions(append(known, silent(known, past, seen)...), seen, c.Runs.Book.NameSeen), nil
}

// serversOf returns the tmux servers of sessions that may be at work, and the user's default server.
func serversOf(lists ...[]approval.AgentSession) map[string]tmux.Server {
	servers := map[string]tmux.Server{"": {}}
	for _, s := range slices.Concat(lists...) {
		if s.Tmux != "" && s.Ended.IsZero() {
			at := tmux.At(s.Tmux)
			servers[at.Socket] = at
		}
	}
	return servers
}

// silent returns the sessions that have not told of their end, nor of anything else since this process began, and whose agents are there:
// their panes run one.
func silent(known, past, seen []approval.AgentSession) (out []approval.AgentSession) {
	for _, p := range past { // the newest first: it has the pane
		same := func(s approval.AgentSession) bool {
			return p.Pane != "" && s.Pane == p.Pane && approval.SocketOf(s.Tmux) == approval.SocketOf(p.Tmux)
		}
		if p.Ended.IsZero() && slices.ContainsFunc(seen, same) && !slices.ContainsFunc(slices.Concat(known, out), same) {
			if p.State != approval.Halted {
				p.State = approval.Idle
			}
			out = append(out, p)
		}
	}
	return out
}

// seenInTmux returns the panes in which an agent works on this project, or on one that may be started from a chat.
func (c *Chats) seenInTmux(ctx context.Context, servers map[string]tmux.Server) []approval.AgentSession {
	var seen []approval.AgentSession
	ids := map[string]bool{}
	for _, at := range servers {
		panes, err := at.Panes(ctx)
		if err != nil {
			if !errors.Is(err, tmux.ErrNoServer) {
				c.Logger.Debug("tmux was not asked for agents", "error", err)
			}
			continue
		}
		for _, p := range panes {
			if p.Dead || !isAgent(p.Command) || !c.ours(p.Dir) {
				continue
			}
			socket := cmp.Or(at.Socket, p.Socket)
			if ids[socket+" "+p.ID] {
				continue
			}
			ids[socket+" "+p.ID] = true
			name := ""
			if p.Given {
				name = p.Name
			}
			agent := p.Command
			if agent == "node" || agent == "myc" {
				agent = ""
			}
			seen = append(seen, approval.AgentSession{ID: paneID + p.ID, Agent: agent, Label: name, Dir: p.Dir, Pane: p.ID,
				Tmux: socket, State: approval.Idle})
		}
	}
	return seen
}

// isAgent reports whether a program that runs in a pane may be an agent, and not a shell that would run a typed text.
func isAgent(command string) bool {
	command = strings.TrimSuffix(command, ".exe") // as npm has Claude Code's program, on every system
	return command == "node" || command == "myc" || slices.Contains(harness.Names(), command)
}

// ours reports whether a folder belongs to this project, or lies where chats may start agents.
func (c *Chats) ours(dir string) bool {
	for _, root := range append([]string{c.Dir}, c.Project().File.Spawn.SearchPaths...) {
		if root, err := filepath.EvalSymlinks(root); err == nil {
			if rel, err := filepath.Rel(root, dir); err == nil && (rel == "." || filepath.IsLocal(rel)) {
				return true
			}
		}
	}
	return false
}

// paneOf returns the pane of a session if an agent runs in it now.
func (c *Chats) paneOf(ctx context.Context, s approval.AgentSession) (tmux.Server, tmux.Pane, error) {
	at := tmux.At(s.Tmux)
	if s.Pane == "" {
		return at, tmux.Pane{}, errors.New("the agent does not run in tmux, so a text cannot be typed there; start agents in tmux, or with /new")
	}
	panes, err := at.Panes(ctx)
	if err != nil {
		return at, tmux.Pane{}, err
	}
	for _, p := range panes {
		if p.ID != s.Pane {
			continue
		}
		if p.Dead || !isAgent(p.Command) {
			return at, p, fmt.Errorf("its window no longer runs an agent but %s, which would run the text as a command", p.Command)
		}
		return at, p, nil
	}
	return at, tmux.Pane{}, tmux.ErrNoPane
}

// Send types a text into the terminal of an agent. Where its screen shows a question, somebody's own text, or what is not understood, or a
// call of it waits, Send keeps the text and returns why: it is typed as soon as that is over.
func (c *Chats) Send(ctx context.Context, s approval.AgentSession, text string) (kept string, err error) {
	if err := checkTyped(text); err != nil {
		return "", err
	}
	if agent, known := harness.Named(s.Agent); known && !agent.ReadsScreen() {
		return "", fmt.Errorf("the screens of %s are not known here, so its prompt cannot be told from a question", agent.Title)
	}
	if _, _, err := c.paneOf(ctx, s); err != nil {
		return "", err
	}
	return c.texts.send(ctx, c, s, text)
}

// Question returns what an agent's own terminal asks, by its id.
func (c *Chats) Question(_ context.Context, id string) (approval.Request, bool) {
	q, _, ok := c.Runs.Question(id)
	return q, ok
}

// AnswerThere answers a question of an agent's own terminal by the keys of its dialog. Words that the dialog does not take follow it as a
// text.
func (c *Chats) AnswerThere(ctx context.Context, id string, a approval.Answer, second sign.Sign) (string, error) {
	_, s, ok := c.Runs.Question(id)
	if ok {
		if _, _, err := c.paneOf(ctx, s); err != nil {
			return "", err
		}
	}
	option, told, err := c.Runs.AnswerThere(ctx, id, a, second)
	switch {
	case err != nil:
		return "", err
	case a.Allow || a.Text == "":
		return option, nil
	case told:
		return option + ", and it was told: " + approval.Short(a.Text, 300), nil
	}
	kept, err := c.Send(ctx, s, a.Text)
	switch {
	case err != nil:
		return option + ", but the words could not be sent: " + err.Error(), nil //nolint:nilerr // the question is answered, and the person is told of the error
	case kept != "":
		return option + "; the words are kept for it: " + kept, nil
	}
	return option + ", and the words were sent after it", nil
}

// checkTyped refuses a text that an agent's terminal would not take as a prompt. After "!" the agent runs a shell command without any
// hook (W10).
func checkTyped(text string) error {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return errors.New("the text is empty")
	case !utf8.ValidString(text) || len(text) > 16<<10:
		return errors.New("the text is too long or not plain text")
	case text[0] == '!' || strings.HasPrefix(text, "！"):
		return errors.New("a text that begins with ! runs a shell command past the policy; write it without the first character")
	}
	return nil
}

// Summary returns what the agent did lately, by its transcript, else the end of what its terminal shows.
func (c *Chats) Summary(ctx context.Context, s approval.AgentSession) (string, error) {
	about := fmt.Sprintf("%s in %s, role %s", cmp.Or(s.Agent, "agent"), s.Dir, cmp.Or(s.Role, "none"))
	if s.Last != "" {
		about += "\nlast: " + s.Last
	}
	if text, err := c.Runs.Summary(s.ID); err == nil && text != "" {
		return about + "\n\n" + text, nil
	}
	at, p, err := c.paneOf(ctx, s)
	if err != nil {
		return about, nil //nolint:nilerr // not every agent has a terminal that we can read
	}
	screen, err := at.Screen(ctx, p.ID)
	if err != nil {
		return about, nil //nolint:nilerr // as above
	}
	lines := strings.Split(strings.TrimRight(screen, "\n "), "\n")
	return about + "\n\n" + strings.Join(lines[max(0, len(lines)-25):], "\n"), nil
}

// Abort ends a session of an agent.
func (c *Chats) Abort(_ context.Context, s approval.AgentSession) error {
	if strings.HasPrefix(s.ID, paneID) {
		return errors.New("this agent runs without our hook, so it cannot be ended from here: end it at its own terminal")
	}
	err := c.Runs.Abort(s.ID, "a person ended this session from a chat")
	if err == nil || s.Session == "" {
		return err
	}
	s.State = approval.Halted // it has been silent since this process began: its next event finds this
	c.Runs.Book.Keep(s)
	c.Runs.Book.Save()
	return nil
}
