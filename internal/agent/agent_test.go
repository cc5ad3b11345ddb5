package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"mycelium/internal/agent/journal"
	"mycelium/internal/model"
	"mycelium/internal/model/fake"
	"mycelium/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hall is a door in memory. Its tools answer with their name and arguments.
type hall struct {
	mu      sync.Mutex
	tools   []Tool
	calls   []Use
	changed atomic.Bool
	now     Standing
	do      func(ctx context.Context, u Use, waits func(Waiting)) (Result, error)
}

func (h *hall) Tools(context.Context) ([]Tool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.tools), nil
}

func (h *hall) Call(ctx context.Context, u Use, waits func(Waiting)) (Result, error) {
	h.mu.Lock()
	h.calls = append(h.calls, u)
	h.mu.Unlock()
	if h.do != nil {
		return h.do(ctx, u, waits)
	}
	said := u.Tool + string(u.Args)
	return Result{Effect: "allow", Text: said, Content: []model.Block{textBlock(said)}}, nil
}

func (h *hall) Said(_ context.Context, said string) (Standing, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if strings.Contains(said, "edit") {
		h.now.Active = append(slices.Clone(h.now.Active), "editor")
		h.now.Brief = "now an editor"
	}
	return h.now, nil
}

func (h *hall) Changed() bool { return h.changed.Swap(false) }

// world is an engine with a scripted model and a door in memory.
type world struct {
	*API
	t    *testing.T
	s    *fake.Server
	hall *hall
	dir  string
	told []Event
}

func newWorld(t *testing.T, o Options, steps ...fake.Step) *world {
	t.Helper()
	w := &world{t: t, s: fake.New(steps...), dir: t.TempDir(), hall: &hall{
		tools: []Tool{{Name: "files__read", ReadOnly: true}, {Name: "files__write"}, {Name: "odd__a.b", ReadOnly: true}},
		now:   Standing{Role: "guest", Active: []string{"common"}, Brief: "you are a guest"}}}
	t.Cleanup(w.s.Close)
	c, err := model.New(model.Options{Key: "k", BaseURL: w.s.URL(), Pause: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	j, err := journal.New(w.dir, journal.Head{Engine: "api"})
	if err != nil {
		t.Fatal(err)
	}
	o.Began = Standing{Role: "guest", Active: []string{"common"}}
	w.API = NewAPI(c, w.hall, j, o)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func (w *world) say(ctx context.Context, said string) (Turn, error) {
	w.told = nil
	return w.Say(ctx, said, func(e Event) { w.told = append(w.told, e) })
}

// must says something that ends well.
func (w *world) must(said string) Turn {
	w.t.Helper()
	turn, err := w.say(w.t.Context(), said)
	if err != nil {
		w.t.Fatal(err)
	}
	return turn
}

// notes are the notes of the last turn.
func (w *world) notes() (out []string) {
	for _, e := range w.told {
		if e.Note != "" {
			out = append(out, e.Note)
		}
	}
	return out
}

// paired fails if a call in the conversation has no outcome right after it.
func paired(t *testing.T, all []fake.Message) {
	t.Helper()
	for i, m := range all {
		var uses, results []string
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				uses = append(uses, b.ID)
			}
		}
		if len(uses) == 0 {
			continue
		}
		if i+1 < len(all) {
			for _, b := range all[i+1].Content {
				if b.Type == "tool_result" {
					results = append(results, b.ToolUseID)
				}
			}
		}
		if diff := cmp.Diff(uses, results); diff != "" {
			t.Errorf("message %d: calls without an outcome of each (-calls +outcomes):\n%s", i, diff)
		}
	}
}

func read(n int) fake.ToolUse {
	return fake.ToolUse{Name: "files__read", Input: map[string]any{"n": n}}
}

// A turn: the model thinks, calls tools, and answers; each call is made once, by the gateway's name, with the reasoning.
func TestTurn(t *testing.T) {
	w := newWorld(t, Options{}, fake.Step{Thinking: "Look first.", Text: "Looking.", ToolUses: []fake.ToolUse{
		read(1), {Name: model.ToolName("odd__a.b", func(string) bool { return false })}}},
		fake.Step{Func: func(r fake.Request) fake.Step { return fake.Step{Text: "saw " + r.ToolResults()[1].Text} }})
	turn := w.must("look")
	if turn.Text != "saw odd__a.b{}" || turn.Stop != StopEnd || turn.Turns != 2 || !slices.Equal(turn.Tools, []string{"files__read",
		"odd__a.b"}) {
		t.Errorf("%+v", turn)
	}
	for _, u := range w.hall.calls {
		if u.Thinking != "Look first." || u.Model != "claude-sonnet-5-5" {
			t.Errorf("call %+v", u)
		}
	}
	first := w.s.Turns()[0]
	if !strings.Contains(first.Text("user"), "<session>\nyou are a guest\n</session>") || first.Messages[0].Content[1].Text != "look" {
		t.Errorf("the model reads %+v", first.Messages)
	}
	paired(t, w.s.Turns()[1].Messages)
	if w.must("again").Stop != StopEnd || strings.Count(w.s.Turns()[2].Text("user"), "<session>") != 1 {
		t.Error("the model is told of the session again although nothing changed")
	}
}

// Calls that change nothing run at once; one that may change something runs alone and in its place.
func TestCallsTogether(t *testing.T) {
	w := newWorld(t, Options{}, fake.Step{ToolUses: []fake.ToolUse{read(1), read(2), {Name: "files__write"}, read(3)}},
		fake.Step{Text: "ok"})
	var running atomic.Int32
	var both sync.WaitGroup
	both.Add(2)
	w.hall.do = func(_ context.Context, u Use, _ func(Waiting)) (Result, error) {
		n := running.Add(1)
		defer running.Add(-1)
		switch string(u.Args) {
		case `{"n":1}`, `{"n":2}`:
			both.Done()
			both.Wait() // each runs while the other one does
		default:
			if n != 1 {
				t.Errorf("%s runs beside another call", u.Tool)
			}
		}
		return failed("no"), nil
	}
	w.must("go")
	if len(w.hall.calls) != 4 {
		t.Errorf("%d calls", len(w.hall.calls))
	}
}

func TestWhatAModelDoesWrong(t *testing.T) {
	w := newWorld(t, Options{}, fake.Step{ToolUses: []fake.ToolUse{{Name: "files__read", Wrong: `{"n": 1`}, {Name: "nonesuch"}}},
		fake.Step{Text: "sorry"})
	if turn := w.must("go"); turn.Text != "sorry" {
		t.Errorf("%+v", turn)
	}
	results := w.s.Turns()[1].ToolResults()
	if len(w.hall.calls) != 1 || w.hall.calls[0].Tool != "nonesuch" || !results[0].IsError || !strings.Contains(results[0].Text, `{"n": 1`) {
		t.Errorf("calls %+v, results %+v", w.hall.calls, results)
	}
}

func TestRefusal(t *testing.T) {
	w := newWorld(t, Options{}, fake.Step{Text: "I cannot.", Stop: "refusal"})
	if turn := w.must("go"); turn.Stop != StopRefusal {
		t.Errorf("%+v", turn)
	}
}

// A busy model is asked again with a note; one that stays busy is an error, and the conversation goes on with what is said next.
func TestOverload(t *testing.T) {
	asked := 0
	busy := func(fake.Request) fake.Step {
		if asked++; asked != 2 && asked < 7 {
			return fake.Step{Status: 529}
		}
		return fake.Step{Text: "ok"}
	}
	w := newWorld(t, Options{}, fake.Step{Func: busy}, fake.Step{Func: busy})
	if w.must("go"); len(w.notes()) != 1 || !strings.Contains(w.notes()[0], "asking again") {
		t.Errorf("%q", w.notes())
	}
	var limits []bool // whether it waits
	for _, e := range w.told {
		if e.Limit != nil {
			limits = append(limits, !e.Limit.Until.IsZero())
		}
	}
	if !slices.Equal(limits, []bool{true, false}) {
		t.Errorf("it waits: %v", limits)
	}
	asked = 2
	w.s.Play()
	w.s.Play(fake.Step{}, fake.Step{Func: func(fake.Request) fake.Step { return fake.Step{Status: 529} }})
	limit := (*LimitError)(nil)
	if turn, err := w.say(t.Context(), "more"); !errors.As(err, &limit) || turn.Stop != StopLimit {
		t.Errorf("of a model that is always busy: %+v, %v", turn, err)
	}
	w.s.Play(fake.Step{}, fake.Step{Text: "back"})
	if turn := w.must("still there?"); turn.Text != "back" {
		t.Errorf("%+v", turn)
	}
}

// An answer that breaks off goes on from what was shown; nothing of it is lost or asked for twice.
// TestMessages: what is said to the agent while it works reaches the model with the outcomes of its calls, or after its answer, and has a
// receipt; where nothing waits, nothing is asked.
func TestMessages(t *testing.T) {
	waiting := []Message{}
	w := newWorld(t, Options{Messages: func() ([]Message, error) {
		out := waiting
		waiting = nil
		return out, nil
	}})
	say := func(id, text string, s fake.Step) fake.Step {
		return fake.Step{Func: func(fake.Request) fake.Step {
			waiting = append(waiting, Message{ID: id, Text: text})
			return s
		}}
	}
	w.s.Play(say("1", "hurry", fake.Step{ToolUses: []fake.ToolUse{read(1)}}), say("2", "and edit", fake.Step{Text: "read"}),
		fake.Step{Text: "edited"}, fake.Step{Text: "again"})
	turn := w.must("go")
	var heard []string
	for _, e := range w.told {
		if e.Heard != "" {
			heard = append(heard, e.Heard)
		}
	}
	all := w.s.Turns()
	if len(all) != 3 || turn.Text != "edited" || turn.Stop != StopEnd || !slices.Equal(heard, []string{"1", "2"}) {
		t.Fatalf("%d turns, %+v, heard %q", len(all), turn, heard)
	}
	for i, want := range []string{"go", "hurry", "and edit"} {
		if got := all[i].Text("user"); !strings.HasSuffix(got, want) {
			t.Errorf("question %d: %q", i, got)
		}
	}
	paired(t, all[2].Messages)
	if turn = w.must(""); turn.Stop != StopEnd || turn.Turns != 0 {
		t.Errorf("nothing waits: %+v", turn)
	}
	waiting = []Message{{ID: "3", Text: "once more"}}
	if turn = w.must(""); turn.Text != "again" {
		t.Errorf("one waits: %+v", turn)
	}
}

func TestAnswerThatBreaks(t *testing.T) {
	w := newWorld(t, Options{}, fake.Step{Text: "One two three four five six seven.", Cut: true}, fake.Step{Text: " And the rest."})
	turn := w.must("go")
	second := w.s.Turns()[1].Messages
	if turn.Stop != StopEnd || len(second) != 3 || !strings.HasPrefix(second[1].Content[0].Text, "One two") ||
		second[2].Content[0].Text != journal.GoOn {
		t.Errorf("%+v %+v", turn, second)
	}
	w = newWorld(t, Options{}, fake.Step{Text: "Cut off", Stop: "max_tokens"}, fake.Step{Text: "end"})
	if turn := w.must("go"); turn.Text != "end" || len(w.notes()) != 1 {
		t.Errorf("%+v %q", turn, w.notes())
	}
	w = newWorld(t, Options{}, slices.Repeat([]fake.Step{{Text: "never ending story", Cut: true}}, 9)...)
	if _, err := w.say(t.Context(), "go"); err == nil || len(w.s.Turns()) > 2+maxCuts {
		t.Errorf("%v after %d questions", err, len(w.s.Turns()))
	}
}

func TestLimits(t *testing.T) {
	steps := slices.Repeat([]fake.Step{{ToolUses: []fake.ToolUse{read(1)}}}, 9)
	w := newWorld(t, Options{MaxTurns: 3}, steps...)
	if turn := w.must("go"); turn.Stop != StopTurns || turn.Turns != 3 || len(w.hall.calls) != 2 {
		t.Errorf("%+v, %d calls", turn, len(w.hall.calls))
	}
	w = newWorld(t, Options{Budget: 0.0001}, steps...)
	if turn := w.must("go"); turn.Stop != StopBudget || turn.Turns != 2 || len(w.hall.calls) != 1 {
		t.Errorf("%+v, %d calls", turn, len(w.hall.calls))
	}
	w.s.Play(append(steps[:2:2], fake.Step{Text: "fine"})...)
	w.must("go on")
	paired(t, w.s.Turns()[2].Messages)
	if got := w.s.Turns()[2].ToolResults(); len(got) != 1 || got[0].Text != journal.NotRun {
		t.Errorf("the call that did not run: %+v", got)
	}
}

// A person ends a turn while a call runs and another waits: both have an outcome, and the next turn says which.
func TestAbort(t *testing.T) {
	w := newWorld(t, Options{}, fake.Step{ToolUses: []fake.ToolUse{{Name: "files__write"}, read(2)}}, fake.Step{Text: "ok"})
	ctx, cancel := context.WithCancel(t.Context())
	w.hall.do = func(ctx context.Context, _ Use, waits func(Waiting)) (Result, error) {
		waits(Waiting{Request: "r-1", Why: "it writes"})
		cancel()
		<-ctx.Done()
		return Result{}, ctx.Err()
	}
	turn, err := w.say(ctx, "go")
	if err != nil || turn.Stop != StopAborted || len(w.hall.calls) != 1 {
		t.Fatalf("%+v %v", turn, err)
	}
	waited := slices.ContainsFunc(w.told, func(e Event) bool {
		return e.Waiting != nil && e.Waiting.Request == "r-1" &&
			e.Waiting.CallID != ""
	})
	done := slices.ContainsFunc(w.told, func(e Event) bool { return e.Done != nil && e.Done.Failed && e.Done.Text == aborted })
	if !waited || !done {
		t.Errorf("told %+v", w.told)
	}
	w.must("and?")
	if got := w.s.Turns()[1].ToolResults(); len(got) != 2 || got[0].Text != aborted || got[1].Text != journal.NotRun {
		t.Errorf("%+v", got)
	}
}

func TestGatewayThatFails(t *testing.T) {
	w := newWorld(t, Options{}, fake.Step{ToolUses: []fake.ToolUse{read(1)}}, fake.Step{Text: "ok"})
	w.hall.do = func(context.Context, Use, func(Waiting)) (Result, error) {
		return Result{}, errors.New("the gateway stopped")
	}
	if w.must("go").Text != "ok" || !strings.Contains(w.s.Turns()[1].ToolResults()[0].Text, "the gateway stopped") {
		t.Errorf("%+v", w.s.Turns()[1].ToolResults())
	}
}

// What a person says activates a skill; new tools are offered in the next question, with a note.
func TestSkillsAndToolsChange(t *testing.T) {
	w := newWorld(t, Options{}, fake.Step{ToolUses: []fake.ToolUse{read(1)}}, fake.Step{Text: "ok"})
	w.hall.do = func(context.Context, Use, func(Waiting)) (Result, error) {
		w.hall.tools = append(w.hall.tools, Tool{Name: "files__delete"})
		w.hall.changed.Store(true)
		return failed("x"), nil
	}
	w.must("edit it")
	want := Skills{Role: "guest", Active: []string{"common", "editor"}, Added: []string{"editor"}}
	if w.told[0].Skills == nil || !cmp.Equal(*w.told[0].Skills, want) {
		t.Errorf("%+v", w.told[0])
	}
	if !slices.Equal(w.notes(), []string{"the tools changed: +files__delete"}) || len(w.s.Turns()[1].Tools) != 4 {
		t.Errorf("%q, %v", w.notes(), w.s.Turns()[1].ToolNames())
	}
}

// A conversation that fills the model is summarized by it, also in the middle of a loop of calls, and no call loses its outcome. What
// the person said last stays as it was.
func TestCompaction(t *testing.T) {
	const window = 4000
	big := strings.Repeat("many words ", 500)
	n := 0
	w := newWorld(t, Options{Window: window}, slices.Repeat([]fake.Step{{Func: func(r fake.Request) fake.Step {
		paired(t, r.Messages)
		if n++; n == 9 {
			return fake.Step{Text: "done"}
		}
		return fake.Step{ToolUses: []fake.ToolUse{read(n)}, Usage: fake.Usage{Input: len(r.Raw) / 4}}
	}}}, 20)...)
	w.hall.do = func(context.Context, Use, func(Waiting)) (Result, error) {
		return Result{Text: big, Content: []model.Block{textBlock(big)}}, nil
	}
	if turn := w.must("count to nine"); turn.Text != "done" || len(w.hall.calls) != 8 {
		t.Errorf("%+v, %d calls", turn, len(w.hall.calls))
	}
	last := w.s.Turns()[len(w.s.Turns())-1]
	if !strings.Contains(last.Messages[0].Content[0].Text, "shortened") || len(w.notes()) == 0 {
		t.Errorf("%+v %q", last.Messages[0], w.notes())
	}
	full := newWorld(t, Options{}, fake.Step{Text: "hello"}, fake.Step{Func: func(fake.Request) fake.Step {
		return fake.Step{Status: 400, Text: "prompt is too long: 300000 tokens > 200000 maximum"}
	}})
	full.must("hi")
	if _, err := full.say(t.Context(), "the question"); err != nil {
		t.Fatal(err)
	}
	asked := full.s.Turns()
	if got := asked[len(asked)-1].Messages; len(got) != 1 || got[0].Content[len(got[0].Content)-1].Text != "the question" {
		t.Errorf("after the summary the model reads %+v", got)
	}
}

// Whatever the sizes are, what stays of a conversation begins with no outcome whose call is gone.
func TestTail(t *testing.T) {
	var all []model.Message
	for i := range 12 {
		all = append(all, model.Message{Role: "assistant", Content: []model.Block{{Type: "tool_use", ID: fmt.Sprint(i)}}},
			model.Message{Role: "user", Content: []model.Block{{Type: "tool_result", ToolUseID: fmt.Sprint(i),
				Content: []model.Block{textBlock(strings.Repeat("x ", i*10))}}}})
	}
	for tokens := range 400 {
		for n := range all {
			if keep := tail(all[:n+1], tokens); keep > 0 && all[n+1-keep].Role == "user" {
				t.Fatalf("of %d messages the last %d stay, which begin with an outcome", n+1, keep)
			}
		}
	}
}

// TestParts: the parts of a conversation are those that the model is sent, each in its place.
func TestParts(t *testing.T) {
	w := newWorld(t, Options{}, fake.Step{Thinking: "Look first.", Text: "Looking.", ToolUses: []fake.ToolUse{read(1)}}, fake.Step{Text: "ok"})
	w.must("look at it")
	var parts []Part
	for _, e := range w.told {
		if e.Spent != nil {
			parts = e.Spent.Parts
		}
	}
	has := map[string]int{}
	for _, p := range parts {
		has[p.Name] = p.Tokens
	}
	outcome := w.s.Turns()[1].ToolResults()[0].Text
	if has["instructions"] != text.Tokens(system)+text.Tokens("<session>\nyou are a guest\n</session>") ||
		has["said"] != text.Tokens("look at it") || has["answers"] != text.Tokens("Looking.")+text.Tokens("ok") ||
		has["thinking"] != text.Tokens("Look first.") || has["outcomes"] != text.Tokens(outcome) || has["calls"] == 0 || has["tools"] == 0 {
		t.Errorf("%+v", parts)
	}
}
