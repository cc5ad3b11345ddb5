package inbox

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/config/rules"
	"mycelium/internal/node/api"
	"mycelium/internal/policy"
	"mycelium/internal/policy/sign"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/site"
)

// card is a request as a page shows it. What an agent wrote has passed through [text.Visible] or [text.OneLine]: a character that is not
// seen stands as its number.
type card struct {
	Key, ID, Digest string // of the project, and of the request
	Project, Dir    string
	Kind            approval.Kind
	Risk            policy.Risk
	Title           string // what it is about, in a few words
	Agent, Label    string // who asks
	Role, Session   string
	Parent          string // of a sub-agent
	Category        string
	Lines           []site.Line // what would really happen: the command, the diff, or the arguments
	Parts           []part
	Terms           []string
	Changed         string
	Reason, Rule    string
	Opinion         string // of the model that passed it on
	Thinking        string // what the agent says
	Waiting         int
	Created         time.Time
	Deadline        time.Time
	Questions       []asked
	OnceOnly        string // why an approval for the session is refused; "": it is not
	RuleOnce        string // likewise of an approval as a rule
	Promotion       bool
	Outcome, Via    string // of a request that is settled
	Keep            bool   // it is settled, and its approval can be kept: by a rule the call is not asked about again
	Place           string // file:line of the rule that asks
	Task            string // of the agent
	Before          []earlier
	Others          int    // calls that can be answered with this one
	Same            string // what it must have in common with those; "": it is answered alone
	Ways            []way  // what it can be approved as; only on the page of this call
	Alone           bool   // this is the page of this call
	Other           *other // it is no request
	Sure            string // what the person agrees to besides, by a box; "": no second sign is needed
}

// earlier is an answer to the like of a call.
type earlier struct {
	Outcome, Gist string
	At            time.Time
	Same          bool // it was this very call
}

// way is one way to generalise an approval.
type way struct {
	As, Words, Except, Past string
}

// part is what one part of a call would do.
type part struct {
	Program string
	Effects []string
	Paths   []string
	Hosts   []string
	Unclear []string
}

// asked is one question with its options.
type asked struct {
	Text    string
	Options []string
	Many    bool
}

// cardOf returns what a page shows of a request.
func cardOf(p state.Paths, r approval.Request) card {
	one := text.OneLine
	c := card{Key: site.Key(p), ID: r.ID, Digest: r.Digest, Project: site.Name(p), Dir: one(cmp.Or(r.Dir, p.Project)),
		Kind: r.Kind, Risk: r.Risk,
		Title: one(strings.TrimPrefix(r.Tool, "agent__")), Agent: one(r.Agent), Label: r.Name(60), Role: one(r.Role),
		Session: one(cmp.Or(r.Session, r.Principal)), Category: one(strings.ToLower(strings.ReplaceAll(r.Category, "_", " "))),
		Reason: text.Visible(r.Reason), Rule: one(r.Rule), Opinion: text.Visible(r.Opinion), Thinking: text.Visible(r.Thinking),
		Waiting: r.Waiting, Created: r.Created, Deadline: r.Deadline, OnceOnly: one(r.Refuses(approval.Session)),
		Promotion: r.Rule == approval.PromotionRule, Outcome: outcome(r), Keep: r.Keepable() == "" && r.Rule == "",
		Sure: boxOf(r.Demand())}
	if r.Parent != "" {
		c.Parent = one(r.Principal)
	}
	if strings.Contains(c.Reason, c.Rule) { // it need not stand there twice
		c.Rule = ""
	}
	c.Terms, c.Changed = approval.ShowTerms(r)
	shown, diff := approval.ShowArgs(r)
	switch r.Kind {
	case approval.Stop:
		c.Title, shown, diff = "wants to stop", text.Visible(strings.TrimSpace(r.Text)), false
	case approval.Question:
		c.Title, shown = "asks", ""
		for _, q := range r.Questions {
			a := asked{Text: text.Visible(q.Text), Many: q.Many}
			for _, o := range q.Options {
				a.Options = append(a.Options, one(o))
			}
			c.Questions = append(c.Questions, a)
		}
	case approval.Call:
		c.Parts = partsOf(r.Facts)
	}
	c.Lines = site.Lines(shown, diff)
	c.Same = likeness(r)
	if r.Answer != nil {
		c.Via = r.Answer.Via
	}
	return c
}

// boxOf is the sentence at the box of a second sign; "" if none is demanded.
func boxOf(d sign.Demand) string {
	if !d.Any() {
		return ""
	}
	return text.OneLine(d.Says())
}

// widen adds what a request can be approved as.
func (c *card) widen(r approval.Request, list []api.Way) {
	if r.State != approval.Pending || r.Kind != approval.Call || c.Promotion {
		return
	}
	if _, err := rules.Approved(r, approval.ThisCall); err != nil {
		c.RuleOnce = "Not as a rule: " + text.OneLine(err.Error())
	}
	c.Ways = []way{{As: string(approval.ThisCall), Words: "this call, and no other"}}
	for _, w := range list {
		c.Ways = append(c.Ways, way{string(w.As), text.OneLine(w.Words), text.OneLine(strings.Join(w.Except, ", ")), text.OneLine(w.Past)})
	}
}

// likeness is what requests have in common that can be answered together: the project's rule that asks, and what the call would do. It is
// empty for one that has to be looked at alone.
func likeness(r approval.Request) string {
	if r.Kind != approval.Call || r.State != approval.Pending || r.Rule == "" || r.Rule == approval.PromotionRule ||
		r.Demand().Any() || len(r.Facts.Parts) == 0 {
		return ""
	}
	out := []string{string(r.Risk), r.Rule}
	for _, p := range r.Facts.Parts {
		if len(p.Effects) == 0 || len(p.Unclear) > 0 || slices.Contains(p.Effects, policy.EffectUnknown) {
			return ""
		}
		for _, e := range p.Effects {
			if !slices.Contains(out[2:], e) {
				out = append(out, e)
			}
		}
	}
	slices.Sort(out[2:])
	return strings.Join(out, "\n")
}

// know adds what its node knows about a call besides the request.
func (c *card) know(a api.AboutCall) {
	if a.File != "" {
		c.Place = text.OneLine(a.File)
		if a.Line > 0 {
			c.Place += ":" + strconv.Itoa(a.Line)
		}
	}
	c.Task = text.OneLine(a.Task)
	for _, b := range a.Before {
		state := approval.Denied
		if b.Answer.Allow {
			state = approval.Allowed
		}
		c.Before = append(c.Before, earlier{Outcome: outcome(approval.Request{State: state, Answer: &b.Answer}), Gist: text.OneLine(b.Gist),
			At: b.Answer.Time, Same: b.Same})
	}
}

// partsOf says what the parts of a call would do.
func partsOf(f policy.Facts) (out []part) {
	one := func(list []string) (out []string) {
		for _, s := range list {
			out = append(out, text.OneLine(s))
		}
		return out
	}
	for _, p := range f.Parts {
		shown := part{Program: text.OneLine(p.Program), Hosts: one(p.Hosts), Unclear: one(p.Unclear)}
		for _, e := range p.Effects {
			shown.Effects = append(shown.Effects, text.OneLine(strings.ReplaceAll(e, "_", " ")))
		}
		for _, at := range p.Paths {
			where := string(at.Access) + " " + text.OneLine(cmp.Or(at.Resolved, at.Clean, at.Raw))
			if !slices.Contains(shown.Paths, where) {
				shown.Paths = append(shown.Paths, where)
			}
		}
		if shown.Program != "" || len(shown.Effects)+len(shown.Paths)+len(shown.Hosts)+len(shown.Unclear) > 0 {
			out = append(out, shown)
		}
	}
	return out
}

// outcome says how a request was settled, and by whom; "" if it waits.
func outcome(r approval.Request) string {
	if r.State == approval.Pending {
		return ""
	}
	if r.Answer == nil {
		return string(r.State)
	}
	said := map[approval.State]string{approval.Allowed: "allowed", approval.Denied: "denied", approval.Expired: "expired"}[r.State]
	if r.Answer.Overruled != "" {
		return "denied by the policy, although it was approved: " + text.OneLine(r.Answer.Overruled)
	}
	if r.Answer.By == approval.ByDeadline {
		return said + ": " + r.Kind.Lapse()
	}
	if r.Answer.By != "" && r.State != approval.Expired {
		said += " by " + text.OneLine(r.Answer.By)
		if r.Answer.Via != "" && r.Answer.Via != r.Answer.By {
			said += " (" + text.OneLine(r.Answer.Via) + ")"
		}
	}
	switch r.Answer.For {
	case approval.Session:
		said += ", for the session"
	case approval.Never:
		said += ", for the rest of the session"
	case approval.Rule:
		said += ", as rule " + text.OneLine(r.Answer.Rule)
	case approval.Once:
	}
	return said
}

// urgent orders cards: what could do the most harm first, then what is newest.
func urgent(a, b card) int {
	rank := []policy.Risk{policy.Critical, policy.High, policy.Medium, policy.Low}
	at := func(c card) int {
		if i := slices.Index(rank, c.Risk); i >= 0 {
			return i
		}
		return len(rank)
	}
	return cmp.Or(cmp.Compare(at(a), at(b)), b.Created.Compare(a.Created), cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID))
}
