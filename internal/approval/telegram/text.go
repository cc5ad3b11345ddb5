package telegram

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// view is what people did with a request in the chat, besides answering it.
type view struct {
	opened bool           // its details were shown
	chosen []map[int]bool // of a question: which options, by question
	typed  []string       // of a question: an answer in the person's own words, by question
	at     int            // of a question: which one is asked now
	late   []string       // answers that came too late, for the message
}

// Room for the parts of one message, in UTF-16 code units; together they stay under Telegram's bound.
const (
	argsRoom     = 2200
	thinkingRoom = 300
	reasonRoom   = 200
	textRoom     = 800 // of a stop: the 800 characters
	optionRoom   = 60
)

var riskMarks = map[policy.Risk]string{policy.Low: "🟢", policy.Medium: "🟡", policy.High: "🟠", policy.Critical: "🔴"}

// requestPage is the message of a request as it stands now. whole is false where its arguments do not fit.
func (t *Bot) requestPage(r approval.Request, v *view) (p *page, whole bool) {
	p, whole = &page{}, true
	switch r.Kind {
	case approval.Stop:
		t.stopPage(p, r)
	case approval.Question:
		t.questionPage(p, r, v)
	default:
		whole = t.callPage(p, r)
	}
	if r.State == approval.Pending {
		until := "until it is answered"
		if !r.Deadline.IsZero() {
			until = "until " + t.clock(r.Deadline)
		}
		p.textf("\nOpen %s · %s", until, shortID(r.ID))
		if r.Waiting > 1 {
			p.textf(" · %d calls wait for it", r.Waiting)
		}
		t.requestButtons(p, r, v, whole)
	} else {
		p.text("\n")
		p.bold(t.outcome(r))
	}
	for _, l := range v.late {
		p.text("\n" + l)
	}
	return p, whole
}

// who is one line that says which session this is.
func (t *Bot) who(p *page, r approval.Request) {
	p.bold(approval.Short(cmp.Or(r.Label, approval.LastElement(r.Dir), r.Session), 60))
	var about []string
	for _, s := range []string{r.Agent, r.Role} {
		if s != "" {
			about = append(about, approval.Short(s, 40))
		}
	}
	if r.Parent != "" {
		about = append(about, "subagent "+approval.Short(r.Principal, 60))
	}
	if len(about) > 0 {
		p.text(" (" + strings.Join(about, ", ") + ")")
	}
	p.text("\n")
}

func (t *Bot) callPage(p *page, r approval.Request) (whole bool) {
	p.text(cmp.Or(riskMarks[r.Risk], "⚪") + " ")
	p.bold(approval.Short(cmp.Or(r.Tool, "call"), 100))
	p.textf(" · %s risk", cmp.Or(string(r.Risk), "unknown"))
	if r.Category != "" {
		p.text(" · " + approval.Short(r.Category, 40))
	}
	p.text("\n")
	t.who(p, r)
	args, diff := approval.ShowArgs(r)
	shown, whole := ends(args, argsRoom)
	if shown != "" {
		language := ""
		switch {
		case diff:
			language = "diff"
		case r.Tool == "agent__Bash":
			language = "bash"
		}
		p.pre(language, shown)
		p.text("\n")
	}
	if would := effectsOf(r); would != "" {
		p.text("Would: " + approval.Short(would, 300) + "\n")
	}
	if r.Reason != "" || r.Rule != "" {
		p.text("Asked because: " + approval.Short(cmp.Or(r.Reason, "a rule says so"), reasonRoom))
		if r.Rule != "" {
			p.text(" (" + approval.Short(r.Rule, 60) + ")")
		}
		p.text("\n")
	}
	if r.Thinking != "" {
		p.text("Agent says: " + approval.Short(r.Thinking, thinkingRoom) + "\n")
	}
	if r.Opinion != "" {
		p.text("Model: " + approval.Short(r.Opinion, reasonRoom) + "\n")
	}
	if r.Dir != "" {
		p.text("In " + approval.Short(r.Dir, 200) + "\n")
	}
	return whole
}

// showFacts says what one part of a call would do.
func showFacts(part policy.Part) string {
	some := slices.Clone(part.Effects)
	for _, p := range part.Paths {
		some = append(some, string(p.Access)+" "+cmp.Or(p.Resolved, p.Clean, p.Raw))
	}
	for _, h := range part.Hosts {
		some = append(some, "host "+h)
	}
	for _, u := range part.Unclear {
		some = append(some, "not understood: "+u)
	}
	return strings.Join(append([]string{part.Program}, some...), " · ")
}

// effectsOf says what the call would do, from its facts.
func effectsOf(r approval.Request) string {
	var some []string
	for _, part := range r.Facts.Parts {
		for _, e := range part.Effects {
			if !slices.Contains(some, e) {
				some = append(some, e)
			}
		}
		for _, h := range part.Hosts {
			if !slices.Contains(some, "host "+h) {
				some = append(some, "host "+h)
			}
		}
	}
	return strings.ReplaceAll(strings.Join(some, ", "), "_", " ")
}

func (t *Bot) stopPage(p *page, r approval.Request) {
	p.text("⏸ ").bold("Wants to stop").text("\n")
	t.who(p, r)
	if r.Text != "" {
		shown, _ := ends(text.Visible(strings.TrimSpace(r.Text)), textRoom)
		p.text(shown + "\n")
	}
	if r.State == approval.Pending {
		p.text("Reply to this message to tell it what to do next.\n")
	}
}

// outcome says how a request was settled.
func (t *Bot) outcome(r approval.Request) string {
	a := r.Answer
	if a == nil {
		return "Settled: " + string(r.State)
	}
	var word string
	switch {
	case a.By == approval.ByDeadline:
		return "⌛ Expired at " + t.clock(a.Time) + ": denied, nobody answered in time"
	case a.By == approval.ByCaller:
		return "⌛ Expired at " + t.clock(a.Time) + ": whoever asked waits no more"
	case a.By == approval.BySession:
		return "⌛ Expired at " + t.clock(a.Time) + ": the session ended"
	case r.State == approval.Expired:
		word = "⌛ Expired"
	case r.Kind == approval.Stop:
		word = yesNo(a.Allow, "▶️ Goes on", "⏹ Stops")
	case r.Kind == approval.Question:
		word = yesNo(a.Allow, "✅ Answered", "❌ Not answered")
	default:
		word = yesNo(a.Allow, "✅ Approved", "❌ Denied")
	}
	switch a.For {
	case approval.Once: // nothing to add
	case approval.Session:
		word += " for this session"
	case approval.Rule:
		word += " as a rule"
	case approval.Never:
		word += " for the rest of this session"
	}
	if a.By != "" {
		word += " by " + approval.Short(a.By, 60)
		if a.Via != "" && a.Via != viaTelegram {
			word += " (" + approval.Short(a.Via, 20) + ")"
		}
	}
	if !a.Time.IsZero() {
		word += " at " + t.clock(a.Time)
	}
	if a.Reason != "" {
		word += "\nReason: " + approval.Short(a.Reason, 300)
	}
	if a.Text != "" {
		word += "\nTold: " + approval.Short(a.Text, 300)
	}
	if a.Rule != "" {
		word += "\nRule: " + approval.Short(a.Rule, 200)
	}
	return word
}

// requestButtons are what people can do with a request that waits.
func (t *Bot) requestButtons(p *page, r approval.Request, v *view, whole bool) {
	switch r.Kind {
	case approval.Stop:
		p.row(button{"▶️ Continue", tapData(tapApprove, r.ID, "")}, button{"⏹ Let stop", tapData(tapDeny, r.ID, "")})
	case approval.Question:
		t.questionButtons(p, r, v)
	default:
		p.row(button{"✅ Approve", tapData(tapApprove, r.ID, "")}, button{"❌ Deny", tapData(tapDeny, r.ID, "")})
		p.row(button{"✅ For this session", tapData(tapSession, r.ID, "")}, button{"📌 Always (rule)", tapData(tapRule, r.ID, "")})
		last := []button{{"🚫 Never in this session", tapData(tapNever, r.ID, "")}}
		details := "🔎 Details"
		if !whole && !v.opened {
			details = "🔎 Show the rest"
		}
		p.row(append(last, button{details, tapData(tapDetails, r.ID, "")})...)
	}
}

// detailsText is everything about a request, for the messages or the file behind Details.
func (t *Bot) detailsText(r approval.Request) string {
	var b strings.Builder
	line := func(label, s string) {
		if s != "" {
			fmt.Fprintf(&b, "%s: %s\n", label, text.Visible(s))
		}
	}
	line("Request", r.ID)
	line("Tool", r.Tool)
	line("Session", r.Session)
	line("Principal", r.Principal)
	line("Parent", r.Parent)
	line("Role", r.Role)
	line("Agent", r.Agent)
	line("Surface", r.Surface)
	line("Folder", r.Dir)
	line("Risk", string(r.Risk))
	line("Category", r.Category)
	line("Rule", r.Rule)
	line("Reason", r.Reason)
	line("Model", r.Opinion)
	line("Digest", r.Digest)
	line("Asked at", t.clock(r.Created))
	for i, part := range r.Facts.Parts {
		line(fmt.Sprintf("Part %d", i+1), showFacts(part))
	}
	line("Agent says", r.Thinking)
	line("Text", r.Text)
	if args, _ := approval.ShowArgs(r); args != "" {
		b.WriteString("\n" + args + "\n")
	}
	return strings.TrimSpace(b.String())
}

// noticePage is the message of a notice.
func (t *Bot) noticePage(n approval.Notice) *page {
	words := map[approval.NoticeKind]string{
		approval.Started: "▶️ Started", approval.Completed: "✅ Completed", approval.Errored: "❌ Ended with an error", approval.Aborted: "⏹ Aborted", approval.DenialAlert: "🚧 Denied again and again",
		approval.BudgetAlert: "💰 Budget", approval.Waits: "💬 Waits for you",
	}
	p := &page{}
	p.text(cmp.Or(words[n.Kind], approval.Short(string(n.Kind), 40)) + ": ").bold(approval.Short(cmp.Or(n.Label, n.Session, "an agent"), 60))
	if n.Agent != "" {
		p.text(" (" + approval.Short(n.Agent, 40) + ")")
	}
	var sums []string
	if n.Turns > 0 {
		sums = append(sums, fmt.Sprintf("%d turns", n.Turns))
	}
	if n.Cost > 0 {
		sums = append(sums, fmt.Sprintf("$%.2f", n.Cost))
	}
	if len(sums) > 0 {
		p.text(" · " + strings.Join(sums, ", "))
	}
	if s := strings.TrimSpace(n.Text); s != "" {
		shown, _ := ends(text.Visible(s), approval.NoticeLength)
		p.text("\n" + shown)
	}
	return p
}

// clock is a time of day for people.
func (t *Bot) clock(at time.Time) string {
	if at.IsZero() {
		return "?"
	}
	at = at.In(t.zone)
	if now := t.now().In(t.zone); now.YearDay() == at.YearDay() && now.Year() == at.Year() {
		return at.Format("15:04:05 MST")
	}
	return at.Format("2006-01-02 15:04:05 MST")
}

func yesNo(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// shortID is enough of an id to tell requests apart on a screen.
func shortID(id string) string {
	if len(id) > 8 {
		id = id[:8]
	}
	return text.OneLine(id)
}
