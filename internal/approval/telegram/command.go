package telegram

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/text"
)

// command is one thing that people can ask for.
type command struct {
	name, what, usage string
	offered           bool
	run               func(ctx context.Context, m *models.Message, args string)
}

// commands is the table of commands. A command is offered if the options have what it needs.
func (t *Bot) commands() []command {
	o := t.o
	all := []command{
		{"status", "sessions and what waits", "", true, t.status},
		{"send", "write to an agent", "WINDOW TEXT", o.Control != nil && o.Agents != nil, t.sendText},
		{"new", "start an agent in a folder", "FOLDER [PROMPT]", o.Starter != nil, t.newSession},
		{"resume", "take up a past session", "", o.Starter != nil && o.Agents != nil, t.resume},
		{"abort", "end a session", "WINDOW", o.Control != nil && o.Agents != nil, t.abort},
		{"mode", "who answers: auto, local or remote", "[auto|local|remote]", o.Settings != nil, t.mode},
		{"cost", "what models cost", "", o.Settings != nil, t.cost},
		{"help", "what I can do", "", true, t.help},
	}
	return slices.DeleteFunc(all, func(c command) bool { return !c.offered })
}

// parseCommand reads "/name@bot arguments".
func parseCommand(text string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexFunc(rest, unicode.IsSpace)
	if end < 0 {
		end = len(rest)
	}
	name, _, _ = strings.Cut(rest[:end], "@")
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "", "", false
	}
	return name, strings.TrimSpace(rest[end:]), true
}

// firstWord takes the first word of a text, or what stands in quotes.
func firstWord(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	for _, q := range []string{`"`, "“", "'"} {
		if inner, ok := strings.CutPrefix(s, q); ok {
			end := map[string]string{`"`: `"`, "“": "”", "'": "'"}[q]
			if word, rest, ok := strings.Cut(inner, end); ok {
				return word, strings.TrimSpace(rest)
			}
		}
	}
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

func (t *Bot) command(ctx context.Context, m *models.Message, text string) {
	name, args, ok := parseCommand(text)
	switch {
	case ok && name == "start":
		t.say(ctx, (&page{}).textf("Hello. This chat is %d, you are %d. I ask here for approvals.\n", m.Chat.ID, m.From.ID).text(t.helpText()), nil)
		return
	case ok && name == "budget":
		name = "cost"
	}
	for _, c := range t.commands() {
		if ok && c.name == name {
			c.run(ctx, m, args)
			return
		}
	}
	t.refuse(ctx, m.From.ID, m.ID, "I do not know that command: nothing was done.\n"+t.helpText())
}

func (t *Bot) helpText() string {
	var b strings.Builder
	for _, c := range t.commands() {
		b.WriteString("/" + strings.TrimSpace(c.name+" "+c.usage) + " – " + c.what + "\n")
	}
	b.WriteString("Reply to a request to answer it in your own words; “add policy: …” writes a policy.")
	return b.String()
}

func (t *Bot) help(ctx context.Context, m *models.Message, _ string) {
	t.say(ctx, (&page{}).text(t.helpText()), replyTo(m.ID))
}

var stateWords = map[approval.SessionState]string{approval.Active: "🏃 works", approval.Idle: "💤 idle", approval.PermissionPending: "✋ waits for you"}

// status lists the sessions, with a button each that brings its summary.
func (t *Bot) status(ctx context.Context, m *models.Message, _ string) {
	p := &page{}
	waiting, err := t.o.Queue.List(ctx)
	if err != nil {
		t.complain("requests could not be listed", err)
	}
	p.textf("%d waiting for an answer", len(waiting))
	if t.o.Settings != nil {
		p.textf(" · mode %s", t.o.Settings.Mode())
	}
	p.text("\n")
	if t.o.Agents == nil {
		t.say(ctx, p, replyTo(m.ID))
		return
	}
	all, err := t.o.Agents.Sessions(ctx)
	if err != nil {
		t.problem(ctx, m, "The sessions could not be listed", err)
		return
	}
	if len(all) == 0 {
		p.text("No agent is known.")
	}
	const most = 20 // of one message
	var choices []choice
	for i, s := range all {
		if i == most {
			p.textf("… and %d more\n", len(all)-most)
			break
		}
		p.text(cmp.Or(stateWords[s.State], "?") + " ").bold(approval.Short(cmp.Or(s.Label, s.ID), 60))
		p.text(" (" + approval.Short(strings.Join(slices.DeleteFunc([]string{s.Agent, s.Role}, func(s string) bool { return s == "" }), ", "), 60) + ")")
		if s.Cost > 0 {
			p.textf(" $%.2f", s.Cost)
		}
		if !s.Seen.IsZero() {
			p.textf(", %s ago", t.now().Sub(s.Seen).Truncate(time.Second))
		}
		p.text("\n")
		choices = append(choices, choice{approval.Short(cmp.Or(s.Label, s.ID), optionRoom), func(ctx context.Context) string { return t.summary(ctx, s) }})
	}
	t.offer(p, m.From.ID, choices, false)
	t.say(ctx, p, replyTo(m.ID))
}

// summary sends what happened in a session; a reply to it goes to the agent.
func (t *Bot) summary(ctx context.Context, s approval.AgentSession) string {
	summary, err := t.o.Agents.Summary(ctx, s)
	if err != nil {
		t.complain("a summary was not made", err)
		return "No summary: " + approval.Short(err.Error(), 150)
	}
	p := (&page{}).bold(approval.Short(cmp.Or(s.Label, s.ID), 60)).textf(" · %s\n", cmp.Or(stateWords[s.State], "?"))
	shown, _ := ends(text.Visible(strings.TrimSpace(credential.Mask(summary))), 3000)
	p.text(cmp.Or(shown, "Nothing is known of it yet.") + "\nReply to this message to write to it.")
	t.noting.RLock()
	defer t.noting.RUnlock()
	if id := t.say(ctx, p, nil); id != 0 {
		if err := t.kept.add(ctx, sent{chat: t.chat, message: id, session: s.ID}, t.now()); err != nil {
			t.complain("a summary was not noted", err)
		}
	}
	return ""
}

// sendText writes to the session whose window or folder is called so.
func (t *Bot) sendText(ctx context.Context, m *models.Message, args string) {
	name, text := firstWord(args)
	if name == "" || text == "" {
		t.refuse(ctx, m.From.ID, m.ID, "Write /send WINDOW TEXT; /status lists the windows.")
		return
	}
	t.forward(ctx, m, func(s approval.AgentSession) bool { return s.Label == name || s.ID == name || s.Pane == name }, text)
}

// forward types a text into the terminal of a session. It says that it arrived only when it did.
func (t *Bot) forward(ctx context.Context, m *models.Message, is func(approval.AgentSession) bool, text string) {
	if t.o.Control == nil || t.o.Agents == nil {
		t.refuse(ctx, m.From.ID, m.ID, "Texts cannot be sent to agents here: nothing was sent.")
		return
	}
	send := func(ctx context.Context, s approval.AgentSession) string {
		if err := t.o.Control.Send(ctx, s, text); err != nil {
			t.complain("a text did not reach its agent", err)
			return "Not sent to " + approval.Short(cmp.Or(s.Label, s.ID), 60) + ": " + approval.Short(t.link.clean(err), 200)
		}
		return "⌨️ Sent to " + approval.Short(cmp.Or(s.Label, s.ID), 60) + "."
	}
	t.which(ctx, m, is, "Which one?", send)
}

// which finds the one session that is meant, asks where it could be several, and acts on it.
func (t *Bot) which(ctx context.Context, m *models.Message, is func(approval.AgentSession) bool, question string, act func(context.Context, approval.AgentSession) string) {
	all, err := t.o.Agents.Sessions(ctx)
	if err != nil {
		t.problem(ctx, m, "The sessions could not be listed", err)
		return
	}
	all = slices.DeleteFunc(all, func(s approval.AgentSession) bool { return !is(s) })
	switch len(all) {
	case 0:
		t.refuse(ctx, m.From.ID, m.ID, "There is no such session: nothing was done. /status lists them.")
	case 1:
		t.say(ctx, (&page{}).text(act(ctx, all[0])), replyTo(m.ID))
	default:
		p := (&page{}).text(question)
		var choices []choice
		for _, s := range all[:min(len(all), approval.MaxPlaces)] {
			choices = append(choices, choice{approval.Short(s.Label+" "+s.Pane+" "+s.Dir, optionRoom), func(ctx context.Context) string { return act(ctx, s) }})
		}
		t.offer(p, m.From.ID, choices, true)
		t.say(ctx, p, replyTo(m.ID))
	}
}

// newSession starts an agent in a folder below the search paths.
func (t *Bot) newSession(ctx context.Context, m *models.Message, args string) {
	name, prompt := firstWord(args)
	if name == "" {
		t.refuse(ctx, m.From.ID, m.ID, "Write /new FOLDER [PROMPT].")
		return
	}
	found, err := t.o.Starter.Places(ctx, name)
	if err != nil {
		t.refuse(ctx, m.From.ID, m.ID, "Nothing was started: "+approval.Short(err.Error(), 300))
		return
	}
	if len(found) == 1 && approval.ExactPlace(found[0], name) {
		t.say(ctx, (&page{}).text(t.spawn(ctx, found[0], prompt, "")), replyTo(m.ID))
		return
	}
	p := (&page{}).text("Which folder?")
	var choices []choice
	for _, dir := range found {
		choices = append(choices, choice{tailOf(dir, optionRoom), func(ctx context.Context) string { return t.spawn(ctx, dir, prompt, "") }})
	}
	t.offer(p, m.From.ID, choices, true)
	t.say(ctx, p, replyTo(m.ID))
}

func (t *Bot) spawn(ctx context.Context, dir, prompt, resume string) string {
	label, err := t.o.Starter.Start(ctx, dir, prompt, resume)
	if err != nil {
		t.complain("a session was not started", err)
		return "Nothing was started: " + approval.Short(t.link.clean(err), 200)
	}
	return "▶️ Started as " + approval.Short(label, 60) + " in " + approval.Short(dir, 200)
}

// resume offers the past sessions.
func (t *Bot) resume(ctx context.Context, m *models.Message, _ string) {
	past, err := t.o.Agents.Past(ctx)
	if err != nil {
		t.problem(ctx, m, "Past sessions could not be listed", err)
		return
	}
	if len(past) == 0 {
		t.say(ctx, (&page{}).text("No past session is known."), replyTo(m.ID))
		return
	}
	p := (&page{}).text("Take up which one?\n")
	var choices []choice
	for i, s := range past[:min(len(past), approval.MaxPlaces)] {
		p.textf("%d. ", i+1).bold(approval.Short(cmp.Or(s.Label, s.ID), 60)).textf(", %s ago", t.now().Sub(s.Seen).Truncate(time.Minute))
		if s.Last != "" {
			p.text(": " + approval.Short(s.Last, 200))
		}
		p.text("\n")
		choices = append(choices, choice{fmt.Sprintf("%d. %s", i+1, approval.Short(cmp.Or(s.Label, s.ID), 40)), func(ctx context.Context) string { return t.spawn(ctx, s.Dir, "", s.ID) }})
	}
	t.offer(p, m.From.ID, choices, true)
	t.say(ctx, p, replyTo(m.ID))
}

func (t *Bot) abort(ctx context.Context, m *models.Message, args string) {
	if args == "" {
		t.refuse(ctx, m.From.ID, m.ID, "Write /abort WINDOW; /status lists them.")
		return
	}
	name, _ := firstWord(args)
	t.which(ctx, m, func(s approval.AgentSession) bool { return s.Label == name || s.ID == name || s.Pane == name }, "End which one?", func(ctx context.Context, s approval.AgentSession) string {
		if err := t.o.Control.Abort(ctx, s); err != nil {
			return "Not ended: " + approval.Short(t.link.clean(err), 200)
		}
		return "⏹ Ended: " + approval.Short(cmp.Or(s.Label, s.ID), 60)
	})
}

func (t *Bot) mode(ctx context.Context, m *models.Message, args string) {
	switch want := approval.Mode(strings.ToLower(args)); {
	case args == "":
		t.say(ctx, (&page{}).textf("Mode: %s. /mode local: the agent's own terminal asks; remote: this chat; auto: whoever is there.", t.o.Settings.Mode()), replyTo(m.ID))
	case want != approval.Auto && want != approval.Local && want != approval.Remote:
		t.refuse(ctx, m.From.ID, m.ID, "Write /mode auto, /mode local or /mode remote.")
	default:
		if err := t.o.Settings.SetMode(ctx, want); err != nil {
			t.problem(ctx, m, "The mode stays as it was", err)
			return
		}
		t.say(ctx, (&page{}).textf("Mode: %s.", t.o.Settings.Mode()), replyTo(m.ID))
	}
}

func (t *Bot) cost(ctx context.Context, m *models.Message, _ string) {
	c, err := t.o.Settings.Costs(ctx)
	if err != nil {
		t.problem(ctx, m, "The costs are not known", err)
		return
	}
	p := (&page{}).textf("Agents: $%.2f", c.Sessions)
	if c.Budget > 0 {
		p.textf(" of $%.2f (%.0f %%)", c.Budget, 100*c.Sessions/c.Budget)
	}
	p.textf("\nQuestions to models: today $%.4f, this month $%.4f", c.Today, c.Month)
	t.say(ctx, p, replyTo(m.ID))
}

func (t *Bot) problem(ctx context.Context, m *models.Message, what string, err error) {
	t.complain(what, err)
	t.refuse(ctx, m.From.ID, m.ID, what+": "+approval.Short(t.link.clean(err), 200))
}

// choice is one of several things that may be meant.
type choice struct {
	label string
	act   func(ctx context.Context) string // returns what is said about it
}

// pick is a list of choices behind buttons.
type pick struct {
	user    int64
	choices []choice
	until   time.Time
	once    bool // the list is gone after the first choice
}

const (
	pickLife = 15 * time.Minute
	maxPicks = 50
)

// offer puts a button for each choice under a page. Only who was asked may choose.
func (t *Bot) offer(p *page, user int64, choices []choice, once bool) {
	if len(choices) == 0 {
		return
	}
	key := rand.Text()
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, old := range t.picks {
		if t.now().After(old.until) || len(t.picks) >= maxPicks {
			delete(t.picks, k)
		}
	}
	t.picks[key] = pick{user: user, choices: choices, until: t.now().Add(pickLife), once: once}
	for i, c := range choices {
		p.row(button{c.label, tapData(tapPick, key, itoa(int64(i)))})
	}
}

// picked does what was chosen.
func (t *Bot) picked(ctx context.Context, p tap, user int64) (said string, alert bool) {
	t.mu.Lock()
	l, ok := t.picks[p.id]
	ok = ok && l.user == user && p.first < len(l.choices) && !t.now().After(l.until)
	if ok && l.once {
		delete(t.picks, p.id)
	}
	t.mu.Unlock()
	if !ok {
		return "This list is too old, or somebody else's: ask again.", true
	}
	if said := l.choices[p.first].act(ctx); said != "" {
		t.say(ctx, (&page{}).text(said), nil)
	}
	return "", false
}

// tailOf is the end of a path that fits.
func tailOf(s string, n int) string {
	if s = text.OneLine(s); utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return "…" + string(r[len(r)-n+1:])
}
