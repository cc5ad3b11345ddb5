package telegram

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-telegram/bot/models"

	"mycelium/internal/approval"
	"mycelium/internal/text"
)

// clone copies a view as deep as anybody changes it.
func (v *view) clone() view {
	c := *v
	c.typed, c.late = slices.Clone(v.typed), slices.Clone(v.late)
	c.chosen = make([]map[int]bool, len(v.chosen))
	for i, m := range v.chosen {
		c.chosen[i] = maps.Clone(m)
	}
	return c
}

// fit makes room for the answers to n questions.
func (v *view) fit(n int) {
	for len(v.chosen) < n {
		v.chosen = append(v.chosen, map[int]bool{})
	}
	for len(v.typed) < n {
		v.typed = append(v.typed, "")
	}
}

// answered is what was answered to a question so far.
func (v *view) answered(r approval.Request, i int) string {
	if i >= len(v.chosen) {
		return ""
	}
	var some []string
	for _, k := range slices.Sorted(maps.Keys(v.chosen[i])) {
		if k < len(r.Questions[i].Options) {
			some = append(some, r.Questions[i].Options[k])
		}
	}
	if v.typed[i] != "" {
		some = append(some, v.typed[i])
	}
	return strings.Join(some, ", ")
}

// questionPage shows the question that is asked now, and what was answered before.
func (t *Bot) questionPage(p *page, r approval.Request, v *view) {
	p.text("❓ ").bold("Asks you").text("\n")
	t.who(p, r)
	for i, q := range r.Questions {
		switch {
		case r.State != approval.Pending || i > v.at:
			p.text("· " + approval.Short(q.Text, 200) + "\n")
		case i < v.at:
			p.text("✔ " + approval.Short(q.Text, 200) + " → ").bold(approval.Short(v.answered(r, i), 200)).text("\n")
		default:
			if q.Header != "" {
				p.bold(approval.Short(q.Header, 60)).text(": ")
			}
			shown, _ := ends(text.Visible(q.Text), 600)
			p.text(shown + "\n")
			for k, o := range q.Options {
				p.textf("%d. %s\n", k+1, approval.Short(o, 150))
			}
			if v.at < len(v.typed) && v.typed[v.at] != "" {
				p.text("Also: " + approval.Short(v.typed[v.at], 200) + "\n")
			}
		}
	}
	if r.State == approval.Pending {
		if len(r.Questions) == 0 {
			p.text(approval.Short(r.Text, 600) + "\n")
		}
		p.text("Or reply to this message in your own words.\n")
	}
}

// questionButtons are one button for each option of the question that is asked now.
func (t *Bot) questionButtons(p *page, r approval.Request, v *view) {
	if v.at < len(r.Questions) {
		q := r.Questions[v.at]
		for k, o := range q.Options {
			label := approval.Short(o, optionRoom)
			if q.Many {
				label = yesNo(v.at < len(v.chosen) && v.chosen[v.at][k], "☑ ", "☐ ") + label
			}
			p.row(button{label, tapData(tapOption, r.ID, fmt.Sprintf("%d.%d", v.at, k))})
		}
		if q.Many {
			p.row(button{"✅ Done", tapData(tapDone, r.ID, itoa(int64(v.at)))})
		}
	}
	p.row(button{"❌ Do not answer", tapData(tapDeny, r.ID, "")})
}

// chose takes a tap on an option, or on Done.
func (t *Bot) chose(ctx context.Context, r approval.Request, p tap, from *models.User) (said string, alert bool) {
	if r.Kind != approval.Question || r.State != approval.Pending {
		return t.settle(ctx, r, approval.Answer{Allow: true, By: personOf(from)}, from.ID, 0) // says by whom and when it was settled
	}
	if p.first >= len(r.Questions) || p.verb == tapOption && p.second >= len(r.Questions[p.first].Options) {
		return "There is no such option.", true
	}
	q := r.Questions[p.first]
	next, problem := false, ""
	t.change(r.ID, func(v *view) {
		v.fit(len(r.Questions))
		switch {
		case v.at != p.first:
			problem = "That question was answered already."
		case p.verb == tapOption && q.Many:
			if v.chosen[p.first][p.second] {
				delete(v.chosen[p.first], p.second)
			} else {
				v.chosen[p.first][p.second] = true
			}
		case p.verb == tapOption:
			v.chosen[p.first] = map[int]bool{p.second: true}
			next = true
		case !q.Many || v.answered(r, p.first) == "":
			problem = "Choose at least one option, or reply in your own words."
		default:
			next = true
		}
	})
	if problem != "" {
		return problem, true
	}
	if !next {
		t.touch(r.ID)
		return "", false
	}
	return t.nextQuestion(ctx, r, p.first, personOf(from))
}

// typedAnswer takes an answer in a person's own words. Where several options may be chosen it stands beside them.
func (t *Bot) typedAnswer(ctx context.Context, m *models.Message, r approval.Request, text string) {
	at, many := 0, false
	t.change(r.ID, func(v *view) {
		v.fit(len(r.Questions))
		if at = v.at; at >= len(r.Questions) {
			return
		}
		v.typed[at] = text
		if many = r.Questions[at].Many; !many {
			v.chosen[at] = map[int]bool{}
		}
	})
	switch {
	case len(r.Questions) == 0:
		t.settleByText(ctx, m, r, approval.Answer{Allow: true, By: personOf(m.From), Text: text})
	case at >= len(r.Questions):
		t.refuse(ctx, m.From.ID, m.ID, "Every question is answered already.")
	case many:
		t.touch(r.ID)
	default:
		if said, refused := t.nextQuestion(ctx, r, at, personOf(m.From)); refused {
			t.refuse(ctx, m.From.ID, m.ID, said)
		}
	}
}

// nextQuestion goes on after question i, and gives the whole answer after the last. Two people who answer at once answer one
// question once.
func (t *Bot) nextQuestion(ctx context.Context, r approval.Request, i int, by string) (said string, alert bool) {
	var answer string
	moved := false
	t.change(r.ID, func(v *view) {
		if v.at != i {
			return
		}
		moved = true
		if v.at++; v.at == len(r.Questions) {
			answer = v.whole(r)
		}
	})
	switch {
	case !moved:
		return "That question was answered already.", true
	case answer == "":
		t.touch(r.ID)
		return "", false
	}
	said, alert = t.settleNow(ctx, r, approval.Answer{Allow: true, By: by, Via: viaTelegram, Digest: r.Digest, Text: answer})
	if alert { // it was not taken: the last question can be answered again
		t.change(r.ID, func(v *view) { v.at = i })
		t.touch(r.ID)
	}
	return said, alert
}

// whole is every answer, for the agent.
func (v *view) whole(r approval.Request) string {
	var b strings.Builder
	for i, q := range r.Questions {
		fmt.Fprintf(&b, "%s → %s\n", q.Text, v.answered(r, i))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
