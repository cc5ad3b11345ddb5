package agents

import (
	"context"
	"fmt"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/text"
)

// agentStatus is one agent of `myc hook status --json`.
type agentStatus struct {
	Agent   string                 `json:"agent"`
	Title   string                 `json:"title"`
	Path    string                 `json:"path"` // of its program; "": it is not installed
	Version string                 `json:"version"`
	Hooks   []install.Installation `json:"hooks"`
}

// hookAgents returns the status of every agent. With versions it also runs their programs, which takes a moment.
func (a *app) hookAgents(ctx context.Context, versions bool) ([]agentStatus, error) {
	var out []agentStatus
	for _, known := range harness.Agents() {
		st := agentStatus{Agent: known.Name, Title: known.Title}
		if path, err := known.Find(a.Environ); err == nil {
			st.Path = path
			if versions {
				if st.Version, err = known.Version(ctx, path, a.Environ); err != nil {
					st.Version = "unknown"
				}
			}
		}
		for _, user := range []bool{false, true} {
			s, err := a.setup(known, user)
			if err != nil {
				return nil, err
			}
			st.Hooks = append(st.Hooks, s.Status())
		}
		out = append(out, st)
	}
	return out, nil
}

// hookStatus prints the status of every hook. It fails if an installed hook does not guard its agent.
func (a *app) hookStatus(ctx context.Context) error {
	agents, err := a.hookAgents(ctx, true)
	if err != nil {
		return err
	}
	bad := 0
	for _, st := range agents {
		for _, h := range st.Hooks {
			if h.Installed {
				bad += len(h.Problems)
			}
		}
	}
	if a.JSON {
		err = a.PrintJSON(agents)
	} else {
		a.printAgents(agents)
	}
	if err == nil && bad > 0 {
		err = failure.Hint(fmt.Errorf("hook status: %d problem(s): the hook does not guard every agent in which it is installed", bad), "")
	}
	return err
}

func (a *app) printAgents(agents []agentStatus) {
	for _, st := range agents {
		where := "not on the PATH"
		if st.Path != "" {
			where = st.Version + ", " + st.Path
		}
		fmt.Fprintf(a.Out, "%s: %s\n", st.Title, text.Flatten(where))
		for _, h := range st.Hooks {
			hooks := "no hook of ours"
			if h.Installed {
				hooks = fmt.Sprintf("%d hooks of ours, %d deny entries", h.Ours, h.Denials)
			}
			if h.Foreign > 0 {
				hooks += fmt.Sprintf(", %d of others", h.Foreign)
			}
			fmt.Fprintf(a.Out, "  %-8s %s (%s)\n", h.Scope, hooks, text.Flatten(h.File))
			for _, p := range h.Problems {
				fmt.Fprintf(a.Out, "    ✗ %s\n      → %s\n", text.Flatten(p.Message), text.Flatten(p.Hint))
			}
		}
	}
}

// doctorHooks reports problems with installed hooks, so that tampering is noticed.
func (a *app) doctorHooks(ctx context.Context, v *project.View, add base.Report) {
	agents, err := a.hookAgents(ctx, false)
	if err != nil {
		add("problem", "hooks", err.Error(), "")
		return
	}
	hooked := false
	for _, st := range agents {
		guarded := false
		for _, h := range st.Hooks {
			if !h.Installed {
				continue
			}
			guarded, hooked = true, true
			for _, p := range h.Problems {
				add("problem", "hook "+st.Agent, h.File+": "+p.Message, p.Hint)
			}
			if len(h.Problems) == 0 {
				add("ok", "hook "+st.Agent, fmt.Sprintf("%d entries in %s", h.Ours, h.File), "")
			}
		}
		if st.Path != "" && !guarded {
			add("warning", "hook "+st.Agent, st.Title+" is installed, and its own tools are not guarded here", "myc hook install "+st.Agent)
		}
	}
	if message, hint := agentToolsHidden(v, ""); hooked && message != "" {
		add("warning", "hooks", message, hint)
	}
}
