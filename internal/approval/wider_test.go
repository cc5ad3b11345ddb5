package approval

import (
	"context"
	"mycelium/internal/policy/sign"
	"strings"
	"testing"

	"mycelium/internal/policy"
)

// pushing is a call of git push as the facts have it.
func pushing(command string, effects ...string) Request {
	return Request{Session: "s", Principal: "p", Role: "developer", Tool: "agent__Bash", Dir: "/p", Risk: policy.High,
		Args: []byte(`{"command":"` + command + `"}`), Facts: policy.Facts{Dir: "/p", Parts: []policy.Part{{Program: "git",
			Argv: strings.Fields(command), Paths: []policy.Path{{Access: policy.Read, Raw: ".", Clean: "/p", Resolved: "/p"}},
			Effects: append([]string{policy.EffectExecute, policy.EffectRead, policy.EffectNetwork, policy.EffectPush}, effects...)}}}}
}

func kindsOf(r Request) (list []As) {
	for _, c := range Candidates(r) {
		list = append(list, c.As)
	}
	return list
}

func TestCandidatesComeFromTheFacts(t *testing.T) {
	file := Request{Tool: "agent__Edit", Dir: "/p", Args: []byte(`{"file_path":"/p/src/a.go"}`)}
	file.Facts = policy.Facts{Dir: "/p", Parts: []policy.Part{
		{Effects: []string{policy.EffectWrite}, Paths: []policy.Path{{Access: policy.Write, Raw: "/p/src/a.go", Clean: "/p/src/a.go",
			Resolved: "/p/src/a.go"}}}}}
	outside := file
	outside.Dir = "/q"
	fetch := Request{Tool: "agent__WebFetch", Dir: "/p", Args: []byte(`{"url":"https://docs.example.com/a"}`)}
	fetch.Facts = policy.Facts{Dir: "/p", Parts: []policy.Part{{Effects: []string{policy.EffectNetwork}, Hosts: []string{"docs.example.com"}}}}
	for name, c := range map[string]struct {
		r    Request
		want string
	}{
		"fetch":        {fetch, "call host"}, // as tool would say more than it allows
		"push":         {pushing("git push origin main"), "call program"},
		"a remote":     {pushing("git push origin"), "call program"},
		"no remote":    {pushing("git push"), "call"},
		"forced push":  {pushing("git push -f origin main", policy.EffectForcePush), "call"},
		"edit":         {file, "call folder tool"},
		"edit outside": {outside, "call"},
		"written here": {pushing("git push origin main", policy.EffectWrittenHere), "call"},
	} {
		var got []string
		c.r.Kind = Call
		for _, k := range kindsOf(c.r) {
			got = append(got, string(k))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, strings.Join(got, " "), c.want)
		}
	}
}

func TestAnApprovalAsProgramHoldsForTheSession(t *testing.T) {
	q, err := New(t.Context(), Options{Deadline: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := make(chan Request, 1)
	answered := make(chan Answer, 1)
	go func() {
		a, _ := q.AskTelling(ctx, pushing("git push origin main"), func(r Request) { asked <- r })
		answered <- a
	}()
	r := <-asked
	if _, err := q.Settle(ctx, r.ID, Answer{Allow: true, For: Session, As: ThisTool, By: "me"}, sign.None); !IsBadAnswer(err) {
		t.Errorf("a shell approved as a tool: %v", err)
	}
	if _, err := q.Settle(ctx, r.ID, Answer{Allow: true, For: Once, As: ThisProgram, By: "me"}, sign.None); !IsBadAnswer(err) {
		t.Errorf("once, as program: %v", err)
	}
	if _, err := q.Settle(ctx, r.ID, Answer{Allow: true, For: Session, As: ThisProgram, By: "me"}, sign.None); err != nil {
		t.Fatal(err)
	}
	if a := <-answered; !a.Allow {
		t.Fatalf("%+v", a)
	}
	other := pushing("git push origin main")
	other.Session = "another"
	asks := pushing("git push origin x")
	asks.Rule = "ask-push"
	fetches := pushing("git push origin x")
	fetches.Facts.Parts[0].Effects = fetches.Facts.Parts[0].Effects[:3]
	for name, c := range map[string]struct {
		r    Request
		want bool
	}{
		"another branch":  {pushing("git push origin feature/x"), true},
		"another remote":  {pushing("git push evil main"), false},
		"other effects":   {fetches, false},
		"forced":          {pushing("git push origin main", policy.EffectForcePush), false},
		"an option":       {pushing("git push origin --all"), false},
		"a second part":   {pushing("git push origin main; id"), false},
		"another session": {other, false},
		"an ask rule":     {asks, false},
	} {
		c.r.complete()
		if _, got := q.remembered(&c.r, c.r.Bound(), c.r.same()); got != c.want {
			t.Errorf("%s: answered %v, want %v", name, got, c.want)
		}
	}
}

func TestADescriptionIsNotPartOfWhatWasAnswered(t *testing.T) {
	r := Request{Kind: Call, Tool: "agent__Bash"}
	if r.Sum([]byte(`{"command":"ls","description":"a"}`)) != r.Sum([]byte(`{"description":"b","command":"ls"}`)) {
		t.Error("the description of a command counts")
	}
	if r.Sum([]byte(`{"command":"ls"}`)) == r.Sum([]byte(`{"command":"ls","timeout":5}`)) {
		t.Error("the time limit of a command does not count")
	}
	r.Tool = "db__query"
	if r.Sum([]byte(`{"description":"a"}`)) == r.Sum([]byte(`{"description":"b"}`)) {
		t.Error("an argument of another tool does not count")
	}
}

// TestAProgramWithoutAHostKeepsItsDestination: "git push origin" is about that remote, and not about every one.
func TestAProgramWithoutAHostKeepsItsDestination(t *testing.T) {
	r := pushing("git push origin")
	r.Kind = Call
	c, ok := candidate(r, ThisProgram)
	if !ok || !strings.HasPrefix(c.Words, "git push origin …") {
		t.Fatalf("%v %q", ok, c.Words)
	}
	evil := pushing("git push evil main")
	if ruleMatches(c.Rule, &evil) {
		t.Error("another remote is covered")
	}
}

// TestRefusing: a candidate is told of with the deny rules that refuse part of it.
func TestRefusing(t *testing.T) {
	values := func(globs ...string) (vs policy.Values) {
		for _, g := range globs {
			vs = append(vs, policy.Value{Glob: &g})
		}
		return vs
	}
	deny := func(name, tool, field string, vs policy.Values) policy.Rule {
		return policy.Rule{Name: name, Action: "deny", Tool: policy.Names{tool}, Match: map[string]policy.Values{field: vs}}
	}
	keys := "(?i)docs/keys/.*"
	guests := deny("guests", "*", "path", values("./**"))
	guests.Role = policy.Names{"guest"}
	weekend := policy.Rule{Name: "weekend", Action: "deny", Tool: policy.Names{"Edit"}, When: "now.getDayOfWeek() == 0"}
	p, problems := policy.New(policy.Source{Dir: "/p", Home: "/home/u", Roles: []policy.Role{{ID: "developer"}}, Rules: []policy.Rule{
		deny("anywhere", "*", "path", values("**/.env")), deny("below", "Edit", "write", values("./docs/secret/**")),
		deny("regex", "Edit", "path", policy.Values{{Regex: &keys}}),
		deny("reads", "*", "read", values("./docs/**")), deny("elsewhere", "*", "path", values("./src/**", "~/x/**")),
		deny("tool", "Write", "path", values("**/.env")), deny("hosts", "*", "host", values("*")), guests, weekend,
		{Name: "asks", Action: "ask", Tool: policy.Names{"Edit"}}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r := Request{Kind: Call, Tool: "agent__Edit", Role: "developer", Dir: "/p", Args: []byte(`{"file_path":"/p/docs/a.md"}`),
		Facts: policy.Facts{Dir: "/p", Parts: []policy.Part{{Effects: []string{policy.EffectWrite},
			Paths: []policy.Path{{Access: policy.Write, Raw: "/p/docs/a.md", Clean: "/p/docs/a.md", Resolved: "/p/docs/a.md"}}}}}}
	for as, want := range map[As]string{
		ThisCall: "", ThisFolder: "anywhere below regex weekend", ThisTool: "anywhere below regex elsewhere weekend",
	} {
		c, ok := candidate(r, as)
		if got := strings.Join(Refusing(p, c), " "); !ok || got != want {
			t.Errorf("%s: %q, want %q", as, got, want)
		}
	}
}
