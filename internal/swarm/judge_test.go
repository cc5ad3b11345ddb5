package swarm

import (
	"strings"
	"testing"

	"mycelium/internal/agent"
	"mycelium/internal/swarm/worker"
)

// Every row of the table of claims and facts: what a worker says is not what decides.
func TestJudge(t *testing.T) {
	success := &worker.Ended{Stop: agent.StopEnd, Text: "All done! Everything is committed and the tests pass."}
	for name, c := range map[string]struct {
		facts
		want act
		says string
	}{
		"done, and it is":                            {facts{Begun: true, Ended: success, Commits: 1, Checked: true}, queue, ""},
		"done, and its checks have not run":          {facts{Begun: true, Ended: success, Commits: 1}, check, ""},
		"done without a commit":                      {facts{Begun: true, Ended: success}, back, "without a commit"},
		"done without a commit, for the second time": {facts{Begun: true, Ended: success, Sent: 1}, renew, "without a commit"},
		"done, and files are not committed": {facts{Begun: true, Ended: success, Commits: 2, Dirty: []string{"a.go"}}, back,
			"a.go"},
		"done, and the sandbox took away what it committed": {facts{Begun: true, Commits: 1, Dirty: []string{".mcp.json"},
			Ended: &worker.Ended{Stop: agent.StopEnd, Taken: []string{".mcp.json"}}}, back, "taken away what would govern agents: .mcp.json"},
		"done, and its checks fail": {facts{Begun: true, Ended: success, Commits: 1, Checked: true, Output: "FAIL x"},
			back, "FAIL x"},
		"done, and its checks fail again and again": {facts{Begun: true, Ended: success, Commits: 1, Checked: true, Output: "FAIL x",
			Sent: sendBack}, renew, "FAIL x"},
		"dead without a word, and its work is there": {facts{Begun: true, Commits: 1, Checked: true}, queue, ""},
		"dead without a word and without work":       {facts{Begun: true}, renew, "died"},
		"dead with an error, and its work is there": {facts{Begun: true, Ended: &worker.Ended{Stop: "error", Error: "x"}, Commits: 1,
			Checked: true},
			queue, ""},
		"dead, and its conversation is there":    {facts{Begun: true, Talks: true}, revive, "died"},
		"dead for the second time":               {facts{Begun: true, Talks: true, Revived: true}, renew, "died"},
		"dead with a conversation, and its work": {facts{Begun: true, Talks: true, Commits: 1, Checked: true}, queue, ""},
		"an error": {facts{Begun: true, Ended: &worker.Ended{Stop: "error", Error: "no such model"}}, renew,
			"no such model"},
		"it did not even begin": {facts{Ended: &worker.Ended{Stop: "error", Error: "no claude"}}, renew, "no claude"},
		"refused":               {facts{Begun: true, Ended: &worker.Ended{Stop: agent.StopRefusal}}, refuse, "refused"},
		"a limit of the provider": {facts{Begun: true, Ended: &worker.Ended{Stop: agent.StopLimit, Error: "resets at 9"}, Sent: 3},
			rest, "resets at 9"},
		"a limit, and its work is there": {facts{Begun: true, Ended: &worker.Ended{Stop: agent.StopLimit}, Commits: 1}, rest, ""},
		"cut by its turns, and its work is there": {facts{Begun: true, Ended: &worker.Ended{Stop: agent.StopTurns, Turns: 50}, Commits: 3,
			Checked: true}, refuse, "cut in the middle of its work after 50 answers"},
		"cut by its budget, and its work is there": {facts{Begun: true, Ended: &worker.Ended{Stop: agent.StopBudget}, Commits: 3,
			Checked: true}, refuse, "its budget is spent"},
		"cut by refusals, and its work is there": {facts{Begun: true, Ended: &worker.Ended{Stop: agent.StopDenials}, Commits: 1,
			Checked: true}, refuse, "refused"},
		"its budget is spent":           {facts{Begun: true, Ended: &worker.Ended{Stop: agent.StopBudget}}, refuse, "budget"},
		"not proved to be governed":     {facts{Ended: &worker.Ended{Stop: worker.Unproved, Error: "no hook"}}, refuse, "no hook"},
		"never began":                   {facts{}, renew, "did not begin"},
		"at work":                       {facts{Alive: true, Begun: true}, leave, ""},
		"at work, and it has committed": {facts{Alive: true, Begun: true, Commits: 3}, leave, ""},
		"at work for two days":          {facts{Alive: true, Begun: true}, leave, ""},
		"silent, and a question waits": {facts{Alive: true, Begun: true, Waits: "git push", Stuck: "silent for an hour", Told: true},
			leave, ""},
		"stuck":                  {facts{Alive: true, Begun: true, Stuck: "it repeats itself"}, nudge, "repeats"},
		"stuck, and was told so": {facts{Alive: true, Begun: true, Stuck: "it repeats itself", Told: true}, renew, "repeats"},
	} {
		t.Run(name, func(t *testing.T) {
			if v := judge(c.facts); v.act != c.want || !strings.Contains(v.Reason, c.says) {
				t.Errorf("act %d (%s), want %d with %q", v.act, v.Reason, c.want, c.says)
			}
		})
	}
}
