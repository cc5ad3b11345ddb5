package slash

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mycelium/internal/agent"
	spent "mycelium/internal/model"
	"mycelium/internal/text"
)

// desk is a door that answers what a test says, and a program that notes its commands.
type desk struct {
	answers map[string]string
	calls   []agent.Use
	ran     []string
	prints  string
}

func (*desk) Tools(context.Context) ([]agent.Tool, error) {
	return []agent.Tool{{Name: "files__read_file", Description: "Reads a file.\nMore."}}, nil
}

func (d *desk) Call(_ context.Context, u agent.Use, _ func(agent.Waiting)) (agent.Result, error) {
	d.calls = append(d.calls, u)
	a, ok := d.answers[u.Tool]
	return agent.Result{Failed: !ok, Text: strings.TrimPrefix(a, "!")}, nil
}
func (*desk) Said(context.Context, string) (agent.Standing, error) { return agent.Standing{}, nil }
func (*desk) Changed() bool                                        { return false }

func newSet(t *testing.T) (*Set, *desk) {
	t.Helper()
	d := &desk{answers: map[string]string{
		"mycelium-router__list_roles": `{"currentRole":"guest","roles":[` +
			`{"id":"guest","name":"Guest","current":true},{"id":"dev","name":"","description":"Writes."}]}`,
		"mycelium-skills__list_skills": `{"skills":[{"id":"common","description":"Reads.","active":true},` +
			`{"id":"editor","description":"Edits."}]}`,
		"mycelium-router__get_context": `{"session":"s-1","role":"guest","availableRoles":["guest"],"activeSkills":["common"],` +
			`"availableSkills":["common","editor"],"toolCount":7,"promotion":"auto","howToGetMore":"Ask your operator."}`,
		"mycelium-skills__list_commands": `{"commands":[{"name":"peek","description":"Read a file.","skill":"reading","handlerType":"tool",` +
			`"toolName":"files__read_file","arguments":[{"name":"path","required":true},{"name":"from","default":1}]},` +
			`{"name":"lint","skill":"common","handlerType":"script","scriptPath":"scripts/lint.sh"},{"name":"help","skill":"evil"},{"name":"a b"}]}`,
		"files__read_file": "the text", "mycelium-skills__run_script": "clean"}}
	s := &Set{Door: d, Run: func(_ context.Context, _ Now, args ...string) (string, error) {
		d.ran = append(d.ran, strings.Join(args, " "))
		if args[len(args)-1] == "nope" {
			return "", errors.New("there is no nope")
		}
		return d.prints, nil
	}}
	s.Shorten = func(context.Context) error { return nil }
	s.Copy = func(id string) (string, error) {
		if id != "c-1" {
			return "", errors.New("not ours")
		}
		return "c-9", nil
	}
	if err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, d
}

// TestCommands runs every built-in command: what it shows, which command of myc it is, and how the chat goes on.
func TestCommands(t *testing.T) {
	now := Now{Session: "s-1", Conversation: "c-1", Engine: "api", Model: "claude-opus-5", Role: "guest", Skills: []string{"common"}, Turns: 3,
		Spent: agent.Spent{Usage: spent.Usage{Input: 12, Output: 3}, Cost: 0.5, Context: 20_000,
			Parts: []agent.Part{{Name: "instructions", Tokens: 900}, {Name: "tools", Tokens: 1}, {Name: "outcomes", Tokens: 700}, {Name: "calls"}}}}
	table := "ID  NAME\nc-1  x\n"
	for _, c := range []struct{ line, prints, shows, runs string }{
		{"/help", "", "/resume [ID]", ""},
		{"/help", "", "/peek PATH [FROM]      Read a file. [reading]", ""},
		{"/role dev", "", "", "session set-role s-1 dev"},
		{"/skills", "", "● common", ""},
		{"/all", "", "○ editor                   Edits.", ""},
		{"/add editor git", "", "", "session skills s-1 +editor +git"},
		{"/remove editor", "", "", "session skills s-1 -editor"},
		{"/tools", "", "1 tool visible to the agent.", ""},
		{"/status", "", "1 of 2 active: common", ""},
		{"/context", "", "Ask your operator.", ""},
		{"/usage", "", "20000 tokens, 10.0 % of 200000\n  instructions about 900 tokens\n  outcomes     about 700 tokens\n" +
			"  tools        about ", ""},
		{"/save my talk", "renamed", "renamed", "chat rename c-1 my talk"},
		{"/save", "", "c-1 is saved as it happens", ""},
		{"/sessions", table, "c-1  x", "chat list --limit 20"},
		{"/compress", "", "a summary of what was said", ""},
		{"/compress c-2", "shorter", "shorter", "chat compress c-2"},
		{"/fork", "", "c-9, a copy of c-1", ""},
		{"/fork c-2", "c-3 is a fork", "c-3 is a fork", "chat fork c-2"},
		{"/export html", "", "Written: c-1.html", "chat export c-1 --format html --tool-calls -o c-1.html"},
		{`/export "../c"`, "", "Written: ---c.md", "chat export ../c --format markdown --tool-calls -o ---c.md"},
		{"/approved", table, "c-1  x", "audit query --session s-1 --effect allow --limit 20 --by person"},
		{"/denied", "ID  NAME\n", "No call of this session was denied.", "audit query --session s-1 --effect deny --limit 20"},
		{"/reset", "forgotten", "forgotten", "approvals reset s-1"},
		{"/peek notes.md", "", "the text", "session skills s-1 +reading"},
		{"/lint -x", "", "clean", ""},
	} {
		s, d := newSet(t)
		d.prints = c.prints
		r, err := s.Do(t.Context(), now, c.line)
		if err != nil || !strings.Contains(r.Text, c.shows) || strings.Join(d.ran, "; ") != c.runs {
			t.Errorf("%s: %v\n%s\nran %q", c.line, err, r.Text, d.ran)
		}
		switch last := d.calls[len(d.calls)-1]; c.line {
		case "/peek notes.md":
			if last.Tool != "files__read_file" || string(last.Args) != `{"from":1,"path":"notes.md"}` &&
				string(last.Args) != `{"path":"notes.md","from":1}` {
				t.Errorf("%s called %s %s", c.line, last.Tool, last.Args)
			}
		case "/lint -x":
			if last.Tool != "mycelium-skills__run_script" || !strings.Contains(string(last.Args), `"scripts/lint.sh"`) ||
				!strings.Contains(string(last.Args), `["-x"]`) {
				t.Errorf("%s called %s %s", c.line, last.Tool, last.Args)
			}
		}
	}
}

// TestHowItGoesOn: which commands open another engine, empty the screen, ask or end the chat.
func TestHowItGoesOn(t *testing.T) {
	now := Now{Session: "s-1", Conversation: "c-1", Model: "claude-opus-5"}
	for _, c := range []struct {
		line        string
		next        Start
		clear, quit bool
	}{
		{"/clear", Start{New: true}, true, false}, {"/model sonnet", Start{Model: "sonnet"}, false, false},
		{"/resume c-7", Start{Resume: "c-7"}, true, false},
		{"/fork", Start{Resume: "c-9", Keep: true}, false, false}, {"/quit", Start{}, false, true}, {"/exit", Start{}, false, true},
	} {
		s, d := newSet(t)
		d.prints = `{"id":"c-9"}`
		r, err := s.Do(t.Context(), now, c.line)
		if err != nil || r.Clear != c.clear || r.Quit != c.quit || (r.Next == nil) != (c.next == Start{}) || r.Next != nil && *r.Next != c.next {
			t.Errorf("%s: %+v, %v", c.line, r, err)
		}
	}
	for line, last := range map[string]string{"/roles": "admin", "/model": "haiku", "/resume": "c-2"} {
		s, d := newSet(t)
		d.prints = `[{"id":"c-1","name":"a","agent":"myc"},{"id":"c-2","name":"b","agent":"myc"},{"id":"c-3","agent":"claude"}]`
		if line == "/roles" {
			d.prints = `[{"role":"dev"},{"role":"admin"}]`
		}
		r, err := s.Do(t.Context(), now, line)
		if err != nil || r.Choose == nil || r.Choose.Options[len(r.Choose.Options)-1].ID != last || !r.Choose.Options[0].Current {
			t.Errorf("%s: %+v, %v", line, r, err)
			continue
		}
		if r, err = r.Choose.Then(t.Context(), last); err != nil || line != "/roles" && r.Next == nil {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	for line, says := range map[string]string{
		"/hepl": "did you mean /help?", "/zzzzzz": "/help shows the commands", "/role": "which role?", "/add": "which skill?",
		"/peek": "path is missing", "/lint": "", "/save x": "nothing was said yet", "/role 'a": "is not closed", "/role nope": "there is no nope",
	} {
		s, d := newSet(t)
		delete(d.answers, "mycelium-skills__run_script")
		_, err := s.Do(t.Context(), Now{Session: "s-1", Skills: []string{"common", "reading"}}, line)
		if err == nil || !strings.Contains(text.Describe(err), says) {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, c := range []struct {
		line string
		is   bool
	}{{"/help", true}, {" /a b", true}, {"/", false}, {"/etc/hosts", false}, {"no", false}, {"/x.md", false}} {
		if IsCommand(c.line) != c.is {
			t.Errorf("%q is a command: %v", c.line, !c.is)
		}
	}
}

func TestMatch(t *testing.T) {
	s, _ := newSet(t)
	for begun, first := range map[string]string{"": "help", "ro": "roles", "SK": "skills", "sns": "sessions",
		"pee": "peek", "ext": "context"} {
		if m := s.Match(begun); len(m) == 0 || m[0].Name != first {
			t.Errorf("%q: %+v", begun, m)
		}
	}
	if m := s.Match("xyz"); len(m) != 0 {
		t.Errorf("%+v", m)
	}
}

func FuzzFields(f *testing.F) {
	f.Add(`/a "b c" 'd' e　f`)
	f.Fuzz(func(t *testing.T, line string) {
		words, err := fields(line)
		if err == nil && !strings.ContainsAny(line, `"'`) && strings.Join(words, "") !=
			strings.Join(strings.FieldsFunc(strings.ToValidUTF8(line, "�"),
				func(r rune) bool { return strings.ContainsRune(" \n\t　", r) }), "") {
			t.Errorf("%q: %q", line, words)
		}
	})
}
