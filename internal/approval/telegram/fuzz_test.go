package telegram

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"mycelium/internal/approval"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// FuzzTap: the data of a button is refused, or is written back as it was read.
func FuzzTap(f *testing.F) {
	for _, s := range []string{"a:abc", "o:abc:0.3", "f:abc:2", "p:ABC:11", "a:", "o:abc:0.03", "o:abc:-1.2", "a:x:y", "zz:abc", "o:a:1.2.3",
		strings.Repeat("a", 65)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		p, ok := parseTap(data)
		if !ok {
			return
		}
		arg := ""
		switch p.verb {
		case tapDone, tapPick:
			arg = itoa(int64(p.first))
		case tapOption:
			arg = itoa(int64(p.first)) + "." + itoa(int64(p.second))
		}
		if back := tapData(p.verb, p.id, arg); back != data || len(data) > maxButton {
			t.Errorf("%q was read as %+v, which is %q", data, p, back)
		}
	})
}

// FuzzCommand: parsing a text does not panic, and its parts come from the text.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{"/send api hello", "/send \"two words\" x", "/new@bot a/b c", "/", "/send “全角” y", "/SEND x",
		"/send 'open x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, args, ok := parseCommand(s)
		if ok && (name == "" || !strings.Contains(s, name) || !strings.Contains(s, args)) {
			t.Errorf("%q: %q %q", s, name, args)
		}
		word, rest := firstWord(args)
		if !strings.Contains(args, word) || !strings.Contains(args, rest) || len(word)+len(rest) > len(args) {
			t.Errorf("%q: %q %q", args, word, rest)
		}
	})
}

// FuzzPlaces: no name leads out of the search paths.
func FuzzPlaces(f *testing.F) {
	root, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	search := filepath.Join(root, "src")
	for _, dir := range []string{"src/api", "src/日本語", "src/team/api", "outside/secret", "src/a b"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	for _, l := range []string{"src/link", "src/team/up"} {
		if err := os.Symlink(filepath.Join(root, "outside"), filepath.Join(root, l)); err != nil {
			f.Fatal(err)
		}
	}
	for _, s := range []string{"api", "ap", "日本語", "team/api", "../outside", "/etc", "~root", "$HOME", "link", "link/secret",
		"team/up/secret",
		"a b", ".", "api/../../outside", "api\x00", "-x", "team//api", "./api"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		found, err := approval.Places([]string{search}, name)
		if err != nil {
			return
		}
		for _, dir := range found {
			if !strings.HasPrefix(dir, search+"/") || approval.CheckPlace([]string{search}, dir) != nil {
				t.Errorf("%q leads to %s", name, dir)
			}
			if st, err := os.Stat(dir); err != nil || !st.IsDir() {
				t.Errorf("%q leads to %s, which is no folder", name, dir)
			}
		}
	})
}

// FuzzRequestPage: the message of every request fits, has no invisible characters, and has valid styles.
func FuzzRequestPage(f *testing.F) {
	f.Add("ls", "why", "api", []byte(`{"command":"ls"}`))
	f.Add(strings.Repeat("🙂", 5000), "\u202e", "\x1b[2J", []byte(`{"file_path":"/x","old_string":"a\nb","new_string":"b\r\nc"}`))
	f.Add("x", "y", "z", []byte(`{"command":`))
	render := renderer{now: time.Now, zone: time.UTC}
	f.Fuzz(func(t *testing.T, words, reason, label string, args []byte) {
		for _, tool := range []string{"agent__Bash", "agent__Edit", words} {
			r := approval.Request{
				ID: "abc", Kind: approval.Call, Tool: tool, Label: label, Dir: words, Reason: reason, Thinking: words, Opinion: words, Rule: reason,
				Args: args, State: approval.Pending, Risk: policy.Critical,
				Facts: policy.Facts{Parts: []policy.Part{{Effects: []string{words}, Hosts: []string{reason}}}}, Parent: words, Principal: words,
				Agent: words, Role: words, Category: words,
			}
			for _, kind := range []approval.Kind{approval.Call, approval.Stop, approval.Question} {
				r.Kind, r.Text = kind, words
				r.Questions = []approval.Asked{{Header: words, Text: reason, Options: []string{words, label}}, {Text: words, Many: true}}
				p, _ := render.request(r, &view{late: []string{"late"}})
				shown := p.b.String()
				n := len(utf16.Encode([]rune(shown)))
				if n != p.units || n > maxPage || text.HasHidden(shown) {
					t.Errorf("%d units, counted %d: %q", n, p.units, shown)
				}
				for _, s := range p.styles {
					if s.Offset < 0 || s.Length <= 0 || s.Offset+s.Length > n {
						t.Errorf("style %+v of %d", s, n)
					}
				}
				for _, row := range p.rows {
					for _, b := range row {
						if strings.TrimSpace(b.Text) == "" || len(b.Data) > maxButton {
							t.Errorf("button %+v", b)
						}
					}
				}
			}
		}
	})
}
