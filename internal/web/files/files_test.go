package files

import (
	"strings"
	"testing"
	"time"

	"mycelium/internal/backend"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/api"
	"mycelium/internal/node/replay"
	"mycelium/internal/policy"
	"mycelium/internal/scan"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
	"mycelium/internal/web/webtest"
)

// TestInjections has a text of an agent in each place of these pages that an agent can write to: the files too.
func TestInjections(t *testing.T) {
	t.Parallel()
	s := webtest.Site(t, Room())
	webtest.HoldsText(t, func(x string) map[string]string {
		h := head{Key: x, Name: x, Here: "/rules", Problem: x, Done: x, Projects: []site.Choice{{Value: x, Text: x, Chosen: true}},
			Files: []file{{x, x, x, true, editAt(x, x), historyAt(x, x)}}}
		at := api.At{File: x, Line: 1, Name: x}
		servers := serverList{head: h}
		item := api.HeldItem{Name: "s__" + x, Cause: x, Reason: x, Digest: x, Diff: []string{"- " + x, "+ " + x},
			Findings: []scan.Finding{{Family: x, Severity: scan.Severity(x), Where: x, Excerpt: x, Why: x}}}
		other := item
		other.Name = x
		servers.take(api.DeclaredReply{Servers: []api.ServerAt{{At: at, Runs: x, Offers: []string{x}, Status: backend.Status{Name: "s",
			State: x, Error: x, Hint: x, Breaker: "b" + x, Restarts: 1}}}}, []api.HeldItem{item, other})
		check := checkedOf(x, api.FilesChecked{Problems: []api.FileProblem{{Problem: policy.Problem{File: x, Line: 1, Message: x, Hint: x},
			Column: 2, Blocks: true}, {Problem: policy.Problem{File: "o" + x, Line: 1, Message: x, Hint: x}}},
			Means: []meaning.Change{{Mark: meaning.Mark(x), Text: x, File: x, Line: 1}}, Diffs: []api.FileDiff{{Name: x, Diff: "+ " + x}},
			Stale: []api.FileText{{Name: x}}})
		e := opened(h, api.FileText{Name: x, Text: "word", Digest: x, Waits: true, Accepted: "a" + x})
		e.Text, e.Because, e.Problem, e.Done, e.Checked = x, x, x, x, &check
		e.stale(api.FileText{Text: "b" + x, Digest: x})
		e.Replay = replayedOf(replay.Report{Calls: 1, Changes: []replay.Group{{Role: x, Tool: x, From: x, To: x, Rule: x, Reason: x,
			Example: replay.Example{Args: []byte(x), Time: time.Unix(1, 0)}}}})
		e.Waiting = site.Lines("- "+x, true)
		locked := e
		locked.Locked = x
		return map[string]string{
			"rules": webtest.Show(s, "rules", x, ruleList{h, []rule{{x, x, x, x, x, 1, placeOf(x, at)}}}),
			"skills": webtest.Show(s, "skills", x, skillList{h, []skillRow{{x, x, "s" + x, x, x, []string{x}, []string{x}, placeOf(x, at),
				historyAt(x, x)}}}),
			"servers": webtest.Show(s, "servers", x, servers), "edit": webtest.Show(s, "edit", x, e),
			"locked": webtest.Show(s, "edit", x, locked),
			"history": webtest.Show(s, "history", x, historyList{h, x, editAt(x, x), []version{versionOf(x, api.FileVersion{Name: x, Version: 1,
				By: x, Kept: true, Diff: "+ " + x})}}),
		}
	})
}

// TestOpened: a text comes back from a browser as it was, or it cannot be edited there.
func TestOpened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		locked bool
	}{{"a: 1\n", false}, {"a: 1\r\nb: 2\r\n", false}, {"a: 1\r\nb: 2\n", true}, {"a: \u202e1\n", true}, {"\n\na: 1", false}} {
		e := opened(head{}, api.FileText{Name: "rules.yaml", Text: c.text})
		if (e.Locked != "") != c.locked {
			t.Errorf("%q: locked %q", c.text, e.Locked)
			continue
		}
		if got := e.asEdit(device.Device{}).Files[0].Text; !c.locked && got != c.text {
			t.Errorf("%q comes back as %q", c.text, got)
		}
	}
	s := webtest.Site(t, Room())
	page := webtest.Show(s, "edit", "x", opened(head{}, api.FileText{Name: "rules.yaml", Text: "\n\na: 1"}))
	if !strings.Contains(page, ">\n\n\na: 1</textarea>") { // a browser drops the first line feed
		t.Errorf("the text of the editor:\n%s", page)
	}
}
