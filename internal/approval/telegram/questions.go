package telegram

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-telegram/bot/models"

	"mycelium/internal/approval"
	"mycelium/internal/policy/sign"
	"mycelium/internal/text"
)

// question shows the question that is asked now and the answers before it.
func (p *page) question(r approval.Request, v *view) {
	p.text("❓ ").bold("Asks you").text("\n").who(r)
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

// questionButtons adds a button for each option of the question that is asked now.
func (p *page) questionButtons(r approval.Request, v *view) {
	if v.at < len(r.Questions) {
		q := r.Questions[v.at]
		for k, o := range q.Options {
			label := approval.Short(o, optionRoom)
			if strings.TrimSpace(label) == "" { // Telegram refuses a message with a button that shows no text
				label = fmt.Sprintf("%d.", k+1)
			}
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

// choose handles a tap on an option or on Done.
func (s *answers) choose(ctx context.Context, r approval.Request, p tap, from *models.User) reply {
	if r.Kind != approval.Question || r.State != approval.Pending {
		return s.check(ctx, r, approval.Answer{Allow: true, By: personOf(from)}, from.ID, 0) // the queue refuses it and says why
	}
	if p.first >= len(r.Questions) || p.verb == tapOption && p.second >= len(r.Questions[p.first].Options) {
		return refused("There is no such option.")
	}
	q := r.Questions[p.first]
	next, problem := false, ""
	s.views.change(r.ID, func(v *view) {
		v.grow(len(r.Questions))
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
		return refused(problem)
	}
	if !next {
		s.outbox.touch(r.ID)
		return reply{}
	}
	return s.nextQuestion(ctx, r, p.first, personOf(from))
}

// typed handles an answer in a person's own words. For a question that takes several options, the words are one more of them.
func (s *answers) typed(ctx context.Context, m *models.Message, r approval.Request, text string) reply {
	at, many := 0, false
	s.views.change(r.ID, func(v *view) {
		v.grow(len(r.Questions))
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
		return s.check(ctx, r, approval.Answer{Allow: true, By: personOf(m.From), Text: text}, m.From.ID, m.ID)
	case at >= len(r.Questions):
		return refused("Every question is answered already.")
	case many:
		s.outbox.touch(r.ID)
	default:
		if next := s.nextQuestion(ctx, r, at, personOf(m.From)); next.refused {
			return next
		}
	}
	return reply{}
}

// nextQuestion moves on from question i. After the last question it gives the whole answer. If two people answer at once, the first one
// counts.
func (s *answers) nextQuestion(ctx context.Context, r approval.Request, i int, by string) reply {
	var answer string
	moved := false
	s.views.change(r.ID, func(v *view) {
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
		return refused("That question was answered already.")
	case answer == "":
		s.outbox.touch(r.ID)
		return reply{}
	}
	result := s.give(ctx, r, approval.Answer{Allow: true, By: by, Via: Via, Digest: r.Digest, Text: answer}, sign.None)
	if result.refused { // the last question can be answered again
		s.views.change(r.ID, func(v *view) { v.at = i })
		s.outbox.touch(r.ID)
	}
	return result
}

// whole returns the answers to all questions, as the agent reads them.
func (v *view) whole(r approval.Request) string {
	var b strings.Builder
	for i, q := range r.Questions {
		fmt.Fprintf(&b, "%s → %s\n", q.Text, v.answered(r, i))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
