package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"mycelium/internal/credential"
	"mycelium/internal/credential/credentialtest"
	"mycelium/internal/policy"
)

func TestRedact(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"password":"x"}`, `{"password":"[REDACTED]"}`},
		{`{ "a" : [ {"apiKey": {"k":[1,2]}}, 1.50, 12345678901234567890 ] , "b":null}`,
			`{ "a" : [ {"apiKey": "[REDACTED]"}, 1.50, 12345678901234567890 ] , "b":null}`},
		{`{"API_KEY":1,"api-key":true,"secrets":["a"],"userPassword":null,"DBPASSWORD":{},"clientsecret":[]}`,
			`{"API_KEY":"[REDACTED]","api-key":"[REDACTED]","secrets":"[REDACTED]","userPassword":"[REDACTED]","DBPASSWORD":"[REDACTED]",` +
				`"clientsecret":"[REDACTED]"}`},
		{`{"auth":"a","x-auth":"b","authToken":"c","basicAuth":"d","HTTPAuth":"e","Authorization":"f"}`,
			`{"auth":"[REDACTED]","x-auth":"[REDACTED]","authToken":"[REDACTED]","basicAuth":"[REDACTED]","HTTPAuth":"[REDACTED]",` +
				`"Authorization":"[REDACTED]"}`},
		{`{"author":"a","authority":"b","authored_by":"c","path":"src/secret_santa.md"}`,
			`{"author":"a","authority":"b","authored_by":"c","path":"src/secret_santa.md"}`},
		{`{"max_tokens":10,"tokenCount":2,"totalTokens":-3,"tokenizer":"bpe"}`,
			`{"max_tokens":10,"tokenCount":2,"totalTokens":-3,"tokenizer":"bpe"}`},
		{`{"token":123456,"tokens":["a"],"tokens":3,"max_tokens":"abc","accesstoken":"x"}`,
			`{"token":"[REDACTED]","tokens":"[REDACTED]","tokens":3,"max_tokens":"[REDACTED]","accesstoken":"[REDACTED]"}`},
		{`{"pass\u0077ord":"x","private_key":"y","privateKey":"z","credentials":{"a":"}"}}`,
			`{"pass\u0077ord":"[REDACTED]","private_key":"[REDACTED]","privateKey":"[REDACTED]","credentials":"[REDACTED]"}`},
		{`{"user_ssn":1,"userSSN":2,"lessn":3,"creditCardNumber":4}`,
			`{"user_ssn":"[REDACTED]","userSSN":"[REDACTED]","lessn":3,"creditCardNumber":"[REDACTED]"}`},
		{`["Bearer abcdefghij","git clone https://me:hunter2@example.com/x","sk-ant-api03-abcdef","see ghp_0123456789abcdef0123 ` +
			`there","AKIAABCDEFGHIJKLMNOP"]`,
			`["Bearer [REDACTED]","git clone https://me:[REDACTED]@example.com/x","[REDACTED]","see [REDACTED] there","[REDACTED]"]`},
		{`"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n"`, `"[REDACTED]\n"`},
		{`"https://example.com:8080/a@b"`, `"https://example.com:8080/a@b"`},
		{`"読んで \u8aad"`, `"読んで \u8aad"`},
		{` {} `, ` {} `}, {`[]`, `[]`}, {`3`, `3`}, {``, ``},
		{`{"password":"x"`, `{"password":[REDACTED]`},
		{`token=abc&x=1 sk-ant-abcdefgh`, `token=[REDACTED]&x=1 [REDACTED]`},
	} {
		if got := string(Redact([]byte(c.in), []string{"ssn", "credit_card"})); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{`{"password":"x","a":[1,2.50,{"token":[{}]}]}`, `[]`, `{"a":"Bearer abcdefghij"}`, `{"a`, `"\ud83d"`, "\xff",
		`{"a":1,"a":2}`, ` 1 `, `"-----BEGIN PRIVATE KEY-----` + "\n" + `"`} {
		f.Add([]byte(s))
	}
	dup := jsontext.AllowDuplicateNames(true)
	f.Fuzz(func(t *testing.T, in []byte) {
		out := Redact(bytes.Clone(in), []string{"ssn"})
		if a, b := jsontext.Value(in).IsValid(dup), jsontext.Value(out).IsValid(dup); a != b {
			t.Fatalf("%q is JSON: %v; %q: %v", in, a, out, b)
		} else if !a {
			return
		}
		if again := Redact(out, []string{"ssn"}); !bytes.Equal(again, out) {
			t.Errorf("twice: %q, then %q", out, again)
		}
		checkRedacted(t, jsontext.NewDecoder(bytes.NewReader(in), dup), jsontext.NewDecoder(bytes.NewReader(out), dup))
	})
}

// checkRedacted walks both documents in step.
func checkRedacted(t *testing.T, in, out *jsontext.Decoder) {
	for in.PeekKind() != 0 && in.PeekKind() != jsontext.KindInvalid {
		a, err := in.ReadToken()
		if err != nil {
			return
		}
		a = a.Clone()
		b, err := out.ReadToken()
		if err != nil || a.Kind() != b.Kind() {
			t.Fatalf("%v became %v, %v", a, b, err)
		}
		if a.Kind() == '0' && a.String() != b.String() {
			t.Errorf("number %s became %s", a, b)
		}
		kind, n := in.StackIndex(in.StackDepth())
		if a.Kind() != '"' || kind != '{' || n%2 == 0 { // not a name
			continue
		}
		if a.String() != b.String() {
			t.Errorf("key %q became %q", a, b)
		}
		if secretKey(a.String(), in.PeekKind() == '0', [][]string{{"ssn"}}) {
			if v, err := out.ReadToken(); err != nil || v.String() != credential.Redacted {
				t.Errorf("under %q: %v, %v", a, v, err)
			}
			if err := in.SkipValue(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRecordsAreBoundedAndRedacted: nothing that a caller sends makes a line without bounds, or puts a credential into it.
func TestRecordsAreBoundedAndRedacted(t *testing.T) {
	o := options(t)
	o.Redact = []string{"ssn"}
	l := openLog(t, o)
	const secret = "hunter2hunter2"
	url := "https://u:" + secret + "@h/x"
	bad := "bad \xff bytes " + url
	add(t, l, Record{ID: "1", Kind: Decided, Tool: strings.Repeat("t", 1<<20),
		Args:   []byte(`{"ssn":"` + secret + `","big":"` + strings.Repeat("あ", 10000) + `"}`),
		Reason: bad + strings.Repeat("r", 1<<20), Error: bad, Note: bad,
		Facts:    &policy.Facts{Dir: "/x", Parts: []policy.Part{{Program: "git", Argv: []string{"git", "clone", url, "\xff"}}}},
		Thinking: &Thinking{Thinking: url + strings.Repeat("\x01考", 1<<20), Summary: bad, Type: "\xff"}})
	add(t, l, Record{ID: "2", Kind: Decided, Args: []byte(`{"password":"` + secret + `", not json`)},
		Record{ID: "3", Kind: Decided, Args: []byte(`{"a":1,"a":2}`)},
		Record{ID: "4", Kind: Decided, Args: []byte(" {\n} ")},
		Record{ID: "5", Kind: Decided, Args: []byte("\xff\x00")},
		Record{ID: "6", Kind: Decided, Facts: &policy.Facts{Dir: strings.Repeat("d", 1<<20)}})
	wantOK(t, o, 6)
	n := 0
	for line, err := range Read(context.Background(), o, Position{}, false) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if bytes.Contains(line.Raw, []byte(secret)) || len(line.Raw) > 1<<20 || !json.Valid(line.Raw) {
			t.Errorf("line %d has %d bytes: %.2000s", n, len(line.Raw), line.Raw)
		}
		switch n {
		case 1:
			var big struct {
				Truncated    bool
				Bytes        int
				SHA256, Head string
			}
			if err := json.Unmarshal(line.Args, &big); err != nil || !big.Truncated || big.Bytes < 30000 || len(big.SHA256) != 64 ||
				len(big.Head) > maxArgs || !strings.Contains(big.Head, "ああ") {
				t.Errorf("big arguments: %.200s, %v", line.Args, err)
			}
			if len(line.Thinking.Thinking) > maxThinking || !strings.HasSuffix(line.Thinking.Thinking, "考…") &&
				!strings.HasSuffix(line.Thinking.Thinking, "\x01…") {
				t.Errorf("thinking has %d bytes, ends in %q", len(line.Thinking.Thinking), line.Thinking.Thinking[len(line.Thinking.Thinking)-10:])
			}
			if line.Facts == nil || line.Facts.Parts[0].Program != "git" {
				t.Errorf("facts: %+v", line.Facts)
			}
		case 2:
			if !strings.Contains(string(line.Args), credential.Redacted) || line.Args[0] != '"' {
				t.Errorf("args that are no JSON: %s", line.Args)
			}
		case 4:
			if string(line.Args) != "{}" {
				t.Errorf("compact: %q", line.Args)
			}
		}
	}
	if n != 6 {
		t.Errorf("%d lines", n)
	}
}

// TestNoFormInARecord: no form of a secret comes into the log by any text of a record.
func TestNoFormInARecord(t *testing.T) {
	for _, f := range credentialtest.Samples() {
		text := "see " + f.Text + " there"
		raw, err := json.Marshal(map[string]any{"text": text, "list": []string{f.Text}, "header": map[string]string{"X": f.Text}})
		if err != nil {
			t.Fatal(err)
		}
		r := Record{
			ID: "1", Kind: Decided, Tool: f.Text, Args: raw, Reason: text, Error: text, Note: text,
			Facts: &policy.Facts{Dir: "/d/" + f.Text, Parts: []policy.Part{{
				Program: f.Text, Argv: []string{"x", f.Text}, Hosts: []string{f.Text}, Effects: []string{text}, Unclear: []string{text},
				Paths: []policy.Path{{Raw: f.Text, Clean: "/x " + f.Text, Resolved: "/y " + f.Text}},
			}}},
			Thinking: &Thinking{Thinking: text, Summary: text},
		}
		for _, args := range [][]byte{raw, []byte("not JSON: " + text)} {
			r.Args = args
			if line := string(appendBody(nil, &Line{Record: r}, nil)); strings.Contains(line, f.Secret) {
				t.Errorf("%s: %s", f.Form, line)
			}
		}
		s := Secrets{}
		for _, answer := range []string{text, string(raw), "KEY=1\n" + text} {
			if got := s.Text(answer); strings.Contains(got, f.Secret) {
				t.Errorf("%s: an answer keeps it: %s", f.Form, got)
			}
		}
	}
}

// BenchmarkRedact is what the redaction of arguments costs: ordinary text of 1 KB and 100 KB in one member.
func BenchmarkRedact(b *testing.B) {
	const line = "See https://example.com/docs/start?page=2#install: func (q *Queue) Ask(ctx context.Context) error { return q.ask(ctx) }; "
	for _, n := range []int{1 << 10, 100 << 10} {
		raw := []byte(`{"path":"/home/x/project/main.go","text":"` + strings.Repeat(line, n/len(line)) + `"}`)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				Redact(raw, nil)
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	r := decision("0123456789abcdef")
	var dst []byte
	for b.Loop() {
		dst = appendBody(dst[:0], &Line{Record: r}, nil)
	}
}

func FuzzLine(f *testing.F) {
	s := newSealer(make([]byte, 32))
	f.Add(s.appendLine(nil, 1, origin, appendBody(nil, &Line{Record: decision("x")}, nil)))
	f.Add([]byte(`{"seq":1,"prev":"`))
	f.Add([]byte(`{"seq":9223372036854775808,"prev":"` + origin + `",,"mac":"` + origin + `"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		at, ok := parseLinks(raw)
		if ok && (at.seq < 0 || len(at.prev) != macLen || len(at.mac) != macLen || s.genuine(at)) {
			t.Errorf("%q: %+v", raw, at)
		}
		_, _ = decode(raw)
	})
}

// FuzzRecord: whatever is appended can be read again.
func FuzzRecord(f *testing.F) {
	f.Add("id", "files__x", `{"a":1}`, "why", "設定 thinking", int64(1500))
	f.Add("\xff", "\x00", `{"a":1,"a":2}`, "\u2028", "", int64(-1))
	s := newSealer(make([]byte, 32))
	f.Fuzz(func(t *testing.T, id, tool, args, reason, thinking string, d int64) {
		r := Record{ID: id, Kind: Decided, Tool: tool, Args: []byte(args), Reason: reason, Duration: time.Duration(d), Time: day,
			Skills: []string{id, tool}}
		if thinking != "" {
			r.Thinking = &Thinking{Thinking: thinking}
		}
		line := s.appendLine(nil, 7, origin, appendBody(nil, &Line{Record: r}, nil))
		if bytes.IndexByte(line, '\n') != len(line)-1 {
			t.Fatalf("%q", line)
		}
		line = line[:len(line)-1]
		at, ok := parseLinks(line)
		if !ok || !s.genuine(at) || at.seq != 7 {
			t.Fatalf("links of %q: %+v", line, at)
		}
		if back, err := decode(line); err != nil || back.Kind != Decided || !back.Time.Equal(day) || args != "" && back.Args == nil {
			t.Fatalf("%q: %+v, %v", line, back, err)
		}
	})
}

func TestRead(t *testing.T) {
	o := options(t)
	o.Rotate = 2000
	l := openLog(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var got []string
	var from Position
	for i := range 3 {
		add(t, l, decision(fmt.Sprint(i)))
	}
	next := 3
	for line, err := range Read(ctx, o, Position{}, true) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Kind != Decided {
			continue
		}
		got = append(got, line.ID)
		from = Position{line.Segment, line.Offset}
		if len(got) == next && next < 12 { // it waits for what is appended after all was read
			add(t, l, decision(fmt.Sprint(next)))
			next++
		}
		if len(got) == 12 {
			cancel()
		}
	}
	if want := "0 1 2 3 4 5 6 7 8 9 10 11"; strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
	for line := range Read(context.Background(), o, from, false) {
		t.Errorf("after the end: %+v", line)
	}
	for _, err := range Read(context.Background(), o, Position{Segment: "00000099.jsonl"}, false) {
		if err == nil || !strings.Contains(err.Error(), "gone") {
			t.Errorf("a segment that is not there: %v", err)
		}
	}
}

// TestFactsAsWritten: what is written by hand reads back as what package json would have written.
func TestFactsAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aé日\"\\\n\u2028<&/")), 0, 12, -1)
		texts := rapid.SliceOfN(text, 0, 3)
		var f policy.Facts
		f.Dir = text.Draw(t, "dir")
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			p := policy.Part{Program: text.Draw(t, "program"), Argv: texts.Draw(t, "argv"), Hosts: texts.Draw(t, "hosts"),
				Effects: texts.Draw(t, "effects"), Unclear: texts.Draw(t, "unclear"), Branches: texts.Draw(t, "branches"),
				Trees: texts.Draw(t, "trees"), Dir: text.Draw(t, "where")}
			for range rapid.IntRange(0, 2).Draw(t, "paths") {
				p.Paths = append(p.Paths, policy.Path{Access: policy.Write, Raw: text.Draw(t, "raw"), Clean: text.Draw(t, "clean"),
					Resolved: text.Draw(t, "resolved"), Pattern: rapid.Bool().Draw(t, "pattern"), Except: texts.Draw(t, "except")})
			}
			f.Parts = append(f.Parts, p)
		}
		line, err := decode(append(append([]byte(`{"seq":1,`), appendBody(nil, &Line{Record: Record{ID: "x", Facts: &f}}, nil)...), '}'))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var want policy.Facts
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, *line.Facts, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSecretsInText: what a guarded result loses, and what it keeps.
func TestSecretsInText(t *testing.T) {
	s := Secrets{moreWords([]string{"pin"})}
	for _, c := range []struct{ in, want string }{
		{"key AKIAABCDEFGHIJKLMNOP and text", "key [REDACTED] and text"},
		{"DB_PASSWORD=correct horse\nexport API_KEY=x\nUSER=me\n", "DB_PASSWORD=[REDACTED]\nexport API_KEY=[REDACTED]\nUSER=me\n"},
		{"password: \"hunter2\"\ntoken = 'abcd'", "password: \"[REDACTED]\"\ntoken = '[REDACTED]'"},
		{"db.password: hunter22", "db.password: [REDACTED]"},
		{`{"a": {"password" : "x", "n":1.50}, "b":["https://u:pw@h/"]}`,
			`{"a": {"password" : "[REDACTED]", "n":1.50}, "b":["https://u:[REDACTED]@h/"]}`},
		{`{"pin":"1234"}`, `{"pin":"[REDACTED]"}`},
		{"token := parser.Next()", "token := parser.Next()"},
		{"if password == secret { return token() }", "if password == secret { return token() }"},
		{"Enter your password: it has to be long.", "Enter your password: it has to be long."},
		{"", ""},
	} {
		if got := s.Text(c.in); got != c.want {
			t.Errorf("%q\n  became %q\n  want   %q", c.in, got, c.want)
		}
	}
	for key, want := range map[string]bool{"password": true, "apiKey": true, "access_token": true, "nextPageToken": false, "page_token": false,
		"pin": true, "name": false} {
		if s.Key(key) != want {
			t.Errorf("key %s: %v", key, !want)
		}
	}
}

// FuzzSecretsInText: what was redacted stays as it is when it is redacted again.
func FuzzSecretsInText(f *testing.F) {
	for _, s := range []string{"DB_PASSWORD=a b", `password: "hunter2"`, `{"token":"x"}`, "Bearer abcdefghijk", "x://u:p@h", "secret='a\"b'",
		"token:token:abcdef1", "-----BEGIN PRIVATE KEY-----"} {
		f.Add(s)
	}
	s := Secrets{moreWords([]string{"pin"})}
	f.Fuzz(func(t *testing.T, in string) {
		once := s.Text(in)
		if twice := s.Text(once); twice != once {
			t.Errorf("%q became %q, then %q", in, once, twice)
		}
	})
}
