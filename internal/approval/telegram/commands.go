package telegram

import (
	"cmp"
	"context"
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

// commands runs the commands that people send.
type commands struct {
	Options
	client *client
	outbox *outbox
	picks  *picks
}

// command is one row of the table of commands.
type command struct {
	name, what, usage string
	offered           bool // the options have what it needs
	run               func(ctx context.Context, user int64, args string) reply
}

// table returns the commands that are offered.
func (c *commands) table() []command {
	agents := c.Control != nil && c.Agents != nil
	return slices.DeleteFunc([]command{
		{"status", "sessions and what waits", "", true, c.status},
		{"send", "write to an agent", "WINDOW TEXT", agents, c.send},
		{"new", "start an agent in a folder", "FOLDER [PROMPT]", c.Starter != nil, c.start},
		{"resume", "take up a past session", "", c.Starter != nil && c.Agents != nil, c.resume},
		{"abort", "end a session", "WINDOW", agents, c.abort},
		{"mode", "who answers: auto, local or remote", "[auto|local|remote]", c.Settings != nil, c.mode},
		{"cost", "what models cost", "", c.Settings != nil, c.cost},
		{"help", "what I can do", "", true, func(context.Context, int64, string) reply { return said(c.help()) }},
	}, func(c command) bool { return !c.offered })
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

// firstWord takes the first word of a text, or the first text in quotes.
func firstWord(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	for _, q := range [][2]string{{`"`, `"`}, {"“", "”"}, {"'", "'"}} {
		if inner, ok := strings.CutPrefix(s, q[0]); ok {
			if word, rest, ok := strings.Cut(inner, q[1]); ok {
				return word, strings.TrimSpace(rest)
			}
		}
	}
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// run runs the command in a text.
func (c *commands) run(ctx context.Context, m *models.Message, text string) reply {
	name, args, ok := parseCommand(text)
	switch {
	case ok && name == "start":
		c.client.say(ctx, (&page{}).textf("Hello. This chat is %d, you are %d. I ask here for approvals.\n", m.Chat.ID, m.From.ID).text(c.help()),
			nil)
		return reply{}
	case ok && name == "budget":
		name = "cost"
	}
	for _, x := range c.table() {
		if ok && x.name == name {
			return x.run(ctx, m.From.ID, args)
		}
	}
	return refused("I do not know that command: nothing was done.\n" + c.help())
}

func (c *commands) help() string {
	var b strings.Builder
	for _, x := range c.table() {
		b.WriteString("/" + strings.TrimSpace(x.name+" "+x.usage) + " – " + x.what + "\n")
	}
	b.WriteString("Reply to a request to answer it in your own words; “add policy: …” writes a policy.")
	return b.String()
}

// failed logs an error and tells the person of it.
func (c *commands) failed(what string, err error) reply {
	c.client.warn(what, err)
	return refused(what + ": " + approval.Short(c.client.link.clean(err), 200))
}

var stateWords = map[approval.SessionState]string{approval.Active: "🏃 works", approval.Idle: "💤 idle",
	approval.PermissionPending: "✋ waits for you", approval.Halted: "⏹ ended"}

func nameOf(s approval.AgentSession, most int) string {
	return approval.Short(cmp.Or(s.Label, s.ID), most)
}

// named matches the sessions with a label, an id or a pane.
func named(name string) func(approval.AgentSession) bool {
	return func(s approval.AgentSession) bool { return s.Label == name || s.ID == name || s.Pane == name }
}

// status lists the sessions, with a button for the summary of each.
func (c *commands) status(ctx context.Context, user int64, _ string) reply {
	p := &page{}
	waiting, err := c.Queue.List(ctx)
	if err != nil {
		c.client.warn("requests could not be listed", err)
	}
	p.textf("%d waiting for an answer", len(waiting))
	if c.Settings != nil {
		p.textf(" · mode %s", c.Settings.Mode())
	}
	p.text("\n")
	if c.Agents == nil {
		return reply{page: p}
	}
	all, err := c.Agents.Sessions(ctx)
	if err != nil {
		return c.failed("The sessions could not be listed", err)
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
		p.text(cmp.Or(stateWords[s.State], "?") + " ").bold(nameOf(s, 60))
		p.text(" (" + approval.Short(strings.Join(slices.DeleteFunc([]string{s.Agent, s.Role}, func(s string) bool { return s == "" }), ", "),
			60) + ")")
		if s.Cost > 0 {
			p.textf(" $%.2f", s.Cost)
		}
		if !s.Seen.IsZero() {
			p.textf(", %s ago", c.picks.now().Sub(s.Seen).Truncate(time.Second))
		}
		p.text("\n")
		choices = append(choices, choice{nameOf(s, optionRoom), func(ctx context.Context) string { return c.summary(ctx, s) }})
	}
	c.picks.offer(p, user, choices, false)
	return reply{page: p}
}

// summary sends what happened in a session. A reply to the summary goes to the agent.
func (c *commands) summary(ctx context.Context, s approval.AgentSession) string {
	summary, err := c.Agents.Summary(ctx, s)
	if err != nil {
		c.client.warn("a summary was not made", err)
		return "No summary: " + approval.Short(err.Error(), 150)
	}
	p := (&page{}).bold(nameOf(s, 60)).textf(" · %s\n", cmp.Or(stateWords[s.State], "?"))
	shown, _ := ends(text.Visible(strings.TrimSpace(credential.Mask(summary))), 3000)
	p.text(cmp.Or(shown, "There is no transcript of it yet.") + "\nReply to this message to write to it.")
	if err := c.outbox.sendFor(ctx, s.ID, func() (int, error) { return c.client.say(ctx, p, nil), nil }); err != nil {
		c.client.warn("a summary was not recorded", err)
	}
	return ""
}

// send types a text into the terminal of a session.
func (c *commands) send(ctx context.Context, user int64, args string) reply {
	name, text := firstWord(args)
	if name == "" || text == "" {
		return refused("Write /send WINDOW TEXT; /status lists the windows.")
	}
	return c.forward(ctx, user, named(name), text)
}

// forward types a text into the terminal of the session that matches. It reports success only if the text arrived.
func (c *commands) forward(ctx context.Context, user int64, matches func(approval.AgentSession) bool, text string) reply {
	if c.Control == nil || c.Agents == nil {
		return refused("Texts cannot be sent to agents here: nothing was sent.")
	}
	return c.pick(ctx, user, matches, "Which one?", func(ctx context.Context, s approval.AgentSession) string {
		if err := c.Control.Send(ctx, s, text); err != nil {
			c.client.warn("a text did not reach its agent", err)
			return "Not sent to " + nameOf(s, 60) + ": " + approval.Short(c.client.link.clean(err), 200)
		}
		return "⌨️ Sent to " + nameOf(s, 60) + "."
	})
}

// pick calls act with the session that matches. If several match, it asks which one is meant.
func (c *commands) pick(ctx context.Context, user int64, matches func(approval.AgentSession) bool, question string,
	act func(context.Context, approval.AgentSession) string,
) reply {
	all, err := c.Agents.Sessions(ctx)
	if err != nil {
		return c.failed("The sessions could not be listed", err)
	}
	all = slices.DeleteFunc(all, func(s approval.AgentSession) bool { return !matches(s) })
	switch len(all) {
	case 0:
		return refused("There is no such session: nothing was done. /status lists them.")
	case 1:
		return said(act(ctx, all[0]))
	}
	p := (&page{}).text(question)
	var choices []choice
	for _, s := range all[:min(len(all), approval.MaxPlaces)] {
		choices = append(choices, choice{approval.Short(s.Label+" "+s.Pane+" "+s.Dir, optionRoom),
			func(ctx context.Context) string { return act(ctx, s) }})
	}
	c.picks.offer(p, user, choices, true)
	return reply{page: p}
}

// start starts an agent in a folder below the search paths.
func (c *commands) start(ctx context.Context, user int64, args string) reply {
	name, prompt := firstWord(args)
	if name == "" {
		return refused("Write /new FOLDER [PROMPT].")
	}
	found, err := c.Starter.Places(ctx, name)
	if err != nil {
		return refused("Nothing was started: " + approval.Short(err.Error(), 300))
	}
	if len(found) == 1 && approval.ExactPlace(found[0], name) {
		return said(c.spawn(ctx, found[0], prompt, ""))
	}
	p := (&page{}).text("Which folder?")
	var choices []choice
	for _, dir := range found {
		choices = append(choices, choice{tail(dir, optionRoom), func(ctx context.Context) string { return c.spawn(ctx, dir, prompt, "") }})
	}
	c.picks.offer(p, user, choices, true)
	return reply{page: p}
}

func (c *commands) spawn(ctx context.Context, dir, prompt, resume string) string {
	label, err := c.Starter.Start(ctx, dir, prompt, resume)
	if err != nil {
		c.client.warn("a session was not started", err)
		return "No agent has started: " + approval.Short(c.client.link.clean(err), 400)
	}
	return "▶️ Started as " + approval.Short(label, 60) + " in " + approval.Short(dir, 200)
}

// resume offers the past sessions.
func (c *commands) resume(ctx context.Context, user int64, _ string) reply {
	past, err := c.Agents.Past(ctx)
	if err != nil {
		return c.failed("Past sessions could not be listed", err)
	}
	if len(past) == 0 {
		return said("No past session is known.")
	}
	p := (&page{}).text("Take up which one?\n")
	var choices []choice
	for i, s := range past[:min(len(past), approval.MaxPlaces)] {
		p.textf("%d. ", i+1).bold(nameOf(s, 60)).textf(", %s ago", c.picks.now().Sub(s.Seen).Truncate(time.Minute))
		if s.Last != "" {
			p.text(": " + approval.Short(s.Last, 200))
		}
		p.text("\n")
		choices = append(choices, choice{fmt.Sprintf("%d. %s", i+1, nameOf(s, 40)),
			func(ctx context.Context) string { return c.spawn(ctx, s.Dir, "", s.ID) }})
	}
	c.picks.offer(p, user, choices, true)
	return reply{page: p}
}

func (c *commands) abort(ctx context.Context, user int64, args string) reply {
	if args == "" {
		return refused("Write /abort WINDOW; /status lists them.")
	}
	name, _ := firstWord(args)
	return c.pick(ctx, user, named(name), "End which one?", func(ctx context.Context, s approval.AgentSession) string {
		if err := c.Control.Abort(ctx, s); err != nil {
			return "Not ended: " + approval.Short(c.client.link.clean(err), 200)
		}
		return "⏹ Ended: " + nameOf(s, 60)
	})
}

func (c *commands) mode(ctx context.Context, _ int64, args string) reply {
	switch want := approval.Mode(strings.ToLower(args)); want {
	case "":
		return said(fmt.Sprintf("Mode: %s. /mode local: the agent's own terminal asks; remote: this chat; auto: whoever is there.",
			c.Settings.Mode()))
	case approval.Auto, approval.Local, approval.Remote:
		if err := c.Settings.SetMode(ctx, want); err != nil {
			return c.failed("The mode stays as it was", err)
		}
		return said(fmt.Sprintf("Mode: %s.", c.Settings.Mode()))
	}
	return refused("Write /mode auto, /mode local or /mode remote.")
}

func (c *commands) cost(ctx context.Context, _ int64, _ string) reply {
	sum, err := c.Settings.Costs(ctx)
	if err != nil {
		return c.failed("The costs are not known", err)
	}
	p := (&page{}).textf("Agents: $%.2f", sum.Sessions)
	if sum.Budget > 0 {
		p.textf(" of $%.2f (%.0f %%)", sum.Budget, 100*sum.Sessions/sum.Budget)
	}
	return reply{page: p.textf("\nQuestions to models: today $%.4f, this month $%.4f", sum.Today, sum.Month)}
}

// tail returns at most n characters from the end of a path.
func tail(s string, n int) string {
	if s = text.OneLine(s); utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return "…" + string(r[len(r)-n+1:])
}
