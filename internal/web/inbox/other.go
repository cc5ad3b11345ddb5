package inbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/config/meaning"
	"mycelium/internal/node/api"
	"mycelium/internal/policy"
	"mycelium/internal/scan"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/site"
)

// The kinds of what waits besides calls. They are the last element of the address of its form.
const (
	kindHeld  = "held"
	kindKeep  = "keep" // an approval that was given once
	kindSkill = "skill"
	kindFiles = "files"
	kindWork  = "work"
)

// other is what waits and is no request of an agent. Its texts have passed through [text.OneLine] or [text.Visible].
type other struct {
	Kind     string
	What     string // what kind of thing it is, in words
	Says     string // why it waits
	Findings []finding
	Files    []fileDiff
	Meaning  []string
	Problems []string
	Plans    []string
	Fields   []hidden // what binds the answer to what is shown
	Buttons  []button
	Reason   bool   // a reason can be given
	More     string // the address of a page that has to be looked at first; "": there is none
	Effect   string // what the first button does
	Command  string // that does the same
	Folded   string // over the lines of the card, which are shown when it is pressed; "": they are shown
}

// finding is a suspicious part of a definition or of a skill.
type finding struct{ Hard, Family, Where, Why, Excerpt string }

// fileDiff is a file and how it differs from what is accepted.
type fileDiff struct {
	Name, What string
	Lines      []site.Line
}

// hidden is a field of a form that nobody fills in.
type hidden struct{ Name, Value string }

// button answers. Key is the one by which it is pressed.
type button struct{ Value, Text, Key, Class string }

// otherCards are the cards of what waits in a project besides calls.
func otherCards(p state.Paths, w api.WaitsReply) (out []card) {
	for _, h := range w.Held {
		out = append(out, heldCard(p, h))
	}
	for _, k := range w.Skills {
		out = append(out, skillCard(p, k))
	}
	if w.Files != nil {
		out = append(out, filesCard(p, *w.Files))
	}
	for _, f := range w.Work {
		out = append(out, workCard(p, f))
	}
	return out
}

// keepOut is the answer that something stays as it is, and is not offered again before it changes.
const keepOut = string(api.LeaveOut)

// newCard is the card of something; name tells it from others of its kind.
func newCard(p state.Paths, kind, name, title string, risk policy.Risk) card {
	sum := sha256.Sum256([]byte(kind + "\x00" + name))
	return card{Key: site.Key(p), ID: kind + "-" + hex.EncodeToString(sum[:6]), Project: site.Name(p), Dir: text.OneLine(p.Project),
		Title: text.OneLine(title), Risk: risk, Other: &other{Kind: kind}}
}

// findingsOf says what a scan found, the hard ones first, and whether there is one.
func findingsOf(list []scan.Finding) (out []finding, hard bool) {
	for _, f := range list {
		said := "suspicious"
		if f.Severity == scan.Hard {
			said, hard = "dangerous", true
		}
		out = append(out, finding{said, text.OneLine(f.Family), text.OneLine(f.Where), text.OneLine(f.Why), text.OneLine(f.Excerpt)})
	}
	slices.SortStableFunc(out, func(a, b finding) int { return cmp.Compare(a.Hard, b.Hard) })
	return out, hard
}

// heldCard is a definition in quarantine.
func heldCard(p state.Paths, h api.HeldItem) card {
	found, hard := findingsOf(h.Findings)
	risk := policy.Medium
	if hard {
		risk = policy.High
	}
	c := newCard(p, kindHeld, h.Name, h.Name, risk)
	c.Digest, c.Sure = h.Digest, boxOf(h.Demand())
	c.Lines = site.Lines(text.Visible(strings.Join(h.Diff, "\n")), true)
	o := c.Other
	o.What, o.Says, o.Findings = "definition of a server, in quarantine", text.Visible(h.Reason), found
	if h.Former != "" {
		o.Says += "; its name was " + text.OneLine(h.Former)
	}
	o.Fields = []hidden{{"name", h.Name}, {"digest", h.Digest}}
	o.Buttons = []button{{"accept", "Accept this definition", "y", "first"}, {keepOut, "Keep it out", "n", "deny"}}
	o.Effect = "Agents whose role may use it see it as it is shown here. Until then it does not exist for them. What is kept out is not offered " +
		"again before it changes."
	o.Command = "myc tools approve " + text.OneLine(h.Name)
	return c
}

// skillCard is a skill of a server. It is approved on a page that shows its text.
func skillCard(p state.Paths, k api.WaitingSkill) card {
	c := newCard(p, kindSkill, k.Name, k.Name, policy.Medium)
	o := c.Other
	o.What = "skill of the server " + text.OneLine(k.Server)
	o.Says = "A server serves this skill, and nobody has approved it, so it grants no tool."
	if k.Changed {
		o.Says = "Its files changed after it was approved, so the approval ended and it grants no tool."
	}
	c.Lines = site.Lines(text.Visible(k.Description), false)
	o.More = "/inbox/" + c.Key + "/skill?name=" + escape(k.Name)
	o.Command = "myc skill approve " + text.OneLine(k.Name)
	return c
}

// servedCard is a skill of a server with its text, as it is approved.
func servedCard(p state.Paths, k api.ServedSkillReply) card {
	found, hard := findingsOf(k.Findings)
	risk := policy.Medium
	if hard {
		risk = policy.High
	}
	c := newCard(p, kindSkill, k.Name, k.Name, risk)
	c.Digest, c.Alone, c.Sure = k.Digest, true, boxOf(k.Demand())
	c.Lines = site.Lines(text.Visible(k.Text), false)
	o := c.Other
	o.What, o.Findings = "skill of a server", found
	o.Says = "It would grant no tools"
	if len(k.Tools) > 0 {
		o.Says = "It would grant " + text.OneLine(strings.Join(k.Tools, ", "))
	}
	for _, line := range k.Problems {
		o.Problems = append(o.Problems, text.Visible(line))
	}
	o.Fields = []hidden{{"name", k.Name}, {"digest", k.Digest}}
	o.Buttons = []button{{"approve", "Approve this skill", "y", "first"}}
	o.Effect = "It is open to the roles whose file lists it. If one of its files changes, the approval ends."
	o.Command = "myc skill approve " + text.OneLine(k.Name)
	return c
}

// filesCard is the files of the policy that wait.
func filesCard(p state.Paths, f api.WaitingFiles) card {
	risk := policy.Medium
	switch {
	case f.Narrows:
		risk = policy.Low
	case slices.ContainsFunc(f.Meaning, func(m meaning.Change) bool { return m.Mark == meaning.Widens }):
		risk = policy.High
	}
	n := len(f.Changes)
	title := text.Count(n, "file") + " of the policy " + text.Plural(n, "waits", "wait")
	c := newCard(p, kindFiles, "", title, risk)
	c.Digest, c.Created = f.Digest, f.Since
	o := c.Other
	o.What, o.Says = "what governs agents", "These files changed. What was accepted before stays in force until a person accepts them."
	for _, ch := range f.Changes {
		what := ch.Kind
		if ch.Yours {
			what += ", yours, for every project"
		}
		if ch.Shipped {
			what += ", shipped by the program"
		}
		o.Files = append(o.Files, fileDiff{text.OneLine(ch.File), what, site.Lines(text.Visible(strings.Join(ch.Lines, "\n")), true)})
	}
	for _, m := range f.Meaning {
		o.Meaning = append(o.Meaning, string(m.Mark)+": "+text.OneLine(m.Text)+placeOf(m))
	}
	for _, line := range f.Problems {
		o.Problems = append(o.Problems, text.Visible(line))
	}
	o.Command = "myc trust"
	switch {
	case f.First:
		o.Says = "Nothing of this folder was ever accepted. The first time is for a terminal in that folder."
	case len(o.Problems) > 0:
		o.Says += " They cannot be accepted as they are."
	default:
		c.Sure = boxOf(f.Demand())
		o.Fields = []hidden{{"digest", f.Digest}}
		o.Buttons = []button{{"accept", "Put this in force", "y", "first"}}
		o.Effect = "Exactly these bytes are in force then, at once."
	}
	return c
}

// placeOf says where a change stands, in parentheses.
func placeOf(m meaning.Change) string {
	switch {
	case m.File == "":
		return ""
	case m.Line > 0:
		return fmt.Sprintf(" (%s:%d)", text.OneLine(m.File), m.Line)
	}
	return " (" + text.OneLine(m.File) + ")"
}

// workCard is work of the swarm that waits for a person.
func workCard(p state.Paths, w api.WaitingWork) card {
	risk, title := policy.Low, "feature "+w.Feature
	if w.Feature == "" {
		title, risk = "work of the session "+w.Session, policy.Medium
	}
	if len(w.Governing) > 0 || slices.Contains(w.Choices, api.LetLand) {
		risk = policy.High
	}
	c := newCard(p, kindWork, w.Session+"\x00"+w.Feature, title, risk)
	c.Digest, c.Created = w.Mark, w.Since
	c.Lines = site.Lines(text.Visible(withoutHeads(w.Diff)), true)
	o := c.Other
	o.What, o.Says = "work of the swarm", text.Visible(w.Reason)
	if d := text.Visible(w.Description); d != "" {
		o.Meaning = append(o.Meaning, d)
	}
	for _, f := range w.Files {
		what := fmt.Sprintf("+%d -%d", f.Added, f.Deleted)
		if slices.Contains(w.Governing, f.Path) {
			what += ", governs agents"
		}
		o.Files = append(o.Files, fileDiff{Name: text.OneLine(f.Path), What: what})
	}
	for _, plan := range w.Plans {
		o.Plans = append(o.Plans, text.Visible(plan))
	}
	o.Fields = []hidden{{"session", w.Session}, {"feature", w.Feature}, {"digest", w.Mark}}
	for i, word := range w.Choices {
		b := button{Value: string(word)}
		c.Sure = cmp.Or(c.Sure, boxOf(w.Demand(word)))
		switch word {
		case api.LetLand:
			b.Text, o.Command = "Let it land", "myc swarm merge "+text.OneLine(w.Feature)
			o.Effect = "This very commit lands, with the files that govern agents. They have no effect before somebody accepts them too."
		case api.TryAgain:
			b.Text = "Have it done anew"
			o.Command = cmp.Or(o.Command, "myc swarm retry "+text.OneLine(w.Feature))
		case api.TakeOver:
			b.Text, o.Command = "Take it into "+text.OneLine(w.Into), "myc swarm merge"
			o.Effect = "The branch is moved forward to what has landed, if it has not moved since. The session is closed by that."
			o.Folded = "The difference: " + text.Count(len(w.Files), "file")
		case api.WithoutIt:
			b.Text, o.Reason = "Go on without a plan", true
		case api.LeaveOut:
			b.Text, b.Key, b.Class = "Keep it out", "n", "deny"
			o.Effect += " What is kept out is not offered again before something changes."
		}
		if i == 0 {
			b.Key, b.Class = "y", "first"
		}
		o.Buttons = append(o.Buttons, b)
	}
	return c
}

// withoutHeads returns a difference of git without the lines above the first hunk of each file that name the file again, because they look
// like lines that change. Every line of a hunk stays, also one whose own text begins with -- or ++.
func withoutHeads(diff string) string {
	head := false
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(diff, "\n")) {
		switch {
		case strings.HasPrefix(line, "diff --git "): // a line of a hunk begins with a space, + or -
			head = true
		case strings.HasPrefix(line, "@@ "):
			head = false
		case head && (strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "index ")):
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}
