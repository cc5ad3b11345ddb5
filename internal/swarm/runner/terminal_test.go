package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/agent"
	"mycelium/internal/harness"
)

// deaf is a Claude Code that loses what is typed first, or only its Enter, and writes its transcript when it has heard something.
type deaf struct {
	t       *testing.T
	path    string
	loses   int    // texts that it loses
	keeps   string // what stands at its prompt, without Enter
	noEnter bool
	typed   []string
}

func (d *deaf) Screen(context.Context, string) (string, error) {
	const rule = "────────────────────"
	return rule + "\n❯\u00a0" + d.keeps + "\n" + rule + "\n", nil
}

func (d *deaf) Paste(_ context.Context, _, text string) error {
	d.typed = append(d.typed, text)
	if d.loses--; d.loses < 0 {
		d.keeps += text
	}
	return nil
}

func (d *deaf) Keys(_ context.Context, _ string, names ...string) error {
	d.typed = append(d.typed, names...)
	if d.noEnter {
		d.noEnter = false
		return nil
	}
	said := d.keeps
	d.keeps = ""
	line := `{"type":"user","message":{"role":"user","content":"` + said + `"}}
{"type":"assistant","message":{"id":"m","model":"x","role":"assistant","stop_reason":"end_turn",` +
		`"content":[{"type":"text","text":"done"}],"usage":{"input_tokens":1,"output_tokens":2}}}
`
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	return os.WriteFile(d.path, []byte(line), 0o600)
}

// TestTypedAgain: what a terminal loses is typed again, once more only, and a text that waits for its Enter gets that alone.
func TestTypedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		screen deaf
		want   string
	}{
		"heard":    {deaf{}, "hello|Enter"},
		"lost":     {deaf{loses: 1}, "hello|hello|Enter"},
		"no Enter": {deaf{noEnter: true}, "hello|Enter|Enter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := c.screen
			s.t, s.path = t, filepath.Join(dir, "projects", "p", "id.jsonl")
			tui := &TUI{Screen: &s, Config: dir, Session: "id", Gone: make(chan error),
				Price: func(harness.Usage) (float64, bool) { return 0.5, true }}
			turn, err := tui.Say(t.Context(), "hello", func(agent.Event) {})
			if err != nil || turn.Text != "done" || turn.Stop != agent.StopEnd || turn.Cost != 0.5 || strings.Join(s.typed, "|") != c.want {
				t.Errorf("%+v, %v, typed %q", turn, err, s.typed)
			}
		})
	}
}

// TestProgramIsLeft: a person who leaves the program ends the turn, with an error that says so.
func TestProgramIsLeft(t *testing.T) {
	gone := make(chan error, 1)
	gone <- nil
	s := &deaf{t: t, loses: 9}
	if _, err := (&TUI{Screen: s, Config: t.TempDir(), Gone: gone}).Say(t.Context(), "hello", nil); err == nil ||
		!strings.Contains(err.Error(), "left at its terminal") {
		t.Error(err)
	}
	gone <- errors.New("signal: killed")
	if _, err := (&TUI{Screen: s, Config: t.TempDir(), Gone: gone}).Say(t.Context(), "hello", nil); err == nil ||
		!strings.Contains(err.Error(), "killed") {
		t.Error(err)
	}
}
