package screen

import (
	"context"
	"os"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"mycelium/internal/agent/slash"
)

// TestLine: lines are written with the keys that people know, and drawn so that they fit.
func TestLine(t *testing.T) {
	s := newShown(t, 40, 20)
	s.press("日本語のとても長い文は画面の端で折り返されます")
	s.has("❯ 日本語のとても長い文は画面の端で折り", "  返されます")
	c := s.View().Cursor
	if c == nil || c.X != 12 {
		t.Errorf("the cursor is at %+v", c)
	}
	s.press("enter")
	s.press(`one\`, "enter", "two", "alt+enter", "three", "ctrl+j", "four")
	if got := s.edit.String(); got != "one\ntwo\nthree\nfour" {
		t.Errorf("%q", got)
	}
	s.press("up", "X", "ctrl+w", "up", "backspace")
	if got := s.edit.String(); got != "onetwo\ne\nfour" {
		t.Errorf("%q", got)
	}
	s.edit.set("")
	s.take(tea.PasteMsg{Content: "a\r\nb\x1b[2J\tc"})
	if got := s.edit.String(); got != "a\nb[2J    c" {
		t.Errorf("%q", got)
	}
	if s.press("enter"); s.engine.said[1] != "a\nb[2J    c" {
		t.Errorf("%q", s.engine.said)
	}
}

// TestEditor: whatever keys are pressed, the cursor is in the text, and what is drawn fits.
func TestEditor(t *testing.T) {
	keys := []string{"left", "right", "alt+left", "alt+right", "home", "end", "backspace", "delete",
		"ctrl+w", "alt+d", "ctrl+u", "ctrl+k", "ctrl+j"}
	rapid.Check(t, func(t *rapid.T) {
		var e editor
		for range rapid.IntRange(0, 40).Draw(t, "keys") {
			switch n := rapid.IntRange(0, len(keys)+4).Draw(t, "key"); {
			case n < len(keys):
				e.key(keys[n], "")
			case n == len(keys):
				e.vertical(rapid.SampledFrom([]int{-1, 1}).Draw(t, "by"))
			default:
				e.insert(rapid.SampledFrom([]string{"a", "日本", " ", "e\u0301", "👍🏽", "\x1b", "word "}).Draw(t, "text"))
			}
			if e.at < 0 || e.at > len(e.text) {
				t.Fatalf("the cursor is at %d of %d", e.at, len(e.text))
			}
			lines, x, y := e.lines(nil, 10, 5)
			if len(lines) > 5 || y < 0 || y >= len(lines) || x < 0 || x > 10 {
				t.Fatalf("%d lines, cursor at %d, %d", len(lines), x, y)
			}
			for _, l := range lines {
				if l.Width() > 10 && len(e.text) > 0 && !strings.ContainsRune(string(e.text), '\u0301') && !strings.Contains(string(e.text), "👍") {
					t.Fatalf("%q has %d cells", l.Raw(), l.Width())
				}
			}
		}
	})
}

// TestHistory: what was written before comes back with the arrow keys, also in the next chat; the line that was begun is kept.
func TestHistory(t *testing.T) {
	s := newShown(t, 80, 24)
	s.press("first", "enter", "second\\", "enter", "line", "enter", "begun")
	s.press("up", "up", "up")
	s.has("❯ first")
	s.press("down", "down", "down")
	s.has("❯ begun")
	if f, err := os.OpenFile(s.o.History, os.O_APPEND|os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	} else if _, err := f.WriteString("broken\n"); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if h := openHistory(s.o.History); len(h.lines) != 2 || h.lines[1] != "second\nline" {
		t.Errorf("%q", h.lines)
	}
	if info, err := os.Stat(s.o.History); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

// TestComplete: Tab completes commands by their letters, and files that the session may read.
func TestComplete(t *testing.T) {
	s := newShown(t, 80, 24)
	s.door.answers["mycelium-skills__list_commands"] = `{"commands":[{"name":"peek","description":"Read.","skill":"reading",` +
		`"handlerType":"tool",` +
		`"toolName":"files__read_file","usage":"/peek FILE","arguments":[{"name":"path","required":true}]}]}`
	s.run(s.load())
	s.press("/ro")
	s.has("▸ /roles", "  /role ROLE")
	s.press("down", "tab", "guest")
	if s.edit.String() != "/role guest" {
		t.Errorf("%q", s.edit.String())
	}
	s.edit.set("")
	s.press("/pek")
	s.has("▸ /peek FILE  Read. [reading]")
	s.edit.set("")
	var asked []string
	s.o.Files = func(_ context.Context, begun string) []string {
		asked = append(asked, begun)
		if strings.HasPrefix(begun, "docs/") {
			return []string{"docs/a.md"}
		}
		return []string{"docs/", "日本語.md"}
	}
	s.press("read @")
	s.has("▸ docs/", "  日本語.md")
	s.press("tab")
	s.has("▸ docs/a.md")
	s.press("tab", "now")
	if s.edit.String() != "read @docs/a.md now" {
		t.Errorf("%q", s.edit.String())
	}
	s.take(filesMsg{begun: "do", files: []string{"docs/"}}) // late
	s.hasNot("▸ docs/")
	was := len(asked)
	if s.press(" me@example"); len(asked) != was {
		t.Error("an address asks for files")
	}
}

// TestMenu: the arrow keys choose a role, Enter takes it and Esc does not.
func TestMenu(t *testing.T) {
	s := newShown(t, 80, 24)
	s.door.answers["mycelium-router__list_roles"] = `{"roles":[{"id":"guest","name":"Guest","description":"Reads."},` +
		`{"id":"developer","current":true}]}`
	s.press("/roles ", "enter")
	s.has("  Guest      Reads.", "▸ developer   ✓")
	s.ran = nil
	if s.press("esc"); len(s.ran) != 0 || s.menu != nil {
		t.Error("Esc takes a role")
	}
	if s.press("/roles ", "enter", "down", "enter"); len(s.ran) != 2 || strings.Join(s.ran[1], " ") != "session set-role s-1 guest" {
		t.Errorf("ran %v", s.ran)
	}
}

// TestCommandsOfTheScreen: what a command comes to is shown, ends the chat, or goes on with another engine.
func TestCommandsOfTheScreen(t *testing.T) {
	s := newShown(t, 80, 24)
	s.press("hello", "enter", "/sessions ", "enter")
	s.has("ran myc chat list --limit 20")
	s.press("/nope", "enter")
	s.has("✗ there is no command /nope")
	s.press("/model haiku", "enter")
	s.has("The next turn is for haiku.", "hello", "haiku")
	s.press("/clear ", "enter")
	s.hasNot("hello")
	if len(s.opened) != 2 || s.opened[0] != (slash.Start{Model: "haiku", Resume: "c-1", Keep: true}) ||
		s.opened[1] != (slash.Start{Model: "haiku", New: true}) {
		t.Errorf("opened %+v", s.opened)
	}
	s.press("/etc/hosts what is it?", "enter")
	if last := s.engine.said[len(s.engine.said)-1]; last != "/etc/hosts what is it?" {
		t.Errorf("said %q", last)
	}
	if s.press("/exit ", "enter"); !s.quit {
		t.Error("/exit does not end the chat")
	}
	if s = newShown(t, 80, 24); !s.press("ctrl+d").quit {
		t.Error("Ctrl-D does not end the chat")
	}
}
