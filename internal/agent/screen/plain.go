package screen

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mycelium/internal/agent"
	"mycelium/internal/agent/ink"
	"mycelium/internal/agent/slash"
	"mycelium/internal/approval"
	"mycelium/internal/text"
)

// Lines is the chat in plain lines, for where the output is no terminal: each line of the input is a command or a text for the agent. What
// waits for a person is answered elsewhere.
func Lines(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	p := &plain{o: o, out: out, in: bufio.NewReader(in)}
	if err := p.open(ctx, o.First); err != nil {
		return err
	}
	defer func() { _ = p.talk.Engine.Close() }()
	for ctx.Err() == nil {
		fmt.Fprint(out, "myc> ")
		line, err := p.in.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			if p.take(ctx, line) {
				return nil
			}
		}
		if err != nil {
			fmt.Fprintln(out)
			return nil //nolint:nilerr // the input has ended
		}
	}
	return nil
}

// plain is the state of such a chat.
type plain struct {
	o      Options
	out    io.Writer
	in     *bufio.Reader
	talk   Talk
	skills agent.Skills
	spent  agent.Spent
	turns  int
	inText bool // the answer is in the middle of a line
}

func (p *plain) open(ctx context.Context, s slash.Start) error {
	talk, err := p.o.Open(ctx, s, p.ask)
	if err != nil {
		return err
	}
	p.talk, p.skills = talk, talk.Skills
	_ = p.o.Slash.Load(ctx) // a role that hides them has none
	return nil
}

// ask is [Ask]: the answer is the next line.
func (p *plain) ask(_ context.Context, skill string) bool {
	p.line("This asks for the skill " + text.OneLine(skill) + ". Activate it? [y/N] ")
	answer, _ := p.in.ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(answer), "y")
}

// take runs one line, and reports whether the chat ends.
func (p *plain) take(ctx context.Context, line string) (quit bool) {
	if !slash.IsCommand(line) {
		p.turns++
		p.line(headline(p.skills.Active).Raw())
		turn, err := p.talk.Engine.Say(ctx, line, p.event)
		switch {
		case err != nil:
			p.fail(err)
		case turn.Stop != "" && turn.Stop != agent.StopEnd:
			p.line("· " + stopped(turn.Stop))
		}
		p.line("")
		return false
	}
	now := slash.Now{Session: p.talk.Session, Conversation: p.talk.Engine.ID(), Engine: p.talk.Engine.Name(), Model: p.talk.Model,
		Role: p.skills.Role, Skills: p.skills.Active, Turns: p.turns, Spent: p.spent}
	r, err := p.o.Slash.Do(ctx, now, line)
	for err == nil && r.Choose != nil {
		r, err = p.choose(ctx, r.Choose)
	}
	if err == nil && r.Text != "" {
		p.line(ink.Clean(r.Text))
	}
	if err == nil && r.Next != nil {
		err = p.reopen(ctx, *r.Next)
	}
	if err != nil {
		p.fail(err)
	}
	return err == nil && r.Quit
}

// choose asks for a number.
func (p *plain) choose(ctx context.Context, c *slash.Choice) (slash.Result, error) {
	for i, o := range c.Options {
		mark := " "
		if o.Current {
			mark = "✓"
		}
		p.line(fmt.Sprintf("%s %d  %s  %s", mark, i+1, text.OneLine(o.Name), text.Flatten(text.FirstLine(o.About))))
	}
	fmt.Fprint(p.out, "number: ")
	line, _ := p.in.ReadString('\n')
	n, _ := strconv.Atoi(strings.TrimSpace(line)) // 0 where it is no number
	if n < 1 || n > len(c.Options) {
		return slash.Result{Text: "Nothing was chosen."}, nil
	}
	return c.Then(ctx, c.Options[n-1].ID)
}

func (p *plain) reopen(ctx context.Context, s slash.Start) error {
	return p.open(ctx, s.After(p.talk.Engine.ID(), p.talk.Model))
}

// line ends the line of the answer and writes one more.
func (p *plain) line(s string) {
	if p.inText {
		fmt.Fprintln(p.out)
		p.inText = false
	}
	fmt.Fprintln(p.out, strings.TrimRight(s, " "))
}

func (p *plain) fail(err error) {
	p.line("✗ " + text.OneLine(err.Error()))
	if hint := text.HintOf(err); hint != "" {
		p.line("  " + text.OneLine(hint))
	}
}

// event writes one event of a turn.
func (p *plain) event(e agent.Event) {
	switch {
	case e.Text != "":
		fmt.Fprint(p.out, ink.Clean(e.Text))
		p.inText = !strings.HasSuffix(e.Text, "\n")
	case e.Call != nil:
		p.line("○ " + text.OneLine(e.Call.Tool) + " " + Gist(e.Call.Args))
	case e.Waiting != nil:
		p.line("· waits for an approval: myc approvals approve " + text.OneLine(e.Waiting.Request))
	case e.Done != nil && e.Done.Failed:
		p.line("✗ " + approval.Short(e.Done.Text, 200))
	case e.Done != nil:
		p.line("✓ " + approval.Short(text.FirstLine(e.Done.Text), 100))
	case e.Skills != nil:
		if n := (change{skills: *e.Skills}); len(e.Skills.Added)+len(e.Skills.Removed) > 0 {
			p.line(n.line().Raw())
		}
		p.skills = *e.Skills
	case e.Note != "":
		p.line("· " + text.OneLine(e.Note))
	case e.Spent != nil:
		p.spent = *e.Spent
	}
}
