package handoff

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"mycelium/internal/agent"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// runScript is the tool that runs a script of a skill.
const runScript = "mycelium-skills__run_script"

// Watch is an engine that keeps the context of a script that failed.
type Watch struct {
	agent.Engine
	Keep func(Context) (path string, err error)
	// Saved is where the context of the last turn is; "": no script had failed at its end, or it could not be kept.
	Saved string
}

// Compact shortens the conversation, where the engine does not do so by itself.
func (w *Watch) Compact(ctx context.Context) error {
	e, ok := w.Engine.(interface{ Compact(context.Context) error })
	if !ok {
		return errors.New("the engine " + w.Name() + " shortens its conversation by itself, when it is full")
	}
	return e.Compact(ctx)
}

// Say runs a turn. If the last run of a script in it failed, its context is kept when the turn ends, however it ends, and a note says
// where.
func (w *Watch) Say(ctx context.Context, said string, tell func(agent.Event)) (agent.Turn, error) {
	seen := scripts{}
	turn, err := w.Engine.Say(ctx, said, func(e agent.Event) {
		seen.take(e)
		tell(e)
	})
	w.Saved = ""
	failed := seen.failed()
	if failed == nil {
		return turn, err
	}
	failed.Summary, failed.Timestamp = turn.Text, time.Now()
	path, bad := w.Keep(*failed)
	if bad != nil {
		tell(agent.Event{Note: text.OneLine(bad.Error())})
		return turn, err
	}
	w.Saved = path
	tell(agent.Event{Note: "the script " + failed.Script + " of the skill " + failed.Skill + " failed; what is known of it is in " + path})
	return turn, err
}

// scripts are the runs of scripts in a turn, in the order in which they began. Of several runs of one script, the last counts.
type scripts []*scriptRun

type scriptRun struct {
	id string
	Context
}

// take takes what happened.
func (s *scripts) take(e agent.Event) {
	switch {
	case e.Call != nil && e.Call.Tool == runScript:
		var args struct {
			Skill string   `json:"skill"`
			Path  string   `json:"path"`
			Args  []string `json:"args"`
		}
		if rawjson.Decode(e.Call.Args, &args) == nil {
			*s = append(*s, &scriptRun{e.Call.ID, Context{Skill: args.Skill, Script: args.Path, Args: args.Args}})
		}
	case e.Done != nil:
		for _, run := range *s {
			if run.id == e.Done.CallID {
				run.end(*e.Done)
				*s = slices.DeleteFunc(*s, func(o *scriptRun) bool { // an earlier run of the same script
					return o != run && o.Skill == run.Skill && o.Script == run.Script
				})
				return
			}
		}
	}
}

// end takes the outcome of a run. A script that did not run, because the call was refused or names none, has not failed.
func (r *scriptRun) end(d agent.Done) {
	text := strings.TrimSpace(d.Text)
	if !d.Failed || !strings.HasPrefix(text, `{"success":false`) {
		return
	}
	var out struct {
		ExitCode *int   `json:"exitCode"`
		Stdout   string `json:"stdout"`
		Stderr   string `json:"stderr"`
		TimedOut bool   `json:"timedOut"`
	}
	r.Error = &Failure{Message: "the script failed"}
	if rawjson.Decode([]byte(text), &out) != nil { // the middle of a very long result is left out
		r.Error.Stdout = text
		return
	}
	r.Error.ExitCode, r.Error.Stdout, r.Error.Stderr = out.ExitCode, out.Stdout, out.Stderr
	if out.TimedOut {
		r.Error.Message = "the script took too long"
	}
}

// failed is the last script that failed, and did not succeed afterwards.
func (s scripts) failed() *Context {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].Error != nil {
			return &s[i].Context
		}
	}
	return nil
}
