package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/harness"
	"mycelium/internal/model"
	"mycelium/internal/model/fake"
	"mycelium/internal/node"
	runs "mycelium/internal/run"
)

// TestJudgeAndBudgetOfARealRun starts the real Claude Code by `myc claude`, with one scripted model for it and another that judges its
// calls: what that is sure of runs, what it is not sure of is denied when nobody answers, and past the budget nothing runs any more. What
// we read from the transcript is what Claude Code says that the run cost.
func TestJudgeAndBudgetOfARealRun(t *testing.T) {
	realAgent(t, "claude")
	if !withoutNetwork(t) {
		return
	}
	judge := fake.New(fake.Step{Func: func(r fake.Request) fake.Step {
		sure := "0.95"
		if strings.Contains(r.Text("user"), "unsure.txt") {
			sure = "0.3"
		}
		return fake.Step{Text: `{"allow":true,"confidence":` + sure + `,"reason":"It writes a note."}`,
			Usage: fake.Usage{Input: 1000, Output: 100}}
	}})
	judge.Main = func(fake.Request) bool { return true }
	defer judge.Close()

	files := governedWorld()
	files["mycelium.yaml"] += "approval: {deadline: 2s, judge: {baseURL: \"" + judge.URL() +
		"\", key: \"${JUDGE_KEY}\"}}\nagents: {budget: {session: 0.5}}\n"
	p := newProject(t, files)
	bash := func(file string, used fake.Usage) fake.Step {
		return fake.Step{ToolUses: []fake.ToolUse{{Name: "Bash", Input: map[string]any{"command": "echo note > " + file, "description": "x"}}},
			Usage: used}
	}
	s := fake.New(
		bash("judged.txt", fake.Usage{Input: 2000, Output: 100, CacheRead: 3000, CacheWrite: 400}),
		bash("unsure.txt", fake.Usage{}),
		// Claude Code writes the transcript beside its calls, so that the cost of a message may be there before its own call or after it.
		// Nothing is asked of this call, and the next one comes when its cost can be read.
		fake.Step{ToolUses: []fake.ToolUse{{Name: "Read", Input: map[string]any{"file_path": filepath.Join(p.dir, "notes.md")}}},
			Usage: fake.Usage{Output: 100_000}},
		fake.Step{Func: func(fake.Request) fake.Step {
			p.eventually("the transcript has what the third message cost", func() bool {
				return strings.Contains(p.transcripts(), `"output_tokens":100000`)
			})
			return bash("judged.txt.again", fake.Usage{})
		}},
		fake.Step{Text: "done"},
	)
	defer s.Close()
	environ := append(p.agentEnv("claude", s), "JUDGE_KEY=sk-judge")
	stdout, stderr, code := p.as(environ, "claude", "--unsafe-program", "--role", "developer", "-p", "--output-format", "json",
		"--model", "claude-sonnet-4-6",
		"--", "Do what the script says.")
	var run struct {
		Result  string  `json:"result"`
		Session string  `json:"session_id"`
		Cost    float64 `json:"total_cost_usd"`
	}
	if err := json.Unmarshal([]byte(stdout), &run); err != nil || code != 0 || run.Result != "done" {
		t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	turns := s.Turns()
	if len(turns) != 5 {
		t.Fatalf("%d turns", len(turns))
	}
	if p.read("judged.txt") != "note\n" {
		t.Errorf("what the judge allowed did not run: the model reads %q", results(turns[1]))
	}
	if got := results(turns[2]); !strings.HasPrefix(got, "[error=true]") || p.read("unsure.txt") != "" {
		t.Errorf("what the judge was not sure of: the model reads %q", got)
	}
	if got := results(turns[4]); !strings.HasPrefix(got, "[error=true]") || !strings.Contains(got, "The budget of this session is used up") ||
		p.read("judged.txt.again") != "" {
		t.Errorf("past the budget: the model reads %q", got)
	}
	asked := judge.Requests()
	// The judge is asked about the Read too where its cost came later; see above.
	commands := slices.DeleteFunc(slices.Clone(asked),
		func(r fake.Request) bool { return strings.Contains(r.Text("user"), `"category": "GENERAL"`) })
	if len(commands) != 2 || asked[0].Header.Get("X-Api-Key") != "sk-judge" || asked[0].Model != "claude-haiku-4-5" ||
		!strings.Contains(asked[1].Text("user"), `echo note > judged.txt`) {
		t.Errorf("the judge was asked %d times, %d times about a command", len(asked), len(commands))
	}
	by := []string{}
	for _, r := range p.logged() {
		if r.Tool == "agent__Bash" && r.Effect != "" {
			by = append(by, r.Effect+" "+r.DecidedBy)
		}
	}
	if !slices.Contains(by, "allow model") {
		t.Errorf("the log says %q", by)
	}
	spent, err := (&model.Ledger{Dir: p.state().Costs()}).Spent()
	if want := float64(len(asked)) * (1000*1 + 100*5) / 1e6; err != nil || math.Abs(spent.Today-want) > 1e-12 {
		t.Errorf("the ledger says %+v, %v; want %v", spent, err, want)
	}
	transcripts, err := filepath.Glob(filepath.Join(p.home, ".claude", "projects", "*", run.Session+".jsonl"))
	if err != nil || len(transcripts) != 1 {
		t.Fatalf("%v %v", transcripts, err)
	}
	read := runs.NewBudget(runs.BudgetOptions{Limits: func() runs.Limits { return runs.Limits{} }, Price: node.PriceOf}).Check("x",
		harness.Transcript(transcripts[0]))
	if math.Abs(read.USD-run.Cost) > 1e-9 || run.Cost < 1.5 || read.Guessed {
		t.Errorf("the transcript says $%v, Claude Code $%v", read.USD, run.Cost)
	}
}

// transcripts is what Claude Code has written about its sessions.
func (p *project) transcripts() string {
	paths, _ := filepath.Glob(filepath.Join(p.home, ".claude", "projects", "*", "*.jsonl"))
	var all strings.Builder
	for _, path := range paths {
		b, _ := os.ReadFile(path) // it may be written at this moment
		all.Write(b)
	}
	return all.String()
}
