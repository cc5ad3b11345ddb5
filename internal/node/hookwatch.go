package node

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/node/ungoverned"
	"mycelium/internal/run"
	"mycelium/internal/state"
	"mycelium/internal/worktree"
)

// How often the daemon looks at the entries of installed hooks and at transcripts, and when it looks again for the decision of a call that
// it did not find.
const (
	lookEvery = 2 * time.Second
	lookAgain = 200 * time.Millisecond
)

// hookWatch looks at the entries of the hooks that guard a project, and at the settings that can reach them. It puts back what somebody has
// changed, a few times; then it only reports.
type hookWatch struct {
	state   state.Paths
	environ []string
	log     *audit.Log
	post    func(approval.Notice)
	logger  *slog.Logger
	calls   ungoverned.Watch

	mu    sync.Mutex
	now   []string        // what is wrong now, for status
	known map[string]bool // what was reported already
}

// Run looks until ctx ends.
func (h *hookWatch) Run(ctx context.Context) error {
	for {
		h.look(ctx)
		pause := lookEvery
		if h.calls.Missing() {
			pause = lookAgain
		}
		if !wait(ctx, pause) {
			return ctx.Err()
		}
	}
}

// Warnings returns what is wrong with the hooks now.
func (h *hookWatch) Warnings() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.now)
}

// finding is one thing that is wrong with a hook.
type finding struct {
	agent, file, text string
	session           ungoverned.Session // that runs without it; zero for another thing
	once              bool               // it is over: it was put back
	quiet             bool               // a person knew of it, or nothing is installed: only the log of the daemon and status say it
}

// look looks once.
func (h *hookWatch) look(ctx context.Context) {
	var found []finding
	guarded := map[string]bool{}
	for _, s := range install.Watched(h.state, h.environ) {
		guarded[s.Agent.Name] = true
		r, err := s.Restore()
		f := finding{agent: s.Agent.Name, file: r.File}
		switch {
		case r.Back:
			f.once, f.text = true, fmt.Sprintf("somebody changed the entries of our hook; they were put back (%d of 3 times)", r.Times)
			if r.Kept != "" {
				f.text += "; the file could not be read, and is kept as " + r.Kept
			}
		case r.Changed && err == nil:
			f.text = fmt.Sprintf("the entries of our hook were changed again after they were put back %d times: run myc hook install %s, and "+
				"find out what changes them", r.Times, s.Agent.Name)
		case err != nil:
			f.text = "the entries of our hook cannot be checked: " + err.Error()
		default:
			continue
		}
		found = append(found, f)
	}
	folders := append([]string{h.state.Project}, worktree.Linked(h.state.Project, h.state.Workers())...)
	for _, agent := range harness.Agents() {
		for _, dir := range folders {
			for _, z := range install.Hazards(h.state.For(dir), agent, h.environ) {
				f := finding{agent: agent.Name, file: z.File, text: z.Message, quiet: z.Known || !guarded[agent.Name]}
				if (!z.Known || z.Off) && !slices.Contains(found, f) { // the settings of the user are read in every folder
					found = append(found, f)
				}
			}
		}
	}
	h.report(ctx, append(found, h.ungoverned(ctx)...))
}

// ungoverned returns the sessions that run without the hook that is installed. Those that were found by an earlier look are quiet.
func (h *hookWatch) ungoverned(ctx context.Context) (found []finding) {
	fresh, err := h.calls.Look(ctx)
	if err != nil && ctx.Err() == nil {
		found = append(found, finding{text: "the transcripts of agents cannot be compared with the log: " + err.Error(), quiet: true})
	}
	for _, s := range h.calls.Found() {
		found = append(found, finding{agent: s.Agent, text: s.String() + "; " + s.Hint(), session: s, quiet: !slices.Contains(fresh, s)})
	}
	return found
}

// report tells people of what is new, and keeps what lasts.
func (h *hookWatch) report(ctx context.Context, found []finding) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := map[string]bool{}
	h.now = nil
	for _, f := range found {
		line := cmp.Or(f.file, f.agent) + ": " + f.text
		if !f.once {
			h.now = append(h.now, line)
			known[line] = true
		}
		if h.known[line] {
			continue
		}
		h.logger.Warn("the hook of an agent", "agent", f.agent, "file", f.file, "problem", f.text)
		if f.quiet {
			continue
		}
		h.post(approval.Notice{Kind: approval.GuardAlert, Agent: f.agent, Label: "hook", Text: line, Time: time.Now()})
		if err := h.log.Append(ctx, audit.Record{
			ID: audit.NewID(), Kind: audit.Guard, Time: time.Now(), Principal: "operator", Surface: "hook",
			Tool: cmp.Or(f.session.Tool, f.agent), ToolUse: f.session.Call, Reason: line, Note: f.session.Transcript,
		}); err != nil {
			h.logger.Error("a change of a hook is not recorded", "error", err)
		}
	}
	h.known = known
}

// undecided returns the calls that no hook decided.
func (n *Node) undecided(ctx context.Context, since time.Time, ids []string) ([]string, error) {
	return n.log.Undecided(ctx, run.Surface, since, ids)
}
