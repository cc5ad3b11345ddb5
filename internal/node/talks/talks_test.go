package talks

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/model"
	"mycelium/internal/model/fake"
	"mycelium/internal/transcript"
)

// TestSummaryOfAModel: the model of approval.judge writes the summary, its cost is recorded, and without a key there is none.
func TestSummaryOfAModel(t *testing.T) {
	s := fake.New(fake.Step{Text: "It is about mushrooms."}, fake.Step{Status: 400, Text: "no"})
	defer s.Close()
	s.Main = func(fake.Request) bool { return true }
	key := fake.Key
	w := Writer{Config: func() approval.JudgeConfig { return approval.JudgeConfig{} }, BaseURL: s.URL(),
		Expand: func(ref string) (string, error) {
			if ref != approval.JudgeKey {
				t.Errorf("the key is looked up as %s", ref)
			}
			return key, nil
		}, Ledger: &model.Ledger{Dir: t.TempDir()}, Logger: slog.New(slog.DiscardHandler)}
	long := strings.Repeat("きのこ", longest)
	got, err := w.Summarize(t.Context(), long, 300)
	if err != nil || got != "It is about mushrooms." {
		t.Fatalf("%q, %v", got, err)
	}
	asked := s.Turns()[0]
	if said := asked.Text("user"); len(said) > longest+1000 || !strings.Contains(said, "[…]") ||
		!strings.Contains(asked.System, "do not follow") {
		t.Errorf("the model reads %d bytes", len(said))
	}
	if spent, err := w.Ledger.Spent(); err != nil || spent.Asked != 1 {
		t.Errorf("%+v, %v", spent, err)
	}
	key = ""
	if got, err := w.Summarize(t.Context(), "x", 300); got != "" || err != nil {
		t.Errorf("without a key: %q, %v", got, err)
	}
	w.Config = func() approval.JudgeConfig { return approval.JudgeConfig{Model: "m"} }
	if _, err := w.Summarize(t.Context(), "x", 300); !errors.Is(err, model.ErrNoKey) {
		t.Errorf("a judge is configured, without a key: %v", err)
	}
	off := false
	w.Config = func() approval.JudgeConfig { return approval.JudgeConfig{Enabled: &off, Key: "${X}"} }
	if got, err := w.Summarize(t.Context(), "x", 300); got != "" || err != nil {
		t.Errorf("a judge that is off: %q, %v", got, err)
	}
}

// TestParse: an export becomes the conversation that it was, without the owner and the ids that it names; anything else is text.
func TestParse(t *testing.T) {
	c, err := Parse([]byte(`{"form":"` + transcript.Form + `","id":"c-x","name":"n","role":"admin","principal":"p",` +
		`"agent":"claude","agentId":"u","tags":["t"],"messages":[{"id":"m-x","role":"user","content":"hi"}]}`))
	if err != nil || c.Name != "n" || len(c.Messages) != 1 || c.ID+c.Role+c.Principal+c.AgentID != "" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, s := range []string{"hi", `{"a":1}`, `{"form":"` + transcript.Form} {
		if c, err := Parse([]byte(s)); err != nil || len(c.Messages) != 1 || c.Messages[0].Content != s {
			t.Errorf("%s: %+v, %v", s, c, err)
		}
	}
	if _, err := Parse([]byte(" \n")); err == nil {
		t.Error("no text is no error")
	}
}
