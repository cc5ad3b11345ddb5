package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/swarm/book"
)

// stubClaude is a program that speaks stream-json as Claude Code does: in each turn it commits a file of its feature, and says so. In the
// proof that comes before, it asks the scripted model, and the hook about the command that this wants.
const stubClaude = `#!/usr/bin/python3
import json, os, re, subprocess, sys, time, urllib.request

def say(**message):
    print(json.dumps(message), flush=True)

def post(url, body, headers):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

def begin():
    say(type="system", subtype="init", session_id="stub", mcp_servers=[{"name": "mycelium", "status": "connected"}])

def prove():
    begin()
    question = {"model": "stub", "max_tokens": 100, "tools": [{"name": "Bash", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": "hi"}]}
    answer = post(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", question, {"x-api-key": os.environ["ANTHROPIC_API_KEY"]})
    use = next(block for block in answer["content"] if block["type"] == "tool_use")
    event = {"session_id": "stub", "hook_event_name": "PreToolUse", "tool_name": use["name"], "tool_input": use["input"],
        "tool_use_id": use["id"], "cwd": os.getcwd()}
    with open(sys.argv[sys.argv.index("--settings") + 1]) as file:
        settings = json.load(file)
    for hook in settings["hooks"]["PreToolUse"][0]["hooks"]:
        if hook["type"] == "http":
            headers = {name: re.sub(r"\$\{?(\w+)\}?", lambda v: os.environ.get(v[1], ""), value)
                for name, value in hook["headers"].items()}
            post(hook["url"], event, headers)
        else:
            subprocess.run([hook["command"], *hook.get("args", [])], input=json.dumps(event).encode(), check=True)

def work():
    for line in sys.stdin:
        begin()
        say(type="assistant", message={"model": "stub", "content": [{"type": "tool_use", "id": "u1", "name": "Bash", "input": {}}]})
        time.sleep(os.getpid() % 10 / 10)
        if feature := re.search("# Feature ([a-z]+)", line):
            with open(feature[1] + ".txt", "w") as file:
                print(feature[1], file=file)
            subprocess.run(["git", "add", "-A"], check=True)
            subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "feat: " + feature[1]], check=True)
        say(type="user", message={"content": [{"type": "tool_result", "tool_use_id": "u1", "content": "ok"}]})
        say(type="result", subtype="success", result="done", num_turns=1, total_cost_usd=0.01)

if "--no-session-persistence" in sys.argv:
    prove()
else:
    work()
`

// TestSwarmKilled: the program itself, with workers that are agents under the daemon. Whatever is killed with -9 at a random moment, the
// driver, the tmux server, a worker or the daemon, the next `myc swarm auto` brings each feature onto the branch, once. SWARM_KILLED is
// the number of runs (make soak).
func TestSwarmKilled(t *testing.T) {
	_, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	runs, seed := 1, rand.Uint64()
	if s := os.Getenv("SWARM_KILLED"); s != "" {
		if runs, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	for i := range runs {
		t.Run(strconv.FormatUint(seed+uint64(i), 10), func(t *testing.T) {
			t.Parallel()
			killSwarm(t, rand.New(rand.NewPCG(seed+uint64(i), 1)))
		})
	}
}

// swarmParts are what is killed, by what its command line has.
var swarmParts = map[string]string{"tmux": "tmux -u", "worker": " swarm worker ", "daemon": " serve"}

func killSwarm(t *testing.T, r *rand.Rand) {
	p := swarmWorld(t)
	bin := filepath.Join(p.home, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte(stubClaude), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	environ := append(slices.Clone(p.env), "PATH="+bin+":"+os.Getenv("PATH"), "ANTHROPIC_API_KEY=stub")
	if _, stderr, code := p.as(environ, "swarm", "init", "plan.yaml", "--verify", "test -f mycelium.yaml",
		"--allow-program", "test", "--retries", "8", "--no-reviews"); code != 0 {
		t.Fatal(stderr)
	}
	var killed []string
	attacks := []string{"daemon"}
	for range r.IntN(3) {
		attacks = append(attacks, []string{"driver", "tmux", "worker", "daemon"}[r.IntN(4)])
	}
	r.Shuffle(len(attacks), func(i, j int) { attacks[i], attacks[j] = attacks[j], attacks[i] })
	var said bytes.Buffer
	for range 20 {
		cmd := exec.CommandContext(p.ctx, p.myc, "swarm", "auto", "--unsafe-program")
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, environ, &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		victim := p.killSome(r, cmd.Process, ended, &attacks)
		killed = append(killed, victim...)
		if s := p.swarmStatus(environ); !s.Open() {
			break
		} else if !slices.Contains(victim, "driver") {
			fmt.Fprintf(&said, "the driver ended, and the session is %s\n", s.State)
		}
	}
	t.Logf("killed: %s", strings.Join(killed, ", "))
	s := p.swarmStatus(environ)
	for _, f := range s.Features {
		landed := p.git("log", "--format=%H", "--grep=^Swarm-Feature: "+f.ID+"$", s.Branch)
		if f.State != book.Completed || strings.TrimSpace(landed) != f.Commit {
			t.Errorf("%s is %s (%s), its commit %s, on the branch: %s", f.ID, f.State, f.Reason, f.Commit, landed)
		}
	}
	if got := strings.TrimSpace(p.git("worktree", "list")); strings.Count(got, "\n") > 1 { // the person's and the queue's
		t.Errorf("worktrees are left:\n%s", got)
	}
	if t.Failed() {
		t.Log(said.String())
	}
	p.must("audit", "verify")
}

// killSome kills until the driver has ended, each at a random moment, and returns what it killed.
func (p *project) killSome(r *rand.Rand, driver *os.Process, ended <-chan error, attacks *[]string) (killed []string) {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ended:
			return killed
		case <-look.C:
			if len(*attacks) == 0 || r.IntN(40) > 0 { // every 800 ms, on average
				continue
			}
			what := (*attacks)[0]
			pid := driver.Pid
			if what != "driver" {
				pid = 0
				for id, line := range p.processes() {
					if strings.Contains(line, swarmParts[what]) {
						pid = id
					}
				}
			}
			if pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed, *attacks = append(killed, what), (*attacks)[1:]
			}
		}
	}
}

// swarmStatus is the session of the swarm.
func (p *project) swarmStatus(environ []string) *book.Session {
	p.t.Helper()
	out, stderr, _ := p.as(environ, "swarm", "status", "--json")
	s := &book.Session{}
	if err := json.Unmarshal([]byte(out), s); err != nil {
		p.t.Fatalf("%v: %s%s", err, out, stderr)
	}
	return s
}
