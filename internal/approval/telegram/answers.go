package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"mycelium/internal/approval"
	"mycelium/internal/policy/sign"
	"mycelium/internal/text"
)

// answers turns taps and texts about requests into answers, and gives them to the queue. It does not change messages: the [outbox] does
// that when the queue reports the change.
type answers struct {
	queue  Queue
	client *client
	outbox *outbox
	views  *views
	pins   *pins
	picks  *picks
	render renderer
	// control answers the agents' own terminals; it may be nil.
	control approval.AgentControl
	past    func(ctx context.Context, r approval.Request, list []approval.Candidate) ([]string, error)          // see [Options.Past]
	read    func(ctx context.Context, r approval.Request, text string) (approval.Reply, error)                  // see [Options.Read]
	adopt   func(ctx context.Context, r approval.Request, p approval.Reply, by string) (what string, err error) // see [Options.Adopt]
}

// tap handles a tap on a button of a request.
func (s *answers) tap(ctx context.Context, r approval.Request, p tap, from *models.User, message int) reply {
	a := approval.Answer{By: personOf(from)}
	switch p.verb {
	case tapDetails:
		return s.showDetails(ctx, r, message)
	case tapWider:
		return s.offerWider(ctx, r, from, message)
	case tapOption, tapDone:
		return s.choose(ctx, r, p, from)
	case tapApprove:
		a.Allow = true
	case tapSession:
		a.Allow, a.For = true, approval.Session
	case tapRule:
		a.Allow, a.For = true, approval.Rule
	case tapNever:
		a.For = approval.Never
	}
	return s.check(ctx, r, a, from.ID, message)
}

// text handles a text about a request.
func (s *answers) text(ctx context.Context, m *models.Message, id, text string) reply {
	r, err := s.queue.Show(ctx, id)
	var away *AwayError
	switch {
	case errors.As(err, &away):
		return refusedAway(away)
	case err != nil:
		return refused("That request is not known any more: nothing was done.")
	case r.State == approval.Pending && r.Kind == approval.Stop:
		return s.check(ctx, r, approval.Answer{Allow: true, By: personOf(m.From), Text: text}, m.From.ID, m.ID)
	case r.State == approval.Pending && r.Kind == approval.Question:
		return s.typed(ctx, m, r, text)
	}
	return s.understood(ctx, m, r, text)
}

// there handles a text about a question of an agent's own terminal, which is answered by the keys of its dialog.
func (s *answers) there(ctx context.Context, m *models.Message, id, text string) reply {
	if s.control == nil {
		return refused("Agents cannot be answered here: nothing was typed.")
	}
	r, ok := s.control.Question(ctx, id)
	if !ok {
		return refused("That question is over, or I do not know it any more: nothing was typed.")
	}
	return s.understood(ctx, m, r, text)
}

// understood gives the answer that a text means.
func (s *answers) understood(ctx context.Context, m *models.Message, r approval.Request, text string) reply {
	buttons := "Use the buttons."
	if strings.HasPrefix(r.ID, approval.TerminalPrefix) {
		buttons = "Reply yes or no."
	}
	if s.read == nil {
		return refused("This bot does not read texts about requests. Use the buttons, or the agent's own terminal.")
	}
	by := personOf(m.From)
	p, err := s.read(ctx, r, text)
	if err != nil {
		s.client.warn("a reply could not be understood", err)
		return refused("I could not find out what that means: nothing was done. " + buttons)
	}
	if p.Doubt {
		return refused(strings.TrimSpace("I am not sure that this is a yes: nothing was done. " + buttons + " " + approval.Short(p.Why, 200)))
	}
	a := approval.Answer{By: by, Reason: approval.Short(m.Text, 200)}
	switch p.Kind {
	case approval.ReplyApprove:
		a.Allow = true
	case approval.ReplyDeny:
	case approval.ReplyInstruction:
		a.Reason, a.Text = "told to do something else", cmp.Or(p.Text, m.Text)
	case approval.ReplyPolicy, approval.ReplyRule:
		return s.write(ctx, r, p, by)
	default:
		return refused("I did not understand that: nothing was done. " + buttons)
	}
	return s.check(ctx, r, a, m.From.ID, m.ID)
}

// write adopts the policy or rule that a person gave.
func (s *answers) write(ctx context.Context, r approval.Request, p approval.Reply, by string) reply {
	if s.adopt == nil {
		return refused("No policy can be written here.")
	}
	what, err := s.adopt(ctx, r, p, by)
	if err != nil {
		s.client.warn("a policy was not written", err)
		return refused("It was not written: " + approval.Short(s.client.link.clean(err), 300))
	}
	more := ""
	if now, err := s.queue.Show(ctx, r.ID); err == nil && now.State == approval.Pending {
		more = "\nThe request still waits for its own answer."
	}
	return said("📜 Written: " + approval.Short(what, 500) + more)
}

// check gives an answer to the queue if this person has seen the whole request. Where the request demands a second sign, it asks for the
// PIN, or, if the bot has none, for another tap.
func (s *answers) check(ctx context.Context, r approval.Request, a approval.Answer, user int64, message int) reply {
	a.Via, a.Digest = Via, r.Digest
	if a.Allow && r.State == approval.Pending && r.Kind == approval.Call {
		v := s.views.of(r.ID)
		if _, whole := s.render.request(r, v); !whole && !v.opened {
			if strings.HasPrefix(r.ID, approval.TerminalPrefix) {
				return refused("Not everything fits into my message: approve it at its own terminal, where you see the rest.")
			}
			return refused("Not everything is shown. Press “Show the rest” first: you approve what you have seen.")
		}
		switch d := r.Demand(); {
		case !d.Any():
		case s.pins.pin != "":
			return s.pins.ask(ctx, r, a, user, message)
		default:
			return s.askAgain(ctx, r, d, a, user, message)
		}
	}
	return s.give(ctx, r, a, sign.None)
}

// askAgain asks a person with a button of its own whether an approval is meant.
func (s *answers) askAgain(ctx context.Context, r approval.Request, d sign.Demand, a approval.Answer, user int64, message int) reply {
	p := (&page{}).of(r.Project).text("🔴 "+d.Asks()+"\n").bold(approval.Short(r.Tool, 60)).textf(" (%s)\n", shortID(r.ID))
	s.picks.offer(p, user, []choice{{"Yes, I have read it: allow it", func(ctx context.Context) string {
		return wordsOf(s.give(ctx, r, a, sign.Sure))
	}}}, true)
	if s.client.say(ctx, p, replyTo(message)) == 0 {
		return refused("The second question could not be sent: nothing was approved.")
	}
	return said("Answer the second question below.")
}

// give gives an answer to the queue, or to the agent's own terminal that asks, and returns what became of it.
func (s *answers) give(ctx context.Context, r approval.Request, a approval.Answer, second sign.Sign) reply {
	if strings.HasPrefix(r.ID, approval.TerminalPrefix) {
		did, err := s.control.AnswerThere(ctx, r.ID, a, second)
		if err != nil {
			return refused("Not answered: " + approval.Short(s.client.link.clean(err), 300))
		}
		return said(yesNo(a.Allow, "✅", "❌") + " Answered at its terminal: " + approval.Short(did, 500))
	}
	now, err := s.queue.Settle(ctx, r.ID, a, second)
	defer s.outbox.touch(r.ID)
	var late *approval.LateError
	switch {
	case errors.As(err, &late):
		verb := yesNo(a.Allow, "approval", "denial")
		if r.Kind != approval.Call {
			verb = "answer"
		}
		s.views.change(r.ID, func(v *view) {
			if len(v.late) < 3 {
				v.late = append(v.late, fmt.Sprintf("⚠️ Too late and refused: %s by %s at %s", verb, approval.Short(a.By, 60),
					s.render.clock(s.render.now())))
			}
		})
		return refused("Too late: " + late.Error())
	case err != nil:
		s.client.warn("an answer was not taken", err)
		return refused("Not done: " + approval.Short(s.client.link.clean(err), 150))
	}
	return said(text.FirstLine(s.render.outcome(now)))
}

// Bounds of the details of one request.
const (
	detailPages = 3       // messages; longer details are sent as a file
	detailRoom  = 3800    // UTF-16 code units of one message
	maxDetails  = 1 << 20 // bytes of the file
)

// showDetails sends everything about a request, and marks it as seen if that worked.
func (s *answers) showDetails(ctx context.Context, r approval.Request, message int) reply {
	text := s.render.details(r)
	if len(text) > maxDetails {
		return refused("That is too long for a chat. Look at it on the machine: myc approvals show " + r.ID)
	}
	if units(text) <= detailPages*detailRoom {
		for rest := text; rest != ""; {
			var head string
			head, rest = cut(rest, detailRoom)
			if s.client.say(ctx, (&page{}).pre("", head), replyTo(message)) == 0 {
				return refused("The details could not be sent.")
			}
		}
	} else if _, err := s.client.api.SendDocument(ctx, &bot.SendDocumentParams{
		ChatID: s.client.chat, Document: &models.InputFileUpload{Filename: "request-" + r.ID + ".txt", Data: strings.NewReader(text)},
		ReplyParameters: &models.ReplyParameters{MessageID: message, AllowSendingWithoutReply: true},
	}); err != nil {
		s.client.warn("details were not sent", err)
		return refused("The details could not be sent.")
	}
	s.views.change(r.ID, func(v *view) { v.opened = true })
	s.outbox.touch(r.ID)
	return said("Sent")
}
