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

// Room for the parts of one message, in UTF-16 code units. The sum stays below Telegram's bound.
const (
	argsRoom     = 2200
	thinkingRoom = 300
	reasonRoom   = 200
	textRoom     = 800 // of what an agent did before it wants to stop
	optionRoom   = 60
)

var riskMarks = map[policy.Risk]string{policy.Low: "🟢", policy.Medium: "🟡", policy.High: "🟠", policy.Critical: "🔴"}

// renderer writes the messages of requests.
type renderer struct {
	now  func() time.Time
	zone *time.Location
}

// request returns the message of a request. whole is false if its arguments do not fit.
func (f renderer) request(r approval.Request, v *view) (p *page, whole bool) {
	p, whole = (&page{}).of(r.Project), true
	switch r.Kind {
	case approval.Stop:
		p.stop(r)
	case approval.Question:
		p.question(r, v)
	default:
		whole = p.call(r)
	}
	if r.State == approval.Pending {
		until := "until it is answered"
		if !r.Deadline.IsZero() {
			until = "until " + f.clock(r.Deadline)
		}
		p.textf("\nOpen %s · %s", until, shortID(r.ID))
		if r.Waiting > 1 {
			p.textf(" · %s %s for it", text.Count(r.Waiting, "call"), text.Plural(r.Waiting, "waits", "wait"))
		}
		p.requestButtons(r, v, whole)
	} else {
		p.text("\n").bold(f.outcome(r))
	}
	for _, l := range v.late {
		p.text("\n" + l)
	}
	return p, whole
}

// of adds a line with the name of a project, where the bot asks for several.
func (p *page) of(project string) *page {
	if project != "" {
		p.text("📂 ").bold(approval.Short(project, optionRoom)).text("\n")
	}
	return p
}

// who adds a line that says which session asks.
func (p *page) who(r approval.Request) {
	p.bold(r.Name(60))
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

// call shows a call. whole is false if its arguments do not fit.
func (p *page) call(r approval.Request) (whole bool) {
	p.text(cmp.Or(riskMarks[r.Risk], "⚪") + " ").bold(approval.Short(cmp.Or(r.Tool, "call"), 100))
	p.textf(" · %s risk", cmp.Or(string(r.Risk), "unknown"))
	if r.Category != "" {
		p.text(" · " + approval.Short(r.Category, 40))
	}
	p.text("\n")
	p.who(r)
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
		p.pre(language, shown).text("\n")
	}
	if would := effectsOf(r); would != "" {
		p.text("Would: " + approval.Short(would, 300) + "\n")
	}
	terms, changed := approval.ShowTerms(r)
	for _, line := range terms {
		p.text(approval.Short(line, reasonRoom) + "\n")
	}
	if changed != "" {
		p.text("Changed since it was asked last: " + approval.Short(changed, reasonRoom) + "\n")
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

// showFacts describes one part of a call.
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

// effectsOf lists the effects and hosts of a call, from its facts.
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

func (p *page) stop(r approval.Request) {
	p.text("⏸ ").bold("Wants to stop").text("\n").who(r)
	if r.Text != "" {
		shown, _ := ends(text.Visible(strings.TrimSpace(r.Text)), textRoom)
		p.text(shown + "\n")
	}
	if r.State == approval.Pending {
		p.text("Reply to this message to tell it what to do next.\n")
	}
}

// outcome says how a request was settled.
func (f renderer) outcome(r approval.Request) string {
	a := r.Answer
	if a == nil {
		return "Settled: " + string(r.State)
	}
	var word string
	switch {
	case a.By == approval.ByDeadline:
		return "⌛ Expired at " + f.clock(a.Time) + ": " + r.Kind.Lapse()
	case a.By == approval.ByCaller:
		return "⌛ Expired at " + f.clock(a.Time) + ": the caller no longer waits"
	case a.By == approval.BySession:
		return "⌛ Expired at " + f.clock(a.Time) + ": the session ended"
	case r.State == approval.Expired:
		word = "⌛ Expired"
	case r.Kind == approval.Stop:
		word = yesNo(a.Allow, "▶️ Goes on", "⏹ Stops")
	case r.Kind == approval.Question:
		word = yesNo(a.Allow, "✅ Answered", "❌ Not answered")
	case a.Overruled != "":
		word = "❌ Denied by the policy, although approved"
	default:
		word = yesNo(a.Allow, "✅ Approved", "❌ Denied")
	}
	if a.Allow && a.As != "" && a.As != approval.ThisCall {
		word += " (" + string(a.As) + ")"
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
		if a.Via != "" && a.Via != Via {
			word += " (" + approval.Short(a.Via, 20) + ")"
		}
	}
	if !a.Time.IsZero() {
		word += " at " + f.clock(a.Time)
	}
	if a.Reason != "" {
		word += "\nReason: " + approval.Short(a.Reason, 300)
	}
	if a.Text != "" {
		word += "\nTold: " + approval.Short(a.Text, 300)
	}
	if a.Overruled != "" {
		word += "\nThe policy denies it: " + approval.Short(a.Overruled, 200)
	}
	if a.Rule != "" {
		word += "\nRule: " + approval.Short(a.Rule, 200)
	}
	return word
}

// requestButtons adds the buttons of a request that waits.
func (p *page) requestButtons(r approval.Request, v *view, whole bool) {
	switch r.Kind {
	case approval.Stop:
		p.row(button{"▶️ Continue", tapData(tapApprove, r.ID, "")}, button{"⏹ Let stop", tapData(tapDeny, r.ID, "")})
	case approval.Question:
		p.questionButtons(r, v)
	default:
		p.row(button{"✅ Approve", tapData(tapApprove, r.ID, "")}, button{"❌ Deny", tapData(tapDeny, r.ID, "")})
		var lasting []button
		if r.Refuses(approval.Session) == "" {
			lasting = append(lasting, button{"✅ For this session", tapData(tapSession, r.ID, "")})
		}
		if r.Refuses(approval.Rule) == "" {
			lasting = append(lasting, button{"📌 Always (rule)", tapData(tapRule, r.ID, "")})
		}
		p.row(lasting...)
		details := "🔎 Details"
		if !whole && !v.opened {
			details = "🔎 Show the rest"
		}
		p.row(button{"🚫 Never in this session", tapData(tapNever, r.ID, "")}, button{details, tapData(tapDetails, r.ID, "")})
		if len(approval.Candidates(r)) > 1 {
			p.row(button{"↔️ More than this call…", tapData(tapWider, r.ID, "")})
		}
	}
}

// details is everything about a request, as the Details button sends it.
func (f renderer) details(r approval.Request) string {
	var b strings.Builder
	line := func(label, s string) {
		if s != "" {
			fmt.Fprintf(&b, "%s: %s\n", label, text.Visible(s))
		}
	}
	for _, l := range [][2]string{
		{"Project", r.Project}, {"Request", r.ID}, {"Tool", r.Tool}, {"Session", r.Session}, {"Principal", r.Principal}, {"Parent", r.Parent}, {"Role", r.Role},
		{"Agent", r.Agent}, {"Surface", r.Surface}, {"Folder", r.Dir}, {"Risk", string(r.Risk)}, {"Category", r.Category}, {"Rule", r.Rule},
		{"Reason", r.Reason}, {"Model", r.Opinion}, {"Digest", r.Digest}, {"Asked at", f.clock(r.Created)},
	} {
		line(l[0], l[1])
	}
	for i, part := range r.Facts.Parts {
		line(fmt.Sprintf("Part %d", i+1), showFacts(part))
	}
	terms, changed := approval.ShowTerms(r)
	line("Terms", strings.Join(terms, " "))
	line("Changed since it was asked last", changed)
	line("Agent says", r.Thinking)
	line("Text", r.Text)
	if args, _ := approval.ShowArgs(r); args != "" {
		b.WriteString("\n" + args + "\n")
	}
	return strings.TrimSpace(b.String())
}

// noticePage returns the message of a notice.
func noticePage(n approval.Notice) *page {
	words := map[approval.NoticeKind]string{
		approval.Started: "▶️ Started", approval.Completed: "✅ Completed", approval.Errored: "❌ Ended with an error",
		approval.Aborted: "⏹ Aborted", approval.DenialAlert: "🚧 Denied again and again",
		approval.BudgetAlert: "💰 Budget", approval.Waits: "💬 Waits for you", approval.Stuck: "🌀 Stuck",
		approval.Delivered:  "⌨️ Kept text",
		approval.GuardAlert: "🛡 The guard of an agent",
	}
	p := (&page{}).of(n.Project)
	if n.Request != nil {
		p.bold(words[n.Kind]).text(", at its own terminal:\n")
		p.call(*n.Request)
		return p.text("\nReply to this message: yes, no, or what to do instead.")
	}
	p.text(cmp.Or(words[n.Kind], approval.Short(string(n.Kind), 40)) + ": ").bold(approval.Short(cmp.Or(n.Label, n.Session, "an agent"), 60))
	if n.Agent != "" {
		p.text(" (" + approval.Short(n.Agent, 40) + ")")
	}
	var sums []string
	if n.Turns > 0 {
		sums = append(sums, text.Count(n.Turns, "turn"))
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

// clock writes a time of day, with the date unless it is today.
func (f renderer) clock(at time.Time) string {
	if at.IsZero() {
		return "?"
	}
	at = at.In(f.zone)
	if now := f.now().In(f.zone); now.YearDay() == at.YearDay() && now.Year() == at.Year() {
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

// shortID returns the first 8 characters of an id.
func shortID(id string) string {
	if len(id) > 8 {
		id = id[:8]
	}
	return text.OneLine(id)
}
