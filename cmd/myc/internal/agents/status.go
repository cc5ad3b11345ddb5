package agents

import (
	"context"
	"fmt"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/node/project"
	"mycelium/internal/node/ungoverned"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// agentStatus is one agent of `myc hook status --json`.
type agentStatus struct {
	Agent   string                 `json:"agent"`
	Title   string                 `json:"title"`
	Path    string                 `json:"path"` // of its program; "": it is not installed
	Version string                 `json:"version"`
	Blocks  string                 `json:"blocksFrom"` // the first version that blocks a tool if its hook fails; "": none does
	Hooks   []install.Installation `json:"hooks"`
	Hazards []install.Hazard       `json:"hazards"`    // settings of the agent that can change what its hook is
	Without []ungoverned.Session   `json:"ungoverned"` // sessions that run without the hook that is installed
}

// problems returns what keeps an installed hook from working.
func (st *agentStatus) problems() []install.Problem {
	var out []install.Problem
	for _, s := range st.Without {
		out = append(out, install.Problem{Message: s.String(), Hint: s.Hint()})
	}
	said := map[install.Hazard]bool{}
	for _, h := range st.Hooks {
		if !h.Installed {
			continue
		}
		for _, p := range h.Problems {
			out = append(out, install.Problem{Message: h.File + ": " + p.Message, Hint: p.Hint})
		}
		for _, z := range st.Hazards {
			switchesOff := z.Off && z.File != h.File && h.Scope != harness.Managed.String()
			if sets := !z.Off && !z.Known; (switchesOff || sets) && !said[z] {
				said[z] = true
				out = append(out, install.Problem{Message: z.File + ": " + z.Message, Hint: z.Hint})
			}
		}
	}
	return out
}

// hookAgents returns the status of every agent. With versions it also runs their programs, which takes a moment.
func (a *app) hookAgents(ctx context.Context, versions bool) ([]agentStatus, error) {
	var out []agentStatus
	paths, err := a.State()
	if err != nil {
		return nil, err
	}
	without := ungoverned.Found(paths, a.Environ)
	for _, known := range harness.Agents() {
		st := agentStatus{Agent: known.Name, Title: known.Title, Blocks: known.BlocksFrom(), Hazards: []install.Hazard{},
			Without: []ungoverned.Session{}}
		for _, s := range without {
			if s.Agent == known.Name {
				st.Without = append(st.Without, s)
			}
		}
		if path, err := known.Find(a.Environ); err == nil {
			st.Path = path
			if versions {
				if st.Version, err = known.Version(ctx, path, a.Environ); err != nil {
					st.Version = "unknown"
				}
			}
		}
		if err := a.statusOf(known, &st); err != nil {
			return nil, err
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
		bad += len(st.problems())
	}
	if a.JSON {
		err = a.PrintJSON(agents)
	} else {
		a.printAgents(agents)
	}
	if err == nil && bad > 0 {
		err = failure.Hint(fmt.Errorf("hook status: %s: the hook does not guard every agent in which it is installed",
			text.Count(bad, "problem")), "")
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
		if note := onFailure(st); note != "" {
			fmt.Fprintf(a.Out, "  %s\n", note)
		}
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
		for _, s := range st.Without {
			fmt.Fprintf(a.Out, "    ✗ %s\n      → %s\n", s, s.Hint())
		}
		for _, z := range st.Hazards {
			fmt.Fprintf(a.Out, "    ! %s: %s\n      → %s\n", text.Flatten(z.File), text.Flatten(z.Message), text.Flatten(z.Hint))
		}
	}
}

// blocksWhen says from which version on an agent blocks a tool if its hook fails.
func blocksWhen(agent string) string {
	known, _ := harness.Named(agent)
	if from := known.BlocksFrom(); from != "" {
		return known.Title + " blocks a tool if its hook fails from version " + from + " on"
	}
	return known.Title + " runs a tool if its hook fails"
}

// onFailure says what the agent does when its hook fails.
func onFailure(st agentStatus) string {
	known, _ := harness.Named(st.Agent)
	switch {
	case st.Path == "":
		return ""
	case st.Blocks == "":
		return "if a hook fails, is missing or is killed, this agent runs the tool"
	case st.Version == "" || known.BlocksOnFailure(st.Version):
		return "blocks a tool if its hook fails, is missing or is killed (from version " + st.Blocks + ")"
	}
	return "if a hook fails, is missing or is killed, this version runs the tool; from version " + st.Blocks + " it is blocked: update it"
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
			if len(h.Problems) == 0 {
				add("ok", "hook "+st.Agent, fmt.Sprintf("%d entries in %s; %s", h.Ours, h.File, blocksWhen(st.Agent)), "")
			}
		}
		for _, p := range st.problems() {
			add("problem", "hook "+st.Agent, p.Message, p.Hint)
		}
		for _, z := range st.Hazards {
			if !guarded && st.Path != "" || guarded && z.Known && !z.Off {
				add("warning", "hook "+st.Agent, z.File+": "+z.Message, z.Hint)
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
