package telegram

import (
	"context"
	"fmt"

	"github.com/go-telegram/bot/models"

	"mycelium/internal/approval"
)

// Wider is what the approval of a call can be generalised to.
func Wider(r approval.Request) []approval.Candidate {
	if list := approval.Candidates(r); len(list) > 1 {
		return list[1:] // the buttons of the request approve this call
	}
	return nil
}

// offerWider sends what the approval of a call can be generalised to, with what each would have allowed of the calls on record, and buttons
// for the session and for a rule.
func (s *answers) offerWider(ctx context.Context, r approval.Request, from *models.User, message int) reply {
	list := Wider(r)
	if r.State != approval.Pending || len(list) == 0 {
		return refused("This call can only be approved as it is.")
	}
	words := make([]string, len(list))
	if s.past != nil {
		var err error
		if words, err = s.past(ctx, r, list); err != nil {
			s.client.warn("the recorded calls were not read", err)
			return refused("What it would have allowed cannot be told: nothing was done. The log of the daemon says why.")
		}
	}
	p := (&page{}).of(r.Project).text("Approve more than this call? It holds for calls that do nothing else than this one does.\n")
	var choices []choice
	for i, c := range list {
		p.textf("%d. ", i+1).bold(string(c.As)).text(": " + approval.Short(c.Words, reasonRoom))
		if words[i] != "" {
			p.text(" – " + approval.Short(words[i], reasonRoom))
		}
		p.text("\n")
		for _, way := range []struct {
			label string
			reach approval.For
		}{{"for this session", approval.Session}, {"as a rule", approval.Rule}} {
			a := approval.Answer{Allow: true, For: way.reach, As: c.As, By: personOf(from)}
			choices = append(choices, choice{fmt.Sprintf("%d. %s, %s", i+1, c.As, way.label), func(ctx context.Context) string {
				return wordsOf(s.check(ctx, r, a, from.ID, message))
			}})
		}
	}
	s.picks.offer(p, from.ID, choices, false)
	if s.client.say(ctx, p, replyTo(message)) == 0 {
		return refused("The choices could not be sent.")
	}
	return said("Choose below.")
}

// wordsOf is the text of a reply.
func wordsOf(r reply) string {
	if r.page == nil {
		return ""
	}
	return r.page.b.String()
}
