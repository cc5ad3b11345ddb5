package tools

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/policy"
	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/proposal"
)

// leader is an agent with the role lead, which may start workers with the role dev, and the tools on a real repository and book.
type leader struct {
	*testing.T
	ops.Ops // as a person

	server *Server
	id     string
	drives int // how often a driver was wanted
}

// rights are those of workers: each has the skill coding, and reads what is not secret.
type rights struct{}

func (rights) Skills(string) (start, open []string) {
	return []string{"coding"}, []string{"coding", "extra"}
}

func (rights) Commands(string, []string) bool { return true }

func (rights) Refuses(_ string, _ []string, path string) string {
	if strings.HasPrefix(path, "secret") {
		return "nobody reads it"
	}
	return ""
}

// lead begins a session.
func lead(t *testing.T, s *book.Session) *leader {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	l := &leader{T: t, id: "s", Ops: ops.Ops{Dir: filepath.Join(dir, "p"), Folder: filepath.Join(dir, "state"),
		Trees: filepath.Join(dir, "trees"), By: ops.Person}}
	for _, folder := range []string{l.Dir, l.Folder} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, said := range map[string]string{"README.md": "# P\n", "parser.go": "package p\n", "secret.md": "x\n"} {
		if err := os.WriteFile(filepath.Join(l.Dir, name), []byte(said), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l.git("init", "-q", "-b", "main")
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "first")
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(dir, "m.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	l.Book = book.New(db)
	g, err := l.Ground(t.Context(), l.id)
	if err != nil {
		t.Fatal(err)
	}
	head, _, err := g.Head(t.Context())
	if err == nil {
		err = g.Begin(t.Context(), head)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.ID, s.Base, s.State, s.Settings.Role, s.Settings.Workers = l.id, string(head), book.Going, "dev", 1
	if err := l.Book.Begin(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	p, problems := policy.New(policy.Source{Roles: []policy.Role{{ID: "lead", MayStart: []string{"dev"}}, {ID: "dev"}, {ID: "guest"}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if l.server, err = NewServer(); err != nil {
		t.Fatal(err)
	}
	l.server.Open(Host{
		Ops:    func(by string) (ops.Ops, error) { o := l.Ops; o.By = by; return o, nil },
		Policy: func() *policy.Policy { return p }, Role: func() string { return "dev" },
		Drive:  func(context.Context, string, string) error { l.drives++; return nil },
		Rights: func() planning.Rights { return rights{} }, Governs: func(_, path string) bool { return path == "mycelium.yaml" },
	})
	return l
}

// git runs git in the project.
func (l *leader) git(args ...string) string {
	l.Helper()
	cmd := exec.Command("git", append([]string{"-C", l.Dir, "-c", "user.name=T", "-c", "user.email=t@localhost"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// does is a feature that waits to be worked on.
func does(id, description string) *book.Feature {
	return &book.Feature{Feature: plan.Feature{ID: id, Description: description}, State: book.Pending}
}

// change changes the session as somebody else does.
func (l *leader) change(f func(s *book.Session)) {
	l.Helper()
	if _, err := l.Change(l.Context(), l.id, "", func(s *book.Session) ([]book.Event, error) {
		f(s)
		return []book.Event{{Kind: "session", Text: "x"}}, nil
	}); err != nil {
		l.Fatal(err)
	}
}

// now is the session as it is.
func (l *leader) now() *book.Session {
	l.Helper()
	s, err := l.Read(l.Context(), l.id)
	if err != nil {
		l.Fatal(err)
	}
	return s
}

// events is what happened, in one text.
func (l *leader) events() string {
	l.Helper()
	all, err := l.Events(l.Context(), l.id, 0, 100)
	if err != nil {
		l.Fatal(err)
	}
	var out []string
	for _, e := range all {
		out = append(out, e.Text)
	}
	return strings.Join(out, "\n")
}

// as calls a tool for a role, with its arguments as JSON without projectDir.
func (l *leader) as(role, tool, args string) (said string, failed bool) {
	l.Helper()
	all := map[string]any{}
	if err := json.Unmarshal([]byte("{"+args+"}"), &all); err != nil {
		l.Fatalf("%s: %v", args, err)
	}
	all["projectDir"] = l.Dir
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": all})
	if err != nil {
		l.Fatal(err)
	}
	scope := policy.Scope{Principal: policy.Principal{ID: "local", Role: role}}
	raw, rpcErr, err := l.server.Do(l.Context(), scope, "tools/call", params, nil)
	if err != nil || rpcErr != nil {
		l.Fatalf("%s: %v %s", tool, err, rpcErr)
	}
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(raw, &r, json.MatchCaseInsensitiveNames(true)); err != nil {
		l.Fatal(err)
	}
	return r.Content[0].Text, r.IsError
}

// does wants that a tool does its work and says each of some things.
func (l *leader) does(tool, args string, wants ...string) {
	l.Helper()
	said, failed := l.as("lead", tool, args)
	for _, want := range wants {
		if failed || !strings.Contains(said, want) {
			l.Errorf("%s %s (failed: %t), want %q:\n%s", tool, args, failed, want, said)
		}
	}
}

// refuses wants that a tool does not, says why, and changes nothing.
func (l *leader) refuses(tool, args, want string) {
	l.Helper()
	l.refusesAs("lead", tool, args, want)
}

func (l *leader) refusesAs(role, tool, args, want string) {
	l.Helper()
	before, drives := l.now(), l.drives
	said, failed := l.as(role, tool, args)
	if !failed || !strings.Contains(said, want) {
		l.Errorf("%s %s (failed: %t), want a refusal with %q:\n%s", tool, args, failed, want, said)
	}
	if !l.now().Changed.Equal(before.Changed) || l.drives != drives {
		l.Errorf("%s %s: it was refused, and did something", tool, args)
	}
}

// hard is a description whose complexity is high enough for two planners.
const hard = "Refactor the architecture of the authentication: migrate the database schema, the API, concurrency, caching, security and " +
	"performance of the whole distributed system, and integrate the payment, the queue and the encryption across all modules"

// planned is what a planner has come to.
func planned(name string) *book.Planner {
	return &book.Planner{Name: name, State: book.Completed, Plan: &proposal.Proposal{Summary: "the way of " + name}, Score: &proposal.Score{}}
}

func TestPlanners(t *testing.T) {
	l := lead(t, &book.Session{Settings: book.Settings{Manual: true}, Features: []*book.Feature{does("easy", "Add x"), does("hard", hard),
		{Feature: plan.Feature{ID: "other", Description: "x", Role: "admin"}, State: book.Pending}}})
	l.refuses("start_competitive_planning", `"featureId":"easy"`, "forceCompetitive of the tool")
	l.refuses("start_competitive_planning", `"featureId":"nothing"`, "the session has no feature")
	l.refuses("start_competitive_planning", `"featureId":"other","forceCompetitive":true`,
		`the role "admin", which this session may not start`)
	l.refuses("start_competitive_planning", `"featureId":"easy","force":true`, "unknown argument")
	l.refuses("start_competitive_planning", `"featureId":"easy","forceCompetitive":true,"customPromptA":"`+strings.Repeat("x", 4001)+`"`,
		"4000 is the limit")
	l.refuses("evaluate_plans", `"featureId":"easy"`, "start_competitive_planning has two planners do it")
	l.does("start_competitive_planning", `"featureId":"easy","forceCompetitive":true,"customPromptA":"be brief","customPromptB":"be long"`,
		"Its worker waits for start_worker")
	l.does("evaluate_plans", `"featureId":"easy"`, "Nothing is chosen yet")
	if f := l.now().Features[0]; f.Planning.Prompts != [2]string{"be brief", "be long"} || f.Wanted.IsZero() || l.drives != 1 {
		t.Errorf("%+v, wanted %v, driven %d times", f.Planning, f.Wanted, l.drives)
	}
	l.does("start_competitive_planning", `"featureId":"hard"`, "Two planners begin")
	l.change(func(s *book.Session) {
		s.Features[0].Planning.Planners = []*book.Planner{planned("A"), planned("B")}
	})
	l.does("evaluate_plans", `"featureId":"easy"`, "the way of A", "the way of B")
	l.refuses("evaluate_plans", `"featureId":"easy","manualSelection":"B"`, "selectionReason of the tool")
	l.refuses("evaluate_plans", `"featureId":"easy","manualSelection":"C","selectionReason":"x"`, "must be one of A, B")
	l.refuses("evaluate_plans", `"featureId":"hard","manualSelection":"A","selectionReason":"x"`, "planner A has no plan")
	l.does("evaluate_plans", `"featureId":"easy","manualSelection":"B","selectionReason":"it is shorter"`, "is given plan B")
	l.does("evaluate_plans", `"featureId":"easy"`, "Chosen: B, by hand: it is shorter")
	if f := l.now().Features[0]; f.Chosen() == nil || !f.Wanted.IsZero() {
		t.Errorf("the chosen plan is %+v; it is wanted %v", f.Chosen(), f.Wanted)
	}
	if said := l.events(); !strings.Contains(said, "plan B is chosen by an agent (role lead): it is shorter") {
		t.Errorf("who chose is not on record:\n%s", said)
	}
	l.does("start_competitive_planning", `"featureId":"easy","forceCompetitive":true`, "Its worker waits for start_worker")
	l.does("start_worker", `"featureId":"easy"`, "is started")
	if l.now().Features[0].Planning.Alone {
		t.Error("its worker is asked for, and would not begin")
	}
}

func TestContextAndRoute(t *testing.T) {
	l := lead(t, &book.Session{Settings: book.Settings{Budget: 5}, Features: []*book.Feature{does("parse", "Add a parser"),
		{Feature: plan.Feature{ID: "other", Description: "x", Role: "admin"}, State: book.Pending}}})
	const given = `"documentation":[{"type":"file","path":"README.md","relevance":"it says how"},{"type":"file","path":"secret.md"}],` +
		`"prepared":[{"key":"notes","content":"Be brief.","priority":"required"}]`
	l.refuses("set_feature_context", `"featureId":"parse","protocolBindings":[{"protocolId":"p"}]`, "protocols do not exist yet")
	l.refuses("set_feature_context", `"featureId":"parse","documentation":[{"type":"file","path":"../x"}]`, "is not a path in the project")
	l.refuses("set_feature_context", `"featureId":"parse","documentation":[{"type":"file","path":"x","more":1}]`, "unknown object member")
	l.refuses("set_feature_context", `"featureId":"parse","prepared":[{"key":"k","content":"c","priority":"high"}]`, "is not one of required")
	l.refuses("set_feature_context", `"featureId":"other",`+given, `the role "admin"`)
	l.does("set_feature_context", `"featureId":"parse",`+given, "is given it when it begins")
	l.does("enrich_feature", `"featureId":"parse"`, "given: notes (9 characters): required, from an agent (role lead)",
		"given: README.md (4 characters): it says how", "given: parser.go", "left out: secret.md: nobody reads it")
	l.does("enrich_feature", `"featureId":"parse","maxRelatedFiles":0,"maxTotalContext":9`, "left out: README.md: there is no room for it")
	l.refuses("enrich_feature", `"featureId":"parse","maxDocLength":1000000`, "is from 0 to")
	l.refuses("enrich_feature", `"featureId":"other"`, `the role "admin"`)
	l.does("set_feature_context", `"featureId":"parse","merge":false,"prepared":[{"key":"k","content":"c","priority":"optional"}]`,
		"given it")
	if c := l.now().Features[0].Context; len(c.Documentation) != 0 || len(c.Prepared) != 1 {
		t.Errorf("in the place of what was given there is %+v", c)
	}
	l.refuses("route_feature", `"featureId":"parse","maxParallelism":0`, "maxParallelism is from 1 to 10")
	l.refuses("route_feature", `"featureId":"parse","preferredWorkerType":"codex"`, "does not tell what it costs")
	l.refuses("route_feature", `"featureId":"parse","preferredWorkerType":"nothing"`, "must be one of")
	l.refuses("route_feature", `"featureId":"parse","preferredWorkerType":"command"`, "its runner is command, and the session has none")
	l.refuses("route_feature", `"featureId":"parse","isolationLevel":"container"`, "no worker runs in a container")
	l.refuses("route_feature", `"featureId":"parse","requiredCapabilities":["admin"]`, "which the role dev may not have")
	l.refuses("route_feature", `"featureId":"parse","excludeCapabilities":["extra"]`, "which the role dev may have")
	l.refuses("route_feature", `"featureId":"other"`, `the role "admin"`)
	l.does("route_feature", `"featureId":"parse","requiredCapabilities":["extra"],"maxParallelism":1,"affinityGroup":"g",`+
		`"isolationLevel":"process"`, "is started as that says")
	want := plan.Route{Require: []string{"extra"}, MaxParallel: 1, Affinity: "g", Isolation: "process"}
	if got := l.now().Features[0].Route; !slices.Equal(got.Require, want.Require) || got.Affinity != "g" || got.MaxParallel != 1 {
		t.Errorf("its route is %+v", got)
	}
	for _, want := range []string{"an agent (role lead) gives its worker 2 documents", "an agent (role lead) gave it the route"} {
		if said := l.events(); !strings.Contains(said, want) {
			t.Errorf("%q is not on record:\n%s", want, said)
		}
	}
}

// What a worker is told, and that there is one, is for who may start it: also where it is told by a message or by a new feature.
func TestOnlyWhoMayStartItTellsAWorker(t *testing.T) {
	l := lead(t, &book.Session{Settings: book.Settings{Runner: "claude"}, Features: []*book.Feature{does("a", "Add a")}})
	l.refusesAs("guest", "add_feature", `"description":"x"`, `a feature that is added is for a worker with the role "dev"`)
	l.refusesAs("guest", "send_worker_message", `"featureId":"a","message":"x"`, `feature a is for a worker with the role "dev"`)
	l.refuses("send_worker_message", `"featureId":"a","message":"x"`, "has had no worker yet")
	l.does("add_feature", `"description":"x"`, "was added")
	l.change(func(s *book.Session) {
		s.Reviews = []*book.Review{{Type: "code", Attempt: book.Attempt{N: 1, State: book.Pending}}}
	})
	l.refusesAs("guest", "send_worker_message", `"featureId":"review-code","message":"x"`, `a review is for a worker with the role "dev"`)
}

// found are the findings of a review of the code.
func found() *book.Findings {
	return &book.Findings{Summary: "Two things.", Severity: book.Moderate, Issues: []book.Issue{
		{Category: "bug", Severity: book.Error, File: "parser.go", Line: 3, Message: "an error is dropped", Suggestion: "return it"},
		{Category: "style", Severity: book.Info, File: "parser.go", Message: "a name is odd"}}}
}

func TestReviews(t *testing.T) {
	l := lead(t, &book.Session{Features: []*book.Feature{does("a", "Add a")}})
	l.does("check_reviews", ``, "reviews: none", "Nothing was reviewed")
	l.refuses("get_review_results", ``, "run_review begins it")
	l.refuses("run_review", ``, "workers are not done yet")
	l.change(func(s *book.Session) { s.Features[0].State = book.Completed })
	l.refuses("run_review", ``, "nothing has landed")
	l.git("commit", "-q", "--allow-empty", "-m", "feat: a")
	l.git("update-ref", "refs/heads/swarm/"+l.id, "HEAD")
	l.refuses("run_review", `"reviewTypes":["style"]`, `there is no review "style"`)
	l.refusesAs("guest", "run_review", ``, `a review is for a worker with the role "dev", which this session may not start`)
	l.does("run_review", `"reviewTypes":["code"]`, "begin as soon as reviewers are free")
	if said := l.events(); !strings.Contains(said, "the review of the code is asked for by an agent (role lead)") || l.drives != 1 {
		t.Errorf("driven %d times\n%s", l.drives, said)
	}
	l.does("check_reviews", ``, "review-code#1: pending", "run_review has them go on")
	l.does("run_review", ``, "begin as soon as reviewers are free") // which only has them driven
	if s := l.now(); len(s.Reviews) != 1 || l.drives != 2 {
		t.Errorf("%d reviews, driven %d times", len(s.Reviews), l.drives)
	}
	l.change(func(s *book.Session) {
		r := s.Reviews[0]
		r.State, r.Findings, s.State = book.Completed, found(), book.Completed
	})
	l.refuses("run_review", `"reviewTypes":["code"]`, "forceRerun of the tool")
	l.does("check_reviews", `"includeOutput":false`, "get_review_results")
	l.refuses("check_reviews", `"outputLines":101`, "outputLines is from 1 to 100")
	l.does("get_review_results", ``, "moderate, 2 issues", "Two things.")
	l.does("get_review_results", `"format":"detailed"`, "0  error, bug parser.go:3: an error is dropped", "→ return it", "a name is odd")
	l.does("get_review_results", `"format":"json"`, `"overall":"moderate"`)
	l.does("implement_review_suggestions", ``, "an error is dropped", "Nothing was changed")
	l.does("implement_review_suggestions", `"reviewType":"architecture"`, "No issue is that severe")
	l.refuses("implement_review_suggestions", `"issueIndices":[7]`, "there is no issue 7")
	l.refuses("implement_review_suggestions", `"minSeverity":"bad"`, "must be one of")
	l.refusesAs("guest", "implement_review_suggestions", `"autoSelect":true`, `what mends an issue is for a worker with the role "dev"`)
	l.does("implement_review_suggestions", `"issueIndices":[1]`, "fix-1 were added")
	l.does("implement_review_suggestions", `"autoSelect":true,"reviewType":"both"`, "fix-2 were added")
	l.refuses("implement_review_suggestions", `"autoSelect":true`, "no feature mends yet")
	s := l.now()
	if f, err := s.Feature("fix-2"); err != nil || s.State != book.Going || !strings.Contains(f.Details, "an error is dropped") {
		t.Errorf("%v; the session is %s", err, s.State)
	}
	l.refuses("run_review", `"reviewTypes":["code"],"forceRerun":true`, "workers are not done yet")
}

// An agent turns reviews on, and takes none away that a person would have.
func TestConfigureReviews(t *testing.T) {
	l := lead(t, &book.Session{Features: []*book.Feature{does("a", "Add a")}})
	l.refusesAs("guest", "configure_reviews", `"enabled":true`, `the role "dev"`)
	l.does("configure_reviews", `"enabled":true,"architectureReviewEnabled":false`, "code, by themselves, when nothing is left to be done")
	for _, less := range []string{`"enabled":false`, `"codeReviewEnabled":false`, `"autoTrigger":false`, `"skipOnFailure":true`,
		`"codeReviewEnabled":false,"architectureReviewEnabled":true`} {
		l.refuses("configure_reviews", less, "an agent takes no review away")
	}
	l.does("configure_reviews", `"architectureReviewEnabled":true`, "code and architecture, by themselves")
	l.change(func(s *book.Session) { s.Settings.Reviews.SkipOnFailure = true })
	l.does("configure_reviews", `"skipOnFailure":false`, "when nothing is left to be done")
	if said := l.events(); !strings.Contains(said, "an agent (role lead) changed the reviews: code and architecture") {
		t.Errorf("it is not on record:\n%s", said)
	}
}

// An agent adds commands of known programs, and takes away its own only.
func TestConfigureVerification(t *testing.T) {
	l := lead(t, &book.Session{Settings: book.Settings{Verify: [][]string{{"go", "test", "./..."}}, Programs: []string{"mine"}},
		Features: []*book.Feature{does("a", "Add a")}})
	for args, want := range map[string]string{
		`"commands":["rm -rf x"]`:                             "rm is not one of the programs",
		`"commands":["go vet ./... && rm x"]`:                 "which only a shell understands",
		`"commands":["go vet"],"allow":["rm"]`:                "unknown argument",
		`"commands":[""]`:                                     "the command is empty",
		`"commands":["go vet"],"failOnError":false`:           "what does not pass the verification does not land",
		`"commands":["go ` + strings.Repeat("x", 1000) + `"]`: "1000 is the limit",
	} {
		l.refuses("configure_verification", args, want)
	}
	l.does("configure_verification", `"commands":["go vet ./...","mine --all","go test ./..."]`,
		"Each landing must pass: go test ./...; go vet ./...; mine --all.")
	l.does("configure_verification", `"clear":true,"commands":["golangci-lint run"]`, "must pass: go test ./...; golangci-lint run.")
	l.does("orchestrator_status", ``, "verified with: go test ./...; golangci-lint run")
	if _, err := l.Verification(t.Context(), l.id, []string{"golangci-lint run"}, false); err != nil { // a person wants that, too
		t.Fatal(err)
	}
	l.does("configure_verification", `"clear":true`, "must pass: go test ./...; golangci-lint run.")
	if s := l.now(); len(s.Settings.Programs) != 1 || len(s.Settings.Verify) != 2 {
		t.Errorf("%+v", s.Settings)
	}
	if s, err := l.Verification(t.Context(), l.id, nil, true); err != nil || len(s.Settings.Verify) != 0 {
		t.Errorf("a person takes all away: %v, %v", s.Settings.Verify, err)
	}
	if said := l.events(); !strings.Contains(said, "an agent (role lead) changed the verification: go test ./...; go vet ./...") {
		t.Errorf("it is not on record:\n%s", said)
	}
}
