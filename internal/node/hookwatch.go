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
	"mycelium/internal/state"
)

// lookEvery is how often the daemon looks at the entries of installed hooks.
const lookEvery = 3 * time.Second

// hookWatch looks at the entries of the hooks that guard a project, and at the settings that can reach them. It puts back what somebody has
// changed, a few times; then it only reports.
type hookWatch struct {
	state   state.Paths
	environ []string
	log     *audit.Log
	post    func(approval.Notice)
	logger  *slog.Logger

	mu    sync.Mutex
	now   []string        // what is wrong now, for status
	known map[string]bool // what was reported already
}

// Run looks until ctx ends.
func (h *hookWatch) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		h.look(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
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
	once              bool // it is over: it was put back
	quiet             bool // a setting of the person's or the project's: the log of the daemon and status say it
}

// look looks once.
func (h *hookWatch) look(ctx context.Context) {
	var found []finding
	for _, s := range install.Watched(h.state.Root, h.state.Project, h.environ) {
		r, err := s.Restore()
		f := finding{agent: s.Agent.Name, file: r.File}
		switch {
		case r.Back:
			f.once, f.text = true, fmt.Sprintf("somebody changed the entries of our hook; they were put back (%d of 3 times)", r.Times)
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
	for _, agent := range harness.Agents() {
		for _, z := range install.Hazards(agent, h.state.Project, h.environ) {
			found = append(found, finding{agent: agent.Name, file: z.File, text: z.Message, quiet: true})
		}
	}
	h.report(ctx, found)
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
			ID: audit.NewID(), Kind: audit.Guard, Time: time.Now(), Principal: "operator", Surface: "hook", Tool: f.agent, Reason: line,
		}); err != nil {
			h.logger.Error("a change of a hook is not recorded", "error", err)
		}
	}
	h.known = known
}
