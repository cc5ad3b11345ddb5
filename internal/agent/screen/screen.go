// Package screen is the chat: what was said and done above, the person's line below. It draws the events of an engine as they come, asks
// the person about calls that wait, and runs the commands of package slash.
//
// Only what is visible is drawn, and a part of the conversation that is finished is drawn once for a width.
package screen

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/agent"
	"mycelium/internal/agent/slash"
	"mycelium/internal/approval"
	"mycelium/internal/approval/terminal"
	"mycelium/internal/transcript"
)

// Options configure [Run].
type Options struct {
	// Open begins a conversation, goes on with a saved one, or goes on with the present one in another way. It closes the engine before.
	Open  func(ctx context.Context, s slash.Start, ask Ask) (Talk, error)
	Slash *slash.Set
	// Approvals say how calls that wait are answered. Watch tells of the requests of all sessions; nil: nobody answers here.
	Approvals terminal.Options
	// Files returns the files that may complete a beginning, of those that the session may read; nil: none are completed.
	Files func(ctx context.Context, begun string) []string

	First   slash.Start // the first conversation
	History string      // file of what the person wrote before; empty: none is kept
	Title   string      // the project
	Plain   bool        // without colours
}

// Ask asks the person whether a skill may be active that their text asked for, and waits for the answer.
type Ask func(ctx context.Context, skill string) bool

// Talk is a conversation with an engine.
type Talk struct {
	Engine  agent.Engine
	Session string // the gate's
	Model   string
	Skills  agent.Skills         // as it begins
	Past    []transcript.Message // what was said before
}

// framesPerSecond bounds how often the screen is drawn. It is the most that Bubble Tea takes: at its default of 60, a key alone waits up to
// 17 ms for its frame.
const framesPerSecond = 120

// Run shows the chat until the person ends it or ctx is done.
func Run(ctx context.Context, in io.Reader, out io.Writer, environ []string, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := newChat(ctx, o)
	p := terminal.NewProgram(c, out, tea.WithContext(ctx), tea.WithInput(in), tea.WithEnvironment(environ),
		tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond))
	c.send = p.Send
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		if o.Approvals.Watch != nil {
			if err := o.Approvals.Watch(ctx, func(r approval.Request) { p.Send(r) }); err != nil && ctx.Err() == nil {
				p.Send(failedMsg{err})
			}
		}
	}()
	err := terminal.Run(p, out)
	cancel()
	<-watching
	c.running.Wait()
	if c.talk.Engine != nil {
		err = errors.Join(err, c.talk.Engine.Close())
	}
	if c.fatal != nil {
		return c.fatal
	}
	if errors.Is(err, tea.ErrProgramKilled) && context.Cause(ctx) != nil {
		return nil
	}
	return err
}
