// Package ungoverned looks in the transcripts of the agents that work on a project for calls of tools that no hook decided. Such a call
// proves that an agent runs without the hook that is installed for it.
//
// A transcript is written by the agent's side. Nothing in it can harm the reader, and one that lacks a call hides it: the package finds an
// agent whose hook is off, not one that forges its transcript.
package ungoverned

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/hook/install"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/worktree"
)

// Session is a session of an agent that runs without its hook.
type Session struct {
	Agent      string    `json:"agent"`
	ID         string    `json:"session"` // the agent's own id of the session
	Tool       string    `json:"tool"`    // the first call that no hook decided, by the agent's name of its tool
	Call       string    `json:"call"`    // the agent's own id of that call
	Time       time.Time `json:"time"`
	Transcript string    `json:"transcript"`
}

// String says what is wrong, for people.
func (s Session) String() string {
	agent, _ := harness.Named(s.Agent)
	return fmt.Sprintf("%s ran %s and no hook was asked (session %s, call %s, %s, transcript %s): this session is not governed", agent.Title,
		text.Flatten(text.Truncate(s.Tool, 60)), text.Flatten(s.ID), text.Flatten(s.Call), s.Time.Local().Format(time.DateTime),
		text.Flatten(s.Transcript))
}

// Hint says how to mend it.
func (s Session) Hint() string {
	return fmt.Sprintf("end that session; myc hook status says what switches the hook off; myc hook install %s puts it in force and ends "+
		"this warning; settings of a project do not switch off the hook of myc %[1]s", s.Agent)
}

// Undecided returns those of an agent's own ids of calls that no hook has decided since a time.
type Undecided func(ctx context.Context, since time.Time, ids []string) ([]string, error)

// Watch looks at the transcripts of the agents that work on a project. It is not safe for concurrent use.
type Watch struct {
	Paths     state.Paths
	Environ   []string
	Undecided Undecided

	files map[string]*file
	notes notes
	turn  int    // counts the looks
	wrote []byte // the notes as they were written last; nil: not yet
}

// file is a transcript that is read.
type file struct {
	harness.Follower
	foreign bool // it is of another project
}

// The bounds on what is read and kept. A file that is beyond them is read at a later look.
const (
	mostFiles = 2_000    // files that are followed
	mostBytes = 32 << 20 // bytes of all files, at one look
	mostEach  = 4 << 20  // bytes of one file, at one look
	mostOpen  = 2_000    // calls without a result
	mostFound = 100      // sessions
)

// Look reads what is new, and returns the sessions that it found to run without their hook and had not found before.
func (w *Watch) Look(ctx context.Context) ([]Session, error) {
	if w.files == nil {
		w.files, w.notes = map[string]*file{}, read(w.Paths)
	}
	var found []Session
	for _, agent := range harness.Agents() {
		hook, ok := install.Guarding(w.Paths, agent, w.Environ)
		if !ok || !agent.Transcribes() {
			continue
		}
		if !hook.Since.Equal(w.notes.Since) { // what was found before a person installed the hook again is over
			w.notes = notes{Since: hook.Since, Offsets: map[string]int64{}}
			w.files = map[string]*file{}
		}
		if err := w.read(agent, hook); err != nil {
			return nil, err
		}
		more, err := w.judge(ctx, agent)
		found = append(found, more...)
		if err != nil {
			return found, err
		}
	}
	return found, w.write()
}

// Missing reports whether there are calls that the next look will count as not decided.
func (w *Watch) Missing() bool {
	return slices.ContainsFunc(w.notes.Open, func(o open) bool { return o.Missed })
}

// Found returns every session that was found to run without its hook since a person installed it.
func (w *Watch) Found() []Session { return slices.Clone(w.notes.Found) }

// read reads the new lines of the transcripts of an agent.
func (w *Watch) read(agent harness.Agent, hook install.Guard) error {
	left := int64(mostBytes)
	var paths []string
	note := func(path string, info os.FileInfo) {
		f := w.files[path]
		switch {
		case slices.Contains(paths, path):
		case f != nil && (f.foreign || info.Size() == f.Offset):
		case f == nil && (info.ModTime().Before(hook.Since) || info.Size() == w.notes.Offsets[path]):
		case f == nil && len(w.files) >= mostFiles:
		default:
			paths = append(paths, path)
		}
	}
	var err error
	for _, dir := range append([]string{w.Paths.Project}, worktree.Linked(w.Paths.Project, w.Paths.Workers())...) {
		err = errors.Join(err, agent.Transcripts(dir, w.Environ, note))
	}
	for i := range paths {
		if left <= 0 {
			break
		}
		path := paths[(w.turn+i)%len(paths)] // each comes first some time
		f := w.file(path)
		if f == nil || f.foreign {
			left -= harness.MaxHead
			continue
		}
		before := f.Offset
		f.Most = mostEach
		// A transcript that is gone or cannot be read shows no call. Its agent's own end is told by its events.
		_ = f.Read(func(line []byte) { w.line(agent, hook, path, line) })
		left -= max(0, f.Offset-before)
	}
	w.turn++
	return err
}

// file returns a transcript, from where it was read to; nil if it does not say yet where its session began.
func (w *Watch) file(path string) *file {
	f := w.files[path]
	if f == nil {
		dir := began(path)
		if dir == "" {
			return nil
		}
		f = &file{Follower: harness.Follower{Path: path, Offset: w.notes.Offsets[path]}, foreign: !w.ours(dir)}
		w.files[path] = f
	}
	return f
}

// began returns the folder in which the session of a transcript began.
func began(path string) string {
	if parent, _, ok := strings.Cut(path, "/subagents/"); ok {
		path = parent + ".jsonl" // a subagent may begin elsewhere, and has the hook of its session
	}
	return harness.Transcript(path).Dir()
}

// ours reports whether a folder is of the project: it is its folder, or one below it that is no other project. A folder of a linked working
// tree stands for one of the main working tree.
func (w *Watch) ours(at string) bool {
	at = worktree.Main(at, w.Paths.Workers())
	if at != w.Paths.Project && !strings.HasPrefix(at, strings.TrimSuffix(w.Paths.Project, "/")+"/") {
		return false
	}
	for ; at != w.Paths.Project; at = filepath.Dir(at) {
		if hook.IsProject(w.Paths.Of(at)) {
			return false
		}
	}
	return true
}

// line notes the calls and results of a line.
func (w *Watch) line(agent harness.Agent, hook install.Guard, path string, line []byte) {
	for _, c := range harness.ParseCalls(line) {
		if !c.Result {
			// The gateway decides its own calls and records them itself.
			if ours := strings.HasPrefix(c.Tool, "mcp__"+hook.Gateway+"__"); ours || !c.Time.After(w.notes.Since) || len(w.notes.Open) >= mostOpen {
				continue
			}
			w.notes.Open = append(w.notes.Open, open{Session: Session{Agent: agent.Name, ID: c.Session, Tool: c.Tool, Call: c.ID, Time: c.Time,
				Transcript: path}})
			continue
		}
		i := slices.IndexFunc(w.notes.Open, func(o open) bool { return o.Call == c.ID })
		switch {
		case i < 0:
		case c.Ran:
			w.notes.Open[i].Ran = true
		default:
			w.notes.Open = slices.Delete(w.notes.Open, i, i+1)
		}
	}
}

// before is how much earlier than its transcript says a call may be decided.
const before = time.Minute

// judge looks for the decisions of the calls that ran. A call counts as not decided if two looks do not find its decision.
func (w *Watch) judge(ctx context.Context, agent harness.Agent) (found []Session, err error) {
	var ids []string
	var since time.Time
	for _, o := range w.notes.Open {
		if o.Ran {
			ids = append(ids, o.Call)
			if since.IsZero() || o.Time.Before(since) {
				since = o.Time
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	undecided, err := w.Undecided(ctx, since.Add(-before), ids)
	if errors.Is(err, audit.ErrTooFar) { // then nothing is proved
		undecided, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the decisions of %s: %w", agent.Title, err)
	}
	missing := map[string]bool{}
	for _, id := range undecided {
		missing[id] = true
	}
	var still []open
	for _, o := range w.notes.Open {
		switch {
		case !o.Ran || missing[o.Call] && !o.Missed:
			o.Missed = o.Ran
			still = append(still, o)
		case missing[o.Call] && w.notes.add(o.Session):
			found = append(found, o.Session)
		}
	}
	w.notes.Open = still
	return found, nil
}
