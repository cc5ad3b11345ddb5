package logs

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/audit/index"
	"mycelium/internal/text"
	"mycelium/internal/web/site"
)

// fields are the fields of the filter; the second list has those that are needed seldom. Their names are the flags of myc audit query.
func fields() (often, seldom []field) {
	return []field{{Name: "tool", Label: "Tool", Hint: "files__*"}, {Name: "role", Label: "Role", Hint: "guest"},
			{Name: "since", Label: "Since", Hint: "24h, 7d, 2026-11-21T10:00:00Z"}, {Name: "until", Label: "Until", Hint: "1h"},
			{Name: "text", Label: "Words of the reasoning"}},
		[]field{{Name: "session", Label: "Session", Hint: "d3f*"}, {Name: "agent", Label: "Agent", Hint: "claude"},
			{Name: "program", Label: "Program", Hint: "git"}, {Name: "host", Label: "Host", Hint: "*.example.org"},
			{Name: "path", Label: "File", Hint: "/etc/*, src/main.go"}, {Name: "rule", Label: "Rule"},
			{Name: "arg", Label: "Argument", Hint: "command=*push*"}}
}

// fill writes into the filter what a form has.
func (l *recordList) fill(form url.Values) {
	l.Fields, l.More = fields()
	for _, list := range [][]field{l.Fields, l.More} {
		for i := range list {
			list[i].Value = text.OneLine(form.Get(list[i].Name))
		}
	}
	l.MoreOpen = slices.ContainsFunc(l.More, func(f field) bool { return f.Value != "" })
	for _, c := range []struct {
		name, label string
		words       []string
	}{{"outcome", "Outcome", index.Outcomes()}, {"effect", "Decision", index.Effects()}, {"by", "Decided by", index.Deciders()},
		{"thinking-type", "Reasoning", index.Reasonings()}} {
		list := choice{Name: c.name, Label: c.label}
		for _, word := range append([]string{""}, c.words...) {
			list.Options = append(list.Options, site.Choice{Value: word, Text: cmp.Or(strings.ReplaceAll(word, "_", " "), "any"),
				Chosen: word == form.Get(c.name)})
		}
		l.Choices = append(l.Choices, list)
	}
}

// filterOf returns the part of a form that selects calls, without the place in the log.
func filterOf(form url.Values) url.Values {
	often, seldom := fields()
	out := url.Values{}
	for _, name := range append([]string{"outcome", "effect", "by", "thinking-type"}, namesOf(append(often, seldom...))...) {
		for _, value := range form[name] {
			if value != "" {
				out.Add(name, value)
			}
		}
	}
	return out
}

func namesOf(list []field) (out []string) {
	for _, f := range list {
		out = append(out, f.Name)
	}
	return out
}

// queryOf returns the query of a form. It asks for one call more than a page has.
func queryOf(form url.Values, now time.Time) (q index.Query, err error) {
	q = index.Query{Role: form.Get("role"), Tool: form.Get("tool"), Session: form.Get("session"), Outcome: form.Get("outcome"),
		Effect: form.Get("effect"), Rule: form.Get("rule"), By: form.Get("by"), ThinkingType: form.Get("thinking-type"),
		Text: form.Get("text"), Limit: logPage + 1}
	q.Filter = index.Filter{Agent: form.Get("agent"), Program: form.Get("program"), Host: form.Get("host"), Path: form.Get("path")}
	for _, arg := range form["arg"] {
		if name, _, ok := strings.Cut(arg, "="); arg != "" && (!ok || name == "") {
			return q, fmt.Errorf("the argument %q is not NAME=VALUE", arg)
		} else if arg != "" {
			q.Args = append(q.Args, arg)
		}
	}
	if q.Since, err = text.ParseTime(form.Get("since"), now); err != nil {
		return q, fmt.Errorf("since: %w", err)
	}
	if q.Until, err = text.ParseTime(form.Get("until"), now); err != nil {
		return q, fmt.Errorf("until: %w", err)
	}
	number := func(name string) int64 { // what is no number is no bound
		n, _ := strconv.ParseInt(form.Get(name), 10, 64)
		return max(0, n)
	}
	q.Before, q.After = number("before"), number("after")
	q.OldestFirst = q.After != 0
	if only := number("only"); only != 0 {
		q.Before, q.After, q.OldestFirst = only+1, only-1, false
	}
	return q, nil
}
