package pane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/harness"
)

// claude is the terminal of a Claude Code with a prompt, or with a dialog about a command.
type claude struct {
	other   string // shown in the place of everything; "": prompt or dialog
	command string // of the dialog; "": the prompt
	draft   string
	works   bool
	focus   int  // in the dialog, from 0
	amends  bool // the option "No" takes words
	words   string
	opens   string // the dialog opens about this command before the next paste arrives
	young   bool   // the dialog has just opened, and ignores the next key
	slow    bool   // it takes the next key when another one comes
	late    string // that key
	pressed []string
	chosen  string // and with which words
	sent    []string
}

const rule = "────────────────────────"

func (c *claude) Screen(context.Context, string) (string, error) {
	if c.other != "" {
		return c.other, nil
	}
	if c.command == "" {
		work := ""
		if c.works {
			work = "✻ Working… (esc to interrupt)\n"
		}
		return work + rule + "\n❯\u00a0" + c.draft + "\n" + rule + "\n  ? for shortcuts\n", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n Bash command\n\n   %s\n\n Do you want to proceed?\n", rule, c.command)
	for i, o := range c.options() {
		mark := " "
		if i == c.focus {
			mark = "❯"
		}
		fmt.Fprintf(&b, " %s %d. %s\n", mark, i+1, o)
	}
	b.WriteString("\n Esc to cancel")
	if c.focus != 1 && !c.amends {
		b.WriteString(" · Tab to amend")
	}
	return b.String() + "\n", nil
}

func (c *claude) options() []string {
	no := "No"
	if c.amends {
		if no = harness.NoWithWords; c.words != "" {
			no = "No, " + c.words
		}
	}
	return []string{"Yes", "Yes, and always", no}
}

func (c *claude) Paste(_ context.Context, _, text string) error {
	if c.opens != "" {
		c.command, c.opens = c.opens, ""
	}
	switch {
	case c.command == "":
		c.draft += text
	case c.amends:
		c.words += text
	}
	return nil
}

func (c *claude) Keys(_ context.Context, _ string, names ...string) error {
	for _, k := range names {
		c.pressed = append(c.pressed, k)
		if c.slow {
			c.slow, c.late = false, k
			continue
		}
		if k := c.late; k != "" {
			c.late = ""
			c.chosen, c.command = c.options()[k[0]-'1'], ""
		}
		switch {
		case c.young:
			c.young = false
		case c.command == "" && k == "BSpace":
			c.draft = c.draft[:len(c.draft)-1]
		case c.command == "" && k != "Enter":
			c.draft += k
		case c.command == "" && k == "Enter":
			c.sent, c.draft = append(c.sent, c.draft), ""
		case k == "Tab":
			c.amends = true
		case k == "Down":
			c.focus++
		case k == "Up":
			c.focus--
		case k == "Enter":
			c.chosen, c.command = c.options()[c.focus], ""
		default:
			c.chosen, c.command = c.options()[k[0]-'1'], ""
		}
	}
	return nil
}

func at(c *claude, asks func() string) *Pane {
	p := Of(c, "%1", "claude")
	p.Asks = asks
	return p
}

func nothing() string { return "" }

// TestType: a text is typed at an empty prompt, and nowhere else.
func TestType(t *testing.T) {
	for name, c := range map[string]struct {
		on    claude
		asks  func() string
		typed bool
	}{
		"a prompt":                {claude{}, nothing, true},
		"a prompt without a hook": {claude{}, nil, true},
		"work under the hook":     {claude{works: true}, nothing, true},
		"work without a hook":     {claude{works: true}, nil, false},
		"the text is there":       {claude{draft: "3 more lines"}, nothing, true},
		"a person's draft":        {claude{draft: "rm it"}, nothing, false},
		"a dialog":                {claude{command: "touch a"}, nothing, false},
		"a dialog that opens":     {claude{opens: "touch a"}, nothing, false},
		"an event":                {claude{}, func() string { return "it asks" }, false},
		"a menu":                  {claude{other: "Select a model\n❯ 1. One\n  2. Two\n"}, nothing, false},
		"a shell":                 {claude{other: "$ "}, nothing, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := c.on
			err := at(&on, c.asks).Type(t.Context(), "3 more lines")
			var notNow *NotNowError
			if c.typed != (err == nil) || !c.typed && (!errors.As(err, &notNow) || len(on.pressed) != 0) {
				t.Errorf("%v, pressed %q", err, on.pressed)
			}
			if c.typed && !slices.Equal(on.sent, []string{"3 more lines"}) {
				t.Errorf("sent %q", on.sent)
			}
		})
	}
}

// TestAnswer: a dialog is answered by the keys that it shows, with words where it takes them, and only if it is the one that is meant.
func TestAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		r       Reply
		chosen  string
		pressed string
		told    bool
	}{
		"yes":   {Reply{Allow: true}, "Yes", "1", false},
		"no":    {Reply{}, "No", "3", false},
		"words": {Reply{Words: "1 of\n2 "}, "No, 1 of 2", "Down|Down|Tab|Enter", true},
	} {
		on := &claude{command: "touch a"}
		option, told, err := at(on, nil).Answer(t.Context(), func(harness.Dialog) error { return nil }, c.r)
		if err != nil || on.chosen != c.chosen || strings.Join(on.pressed, "|") != c.pressed || told != c.told || option == "" {
			t.Errorf("%s: %q %t %v, chosen %q by %q", name, option, told, err, on.chosen, on.pressed)
		}
	}
	for _, allow := range []bool{true, false} {
		young, want := &claude{command: "touch a", young: true}, map[bool]string{true: "Yes", false: "No"}[allow]
		if _, _, err := at(young, nil).Answer(t.Context(), func(harness.Dialog) error { return nil }, Reply{Allow: allow}); err != nil || young.chosen != want {
			t.Errorf("a dialog that ignores the first key: %v, chosen %q by %q", err, young.chosen, young.pressed)
		}
	}
	slow := &claude{command: "touch a", slow: true}
	_, _, err := at(slow, nil).Answer(t.Context(), func(harness.Dialog) error { return nil }, Reply{Allow: true})
	if err != nil || slow.chosen != "Yes" || slow.draft != "" || strings.Join(slow.pressed, "|") != "1|1|BSpace" {
		t.Errorf("a dialog that takes the first key late: %v, chosen %q by %q, at the prompt %q", err, slow.chosen, slow.pressed, slow.draft)
	}
	other := errors.New("another question")
	for name, on := range map[string]*claude{"another": {command: "touch b"}, "none": {}, "a menu": {other: "❯ 1. Yes\n  2. No\n"}} {
		_, _, err := at(on, nil).Answer(t.Context(), func(d harness.Dialog) error {
			if !d.Mentions("touch a") {
				return other
			}
			return nil
		}, Reply{Allow: true})
		if err == nil || len(on.pressed) != 0 {
			t.Errorf("%s: %v, pressed %q", name, err, on.pressed)
		}
	}
}

// TestChoose: a number takes an option of a dialog, and is nothing else.
func TestChoose(t *testing.T) {
	on := &claude{command: "touch a"}
	if err := at(on, nil).Choose(t.Context(), 7); err == nil || len(on.pressed) != 0 {
		t.Errorf("%v, pressed %q", err, on.pressed)
	}
	if err := at(on, nil).Choose(t.Context(), 3); err != nil || on.chosen != "No" {
		t.Errorf("%v, chosen %q", err, on.chosen)
	}
	if err := at(on, nil).Choose(t.Context(), 3); !errors.Is(err, ErrNoDialog) {
		t.Error(err)
	}
}
