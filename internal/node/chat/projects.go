package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"mycelium/internal/approval"
	"mycelium/internal/approval/telegram"
	"mycelium/internal/credential"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/node/client"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/socket"
	"mycelium/internal/policy/sign"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// projects are those for which the bot of this daemon asks: the project of the daemon, and further projects of the same person, whose
// daemons it asks over their sockets. Requests are found by their ids, which are random, and sessions by the name of their project.
type projects struct {
	*Chats                  // the own project
	bot     api.Bot         // that runs
	notices *approval.Board // of the others

	looked  chan struct{}             // closed when the notes of the projects were read for the first time
	refused map[state.Paths]state.Bot // what the log has said of projects for which the bot does not ask; of the goroutine of run

	mu      sync.Mutex
	others  map[state.Paths]*other // for which the bot asks, attached or not
	where   map[string]*other      // by the id of a request: who told of it
	changed chan struct{}          // closed when one is attached
}

// other is a project for which the bot asks over the socket of its daemon.
type other struct {
	state.Paths
	name  string             // as people read it; no other has it
	wake  chan struct{}      // holds one: its daemon may have begun
	stop  context.CancelFunc // the bot does not ask for it any more
	there bool               // it is attached
}

func newProjects(c *Chats, bot api.Bot) *projects {
	return &projects{Chats: c, bot: bot, notices: &approval.Board{}, others: map[state.Paths]*other{},
		looked: make(chan struct{}), refused: map[state.Paths]state.Bot{}, changed: make(chan struct{})}
}

// The bounds of asking another daemon.
const (
	askWithin  = 10 * time.Second // a list, or what a request says
	actWithin  = time.Minute      // an act, such as keys in a terminal
	retryFirst = time.Second      // after a daemon that does not answer as it should; doubled each time
	retryLast  = time.Minute
)

// ask asks the daemon of another project.
func ask[P, R any](ctx context.Context, o *other, within time.Duration, m op.Op[P, R], params P) (reply R, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	conn, err := daemon.Dial(ctx, daemon.PathsOf(o.Paths, ""))
	if err != nil {
		return reply, err
	}
	defer conn.Close()
	return socket.Call(ctx, conn, m, params)
}

// ownName is the name of the own project where the bot asks for others too; else "".
func (p *projects) ownName() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.others) == 0 {
		return ""
	}
	return baseName(p.State)
}

// baseName is the name of a project for people: that of its folder.
func baseName(p state.Paths) string { return credential.Mask(text.OneLine(filepath.Base(p.Project))) }

// attached returns the projects that can be asked now, by name.
func (p *projects) attached() []*other {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*other
	for _, o := range p.others {
		if o.there {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *other) int { return strings.Compare(a.name, b.name) })
	return out
}

// away is the error about the projects that cannot be asked now, or the one of them with a name; nil if there is none.
func (p *projects) away(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for _, o := range p.others {
		if !o.there && (name == "" || o.name == name) {
			names = append(names, o.name)
		}
	}
	if names == nil {
		return nil
	}
	slices.Sort(names)
	return &telegram.AwayError{Projects: strings.Join(names, ", "), Back: p.changed}
}

// named returns the other project with a name; nil for the own one.
func (p *projects) named(name string) (*other, error) {
	if name == "" || name == baseName(p.State) {
		return nil, nil
	}
	for _, o := range p.attached() {
		if o.name == name {
			return o, nil
		}
	}
	if err := p.away(name); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("this bot does not ask for the project %s any more", name)
}

// run asks for the other projects until ctx is done. tell gets their requests.
func (p *projects) run(ctx context.Context, tell func(approval.Request)) {
	var all sync.WaitGroup
	defer all.Wait()
	changes, err := p.watchNotes()
	if err != nil {
		p.Logger.Warn("new projects for this Telegram bot are found late", "error", err)
	} else {
		defer func() { _ = changes.Close() }()
	}
	p.look(ctx, &all, tell)
	close(p.looked)
	for ; ctx.Err() == nil; p.look(ctx, &all, tell) {
		if changes == nil {
			select {
			case <-ctx.Done():
			case <-time.After(retryLock):
			}
			continue
		}
		select {
		case <-ctx.Done():
		case _, ok := <-changes.Events:
			if !ok {
				changes = nil
			}
		case err, ok := <-changes.Errors: // an overflow: some changes were missed
			if ok {
				p.Logger.Warn("watch which projects this Telegram bot asks for", "error", err)
			} else {
				changes = nil
			}
		}
	}
}

// watchNotes watches the notes of the projects for which bots ask.
func (p *projects) watchNotes() (*fsnotify.Watcher, error) {
	if err := p.State.MakeBots(); err != nil {
		return nil, err
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := w.Add(p.State.Bots()); err != nil {
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

// look begins to ask for projects whose notes name the bot, and ends it for those whose notes do not any more.
func (p *projects) look(ctx context.Context, all *sync.WaitGroup, tell func(approval.Request)) {
	noted, err := p.State.AskedBy(p.bot.Digest)
	if err != nil {
		p.Logger.Warn("a project may not be asked for by this Telegram bot", "error", err)
	}
	delete(noted, p.State)
	maps.DeleteFunc(noted, func(at state.Paths, b state.Bot) bool {
		other := !b.Admits(p.bot.Digest, p.bot.Terms)
		if other && p.refused[at] != b {
			p.refused[at] = b
			p.Logger.Warn("this Telegram bot does not ask for a project that names it with another chat, other people or another PIN", "project", at.Project)
		}
		return other
	})
	p.mu.Lock()
	alone := len(p.others) == 0
	defer func() {
		alone = alone && len(p.others) > 0
		p.mu.Unlock()
		if alone {
			p.tellAgain(ctx, tell)
		}
	}()
	for at, o := range p.others {
		if _, ok := noted[at]; !ok {
			o.stop()
			delete(p.others, at)
		}
	}
	for at := range noted {
		if o := p.others[at]; o != nil {
			select {
			case o.wake <- struct{}{}:
			default:
			}
			continue
		}
		ctx, stop := context.WithCancel(ctx)
		o := &other{Paths: at, name: p.nameFor(at), wake: make(chan struct{}, 1), stop: stop}
		p.others[at] = o
		all.Go(func() {
			defer stop()
			p.follow(ctx, o, tell)
		})
	}
}

// tellAgain tells of the requests of the own project, whose messages have the name of the project from now on.
func (p *projects) tellAgain(ctx context.Context, tell func(approval.Request)) {
	list, err := p.Queue.List(ctx)
	if err != nil {
		return
	}
	for _, r := range list {
		tell(r)
	}
}

// nameFor is the name of a project: that of its folder, or its path where another project has that name. The lock is held.
func (p *projects) nameFor(at state.Paths) string {
	name := baseName(at)
	taken := name == baseName(p.State)
	for _, o := range p.others {
		taken = taken || o.name == name
	}
	if taken {
		return credential.Mask(text.OneLine(at.Project))
	}
	return name
}

// follow attaches to the daemon of a project whenever one runs, until ctx is done.
func (p *projects) follow(ctx context.Context, o *other, tell func(approval.Request)) {
	wait := retryFirst
	for ctx.Err() == nil {
		began := time.Now()
		attached, err := p.attach(ctx, o, tell)
		var again <-chan time.Time
		switch {
		case attached && time.Since(began) > retryFirst:
			wait = retryFirst
			continue // the next daemon may be there already
		case attached:
			again = time.After(retryFirst)
		}
		if err != nil && !errors.Is(err, daemon.ErrNotRunning) && ctx.Err() == nil {
			p.Logger.Warn("the daemon of a project does not take this Telegram bot", "project", o.Project, "error", err)
			if failure.Of(err).Kind != failure.Denied { // it may be stopped, or just ending
				again, wait = time.After(wait), min(2*wait, retryLast)
			}
		}
		select {
		case <-ctx.Done():
		case <-o.wake:
		case <-again:
		}
	}
}

// attach has the daemon of a project tell what it asks, until it ends. attached reports whether it took the bot.
func (p *projects) attach(ctx context.Context, o *other, tell func(approval.Request)) (attached bool, err error) {
	conn, err := daemon.Dial(ctx, daemon.PathsOf(o.Paths, ""))
	if err != nil {
		return false, err
	}
	err = client.Stream(ctx, conn, api.BotWatch, p.bot, func() {
		attached = true
		p.setThere(o, true)
		p.Logger.Info("this Telegram bot asks for another project", "project", o.Project)
	}, func(e api.BotEvent) {
		if r := e.Request; r != nil {
			p.note(r.ID, o)
			tell(*r)
		}
		if n := e.Notice; n != nil {
			n.Project = o.name
			if n.Request != nil {
				n.Request.Project = ""
			}
			p.notices.Post(*n)
		}
	})
	p.setThere(o, false)
	return attached, err
}

// maxWhere bounds the requests of which is noted who told of them. The others are looked for.
const maxWhere = 1000

func (p *projects) note(id string, o *other) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.where) >= maxWhere {
		p.where = nil
	}
	if p.where == nil {
		p.where = map[string]*other{}
	}
	p.where[id] = o
}

// candidates are the projects that may have a request which the own one has not.
func (p *projects) candidates(id string) ([]*other, error) {
	p.mu.Lock()
	o := p.where[id]
	known := o != nil && p.others[o.Paths] == o
	there := known && o.there
	p.mu.Unlock()
	switch {
	case there:
		return []*other{o}, nil
	case known:
		return nil, p.away(o.name)
	}
	return p.attached(), nil
}

func (p *projects) setThere(o *other, there bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o.there = there; there {
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

// allNotices are the notices of all projects.
type allNotices struct{ *projects }

// Watch implements [telegram.Notices].
func (p allNotices) Watch(ctx context.Context, ready chan<- struct{}, f func(approval.Notice)) {
	var one sync.Mutex
	var both sync.WaitGroup
	others := make(chan struct{})
	both.Go(func() {
		p.notices.Watch(ctx, others, func(n approval.Notice) {
			one.Lock()
			defer one.Unlock()
			f(n)
		})
	})
	<-others
	p.board.Watch(ctx, ready, func(n approval.Notice) {
		n.Project = p.ownName()
		one.Lock()
		defer one.Unlock()
		f(n)
	})
	both.Wait()
}

// Watch implements [telegram.Queue].
func (p *projects) Watch(ctx context.Context, f func(approval.Request)) {
	var one sync.Mutex
	tell := func(r approval.Request) {
		one.Lock()
		defer one.Unlock()
		f(r)
	}
	var both sync.WaitGroup
	both.Go(func() { p.run(ctx, tell) })
	p.Queue.Watch(ctx, tell)
	both.Wait()
}

// List implements [telegram.Queue]. The requests of a project that does not answer are left out.
func (p *projects) List(ctx context.Context) ([]approval.Request, error) {
	all, err := p.Queue.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range p.attached() {
		more, err := ask(ctx, o, askWithin, api.ApprovalsList, op.None{})
		if err != nil {
			p.Logger.Warn("what waits in another project is not known", "project", o.Project, "error", err)
		}
		all = append(all, more...)
	}
	return all, nil
}

// holder finds the project that has a request; nil for the own one.
func (p *projects) holder(ctx context.Context, id string) (*other, approval.Request, error) {
	r, err := p.Queue.Show(ctx, id)
	if !errors.Is(err, approval.ErrUnknown) {
		r.Project = p.ownName()
		return nil, r, err
	}
	select {
	case <-p.looked: // before that, the bot knows of no other project
	case <-ctx.Done():
		return nil, r, ctx.Err()
	}
	some, err := p.candidates(id)
	if err != nil {
		return nil, r, err
	}
	var away error
	for _, o := range some {
		s, err := ask(ctx, o, askWithin, api.BotShow, api.BotRequest{Bot: p.bot, ID: id})
		switch {
		case errors.Is(err, daemon.ErrNotRunning):
			p.setThere(o, false)
		case err != nil:
			away = fmt.Errorf("ask the daemon of %s: %w", o.name, err)
		case s.Known:
			s.Request.Project = o.name
			return o, s.Request, nil
		}
	}
	return nil, r, cmp.Or(away, p.away(""), error(approval.ErrUnknown))
}

// Show implements [telegram.Queue].
func (p *projects) Show(ctx context.Context, id string) (approval.Request, error) {
	_, r, err := p.holder(ctx, id)
	return r, err
}

// Settle implements [telegram.Queue].
func (p *projects) Settle(ctx context.Context, id string, a approval.Answer, s sign.Sign) (approval.Request, error) {
	o, r, err := p.holder(ctx, id)
	if err != nil {
		return r, err
	}
	if o == nil {
		settled, err := p.Queue.Settle(ctx, id, a, s)
		settled.Project = r.Project
		return settled, err
	}
	got, err := ask(ctx, o, actWithin, api.BotSettle, api.BotAnswer{BotRequest: api.BotRequest{Bot: p.bot, ID: id}, Answer: a, Sign: s})
	got.Request.Project = o.name
	switch {
	case err != nil:
		return r, fmt.Errorf("the daemon of %s: %w", o.name, err)
	case got.Late:
		return got.Request, &approval.LateError{Request: got.Request}
	case !got.Known:
		return r, approval.ErrUnknown
	}
	return got.Request, nil
}

// adopt is Adopt of the replies, in the project that has the request.
func (p *projects) adopt(ctx context.Context, r approval.Request, reply approval.Reply, by string) (string, error) {
	o, err := p.named(r.Project)
	if err != nil {
		return "", err
	}
	if o == nil {
		return p.Replies.Adopt(ctx, r, reply, by)
	}
	return ask(ctx, o, actWithin, api.BotAdopt, api.BotReply{BotRequest: api.BotRequest{Bot: p.bot, ID: r.ID}, Reply: reply, By: by})
}

// wider says what each candidate would have allowed, in the project that has the request.
func (p *projects) wider(ctx context.Context, r approval.Request, list []approval.Candidate) ([]string, error) {
	o, err := p.named(r.Project)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return p.past(ctx, list)
	}
	words, err := ask(ctx, o, actWithin, api.BotPast, api.BotRequest{Bot: p.bot, ID: r.ID})
	if err == nil && len(words) != len(list) {
		err = fmt.Errorf("the daemon of %s knows %d candidates, not %d", o.name, len(words), len(list))
	}
	return words, err
}

// agents returns the sessions of all projects, at work and past.
func (p *projects) agents(ctx context.Context) (now, past []approval.AgentSession, err error) {
	if now, err = p.Chats.Sessions(ctx); err == nil {
		past, err = p.Chats.Past(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	own := p.ownName()
	for _, list := range [][]approval.AgentSession{now, past} {
		for i := range list {
			list[i].Project = own
		}
	}
	for _, o := range p.attached() {
		s, err := ask(ctx, o, askWithin, api.BotAgents, p.bot)
		if err != nil {
			p.Logger.Warn("the agents of another project are not known", "project", o.Project, "error", err)
			continue
		}
		for i := range s.Now {
			s.Now[i].Project = o.name
		}
		for i := range s.Past {
			s.Past[i].Project, s.Past[i].Resumable = o.name, p.resumable(s.Past[i])
		}
		now, past = append(now, s.Now...), append(past, s.Past...)
	}
	now = withoutSeen(now)
	slices.SortStableFunc(now, func(a, b approval.AgentSession) int { return cmp.Compare(a.Label, b.Label) })
	slices.SortStableFunc(past, func(a, b approval.AgentSession) int { return b.Seen.Compare(a.Seen) })
	return now, past, nil
}

// withoutSeen leaves out what was only seen in a pane in which a session of another project has told of itself, or was seen before.
func withoutSeen(all []approval.AgentSession) []approval.AgentSession {
	at := func(s approval.AgentSession) [2]string { return [2]string{approval.SocketOf(s.Tmux), s.Pane} }
	seen := func(s approval.AgentSession) bool { return strings.HasPrefix(s.ID, paneID) }
	told := map[[2]string]bool{}
	for _, s := range all {
		if s.Pane != "" && !seen(s) {
			told[at(s)] = true
		}
	}
	return slices.DeleteFunc(all, func(s approval.AgentSession) bool {
		drop := seen(s) && told[at(s)]
		told[at(s)] = told[at(s)] || s.Pane != ""
		return drop
	})
}

// Sessions implements [approval.Agents].
func (p *projects) Sessions(ctx context.Context) ([]approval.AgentSession, error) {
	now, _, err := p.agents(ctx)
	return now, err
}

// Past implements [approval.Agents].
func (p *projects) Past(ctx context.Context) ([]approval.AgentSession, error) {
	_, past, err := p.agents(ctx)
	return past, err
}

// Summary implements [approval.Agents].
func (p *projects) Summary(ctx context.Context, s approval.AgentSession) (string, error) {
	o, err := p.named(s.Project)
	if err != nil {
		return "", err
	}
	if o == nil {
		return p.Chats.Summary(ctx, s)
	}
	return ask(ctx, o, actWithin, api.BotSummary, api.BotSession{Bot: p.bot, Session: s})
}

// Send implements [approval.AgentControl].
func (p *projects) Send(ctx context.Context, s approval.AgentSession, text string) (string, error) {
	o, err := p.named(s.Project)
	if err != nil {
		return "", err
	}
	if o == nil {
		return p.Chats.Send(ctx, s, text)
	}
	return ask(ctx, o, actWithin, api.BotSend, api.BotText{BotSession: api.BotSession{Bot: p.bot, Session: s}, Text: text})
}

// Abort implements [approval.AgentControl].
func (p *projects) Abort(ctx context.Context, s approval.AgentSession) error {
	o, err := p.named(s.Project)
	if err != nil {
		return err
	}
	if o == nil {
		return p.Chats.Abort(ctx, s)
	}
	_, err = ask(ctx, o, actWithin, api.BotAbort, api.BotSession{Bot: p.bot, Session: s})
	return err
}

// questioner finds the project whose agent's own terminal asks a question; nil for the own one.
func (p *projects) questioner(ctx context.Context, id string) (*other, approval.Request, bool) {
	if r, ok := p.Chats.Question(ctx, id); ok {
		r.Project = p.ownName()
		return nil, r, true
	}
	for _, o := range p.attached() {
		s, err := ask(ctx, o, askWithin, api.BotQuestion, api.BotRequest{Bot: p.bot, ID: id})
		if err == nil && s.Known {
			s.Request.Project = o.name
			return o, s.Request, true
		}
	}
	return nil, approval.Request{}, false
}

// Question implements [approval.AgentControl].
func (p *projects) Question(ctx context.Context, id string) (approval.Request, bool) {
	_, r, ok := p.questioner(ctx, id)
	return r, ok
}

// AnswerThere implements [approval.AgentControl].
func (p *projects) AnswerThere(ctx context.Context, id string, a approval.Answer, second sign.Sign) (string, error) {
	o, _, _ := p.questioner(ctx, id)
	if o == nil {
		return p.Chats.AnswerThere(ctx, id, a, second)
	}
	return ask(ctx, o, actWithin, api.BotThere, api.BotAnswer{BotRequest: api.BotRequest{Bot: p.bot, ID: id}, Answer: a, Sign: second})
}

// Start implements [approval.Starter]. The bot asks for the project in which it starts an agent, unless that has a bot of its own.
func (p *projects) Start(ctx context.Context, dir, prompt, resume string) (string, error) {
	return p.Chats.Start(ctx, dir, prompt, resume, p.bot)
}

// Asked implements [approval.Settings].
func (p *projects) Asked() string {
	asked := p.Chats.Asked()
	for _, o := range p.attached() {
		said, err := ask(context.Background(), o, askWithin, api.BotMode, api.BotModeParams{Bot: p.bot})
		if err != nil {
			said = "not known: " + text.FirstLine(err.Error())
		}
		asked += "\n📂 " + o.name + ": " + said
	}
	return asked
}

// SetMode implements [approval.Settings]: in every project.
func (p *projects) SetMode(ctx context.Context, m approval.Mode) error {
	problems := []error{p.Chats.SetMode(ctx, m)}
	for _, o := range p.attached() {
		if _, err := ask(ctx, o, askWithin, api.BotMode, api.BotModeParams{Bot: p.bot, Mode: m}); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", o.name, err))
		}
	}
	return errors.Join(problems...)
}

// Costs implements [approval.Settings].
func (p *projects) Costs(ctx context.Context) ([]approval.Costs, error) {
	own, err := p.Replies.Costs(ctx)
	if err != nil {
		return nil, err
	}
	own.Project = p.ownName()
	all := []approval.Costs{own}
	for _, o := range p.attached() {
		c, err := ask(ctx, o, askWithin, api.BotCosts, p.bot)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		c.Project = o.name
		all = append(all, c)
	}
	return all, nil
}
