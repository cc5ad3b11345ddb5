package screen

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/agent"
	"mycelium/internal/agent/slash"
	"mycelium/internal/approval"
	"mycelium/internal/approval/terminal"
	"mycelium/internal/text"
)

// chat is the state of the screen.
type chat struct {
	o       Options
	ctx     context.Context
	fatal   error         // that ended the chat before it began
	send    func(tea.Msg) // from other goroutines
	running sync.WaitGroup

	paper
	height int

	talk   Talk
	skills agent.Skills
	spent  agent.Spent
	turns  int

	edit     editor
	history  *history
	complete completion
	menu     *menu
	asked    *terminal.Inline
	others   map[string]bool // requests of other sessions that wait
	armed    time.Time       // Enter before it is no answer: who was writing did not see the question yet
	picked   string          // the question that is shown, and the letter that was written for it
	offer    *offer
	always   bool            // the person wants no such question any more
	never    map[string]bool // nor about these skills

	cancel context.CancelFunc // of the turn or the command that runs; nil: none does
	began  time.Time
	frame  int    // of the sign that something runs
	queued bool   // Enter was pressed while something ran: the line is sent afterwards
	once   bool   // Ctrl-C was pressed, and pressed again it ends the chat
	hint   string // in place of the keys, until the next key
}

// The messages to the screen, besides keys, requests and events.
type (
	eventMsg struct{ agent.Event }
	endedMsg struct {
		turn agent.Turn
		err  error
	}
	resultMsg struct {
		result slash.Result
		err    error
	}
	openedMsg struct {
		talk  Talk
		clear bool
		err   error
	}
	filesMsg struct {
		begun string
		files []string
	}
	offerMsg  struct{ *offer }
	loadedMsg struct{ skills agent.Skills }
	failedMsg struct{ err error }
	tickMsg   struct{}
)

// offer asks whether a skill may be active that a text of the person asked for. The turn waits for it.
type offer struct {
	skill  string
	answer chan<- bool
}

func newChat(ctx context.Context, o Options) *chat {
	if o.Approvals.Now == nil {
		o.Approvals.Now = time.Now
	}
	return &chat{o: o, ctx: ctx, paper: paper{width: 80, plain: o.Plain}, height: 24, history: openHistory(o.History),
		asked:  terminal.NewInline(ctx, o.Approvals),
		others: map[string]bool{}, never: map[string]bool{}}
}

// begin shows a conversation from its beginning.
func (c *chat) begin(talk Talk) {
	c.talk, c.skills = talk, talk.Skills
	c.answer, c.chosen, c.calls = nil, nil, map[string]*call{}
	for _, m := range talk.Past {
		if m.Role == "user" {
			c.add(said{m.Content})
			continue
		}
		if m.Content != "" {
			c.stream(m.Content, c.skills.Active)
			c.answer = nil
		}
		for i := range m.Calls {
			c.past(&m.Calls[i])
		}
		c.headed = m.Role != "user"
	}
	c.answer, c.headed = nil, false
	if len(c.parts) == 0 {
		c.add(greeting{c.o.Title})
	}
}

// Init implements [tea.Model].
func (c *chat) Init() tea.Cmd {
	return c.start(func(context.Context) tea.Msg {
		talk, err := c.o.Open(c.ctx, c.o.First, c.ask)
		return openedMsg{talk, true, err}
	})
}

// load asks what the session is now, and which commands its skills bring.
func (c *chat) load() tea.Cmd {
	return func() tea.Msg {
		_ = c.o.Slash.Load(c.ctx) // a role that hides them has none
		now, err := c.o.Slash.Standing(c.ctx)
		if err != nil {
			return nil // the next turn says it
		}
		return loadedMsg{agent.Skills{Role: now.Role, Active: now.Active}}
	}
}

// Update implements [tea.Model].
func (c *chat) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		c.width, c.height = max(msg.Width, 20), max(msg.Height, 6)
	case tea.KeyPressMsg:
		return c, c.key(msg)
	case tea.PasteMsg:
		if c.asked.Types() {
			return c, c.asked.Update(msg)
		}
		c.edit.insert(msg.Content)
		return c, c.suggest()
	case eventMsg:
		return c, c.event(msg.Event)
	case endedMsg:
		return c, c.ended(msg)
	case resultMsg:
		return c, c.resulted(msg)
	case openedMsg:
		return c, c.opened(msg)
	case filesMsg:
		c.complete.files(msg.begun, msg.files)
	case approval.Request:
		c.request(msg)
	case offerMsg:
		c.offered(msg.offer)
	case failedMsg:
		c.fail(msg.err)
	case tickMsg:
		if c.cancel != nil {
			c.frame++
			return c, tick()
		}
	case loadedMsg:
		c.changed(msg.skills)
	default:
		return c, c.asked.Update(msg)
	}
	return c, nil
}

// tick redraws the sign that something runs.
func tick() tea.Cmd {
	return tea.Tick(120*time.Millisecond, func(time.Time) tea.Msg { return tickMsg{} })
}

// start runs something that the person may cancel.
func (c *chat) start(do func(ctx context.Context) tea.Msg) tea.Cmd {
	ctx, cancel := context.WithCancel(c.ctx)
	c.cancel, c.began, c.scroll = cancel, time.Now(), 0
	c.running.Add(1)
	return tea.Batch(tick(), func() tea.Msg {
		defer c.running.Done()
		defer cancel()
		return do(ctx)
	})
}

// submit takes what the person wrote: a command, or a text for the agent.
func (c *chat) submit() tea.Cmd {
	line := strings.TrimSpace(c.edit.String())
	if line == "" {
		return nil
	}
	if c.cancel != nil {
		c.queued, c.hint = true, "is sent when this is over"
		return nil
	}
	c.queued = false
	c.edit.set("")
	c.complete = completion{}
	c.history.add(line)
	c.add(said{line})
	if slash.IsCommand(line) {
		now := slash.Now{Session: c.talk.Session, Conversation: c.talk.Engine.ID(), Engine: c.talk.Engine.Name(), Model: c.talk.Model,
			Role: c.skills.Role, Skills: c.skills.Active, Turns: c.turns, Spent: c.spent,
			Width: c.width - 2}
		return c.start(func(ctx context.Context) tea.Msg {
			r, err := c.o.Slash.Do(ctx, now, line)
			return resultMsg{r, err}
		})
	}
	engine := c.talk.Engine
	c.headed = false
	return c.start(func(ctx context.Context) tea.Msg {
		turn, err := engine.Say(ctx, line, func(e agent.Event) { c.send(eventMsg{e}) })
		return endedMsg{turn, err}
	})
}

// ask is [Ask]. It is called by the goroutine of a turn, which waits.
func (c *chat) ask(ctx context.Context, skill string) bool {
	answer := make(chan bool, 1)
	c.send(offerMsg{&offer{skill, answer}})
	select {
	case <-ctx.Done():
		return false
	case yes := <-answer:
		return yes
	}
}

// offered shows the question, unless the person has answered it for the rest of the chat.
func (c *chat) offered(o *offer) {
	if c.always || c.never[o.skill] {
		o.answer <- c.always && !c.never[o.skill]
		return
	}
	c.arm(true)
	c.offer = o
}

// unseen is how long a question is on the screen before Enter answers it.
const unseen = 400 * time.Millisecond

// arm begins to show a question, if it is a new one.
func (c *chat) arm(shown bool) {
	if shown {
		c.armed = c.o.Approvals.Now().Add(unseen)
	}
}

// ended ends a turn.
func (c *chat) ended(m endedMsg) tea.Cmd {
	c.cancel, c.answer, c.offer = nil, nil, nil
	c.turns++
	switch {
	case m.turn.Stop == agent.StopAborted || m.err != nil && c.once:
		c.add(note{"cancelled"})
	case m.err != nil:
		c.fail(m.err)
	case m.turn.Stop != "" && m.turn.Stop != agent.StopEnd:
		c.add(note{stopped(m.turn.Stop)})
	}
	c.once = false
	return tea.Batch(c.load(), c.next())
}

// next sends what was written while something ran.
func (c *chat) next() tea.Cmd {
	if !c.queued {
		return nil
	}
	return c.submit()
}

// stopped says why a turn ended otherwise than by an answer.
func stopped(stop string) string {
	switch stop {
	case agent.StopTurns:
		return "stopped: this turn has asked the model as often as it may. Write “go on” to go on."
	case agent.StopBudget:
		return "stopped: the budget is used"
	case agent.StopDenials:
		return "stopped: too many calls in a row were refused"
	case agent.StopRefusal:
		return "the model refused to answer"
	}
	return "stopped: " + text.OneLine(stop)
}

// resulted shows what a command came to.
func (c *chat) resulted(m resultMsg) tea.Cmd {
	c.cancel, c.once = nil, false
	if m.err != nil {
		c.fail(m.err)
		return c.next()
	}
	r := m.result
	if r.Clear {
		c.parts, c.scroll = nil, 0
	}
	if r.Text != "" {
		c.add(printed{r.Text})
	}
	switch {
	case r.Quit:
		return tea.Quit
	case r.Choose != nil:
		c.menu = newMenu(r.Choose)
	case r.Next != nil:
		next := *r.Next
		return c.start(func(context.Context) tea.Msg {
			talk, err := c.reopen(next)
			return openedMsg{talk, r.Clear, err}
		})
	}
	return tea.Batch(c.load(), c.next())
}

// reopen opens another engine. The conversation goes on, unless s says otherwise. Where that fails, the present one is opened again.
func (c *chat) reopen(s slash.Start) (Talk, error) {
	before := slash.Start{}.After(c.talk.Engine.ID(), c.talk.Model)
	talk, err := c.o.Open(c.ctx, s.After(before.Resume, before.Model), c.ask)
	if err == nil {
		return talk, nil
	}
	talk, again := c.o.Open(c.ctx, before, c.ask)
	return talk, errors.Join(err, again)
}

// opened goes on with another engine.
func (c *chat) opened(m openedMsg) tea.Cmd {
	c.cancel = nil
	switch {
	case m.err != nil && m.talk.Engine == nil:
		c.fatal = m.err
		return tea.Quit
	case m.err != nil:
		c.fail(m.err)
		m.talk.Past = nil
		c.begin(m.talk)
		return c.load()
	}
	if !m.clear {
		m.talk.Past = nil // it stands on the screen
	} else {
		c.parts, c.spent, c.turns = nil, agent.Spent{}, 0
	}
	c.begin(m.talk)
	return tea.Batch(c.load(), c.next())
}

func (c *chat) fail(err error) {
	f := failed{text.OneLine(err.Error()), text.HintOf(err)}
	c.add(f)
}

// request takes a call that waits, or was settled. Those of other sessions are counted.
func (c *chat) request(r approval.Request) {
	if r.Session != c.talk.Session && !slices.Contains(r.Above, c.talk.Session) {
		if delete(c.others, r.ID); r.State == approval.Pending {
			c.others[r.ID] = true
		}
		return
	}
	before, _ := c.question()
	settled := c.asked.Take(r)
	if now, _ := c.question(); now != before {
		c.arm(now != "")
	}
	if settled != "" {
		c.add(note{settled + ": " + approval.Short(r.Tool+" "+terminal.Gist(r), 100)})
	}
	c.scroll = 0
}
