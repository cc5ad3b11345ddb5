package review

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/text"
)

// Choice says which issues are to be mended (requirements, C54).
type Choice struct {
	Indices []int      // of Issues; with them, Min and Type do not matter
	All     bool       // all that Min and Type leave, and that no feature mends yet
	Min     book.Level // the least severity; "": warning
	Type    string     // of the reviews; "": both
	By      string     // what makes a feature of several issues: file (""), or category
}

// Found is an issue of the last reviews.
type Found struct {
	Index       int    `json:"index"`
	Type        string `json:"type"`
	*book.Issue        // in the session
}

// Issues are the issues of the last review of each type, as far as a choice leaves them. Their indices do not depend on it.
func Issues(s *book.Session, c Choice) ([]Found, error) {
	all := book.Levels()
	least := slices.Index(all, cmp.Or(c.Min, book.Warning))
	switch {
	case least < 0:
		return nil, fmt.Errorf("there is no severity %q: it is one of %s", c.Min, joined(all))
	case c.Type != "" && !slices.Contains(Names(), c.Type):
		return nil, fmt.Errorf("there is no review %q: it is one of %s", c.Type, strings.Join(Names(), ", "))
	case !slices.Contains([]string{"", "file", "category"}, c.By):
		return nil, fmt.Errorf("issues are grouped by file or by category, not by %q", c.By)
	}
	out := []Found{}
	n := 0
	for _, t := range Names() {
		r := s.Review(t)
		if r == nil || r.Findings == nil {
			continue
		}
		for i := range r.Findings.Issues {
			issue := &r.Findings.Issues[i]
			if chosen := slices.Contains(c.Indices, n); chosen || len(c.Indices) == 0 && slices.Index(all, issue.Severity) >= least &&
				(c.Type == "" || c.Type == t) {
				out = append(out, Found{n, t, issue})
			}
			n++
		}
	}
	for _, i := range c.Indices {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("there is no issue %d: the last reviews have %s, counted from 0", i, text.Count(n, "issue"))
		}
	}
	return out, nil
}

// Bounds of a feature that mends issues: the description is that of requirements, C54; the details are within what a plan may have.
const (
	maxDescription = 200   // characters
	maxDetails     = 19000 // characters, of the 20,000 of a plan
)

// Implement makes features of the issues that a choice names, one for each file or category, and has the session go on with them. It
// returns their ids. by is who wants them.
func Implement(s *book.Session, c Choice, by string) (ids []string, events []book.Event, err error) {
	if !c.All && len(c.Indices) == 0 {
		return nil, nil, fmt.Errorf("no issue is chosen")
	}
	found, err := Issues(s, c)
	if err != nil {
		return nil, nil, err
	}
	found = slices.DeleteFunc(found, func(f Found) bool { return f.Feature != "" && c.All })
	if i := slices.IndexFunc(found, func(f Found) bool { return f.Feature != "" }); i >= 0 {
		return nil, nil, fmt.Errorf("issue %d is mended by feature %s already", found[i].Index, found[i].Feature)
	}
	if len(found) == 0 {
		return nil, nil, fmt.Errorf("there is no such issue that no feature mends yet")
	}
	if err := s.Reopen(); err != nil {
		return nil, nil, err
	}
	p := s.Plan()
	for _, group := range grouped(found, c.By) {
		f := feature(fixID(p), group)
		if p, err = p.Add(f, ""); err != nil {
			return nil, nil, err
		}
		for _, g := range group {
			g.Feature = f.ID
		}
		s.Features = append(s.Features, &book.Feature{Feature: f, State: book.Pending})
		ids = append(ids, f.ID)
		events = append(events, book.Event{Kind: "plan", Feature: f.ID, Text: by + " wants it: " + f.Description})
	}
	return ids, events, nil
}

// fixID is the first id fix-N that is free.
func fixID(p plan.Plan) string {
	for n := 1; ; n++ {
		id := fmt.Sprintf("fix-%d", n)
		if _, taken := p.Feature(id); !taken {
			return id
		}
	}
}

// grouped are the issues by their file or their category, in the order of the first of each, as many together as one feature may have.
func grouped(found []Found, by string) (out [][]Found) {
	at, size := map[string]int{}, map[string]int{}
	for _, f := range found {
		key := about(f, by)
		n := len([]rune(told(f)))
		if i, ok := at[key]; ok && size[key]+n <= maxDetails {
			out[i] = append(out[i], f)
			size[key] += n
			continue
		}
		at[key], size[key] = len(out), n
		out = append(out, []Found{f})
	}
	return out
}

// about is what an issue is grouped by.
func about(f Found, by string) string {
	if by == "category" || f.File == "" {
		return f.Category
	}
	return f.File
}

// feature is a feature that mends issues of one group.
func feature(id string, group []Found) plan.Feature {
	first := group[0]
	what := first.Type + " review: " + text.Flatten(first.Message)
	if len(group) > 1 {
		what = fmt.Sprintf("%s review, %d issues, the first: %s", first.Type, len(group), text.Flatten(first.Message))
	}
	out := plan.Feature{ID: id}
	var b strings.Builder
	b.WriteString("A review of what has landed found this. Look at each place before you change it: the review may be wrong, and then say " +
		"so.\n")
	for _, f := range group {
		b.WriteString(told(f))
		if f.File != "" && !slices.Contains(out.Files, f.File) && len(out.Files) < 50 {
			out.Files = append(out.Files, f.File)
		}
	}
	if len(out.Files) == 1 {
		what = path.Base(out.Files[0]) + ", " + what
	}
	out.Description, out.Details = text.TruncateRunes("Mend "+what, maxDescription), b.String()
	return out
}

// told is an issue as the worker is told of it that is to mend it.
func told(f Found) string {
	where := f.File
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	said := fmt.Sprintf("\n- %s, %s", f.Severity, f.Category)
	if where != "" {
		said += ", " + where
	}
	said += "\n  " + text.TruncateRunes(text.Flatten(f.Message), maxSays) + "\n"
	if f.Suggestion != "" {
		said += "  Suggestion: " + text.TruncateRunes(text.Flatten(f.Suggestion), maxSays) + "\n"
	}
	return said
}
