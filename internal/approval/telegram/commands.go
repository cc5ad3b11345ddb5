package telegram

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"

	"mycelium/internal/approval"
	"mycelium/internal/text"
)

// commands runs the commands that people send.
type commands struct {
	Options
	client *client
	outbox *outbox
	picks  *picks
	past   *pastLists
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
		{"send", "write to an agent", "NAME TEXT", agents, c.send},
		{"new", "start an agent in a folder", "FOLDER [PROMPT]", c.Starter != nil, c.start},
		{"resume", "take up a past session", "[NUMBER|NAME] [PROMPT]", c.Starter != nil && c.Agents != nil, c.resume},
		{"abort", "end a session", "NAME", agents, c.abort},
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
	b.WriteString("Reply to a request to answer it in your own words; “add policy: …” writes a policy, “add rule: …” a rule.")
	return b.String()
}

// failed logs an error and tells the person of it.
func (c *commands) failed(what string, err error) reply {
	c.client.warn(what, err)
	return refused(what + ": " + approval.Short(c.client.link.clean(err), 200))
}

// nameOf names a session: with its project, where the bot asks for several.
func nameOf(s approval.AgentSession, most int) string {
	name := approval.Short(cmp.Or(s.Label, s.ID), most)
	if s.Project != "" {
		name += " · 📂 " + approval.Short(s.Project, most)
	}
	return name
}

// named matches the sessions with a label, an id or a pane.
func named(name string) func(approval.AgentSession) bool {
	return func(s approval.AgentSession) bool { return s.Label == name || s.ID == name || s.Pane == name }
}

// send types a text into the terminal of a session.
func (c *commands) send(ctx context.Context, user int64, args string) reply {
	name, text := firstWord(args)
	if name == "" || text == "" {
		return refused("Write /send NAME TEXT; /status lists the names.")
	}
	return c.forward(ctx, user, named(name), text)
}

// forward types a text into the terminal of the session that matches. It reports success only if the text arrived, and says so if the text
// is kept.
func (c *commands) forward(ctx context.Context, user int64, matches func(approval.AgentSession) bool, text string) reply {
	if c.Control == nil || c.Agents == nil {
		return refused("Texts cannot be sent to agents here: nothing was sent.")
	}
	return c.pick(ctx, user, matches, "Which one?", func(ctx context.Context, s approval.AgentSession) string {
		kept, err := c.Control.Send(ctx, s, text)
		switch {
		case err != nil:
			c.client.warn("a text did not reach its agent", err)
			return "Not sent to " + nameOf(s, 60) + ": " + approval.Short(c.client.link.clean(err), 200)
		case kept != "":
			return "⏳ Kept for " + nameOf(s, 60) + ": " + approval.Short(kept, 200) + ". I type it when that is over, and tell you."
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
		choices = append(choices, choice{approval.Short(strings.TrimSpace(s.Project+" "+s.Label+" "+s.Pane+" "+s.Dir), optionRoom),
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

func (c *commands) abort(ctx context.Context, user int64, args string) reply {
	if args == "" {
		return refused("Write /abort NAME; /status lists the names.")
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
			c.Settings.Asked()))
	case approval.Auto, approval.Local, approval.Remote:
		if err := c.Settings.SetMode(ctx, want); err != nil {
			return c.failed("The mode stays as it was", err)
		}
		return said(fmt.Sprintf("Mode: %s.", c.Settings.Asked()))
	}
	return refused("Write /mode auto, /mode local or /mode remote.")
}

func (c *commands) cost(ctx context.Context, _ int64, _ string) reply {
	all, err := c.Settings.Costs(ctx)
	if err != nil {
		return c.failed("The costs are not known", err)
	}
	p := &page{}
	for i, sum := range all {
		if i > 0 {
			p.text("\n")
		}
		p.of(sum.Project).textf("Agents: $%.2f", sum.Sessions)
		if sum.Budget > 0 {
			p.textf(" of $%.2f (%.0f %%)", sum.Budget, 100*sum.Sessions/sum.Budget)
		}
		p.textf("\nQuestions to models: today $%.4f, this month $%.4f", sum.Today, sum.Month)
	}
	return reply{page: p}
}

// tail returns at most n characters from the end of a path.
func tail(s string, n int) string {
	if s = text.OneLine(s); utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return "…" + string(r[len(r)-n+1:])
}
