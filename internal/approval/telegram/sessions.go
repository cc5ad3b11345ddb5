package telegram

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/text"
)

// Bounds of /status, which is one message.
const (
	mostAtWork = 12
	mostEnded  = 4
	endedFor   = 24 * time.Hour // how long a session that has ended is listed
	taskRoom   = 80             // characters
	resultRoom = 100            // characters
)

var stateWords = map[approval.SessionState]string{approval.Active: "🏃 works", approval.Idle: "💤 idle",
	approval.PermissionPending: "✋ waits for you", approval.Halted: "⏹ ended by a person or a limit", approval.Done: "✅ completed",
	approval.Failed: "❌ ended with an error"}

// status lists the sessions at work, with a button for the summary of each, and those that ended lately.
func (c *commands) status(ctx context.Context, user int64, _ string) reply {
	p := &page{}
	waiting, err := c.Queue.List(ctx)
	if err != nil {
		c.client.warn("requests could not be listed", err)
	}
	p.textf("%d waiting for an answer", len(waiting))
	if c.Settings != nil {
		p.textf(" · mode %s", c.Settings.Asked())
	}
	p.text("\n")
	if c.Agents == nil {
		return reply{page: p}
	}
	all, err := c.Agents.Sessions(ctx)
	if err != nil {
		return c.failed("The sessions could not be listed", err)
	}
	past, err := c.Agents.Past(ctx)
	if err != nil {
		return c.failed("Past sessions could not be listed", err)
	}
	if len(all) == 0 {
		p.text("No agent is at work.\n")
	}
	var choices []choice
	for i, s := range all {
		if i == mostAtWork {
			p.textf("… and %d more\n", len(all)-mostAtWork)
			break
		}
		c.session(p, s)
		choices = append(choices, choice{nameOf(s, optionRoom), func(ctx context.Context) string { return c.summary(ctx, s) }})
	}
	since := c.picks.now().Add(-endedFor)
	past = slices.DeleteFunc(past, func(s approval.AgentSession) bool { return s.Ended.Before(since) })
	for _, s := range past[:min(len(past), mostEnded)] {
		c.session(p, s)
	}
	c.picks.offer(p, user, choices, false)
	return reply{page: p}
}

// session adds what is known of a session (E18): state, name, turns, denials, cost, task and result.
func (c *commands) session(p *page, s approval.AgentSession) {
	p.text(cmp.Or(stateWords[s.State], "?") + " ").bold(nameOf(s, optionRoom))
	who := slices.DeleteFunc([]string{s.Agent, s.Role}, func(s string) bool { return s == "" })
	p.text(" (" + approval.Short(strings.Join(who, ", "), optionRoom) + ")")
	if s.Turns > 0 {
		p.text(" · " + text.Count(s.Turns, "turn"))
	}
	if s.Denials > 0 {
		p.textf(" · %d denied", s.Denials)
	}
	if s.Cost > 0 {
		p.textf(" · $%.2f", s.Cost)
	}
	if !s.Seen.IsZero() {
		p.textf(" · %s ago", c.ago(s))
	}
	p.text("\n")
	if s.Task != "" {
		p.text("  Task: " + approval.Short(s.Task, taskRoom) + "\n")
	}
	if s.Result != "" {
		p.text("  Said: " + approval.Short(s.Result, resultRoom) + "\n")
	}
}

// ago is the time since the last sign of life of a session, in its largest unit.
func (c *commands) ago(s approval.AgentSession) string {
	d := c.picks.now().Sub(s.Seen)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(max(d, 0).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
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
	if err := c.outbox.sendFor(ctx, sent{session: s.ID}, func() (int, error) { return c.client.say(ctx, p, nil), nil }); err != nil {
		c.client.warn("a summary was not recorded", err)
	}
	return ""
}

// pastLists are the past sessions as each person saw them last, so that a number means what it meant there. The zero value is ready.
type pastLists struct {
	mu   sync.Mutex
	byID map[int64][]approval.AgentSession // by the number of the person
}

func (l *pastLists) set(user int64, list []approval.AgentSession) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID == nil {
		l.byID = map[int64][]approval.AgentSession{}
	}
	l.byID[user] = list
}

func (l *pastLists) of(user int64) []approval.AgentSession {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[user]
}

// resume takes up the past session with a number of the list or with a name, with a further prompt if there is one (E19). Without either
// it lists them, with their first prompts.
func (c *commands) resume(ctx context.Context, user int64, args string) reply {
	past, err := c.Agents.Past(ctx)
	if err != nil {
		return c.failed("Past sessions could not be listed", err)
	}
	past = slices.DeleteFunc(past, func(s approval.AgentSession) bool { return !s.Resumable })
	name, prompt := firstWord(args)
	switch {
	case len(past) == 0:
		return said("No past session is known that can be resumed in spawn.searchPaths.")
	case name != "":
		return c.resumeOne(ctx, user, name, prompt, past)
	}
	shown := past[:min(len(past), approval.MaxPlaces)]
	c.past.set(user, shown)
	p := (&page{}).text("Take up which one? Tap it, or write /resume with its number or name.\n")
	var choices []choice
	for i, s := range shown {
		p.textf("%d. ", i+1).bold(nameOf(s, optionRoom)).textf(", %s ago", c.ago(s))
		if s.Task != "" {
			p.text(": " + approval.Short(s.Task, 100))
		}
		p.text("\n")
		choices = append(choices, choice{fmt.Sprintf("%d. %s", i+1, nameOf(s, 40)),
			func(ctx context.Context) string { return c.takeUp(ctx, s, "") }})
	}
	if more := len(past) - len(shown); more > 0 {
		p.textf("… and %d more: /resume NAME\n", more)
	}
	c.picks.offer(p, user, choices, true)
	return reply{page: p}
}

// resumeOne takes up the session that a person named: by its number in the list that was shown, else by its name.
func (c *commands) resumeOne(ctx context.Context, user int64, name, prompt string, past []approval.AgentSession) reply {
	wanted := named(name)
	if n, err := strconv.Atoi(name); err == nil {
		shown := c.past.of(user)
		if shown == nil {
			shown = past
		}
		if n < 1 || n > len(shown) {
			return refused("The list has no number " + approval.Short(name, 20) + ": nothing was started. /resume shows it.")
		}
		wanted = func(s approval.AgentSession) bool { return s.Agent == shown[n-1].Agent && s.ID == shown[n-1].ID }
	}
	i := slices.IndexFunc(past, wanted) // of several with one name, the one that was at work last
	if i < 0 {
		return refused("No session that can be resumed has that name or number: nothing was started. /resume lists them.")
	}
	return said(c.takeUp(ctx, past[i], prompt))
}

func (c *commands) takeUp(ctx context.Context, s approval.AgentSession, prompt string) string {
	return c.spawn(ctx, s.Start, prompt, s.ID)
}
