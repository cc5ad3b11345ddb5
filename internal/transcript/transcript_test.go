package transcript

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mycelium/internal/audit"
	"mycelium/internal/policy"
	"mycelium/internal/store"
	"mycelium/internal/text"
	"mycelium/internal/transcript/page"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("TRANSCRIPT_CHILD"); path != "" {
		child(path)
	}
	os.Exit(m.Run())
}

// child adds messages without end, and prints the index of each that is kept.
func child(path string) {
	db, err := store.Open(context.Background(), "sqlite://"+path)
	if err != nil {
		panic(err)
	}
	b := NewBook(db, audit.Secrets{}.Text)
	all, err := b.List(context.Background(), dev, nil, 0)
	if err != nil {
		panic(err)
	}
	for {
		n, _, err := b.AddMessage(context.Background(), dev, all[0].ID, Message{Role: "user", Content: strings.Repeat("x", 10_000)})
		if err != nil {
			panic(err)
		}
		fmt.Println(n)
	}
}

var (
	dev   = Caller{Principal: "local", Role: "developer"}
	other = Caller{Principal: "local", Role: "guest"}
	thief = Caller{Principal: "s-1", Role: "developer"}
)

// newBook returns an empty book that masks as the log does.
func newBook(t testing.TB) (*Book, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "myc.db")
	db, err := store.Open(t.Context(), "sqlite://"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return NewBook(db, audit.Secrets{}.Text), path
}

// talk is a conversation of n messages.
func talk(n int) Conversation {
	c := Conversation{Name: "talk", Tags: []string{"a"}}
	for i := range n {
		role := []string{"user", "assistant"}[i%2]
		c.Messages = append(c.Messages, Message{Role: role,
			Content: fmt.Sprintf("Message %d about the mushrooms in the forest. きのこは森にある。", i)})
	}
	return c
}

func (b *Book) mustSave(t testing.TB, w Caller, c Conversation) *Conversation {
	t.Helper()
	saved, err := b.Save(t.Context(), w, c)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	b, _ := newBook(t)
	c := talk(3)
	c.Messages[1].Thinking = "hm"
	c.Messages[1].Calls = []Call{{Name: "sh", Input: jsontext.Value(`{"command":"ls","n":1}`), Output: "a", Failed: true}}
	saved := b.mustSave(t, dev, c)
	loaded, err := b.Load(t.Context(), dev, saved.ID)
	if err != nil {
		t.Fatal(err)
	}
	ignore := cmpopts.IgnoreUnexported(Message{})
	if diff := cmp.Diff(saved, loaded, ignore); diff != "" {
		t.Error(diff)
	}
	if _, err := b.AddTags(t.Context(), dev, saved.ID, []string{"b", "a"}); err != nil {
		t.Error(err)
	}
	if name, err := b.Rename(t.Context(), dev, saved.ID, " new\nname "); err != nil || name != "new name" {
		t.Errorf("%q, %v", name, err)
	}
	b.mustSave(t, dev, talk(0))
	all, err := b.List(t.Context(), dev, []string{"b"}, 20)
	if err != nil || len(all) != 1 || all[0].Name != "new name" || !slices.Equal(all[0].Tags, []string{"a", "b"}) || all[0].Count != 3 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := b.Delete(t.Context(), dev, saved.ID); err != nil {
		t.Error(err)
	}
	left := 0
	if err := b.db.QueryRowContext(t.Context(), "SELECT count(*) FROM conversation_messages").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d messages are left, %v", left, err)
	}
}

// TestRefused: what is not well formed is refused, and nothing of it is kept.
func TestRefused(t *testing.T) {
	t.Parallel()
	b, _ := newBook(t)
	for name, c := range map[string]Conversation{
		"no name": {}, "a long name": {Name: strings.Repeat("x", maxName+1)}, "an empty tag": {Name: "x", Tags: []string{" "}},
		"a long tag":    {Name: "x", Tags: []string{strings.Repeat("x", maxTag+1)}},
		"a role":        {Name: "x", Messages: []Message{{Role: "tool", Content: "x"}}},
		"an empty one":  {Name: "x", Messages: []Message{{Role: "user", Content: " \n"}}},
		"a long one":    {Name: "x", Messages: []Message{{Role: "user", Content: strings.Repeat("x", maxText+1)}}},
		"too many tags": {Name: "x", Tags: strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21")},
		"too large": {Name: "x", Messages: slices.Repeat([]Message{{Role: "user", Content: strings.Repeat("x", maxText)}},
			maxBytes/maxText+1)},
	} {
		if _, err := b.Save(t.Context(), dev, c); err == nil {
			t.Errorf("%s is kept", name)
		}
	}
	if _, err := b.Save(t.Context(), Caller{Principal: "local"}, talk(1)); err == nil {
		t.Error("a conversation without a role is kept")
	}
	if all, err := b.List(t.Context(), Caller{Person: true}, nil, 0); err != nil || len(all) != 0 {
		t.Errorf("something is kept: %+v, %v", all, err)
	}
}

// TestSecretsAreMasked: no part of a conversation keeps a secret, in the form or under the name of one.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	b, path := newBook(t)
	const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789-ABCDEFGHIJ"
	c := Conversation{Name: "n " + secret, Messages: []Message{{Role: "user", Content: secret + "\nexport DB_PASSWORD=hunter2222",
		Thinking: secret, Calls: []Call{{Name: "sh", Input: jsontext.Value(`{"token":"hunter2222","x":"` + secret + `"}`), Output: secret}}}}}
	saved := b.mustSave(t, dev, c)
	if _, _, err := b.AddMessage(t.Context(), dev, saved.ID, Message{Role: "user", Content: "then " + secret}); err != nil {
		t.Fatal(err)
	}
	c.Agent, c.AgentID = "claude", "1"
	if _, kept, _, err := b.Import(t.Context(), dev, c); err != nil || !kept {
		t.Fatal(kept, err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		found = found || strings.Contains(string(raw), "[REDACTED]")
		if strings.Contains(string(raw), "abcdefghijklmnopqrstuvwxyz0123456789") || strings.Contains(string(raw), "hunter2222") {
			t.Errorf("%s has the secret", f)
		}
	}
	if !found {
		t.Error("nothing is masked")
	}
}

// TestKilled: each message whose end was told is there after kill -9, and the conversation can be used.
func TestKilled(t *testing.T) {
	t.Parallel()
	b, path := newBook(t)
	saved := b.mustSave(t, dev, talk(0))
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "TRANSCRIPT_CHILD="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	told := 0
	for lines := bufio.NewScanner(out); told < 20 && lines.Scan(); told++ {
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	c, err := b.Load(t.Context(), dev, saved.ID)
	if err != nil || told < 20 || len(c.Messages) < told {
		t.Fatalf("%d were told: %+v, %v", told, c, err)
	}
	for _, m := range c.Messages {
		if len(m.Content) != 10_000 {
			t.Errorf("a message has %d bytes", len(m.Content))
		}
	}
	if n, _, err := b.AddMessage(t.Context(), dev, saved.ID, Message{Role: "user", Content: "on"}); err != nil || n != len(c.Messages) {
		t.Error(n, err)
	}
}

// TestManyWriters: messages that are added at the same time are all there, each with an index of its own, also while it is compressed.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	b, _ := newBook(t)
	saved := b.mustSave(t, dev, talk(40))
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			if _, _, err := b.AddMessage(t.Context(), dev, saved.ID, Message{Role: "user", Content: fmt.Sprintf("late %d.", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Go(func() {
		if _, err := b.Compress(t.Context(), dev, saved.ID, Compression{Strategy: SlidingWindow, Keep: 20, Target: 1}); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
	c, err := b.Load(t.Context(), dev, saved.ID)
	if err != nil {
		t.Fatal(err)
	}
	late := 0
	for _, m := range c.Messages {
		if strings.HasPrefix(m.Content, "late") {
			late++
		}
	}
	if late != 10 || len(c.Messages) >= 50 {
		t.Errorf("%d of 10, in %d messages", late, len(c.Messages))
	}
}

func TestFork(t *testing.T) {
	t.Parallel()
	b, _ := newBook(t)
	saved := b.mustSave(t, dev, talk(4))
	f, err := b.Fork(t.Context(), dev, saved.ID, 1, "")
	if err != nil || f.Name != "talk (fork)" || f.ForkOf != saved.ID || f.ForkAt != 2 || f.Count != 2 || f.ID == saved.ID {
		t.Fatalf("%+v, %v", f, err)
	}
	for i, m := range f.Messages {
		if m.ID == saved.Messages[i].ID || m.Content != saved.Messages[i].Content || !m.Time.Equal(saved.Messages[i].Time) {
			t.Errorf("message %d: %+v of %+v", i, m, saved.Messages[i])
		}
	}
	if all, err := b.Fork(t.Context(), dev, saved.ID, -1, "mine"); err != nil || all.Count != 4 || all.Name != "mine" {
		t.Errorf("%+v, %v", all, err)
	}
	for _, last := range []int{4, -2, 1 << 40} {
		if _, err := b.Fork(t.Context(), dev, saved.ID, last, ""); err == nil {
			t.Errorf("a fork up to message %d", last)
		}
	}
	if err := b.Delete(t.Context(), dev, saved.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Load(t.Context(), dev, f.ID); err != nil {
		t.Errorf("the fork went with its origin: %v", err)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	b, _ := newBook(t)
	c := talk(2)
	c.Agent, c.AgentID = "claude", "uuid"
	first, kept, _, err := b.Import(t.Context(), dev, c)
	if err != nil || !kept {
		t.Fatal(kept, err)
	}
	if _, err := b.Rename(t.Context(), dev, first.ID, "mine"); err != nil {
		t.Fatal(err)
	}
	c.Messages = talk(3).Messages
	again, kept, _, err := b.Import(t.Context(), dev, c)
	if err != nil || !kept || again.ID != first.ID || again.Name != "mine" || again.Count != 3 {
		t.Errorf("%+v, %t, %v", again, kept, err)
	}
	if _, _, err := b.AddMessage(t.Context(), dev, first.ID, Message{Role: "user", Content: "on"}); err != nil {
		t.Fatal(err)
	}
	if left, kept, _, err := b.Import(t.Context(), dev, c); err != nil || kept || left.Count != 4 {
		t.Errorf("one that was changed here: %+v, %t, %v", left, kept, err)
	}
	if theirs, kept, _, err := b.Import(t.Context(), other, c); err != nil || !kept || theirs.ID == first.ID {
		t.Errorf("for another role: %+v, %t, %v", theirs, kept, err)
	}
	c.AgentID = "long"
	c.Messages = slices.Repeat([]Message{{Role: "user", Content: strings.Repeat("x", 2*maxText)}}, 40)
	long, kept, dropped, err := b.Import(t.Context(), dev, c)
	if err != nil || !kept || dropped == 0 || long.Count+dropped != 40 || len(long.Messages[0].Content) > maxText {
		t.Errorf("one that is too long: %d kept, %d left out, %v", long.Count, dropped, err)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	b, _ := newBook(t)
	c := talk(2)
	c.Messages[1].Thinking, c.Messages[1].Calls = "deep thought", []Call{{Name: "sh", Output: "secret output"}}
	saved := b.mustSave(t, dev, c)
	for format, mark := range map[string]string{"markdown": "## User", "html": "<!DOCTYPE html>", "json": Form, "": "## User"} {
		short, err := Export(saved, format, page.Options{})
		if err != nil || !strings.Contains(short, mark) || strings.Contains(short, "deep thought") || strings.Contains(short, "secret output") ||
			strings.Contains(short, "developer") {
			t.Errorf("%s: %v\n%s", format, err, short)
		}
		long, err := Export(saved, format, page.Options{Calls: true, Thinking: true, Metadata: true})
		if err != nil || !strings.Contains(long, "deep thought") || !strings.Contains(long, "secret output") ||
			!strings.Contains(long, "developer") {
			t.Errorf("%s: %v\n%s", format, err, long)
		}
	}
	if _, err := Export(saved, "pdf", page.Options{}); err == nil {
		t.Error("an unknown format is no error")
	}
}

// call calls a tool in a scope. It returns the text of the answer, and whether it is an error.
func (s *Server) call(t testing.TB, w Caller, tool, args string) (string, bool) {
	t.Helper()
	params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args)
	scope := policy.Scope{Principal: policy.Principal{ID: w.Principal, Role: w.Role, Roles: []string{"guest", "developer"}}}
	raw, rpcErr, err := s.Do(t.Context(), scope, "tools/call", []byte(params), nil)
	if err != nil || rpcErr != nil {
		t.Fatalf("%s %s: %s, %v", tool, args, rpcErr, err)
	}
	var a struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatal(err)
	}
	return a.Content[0].Text, a.IsError
}

func newServer(t testing.TB) *Server {
	t.Helper()
	b, _ := newBook(t)
	s, err := NewServer()
	if err != nil {
		t.Fatal(err)
	}
	s.Open(b, nil)
	return s
}

// idOf is the id in an answer.
func idOf(t testing.TB, answer string) string {
	t.Helper()
	var c Conversation
	if err := json.Unmarshal([]byte(answer), &c); err != nil || c.ID == "" {
		t.Fatalf("%s: %v", answer, err)
	}
	return c.ID
}

// useTools are calls of all tools on a conversation.
func useTools(id string) [][2]string {
	return [][2]string{
		{"session_load", fmt.Sprintf(`{"sessionId":%q}`, id)},
		{"session_add_message", fmt.Sprintf(`{"sessionId":%q,"role":"user","content":"x"}`, id)},
		{"session_add_tags", fmt.Sprintf(`{"sessionId":%q,"tags":["x"]}`, id)},
		{"session_rename", fmt.Sprintf(`{"sessionId":%q,"name":"x"}`, id)},
		{"session_export", fmt.Sprintf(`{"sessionId":%q}`, id)},
		{"session_fork", fmt.Sprintf(`{"sessionId":%q}`, id)},
		{"session_compress", fmt.Sprintf(`{"sessionId":%q}`, id)},
		{"session_delete", fmt.Sprintf(`{"sessionId":%q}`, id)},
	}
}

// TestOthersConversationIsAbsent: for another role or principal, every tool answers exactly as for an id that was never given.
func TestOthersConversationIsAbsent(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	answer, _ := s.call(t, dev, "session_save", `{"name":"mine","messages":[{"role":"user","content":"private"}]}`)
	id := idOf(t, answer)
	never := "c-0000000000000000"
	for _, w := range []Caller{other, thief} {
		for i, use := range useTools(id) {
			got, failed := s.call(t, w, use[0], use[1])
			want, _ := s.call(t, w, use[0], useTools(never)[i][1])
			if !failed || got != strings.ReplaceAll(want, never, id) {
				t.Errorf("%+v %s: %s, and for an id that was never given %s", w, use[0], got, want)
			}
		}
		if got, _ := s.call(t, w, "session_list", `{}`); got != `{"sessions":[]}` {
			t.Errorf("%+v lists %s", w, got)
		}
		known, failed := s.call(t, w, "session_list", `{"roleId":"`+map[string]string{"guest": "developer", "developer": "guest"}[w.Role]+`"}`)
		invented, _ := s.call(t, w, "session_list", `{"roleId":"no-such-role"}`)
		if !failed || known != invented {
			t.Errorf("another role answers %s, and one that does not exist %s", known, invented)
		}
	}
	for _, use := range useTools(id) { // and its owner can do it all
		if got, failed := s.call(t, dev, use[0], use[1]); failed {
			t.Errorf("%s: %s", use[0], got)
		}
	}
	for _, w := range []Caller{{Principal: "local"}, {Role: "developer"}, {}} {
		if got, failed := s.call(t, w, "session_save", `{"name":"x"}`); !failed {
			t.Errorf("%+v saves: %s", w, got)
		}
	}
}

// TestTools: the ten tools, by the names and arguments of the requirements (A39).
func TestTools(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var names []string
	for _, d := range s.Definitions() {
		names = append(names, d.Item.Name)
	}
	want := strings.Fields("session_add_message session_add_tags session_compress session_delete session_export session_fork session_list " +
		"session_load session_rename session_save")
	if !slices.Equal(names, want) {
		t.Fatalf("%v", names)
	}
	answer, _ := s.call(t, dev, "session_save", `{"name":"a","roleId":"developer","tags":["x"]}`)
	id := idOf(t, answer)
	for i := range 12 {
		args := fmt.Sprintf(`{"sessionId":%q,"role":"user","content":"message %d"}`, id, i)
		if got, failed := s.call(t, dev, "session_add_message", args); failed || !strings.Contains(got, fmt.Sprintf(`"index":%d`, i)) {
			t.Fatal(got)
		}
	}
	for _, c := range []struct{ tool, args, want string }{
		{"session_list", `{"roleId":"developer","tags":["x"],"limit":5}`, `"messageCount":12`},
		{"session_load", `{"sessionId":"ID","fromMessageIndex":10}`, `"fromMessageIndex":10`},
		{"session_load", `{"sessionId":"ID","limit":1}`, `"content":"message 11"`},
		{"session_load", `{"sessionId":"ID","fromMessageIndex":99}`, `"fromMessageIndex":12`},
		{"session_fork", `{"sessionId":"ID","fromMessageIndex":0,"name":"f"}`, `"forkAt":1`},
		{"session_export", `{"sessionId":"ID","format":"json","includeMetadata":false,"includeToolCalls":true,"includeThinking":true}`,
			`"message 3"`},
		{"session_compress", `{"sessionId":"ID","strategy":"summarize","keepRecentMessages":0}`, `"messagesAfter":1`},
		{"session_compress", `{"sessionId":"ID","keepRecentMessages":0}`, `a summary already`},
	} {
		if got, failed := s.call(t, dev, c.tool, strings.ReplaceAll(c.args, "ID", id)); failed || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s", c.tool, c.args, got)
		}
	}
	for _, c := range [][2]string{{"session_export", `{"sessionId":"ID","format":"pdf"}`},
		{"session_compress", `{"sessionId":"ID","strategy":"zip"}`},
		{"session_add_message", `{"sessionId":"ID","role":"tool","content":"x"}`}, {"session_compress", `{"sessionId":"ID","targetTokens":0}`}} {
		if got, failed := s.call(t, dev, c[0], strings.ReplaceAll(c[1], "ID", id)); !failed {
			t.Errorf("%v: %s", c, got)
		}
	}
	closed, err := NewServer()
	if err != nil {
		t.Fatal(err)
	}
	if got, failed := closed.call(t, dev, "session_list", `{}`); !failed {
		t.Errorf("without a book: %s", got)
	}
}

// TestCompress: what stays is what the strategy says, and the estimate of tokens is met.
func TestCompress(t *testing.T) {
	t.Parallel()
	b, _ := newBook(t)
	model := func(_ context.Context, said string, tokens int) (string, error) {
		if !strings.Contains(said, "user: Message 0") || strings.Contains(said, "Message 25") || tokens < leastSummary {
			t.Errorf("the model reads %q, %d tokens", said, tokens)
		}
		return "It is about mushrooms.", nil
	}
	broken := func(context.Context, string, int) (string, error) { return "", errors.New("overloaded") }
	for name, c := range map[string]struct {
		o           Compression
		after       int
		first, last string
		by, note    string
	}{
		"window":    {Compression{Strategy: SlidingWindow, Keep: 10, Target: 1}, 11, "rules", "Message 29", "", ""},
		"extract":   {Compression{Strategy: Summarize, Keep: 5, Target: 600}, 7, "rules", "Message 29", "extract", ""},
		"model":     {Compression{Keep: 5, Target: 600, Model: model}, 7, "rules", "Message 29", "model", ""},
		"no answer": {Compression{Keep: 5, Target: 600, Model: broken}, 7, "rules", "Message 29", "extract", "overloaded"},
		"truncate":  {Compression{Strategy: Truncate, Target: 200}, 0, "rules", "Message 29", "", ""},
		"all stays": {Compression{Keep: 100, Target: 4000}, 31, "rules", "Message 29", "", "nothing to leave out"},
	} {
		full := talk(30)
		full.Messages = append([]Message{{Role: "system", Content: "rules"}}, full.Messages...)
		saved := b.mustSave(t, dev, full)
		done, err := b.Compress(t.Context(), dev, saved.ID, c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		after, err := b.Load(t.Context(), dev, saved.ID)
		if err != nil {
			t.Fatal(err)
		}
		if c.after != 0 && after.Count != c.after || done.After != after.Count || done.TokensAfter != after.Tokens || done.Summary != c.by ||
			!strings.Contains(done.Note, c.note) || after.Messages[0].Content != c.first ||
			!strings.Contains(after.Messages[after.Count-1].Content, c.last) {
			t.Errorf("%s: %+v\n%s", name, done, Plain(after.Messages))
		}
		if c.o.Target > 1 && after.Tokens > c.o.Target {
			t.Errorf("%s: %d tokens are left", name, after.Tokens)
		}
		if c.by != "" && (!after.Messages[1].Summary || !strings.HasPrefix(after.Messages[1].Content, "Summary of 25 messages")) {
			t.Errorf("%s: %+v", name, after.Messages[1])
		}
	}
	one := b.mustSave(t, dev, Conversation{Name: "one", Messages: []Message{{Role: "user", Content: strings.Repeat("long words ", 5000)}}})
	if done, err := b.Compress(t.Context(), dev, one.ID, Compression{Strategy: Truncate, Target: 300}); err != nil || done.After != 1 ||
		done.TokensAfter > 300 || done.TokensAfter < 30 {
		t.Errorf("one long message: %+v, %v", done, err)
	}
}

// TestExtract: a summary without a model has the first request, and what was decided, and fits.
func TestExtract(t *testing.T) {
	t.Parallel()
	all := []Message{{Role: "user", Content: "Please rename the module kinoko to mushroom. Thanks!"},
		{Role: "assistant", Content: "I look at the files. There are many. I renamed the module kinoko to mushroom in twelve files."},
		{Role: "user", Content: "ok"}, {Role: "user", Content: "モジュールの名前を変更してください。"}}
	got := extract(all, 80)
	for _, want := range []string{"- user: Please rename the module kinoko to mushroom.",
		"I renamed the module kinoko to mushroom in twelve files.",
		"モジュールの名前を変更してください。"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	if got := extract([]Message{{Role: "user", Content: strings.Repeat("word", 1000)}}, 10); !strings.HasPrefix(got, "(") {
		t.Errorf("no sentence fits: %q", got)
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("きのこ", 3)
	f.Add(strings.Repeat("きのこ x", 100), 200)
	f.Fuzz(func(t *testing.T, s string, most int) {
		s = strings.ToValidUTF8(s, "?")
		most = max(100, most%10_000)
		if got := text.Middle(s, most); len(got) > most || !utf8.ValidString(got) {
			t.Errorf("%d bytes of at most %d: %q", len(got), most, got)
		}
	})
}

// TestCompressMeanwhile: what is added while a model writes stays; if messages were removed meanwhile, the compression gives up.
func TestCompressMeanwhile(t *testing.T) {
	t.Parallel()
	b, _ := newBook(t)
	saved := b.mustSave(t, dev, talk(20))
	adds := func(ctx context.Context, _ string, _ int) (string, error) {
		_, _, err := b.AddMessage(ctx, dev, saved.ID, Message{Role: "user", Content: "late"})
		return "short", err
	}
	done, err := b.Compress(t.Context(), dev, saved.ID, Compression{Keep: 5, Target: 600, Model: adds})
	if err != nil || done.After != 7 || done.Summary != "model" {
		t.Errorf("a message was added meanwhile: %+v, %v", done, err)
	}
	removes := func(ctx context.Context, _ string, _ int) (string, error) {
		_, err := b.Compress(ctx, dev, saved.ID, Compression{Strategy: SlidingWindow, Keep: 2, Target: 1})
		return "short", err
	}
	if done, err := b.Compress(t.Context(), dev, saved.ID, Compression{Keep: 3, Target: 600, Model: removes}); err == nil {
		t.Errorf("messages were removed meanwhile: %+v", done)
	}
	if c, err := b.Load(t.Context(), dev, saved.ID); err != nil || c.Count != 2 || c.Messages[1].Content != "late" {
		t.Errorf("%+v, %v", c, err)
	}
}
