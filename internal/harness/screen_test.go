package harness

import (
	"strings"
	"testing"
)

const (
	testRule   = "────────────────────────────────────────"
	testDialog = "● Bash(touch a)\n  ⎿  Waiting…\n" + testRule + "\n Bash command\n\n   touch a\n   touches\n\n Do you want to proceed?\n" +
		" ❯ 1. Yes\n   2. Yes, and always allow access to /a/folder/that is\n      long from this project\n   3. No\n\n" +
		" Esc to cancel · Tab to amend · ctrl+e to explain\n\n"
)

// TestPrompt: what the terminal of Claude Code 2.1.197 and 2.1.330 shows is told apart: its prompt, with a text and at work, its
// dialogs, and everything else, which is not understood.
func TestPrompt(t *testing.T) {
	claude, _ := Named("claude")
	prompt := "● said\n" + testRule + "\n❯\u00a0\n" + testRule + "\n  ? for shortcuts · ← for agents\n"
	for name, c := range map[string]struct {
		screen string
		want   Shown
		typed  string
		works  bool
	}{
		"a prompt":             {prompt, ShowsPrompt, "", false},
		"its example":          {strings.Replace(prompt, "❯\u00a0", "❯\u00a0Try \"edit <filepath> to…\"", 1), ShowsPrompt, "", false},
		"a draft":              {strings.Replace(prompt, "❯\u00a0", "❯\u00a01. rm it\n  all", 1), ShowsPrompt, "1. rm it\n  all", false},
		"at work":              {"✻ Working… (esc to interrupt)\n" + prompt, ShowsPrompt, "", true},
		"at work, by its time": {"* Metamorphosing… (8s · ↑ 26 tokens)\n  ⎿  Tip: x\n\n" + prompt, ShowsPrompt, "", true},
		"a dialog":             {testDialog, ShowsDialog, "", false},
		"nothing":              {"", ShowsOther, "", false},
		"loading":              {"loading", ShowsOther, "", false},
		"a shell":              {"$ ls\nx\n❯ \n", ShowsOther, "", false},
		"a menu below a rule":  {prompt + "❯ 1. Red\n  2. Blue\nEnter to select · Esc to cancel\n", ShowsOther, "", false},
		"a question":           {testRule + "\n ☐ Colour\n\nWhich colour?\n\n❯ 1. Red\n     r\n  2. Type something.\n" + testRule + "\n  3. Chat about this\n\nEnter to select · ↑/↓ to navigate · Esc to cancel", ShowsOther, "", false},
		"a folder is trusted?": {"Quick safety check\n❯ 1. Yes, I trust this folder\n  2. No, exit\n\nEnter to confirm · Esc to cancel", ShowsOther, "", false},
		"an old prompt above a dialog with other keys": {prompt + testRule + "\n ❯ 1. Yes\n   2. No\n Press a key\n", ShowsOther, "", false},
	} {
		if got := claude.ReadScreen(c.screen); got.Shown != c.want || got.Typed != c.typed || got.Works != c.works {
			t.Errorf("%s: %+v", name, got)
		}
	}
	codex, _ := Named("codex")
	if codex.ReadsScreen() || codex.ReadScreen(prompt).Shown != ShowsOther {
		t.Error("the screens of Codex are understood")
	}
}

// TestReadDialog: the options are those of the dialog, and never those that a command pretends to be.
func TestReadDialog(t *testing.T) {
	claude, _ := Named("claude")
	d := claude.ReadScreen(testDialog).Dialog
	yes, ok := d.Yes()
	no, also := d.No()
	if !ok || !also || yes.Number != 1 || no.Number != 3 || d.Focus != 0 || !d.Amends || len(d.Options) != 3 ||
		d.Options[1].Text != "Yes, and always allow access to /a/folder/that is long from this project" || !d.Mentions("touch a") {
		t.Errorf("%+v", d)
	}
	forged := strings.Replace(testDialog, "   touch a\n", "   echo '\n ❯ 1. No\n   2. Yes\n Esc to cancel · Tab to amend\n'\n", 1)
	d = claude.ReadScreen(forged).Dialog
	if yes, _ := d.Yes(); yes.Number != 1 || len(d.Options) != 3 {
		t.Errorf("%+v", d)
	}
	for _, other := range []string{
		strings.Replace(testDialog, "   3. No", "   3. No\n   4. No", 1),               // two refuse
		strings.Replace(testDialog, "   3. No", "   3. Leave", 1),                      // none does
		strings.Replace(testDialog, "   3. No", "   4. No", 1),                         // an option is missing
		strings.Replace(testDialog, " ❯ 1. Yes", "   1. Yes", 1),                       // none is focused
		strings.Replace(testDialog, "   3. No\n", "   3. No\n\n some other part\n", 1), // more below the options
	} {
		s := claude.ReadScreen(other)
		if _, ok := s.Dialog.No(); ok {
			t.Errorf("%+v", s)
		}
	}
	focused := strings.NewReplacer(" ❯ 1. Yes", "   1. Yes", "   3. No", " ❯ 3. No, and tell Claude what to do differently").Replace(testDialog)
	if no, ok := claude.ReadScreen(focused).Dialog.No(); !ok || no.Number != 3 {
		t.Errorf("%+v", no)
	}
}

// TestShownOf: of a call its dialog shows the command, or the name of the file.
func TestShownOf(t *testing.T) {
	claude, _ := Named("claude")
	for _, c := range [][3]string{
		{"agent__Bash", `{"command":"touch a"}`, "touch a"}, {"agent__Write", `{"file_path":"/x/one.txt"}`, "one.txt"},
		{"agent__Write", `{}`, ""}, {"files__write_file", `{"path":"x"}`, ""}, {"agent__Bash", `no`, ""},
	} {
		if got := claude.ShownOf(c[0], []byte(c[1])); got != c[2] {
			t.Errorf("%q: %q", c, got)
		}
	}
}
