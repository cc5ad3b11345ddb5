package swarm

import (
	"fmt"
	"strings"
	"time"

	"mycelium/internal/agent"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// facts are what is known of an attempt, whatever its worker claims: of its process, of its stream, of git, and of checks.
type facts struct {
	Alive   bool
	Begun   bool          // its process has begun at some time
	Ended   *worker.Ended // nil: it has not said that it ended
	Commits int           // since its base
	Dirty   []string      // files that are changed and not committed
	Checked bool          // its own checks have run on what it committed
	Output  string        // of the check that failed; empty: none did
	Talks   bool          // its conversation can be gone on with
	Revived bool          // that was done before
	Sent    int           // how often it was sent back
	Waits   string        // a call waits for a person, and why; empty: none does
	Stuck   string        // why its stream looks stuck; empty: it does not
	Told    bool          // it was told that it looks stuck, and has had time since
}

// act is what becomes of an attempt.
type act int

const (
	leave  act = iota // it goes on
	check             // its own checks run
	queue             // its work goes into the merge queue
	rest              // a worker goes on in the same worktree once a limit of the provider is over; nothing is counted
	revive            // a worker goes on in the same worktree with the conversation of the one that died
	back              // a worker goes on in the same worktree, with Reason as its prompt
	nudge             // its worker is told that it looks stuck
	renew             // it is given up, and its feature tried again
	refuse            // it is given up, and its feature with it: another attempt would end as this one
)

// verdict is what becomes of an attempt, and why.
type verdict struct {
	act
	Reason string
}

// The bounds of patience.
const (
	startWithin = 2 * time.Minute // a worker that has not begun by then never will
	sendBack    = 3               // an attempt whose checks fail is sent back this often, at most; one that misses something once
)

// brief is a text in one line, as the reason of a feature: nobody reads that the checks fail without what they said.
func brief(s string) string { return text.TruncateCells(text.Flatten(strings.TrimSpace(s)), 300) }

// because is a verdict with the reason why the worker was stopped, if it was and the work is to be tried again.
func (v verdict) because(why string) verdict {
	if v.act == renew && why != "" {
		v.Reason = why
	}
	return v
}

// judge decides on facts alone. What a worker claims only asks for the facts to be looked at: a result that says success, its silence,
// and its exit are no facts about its work.
func judge(f facts) verdict {
	if f.Alive {
		return judgeLive(f)
	}
	if !f.Begun && f.Ended == nil {
		return verdict{renew, "its worker did not begin within " + startWithin.String()}
	}
	if f.Ended != nil {
		if v := judgeCut(f.Ended); v.act != leave { // in the middle: what it has committed so far is not its work
			return v
		}
	}
	switch {
	case f.Commits > 0 && len(f.Dirty) == 0 && !f.Checked:
		return verdict{check, ""}
	case f.Commits > 0 && len(f.Dirty) == 0 && f.Output == "":
		return verdict{queue, ""}
	}
	return judgeEnd(f)
}

// judgeCut is judge for a worker that was cut by a limit in the middle of its work; leave: it was not.
func judgeCut(e *worker.Ended) verdict {
	switch e.Stop {
	case agent.StopLimit:
		return verdict{rest, brief(e.Error)}
	case agent.StopBudget:
		return verdict{refuse, "its budget is spent: it was cut in the middle of its work"}
	case agent.StopTurns:
		return verdict{refuse, fmt.Sprintf("its turns are used up: it was cut in the middle of its work after %s of the model",
			text.Count(e.Turns, "answer"))}
	case agent.StopDenials:
		return verdict{refuse, "so many of its calls were refused that it was stopped in the middle of its work"}
	}
	return verdict{}
}

// judgeLive is judge for a worker that runs. Silence is no fault while a call waits for a person, or a tool or a build is under way.
func judgeLive(f facts) verdict {
	switch {
	case f.Waits != "" || f.Stuck == "":
		return verdict{}
	case !f.Told:
		return verdict{nudge, f.Stuck}
	}
	return verdict{renew, "it was stuck: " + f.Stuck}
}

// judgeEnd is judge for a worker that has ended without work that can be queued.
func judgeEnd(f facts) verdict {
	e := f.Ended
	if e == nil && f.Talks && !f.Revived {
		return verdict{revive, "its worker died"}
	}
	if e == nil {
		return verdict{renew, "its worker died"}
	}
	switch e.Stop {
	case worker.Unproved:
		return verdict{refuse, brief(e.Error)}
	case agent.StopRefusal:
		return verdict{refuse, "the model refused the task"}
	case agent.StopEnd:
	default:
		return verdict{renew, fmt.Sprintf("its worker ended (%s): %s", e.Stop, brief(e.Error))}
	}
	why, limit := missing(f), 1
	if f.Output != "" {
		limit = sendBack
	}
	if f.Sent >= limit {
		return verdict{renew, "it was sent back " + text.Count(f.Sent, "time") + ": " + brief(why)}
	}
	return verdict{back, why}
}

// missing says what keeps the work of a worker that has ended from being taken, as its worker is told.
func missing(f facts) string {
	switch {
	case f.Output != "":
		return "The checks of this feature fail on what you committed:\n\n" + f.Output + "\n\nMend the cause and commit."
	case f.Ended != nil && len(f.Ended.Taken) > 0:
		return fmt.Sprintf("The sandbox has taken away what would govern agents: %s. A command cannot change such files: leave them out, "+
			"and commit the rest.", text.Cell(strings.Join(f.Ended.Taken, ", "), 500))
	case len(f.Dirty) > 0:
		return fmt.Sprintf("You ended with changed files that are not committed: %s. Commit what belongs to the feature, and remove or "+
			"ignore the rest.", text.Cell(strings.Join(f.Dirty, ", "), 500))
	}
	return "You ended without a commit, so there is nothing to take over. Do the work of the feature and commit it. If the feature " +
		"cannot be " +
		"done, say why in one sentence."
}
