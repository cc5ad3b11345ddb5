package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/gate/control"
	"mycelium/internal/harness"
)

// maxTeaching bounds the instructions that a hook adds to a conversation, in bytes. Agents cut the output of a hook at 10,000 characters,
// and the header comes first.
const maxTeaching = 8000

// brief tells an agent's model about its session and its active skills: once for each run, and again when they changed or the agent
// cleared its conversation. Model and person are told of files that wait, at the start and when others do. First, the active
// skills follow what a prompt asks for (B2, B14, B18).
func (g *Registry) brief(ctx context.Context, r *run, e harness.Event) harness.Answer {
	a := harness.Answer{Verdict: harness.Pass}
	if g.Alone && e.Kind == harness.Prompt {
		return a // it was told at its start, and nobody remembers what
	}
	s := r.gateSession()
	var notes, wanted []string
	if e.Kind == harness.Prompt {
		f, err := g.Gate.Sessions.Follow(ctx, s, e.Text)
		if err != nil {
			g.Logger.Warn("skills that a prompt asks for were not activated", "session", s.ID, "error", err)
			notes = append(notes, "mycelium: skills were not activated: the operator's log says why")
		}
		wanted = f.Wanted
		for _, name := range wanted {
			notes = append(notes,
				fmt.Sprintf("mycelium: the prompt asks for skill %s, which is not active; to activate it: %s", name, s.AskFor(name)))
		}
	}
	files := ""
	if g.Waiting != nil {
		files = g.Waiting()
	}
	b := control.Brief(s, nil, maxTeaching)
	all := b.Header + "\n" + b.Teaching
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Kind == harness.Prompt {
		r.retries, r.held, r.heldAt = 0, 0, ""
	}
	fresh := r.briefing == "" || e.Kind == harness.SessionStart && e.Reason != "resume"
	if change := changeOf(r.active, b.Active); r.briefing != "" && change != "" {
		notes = append(notes, change)
		a.Context = change + "\n\n"
	}
	if fresh || r.briefing != all {
		a.Context += strings.TrimSpace(b.Header + "\n\n" + b.Teaching)
	}
	if len(wanted) > 0 && s.Shows(nil, control.SetSkillsItem()) {
		a.Context = strings.TrimSpace(a.Context + "\n\n" + control.WantedNote(wanted))
	}
	if files != "" && (files != r.pending || e.Kind == harness.SessionStart) {
		a.Context = strings.TrimSpace(a.Context +
			"\n\nFiles that govern this project were changed and have no effect before your operator accepts them: " + files)
		notes = append(notes, "mycelium: files that govern this project wait for myc trust: "+files)
	}
	r.pending = files
	r.briefing, r.active = all, b.Active
	a.Message = strings.Join(notes, "\n")
	return a
}

// changeOf describes a change of the active skills in one line: [active] (+x, -y); "" if nothing changed (B18).
func changeOf(before, after []string) string {
	var what []string
	for _, name := range after {
		if !slices.Contains(before, name) {
			what = append(what, "+"+name)
		}
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			what = append(what, "-"+name)
		}
	}
	if what == nil {
		return ""
	}
	return bracketed(after) + " (" + strings.Join(what, ", ") + ")"
}
