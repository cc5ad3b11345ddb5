package harness

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

// Shown is the kind of thing that an agent's terminal shows.
type Shown int

// The values of Shown. The zero value is a screen that is not understood: nothing is typed there.
const (
	ShowsOther  Shown = iota
	ShowsPrompt       // the line where a person types the next prompt
	ShowsDialog       // a choice with numbered options
)

// Screen is what the terminal of an agent shows.
type Screen struct {
	Shown  Shown
	Works  bool   // of ShowsPrompt: the agent is at work, and keeps a prompt until its turn is over
	Typed  string // of ShowsPrompt: the text that stands there; "" also for the agent's own example of a prompt
	Dialog Dialog // of ShowsDialog
}

// Dialog is a choice that an agent's terminal offers.
type Dialog struct {
	Text    string // the lines from the rule above the dialog to its first option
	Options []Option
	Focus   int  // index of the option that Enter takes
	Amends  bool // Tab lets a person add words to the focused option
}

// Option is one choice. The key with its number takes it.
type Option struct {
	Number int
	Text   string
}

// Yes returns the option that allows the call once and does nothing else.
func (d Dialog) Yes() (Option, bool) { return d.only(func(text string) bool { return text == "Yes" }) }

// No returns the option that refuses the call and does nothing else.
func (d Dialog) No() (Option, bool) {
	return d.only(func(text string) bool { return text == "No" || strings.HasPrefix(text, NoWithWords) })
}

// NoWithWords is the text of the option that refuses a call while words for the agent can be typed behind it (Claude Code 2.1.197 and
// 2.1.330).
const NoWithWords = "No, and tell Claude what to do differently"

// only returns the one option whose text fits.
func (d Dialog) only(fits func(string) bool) (found Option, ok bool) {
	for _, o := range d.Options {
		if fits(o.Text) {
			if ok {
				return Option{}, false
			}
			found, ok = o, true
		}
	}
	return found, ok && len(d.Options) <= 9 // a number of two digits is two keys
}

// Mentions reports whether the text of the dialog contains another text. White space does not count, because a terminal breaks lines.
func (d Dialog) Mentions(text string) bool {
	return text != "" && strings.Contains(withoutSpace(d.Text), withoutSpace(text))
}

// Same reports whether two dialogs ask the same with the same options. Which option is focused does not count.
func (d Dialog) Same(other Dialog) bool {
	return withoutSpace(d.Text) == withoutSpace(other.Text) && slices.Equal(d.Options, other.Options)
}

func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// ReadScreen reads the text that an agent's terminal shows. For an agent whose screens this program does not know, it understands
// nothing.
func (a Agent) ReadScreen(screen string) Screen {
	if a.readScreen == nil {
		return Screen{}
	}
	return a.readScreen(screen)
}

// ReadsScreen reports whether this program knows the agent's screens.
func (a Agent) ReadsScreen() bool { return a.readScreen != nil }

// The texts on a screen of Claude Code (2.1.197 and 2.1.330). The prompt stands between two rules. A dialog takes the place of the prompt:
// it stands below a rule, and its last line says which keys it takes.
const (
	claudeMark = "❯"
	claudeKeys = "Esc to cancel"
	claudeWork = "esc to interrupt"
)

// claudeExamples begin the texts that Claude Code itself writes into an empty prompt.
var claudeExamples = []string{`Try "`, "Press up to edit queued messages"}

func readClaude(screen string) Screen {
	lines := strings.Split(screen, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRightFunc(strings.ReplaceAll(l, "\u00a0", " "), unicode.IsSpace)
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return Screen{}
	}
	if strings.HasPrefix(strings.TrimSpace(lines[len(lines)-1]), claudeKeys) {
		return claudeDialog(lines[:len(lines)-1], strings.Contains(lines[len(lines)-1], "Tab to amend"))
	}
	return claudePrompt(lines)
}

// claudePrompt reads a screen that should end with the prompt between two rules, and lines about modes and keys below it.
func claudePrompt(lines []string) Screen {
	last := lastIndex(lines, claudeRule)
	if last < 0 {
		return Screen{}
	}
	first := lastIndex(lines[:last], claudeRule)
	if first < 0 || first+1 >= last || !strings.HasPrefix(lines[first+1], claudeMark) {
		return Screen{}
	}
	for _, l := range lines[last+1:] { // a menu below the rule, or another dialog
		if strings.Contains(l, claudeMark) || claudeNumber(l) > 0 || strings.Contains(l, "to cancel") {
			return Screen{}
		}
	}
	typed := strings.TrimSpace(strings.TrimPrefix(strings.Join(lines[first+1:last], "\n"), claudeMark))
	if slices.ContainsFunc(claudeExamples, func(s string) bool { return strings.HasPrefix(typed, s) }) {
		typed = ""
	}
	// Below what it does the agent says "Thinking… (8s · 26 tokens)". Not every version names the key that interrupts it.
	works := slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, claudeWork) }) ||
		slices.ContainsFunc(lines[max(0, first-8):first], func(l string) bool { return strings.Contains(l, "… (") || strings.HasSuffix(l, "…") })
	return Screen{Shown: ShowsPrompt, Typed: typed, Works: works}
}

// claudeDialog reads a dialog without its last line. The options are the last ones on the screen: the command above them, which the agent
// wrote, may look like options too.
func claudeDialog(lines []string, amends bool) Screen {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	first := lastIndex(lines, func(l string) bool { return claudeNumber(l) == 1 })
	if first < 0 {
		return Screen{}
	}
	d := Dialog{Focus: -1, Amends: amends}
	for _, l := range lines[first:] {
		o, focused := claudeOption(l)
		switch {
		case o.Number == 0 && (strings.TrimSpace(l) == "" || claudeRule(l)): // something else below the options
			return Screen{}
		case o.Number == 0: // a line that was broken
			d.Options[len(d.Options)-1].Text += " " + strings.TrimSpace(l)
			continue
		case o.Number != len(d.Options)+1 || focused && d.Focus >= 0:
			return Screen{}
		case focused:
			d.Focus = len(d.Options)
		}
		d.Options = append(d.Options, o)
	}
	rule := lastIndex(lines[:first], claudeRule)
	if d.Focus < 0 || len(d.Options) < 2 || rule < 0 {
		return Screen{}
	}
	d.Text = strings.TrimSpace(strings.Join(lines[rule+1:first], "\n"))
	return Screen{Shown: ShowsDialog, Dialog: d}
}

// claudeRule reports whether a line is a rule, which may have a title in it.
func claudeRule(l string) bool {
	l = strings.TrimSpace(l)
	return strings.HasPrefix(l, "────────") && strings.HasSuffix(l, "─")
}

// claudeOption reads a line such as " ❯ 1. Yes". The number is 0 if it is none.
func claudeOption(l string) (o Option, focused bool) {
	l, focused = strings.CutPrefix(strings.TrimSpace(l), claudeMark)
	number, text, ok := strings.Cut(strings.TrimSpace(l), ". ")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != number || strings.TrimSpace(text) == "" {
		return Option{}, false
	}
	return Option{n, strings.TrimSpace(text)}, focused
}

func claudeNumber(l string) int {
	o, _ := claudeOption(l)
	return o.Number
}

func lastIndex(lines []string, is func(string) bool) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if is(lines[i]) {
			return i
		}
	}
	return -1
}

// ShownOf returns the part of a call's arguments that the agent's dialog about the call shows; "" if this program does not know it.
func (a Agent) ShownOf(tool string, input jsontext.Value) string {
	name := map[string]string{
		"agent__Bash": "command", "agent__Write": "file_path", "agent__Edit": "file_path", "agent__MultiEdit": "file_path",
		"agent__Read": "file_path", "agent__NotebookEdit": "notebook_path", "agent__WebFetch": "url", "agent__WebSearch": "query",
	}[tool]
	value := rawjson.TextAt(input, name)
	if value != "" && strings.HasSuffix(name, "_path") {
		return filepath.Base(value)
	}
	return value
}
