package credential

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// secret is the part of a form's example that must not be shown.
func secret(f Form) string { return cmp.Or(f.Hidden, f.Example) }

// TestForms: every form has all its parts, its example is found and named by itself, and what is nearly of it is of no form.
func TestForms(t *testing.T) {
	if len(Forms) < 40 {
		t.Errorf("%d forms", len(Forms))
	}
	seen := map[string]bool{}
	for _, f := range Forms {
		if f.Name == "" || f.What == "" || f.mark == "" || f.Example == "" || f.Other == "" || (f.after+f.before == "") == (f.find == nil) {
			t.Errorf("form %q lacks a part: %+v", f.Name, f)
		}
		if seen[f.Name] {
			t.Errorf("two forms are called %s", f.Name)
		}
		seen[f.Name] = true
		for _, mark := range expand(f.mark) {
			if len(mark) <= stride {
				t.Errorf("%s: the mark %q is too short to be found", f.Name, mark)
			}
		}
		for _, around := range []string{"%s", "x: %s y", "x\n%s\n", "=%s,", `a\n%s`, "日本%s語", "%%3D%s"} {
			text := fmt.Sprintf(around, f.Example)
			found := Find(text)
			if len(found) != 1 || found[0].Form.Name != f.Name || !found[0].Sure {
				t.Errorf("%s: in %q: %+v", f.Name, text, found)
				continue
			}
			if got := text[found[0].Start:found[0].End]; f.find == nil && got != secret(f) || !strings.Contains(got, secret(f)) {
				t.Errorf("%s: found %q in %q", f.Name, got, text)
			}
			if masked := Mask(text); strings.Contains(masked, secret(f)) || !strings.Contains(masked, Redacted) {
				t.Errorf("%s: %q became %q", f.Name, text, masked)
			}
			if !Possible(text) || !Possible([]byte(text)) {
				t.Errorf("%s: %q is passed over", f.Name, text)
			}
		}
		if found := Find(f.Other); found != nil {
			t.Errorf("%s: %q is taken for %s", f.Name, f.Other, found[0].Form.Name)
		}
	}
}

// TestEveryMark: each alternative of a mark is found, wherever in a text it stands.
func TestEveryMark(t *testing.T) {
	for _, f := range Forms {
		for _, mark := range expand(f.mark) {
			for pad := range 4 {
				if !Possible(strings.Repeat("日", pad%2) + strings.Repeat(" ", pad) + mark) {
					t.Errorf("%s: %q at %d is passed over", f.Name, mark, pad)
				}
			}
		}
	}
}

// pattern is a form as a regular expression of the standard library.
func (f Form) pattern() string {
	var marks []string
	for _, mark := range expand(f.mark) {
		marks = append(marks, regexp.QuoteMeta(mark))
	}
	return "(?:" + f.before + ")(?P<mark>" + strings.Join(marks, "|") + ")(?:" + f.after + ")"
}

// TestAgainstRegexp: what is found by steps is what the regular expression of the same form matches.
func TestAgainstRegexp(t *testing.T) {
	for i, f := range Forms {
		if f.find != nil {
			continue
		}
		re := regexp.MustCompile(`\A(?:` + f.pattern() + `)`)
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.StringMatching(f.pattern()).Draw(t, "text")
			tail := rapid.SampledFrom([]string{"", " ", ".", "\"", "é", "/x", "-", "="}).Draw(t, "tail")
			place := re.FindStringSubmatchIndex(text + tail)
			want, begins := (text + tail)[:place[1]], 0
			if f.keeps {
				begins = place[2*re.SubexpIndex("mark")+1]
			}
			var spans []Span
			for _, sp := range Find(text + tail) {
				// Where another form is in the match too, the two are one, with the name of either.
				if sp.Form == &Forms[i] || sp.End >= len(want) && sp.Start <= begins {
					spans = append(spans, sp)
				}
			}
			if len(spans) == 0 || spans[0].End < len(want) {
				t.Fatalf("%s: %q is not found whole in %q: %+v", f.Name, want, text+tail, spans)
			}
		})
	}
}

// TestBoundaries: a mark inside of a word is none, unless an escape or another secret ends there.
func TestBoundaries(t *testing.T) {
	token, key := "gh"+"p_"+x36, "AK"+"IA"+u16
	for _, c := range []struct{ in, want string }{
		{"x" + token, "x" + token},
		{"_" + token, "_" + token},
		{"-" + token, "-" + Redacted},
		{`\n` + token, `\n` + Redacted},
		{`\\x` + token, `\\x` + token},
		{`\u003d` + token, `\u003d` + Redacted},
		{"\x1b[31m" + token + "\x1b[0m", "\x1b[31m" + Redacted + "\x1b[0m"},
		{"%3d" + token, "%3d" + Redacted},
		{key + token, Redacted + Redacted},
		{"x" + key + token, "x" + key + token},
		{"https://u:" + token + "@h/" + token, "https://u:" + Redacted + "@h/" + Redacted},
		{"https://u:p@ss@h/x", "https://u:" + Redacted + "@h/x"},
		{"https://u:" + Redacted + "@h/x", "https://u:" + Redacted + "@h/x"},
		{"Bearer " + token, "Bearer " + Redacted},
		{"bearer abcdefgh, x", "bearer " + Redacted + ", x"},
		{"authorization: BASIC abcd", "authorization: BASIC " + Redacted},
		{"-----BEGIN PRIVATE KEY-----\nMIIE", Redacted},
		{"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nrest -----END PRIVATE KEY-----",
			Redacted + "\nrest -----END PRIVATE KEY-----"},
		{"-----BEGIN PGP PRIVATE KEY BLOCK-----\nMIIE\n-----END PGP PRIVATE KEY BLOCK-----\nrest", Redacted + "\nrest"},
		{"-----BEGIN PRIVATE KEY-----\na\n-----END CERTIFICATE-----\nb\n-----END PRIVATE KEY-----c", Redacted + "c"},
		{"a PRIVATE KEY, a -----BEGIN CERTIFICATE-----", "a PRIVATE KEY, a -----BEGIN CERTIFICATE-----"},
	} {
		if got := Mask(c.in); got != c.want {
			t.Errorf("%q became %q, want %q", c.in, got, c.want)
		}
	}
}

// TestOrdinary: what programs write every day is no secret.
func TestOrdinary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	blob := make([]byte, 1<<20)
	for i := range blob {
		blob[i] = byte(random.Uint32())
	}
	texts := []string{
		"commit 9fceb02d0ae598e95dc970b74767f19372d61af8 by 123e4567-e89b-12d3-a456-426614174000",
		"modernc.org/sqlite v1.60.1 h1:JdRuhQzTHmtKTXQ4rVvTwHLjYmSGyoFCTXnu2ZU8vGk=",
		`"integrity": "sha512-XI5MPzVNApjAyhQzphX8BkmKsKUxD4LdyK24iZeQGinBN9yTQT3bFlCBy/aVx2HrNcqQGsdot8ghrjyrvMCoEA=="`,
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA",
		"The task-list asks for a risk-analysis; disk-usage-of-the-whole-cluster-node; a bearer of news, basic knowledge.",
		"sk_test_connection_pool_size npm_config_registry hf_hub_download vc_reader nfc_llcp_sock pat_1",
		"key-value https://example.com:8080/a@b",
		"http://localhost:3000 x://y git@github.com:a/b.git ssh://git@host:22/a user:password postgres://localhost/db",
		"data:application/json;base64,eyJhIjoxfQ== eyJ.eyJ.x v1.0-rc1 dp.st.x SG.x SK12 12:AAb API-KEY pul-request xoxo",
		"func (q *Queue) Ask(ctx context.Context, r Request) (Answer, error) { return q.AskTelling(ctx, r, nil) }",
		base64.StdEncoding.EncodeToString(blob), base64.RawURLEncoding.EncodeToString(blob), fmt.Sprintf("%x", blob),
		base64.StdEncoding.EncodeToString(make([]byte, 1<<16)),
	}
	for _, text := range texts {
		for _, sp := range Find(text) {
			t.Errorf("%.60q: %q is taken for %s", text, text[sp.Start:sp.End], sp.Form.Name)
		}
	}
}

// TestLinear: ten times the text takes about ten times the steps, for texts that are made of marks. What is counted is how often the
// matcher looks at a byte of a run: time depends on the machine.
func TestLinear(t *testing.T) {
	measured := func(text string) int {
		if m := search(text); m != nil {
			return m.cost
		}
		return 0
	}
	for _, f := range Forms {
		for _, mark := range expand(f.mark)[:1] {
			for _, fill := range []string{"", "a", "a-", "-", ".", "/", "0", " ", "-----BEGIN ", "a:b"} {
				piece := mark + fill
				small := measured(strings.Repeat(piece, 2000/len(piece)))
				big := measured(strings.Repeat(piece, 20000/len(piece)))
				if big > 20*small+40000 {
					t.Errorf("%s: %q repeated costs %d steps for 2 KB and %d for 20 KB", f.Name, piece, small, big)
				}
			}
		}
	}
}

// TestTwice: what was masked stays as it is.
func TestTwice(t *testing.T) {
	var pieces []string
	for _, f := range Forms {
		pieces = append(pieces, f.Example, expand(f.mark)[0])
	}
	pieces = append(pieces, "x", "_", "-", " ", "\n", "@", ":", "/", Redacted, "://u:", "日")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(t, "pieces"), "")
		once := Mask(text)
		if twice := Mask(once); twice != once {
			t.Fatalf("%q became %q, then %q", text, once, twice)
		}
	})
}

func FuzzMask(f *testing.F) {
	for _, form := range Forms {
		f.Add(form.Example)
		f.Add(form.Other)
	}
	f.Add("x://u:" + "AB" + "SK" + x80 + "/@h")
	f.Fuzz(func(t *testing.T, in string) {
		last := 0
		for _, sp := range Find(in) {
			if sp.Start < last || sp.End <= sp.Start || sp.End > len(in) {
				t.Fatalf("%q: %+v", in, Find(in))
			}
			last = sp.End
		}
		if once := Mask(in); Mask(once) != once {
			t.Errorf("%q became %q, then %q", in, once, Mask(once))
		}
	})
}

// TestLines: a text that comes line by line is masked as the whole is, a private key in all its lines.
func TestLines(t *testing.T) {
	for _, f := range Forms {
		var l Lines
		var out []string
		for line := range strings.SplitSeq("before\n"+f.Example+"\nafter it.", "\n") {
			out = append(out, l.Mask(line))
		}
		got := strings.Join(out, "\n")
		for part := range strings.SplitSeq(secret(f), "\n") {
			if strings.Contains(got, part) {
				t.Errorf("%s: %q", f.Name, got)
			}
		}
		if !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, "\nafter it.") {
			t.Errorf("%s: the lines around it are gone: %q", f.Name, got)
		}
	}
	var l Lines
	for _, line := range []string{"-----BEGIN PRIVATE KEY-----", "10:00 app: " + x64, "", x16} {
		if got := l.Mask(line); strings.Contains(got, x16) {
			t.Errorf("%q", got)
		}
	}
	if got := l.Mask("10:00 app: the key was read."); got != "10:00 app: the key was read." {
		t.Errorf("a key that was cut off hides what comes later: %q", got)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name                                        string
		sensitive, number, ends, variable, mayBeOne bool
	}{
		{"password", true, true, true, true, true},
		{"DB_PASSWORD", true, true, true, true, true},
		{"passwordPolicy", true, true, false, true, true},
		{"apiKeys", true, true, true, true, true},
		{"API-KEY", true, true, true, true, true},
		{"privateKey", true, true, true, true, true},
		{"auth", true, true, false, false, true},
		{"x-auth", true, true, false, false, true},
		{"author", false, false, false, false, true},
		{"access_token", true, true, true, true, true},
		{"max_tokens", true, false, true, true, true},
		{"tokenizer", false, false, false, true, true},
		{"nextPageToken", true, true, false, true, true},
		{"db_pass", false, false, true, false, true},
		{"pwd", false, false, true, false, false},
		{"compass", false, false, false, false, true},
		{"AWS_ACCESS_KEY_ID", false, false, false, true, true},
		{"SSH_AUTH_SOCK", true, true, false, false, true},
		{"LICENSE_KEY", false, false, false, false, true},
		{"GCP_CREDS", false, false, false, false, true},
		{"path", false, false, false, false, false},
		{"", false, false, false, false, false},
	} {
		got := []bool{Sensitive(c.name, false), Sensitive(c.name, true), EndsSensitive(c.name), Variable(c.name), MayBeVariable(c.name)}
		if want := []bool{c.sensitive, c.number, c.ends, c.variable, c.mayBeOne}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
	inText := regexp.MustCompile(`^` + NamePattern + `$`)
	for _, n := range names {
		if n.word == "" {
			t.Error("a name without a word")
		}
		if (n.grade == certain || n.word == "token") && n.word != "authorization" && !inText.MatchString(n.word) {
			t.Errorf("%s is not looked for in running text", n.word)
		}
	}
}

// ordinary is a text of n bytes without a secret, as tools answer and agents write: prose, program text, logs, addresses.
func ordinary(n int) string {
	const page = `Reads the file and returns its lines. The task-list of this week asks for a risk analysis; bearer of good news.
func (q *Queue) Ask(ctx context.Context, r Request) (Answer, error) { return q.AskTelling(ctx, r, nil) } // see RFC 9110
2026-11-03T10:11:12.345Z INFO request done method=POST path=/api/v1/users/42 status=200 duration_ms=17 remote=10.0.0.7:54321
See https://example.com/docs/start?page=2#install and http://localhost:8080/health for what the server tells.
commit 9fceb02d0ae598e95dc970b74767f19372d61af8 by 123e4567-e89b-12d3-a456-426614174000
{"name":"left-pad","version":"1.3.0","integrity":"sha512-XI5MPzVNApjAyhQzphX8BkmKsKUxD4LdyK24iZeQGinBN9yTQT3bFlCBy/aVx2HrNcqQ=="}
`
	return strings.Repeat(page, n/len(page)+1)[:n]
}

func BenchmarkMask(b *testing.B) {
	hostile := strings.Repeat("sk-eyJ-://a:Bearer AKIA-----BEGIN PRIVATE KEY ", 100<<10/46)
	texts := map[string]string{"40": ordinary(40), "1024": ordinary(1 << 10), "102400": ordinary(100 << 10), "hostile": hostile}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Mask(text)
			}
		})
	}
}
