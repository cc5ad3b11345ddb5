package agentshell

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/atomicfile"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/proxy"
	"mycelium/internal/text"
)

// What commands lacked in the sandbox is kept in the folder of the run, a file for each command and folder: the same command, run again,
// is a question then. Only the program before the shell and the hook write these files. Nothing in them is what the agent said, except
// where they say so ([approval.Lack.Said]).

// The bounds of what is kept of a run. A file is good as long as a ticket.
const (
	mostWants  = 64 // commands; the oldest gives way
	mostThings = 32 // of one command: a person reads them
	mostName   = 1024
)

// want is what is kept of one command.
type want struct {
	Lacked  approval.Lacked `json:"lacked,omitzero"`
	Refused []approval.Lack `json:"refused,omitempty"` // for the rest of the session
	Until   time.Time       `json:"until"`
}

// wantFile is the file of a command.
type wantFile string

func wantOf(folder, command, dir string) wantFile {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return wantFile(filepath.Join(folder, wantsName, digest(digest(command)+digest(dir))))
}

func (f wantFile) read(now time.Time) (w want) {
	data, err := os.ReadFile(string(f))
	if err != nil || json.Unmarshal(data, &w) != nil || now.After(w.Until) {
		return want{}
	}
	return w
}

func (f wantFile) write(w want, now time.Time) error {
	w.Until = now.Add(ticketFor)
	data, err := json.Marshal(w)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(string(f)), 0o700)
	}
	if err == nil {
		err = atomicfile.Note(string(f), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep what a command lacked in the sandbox: %w", err)
	}
	return nil
}

// find returns what people are asked for.
func (f wantFile) find(now time.Time) approval.Lacked { return f.read(now).Lacked }

// settle keeps how a question was answered. What was given or refused once is forgotten: the command runs as before, and if it lacks the
// same again, people are asked again.
func (f wantFile) settle(l approval.Lacked, allowed bool, answer approval.For, now time.Time) error {
	w := f.read(now)
	switch {
	case allowed && answer == approval.Session:
		w.Lacked = l
	case !allowed && answer == approval.Never:
		w.Refused, w.Lacked = append(w.Refused, l.Things...), approval.Lacked{}
	case len(w.Refused) > 0:
		w.Lacked = approval.Lacked{}
	default:
		if err := os.Remove(string(f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget what a command lacked in the sandbox: %w", err)
		}
		return nil
	}
	return f.write(w, now)
}

// add keeps that a command lacked things with more than its profile. asked says that people can be asked for some of them, never that some
// were refused for the session.
func (f wantFile) add(l, more approval.Lacked, now time.Time) (asked, never bool, err error) {
	w := f.read(now)
	things := slices.Clone(more.Things) // what it had it needs again
	for _, t := range l.Things {
		switch {
		case slices.ContainsFunc(w.Refused, t.IsSame):
			never = true
		case len(things) < mostThings && len(t.Name) <= mostName && !more.Has(t):
			things, asked = append(things, t), true
		}
	}
	if !asked {
		return false, never, nil
	}
	if err := f.makeRoom(); err != nil {
		return false, never, err
	}
	l.Things = things
	w.Lacked = l
	return true, never, f.write(w, now)
}

// makeRoom removes the oldest file of a run if there are too many.
func (f wantFile) makeRoom() error {
	files, err := os.ReadDir(filepath.Dir(string(f)))
	if errors.Is(err, fs.ErrNotExist) || len(files) < mostWants {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keep what a command lacked in the sandbox: %w", err)
	}
	age := func(e fs.DirEntry) time.Time {
		st, err := e.Info()
		if err != nil {
			return time.Time{} // it is gone
		}
		return st.ModTime()
	}
	oldest := slices.MinFunc(files, func(a, b fs.DirEntry) int { return cmp.Or(age(a).Compare(age(b)), cmp.Compare(a.Name(), b.Name())) })
	_ = os.Remove(filepath.Join(filepath.Dir(string(f)), oldest.Name()))
	return nil
}

// ran is a command that ran in the sandbox.
type ran struct {
	folder, command, dir string
	more                 approval.Lacked // what it had beyond the profile
}

// tell says to the agent what did not stay of a command and what it lacked, and keeps the latter if it is on record.
func (s *Shell) tell(n *Note, c *sandbox.Command, r *ran, result *sandbox.Result) {
	refused, said, rest := result.Left.Wants()
	rest.SayToAgent(s.Err, c.Quarantine)
	l, words := lackedOf(refused, said)
	if !l.Any() {
		return
	}
	l.Profile, l.ExitCode = c.Profile.Name, result.ExitCode
	line := "the command lacked in the sandbox " + l.Profile + ": " + strings.Join(words, ", ") + ". " + s.ask(n, r, l)
	fmt.Fprintf(s.Err, "myc: %s\n", text.Visible(line))
}

// lackedOf returns what people can be asked for, and in which words the agent is told of it: a path as the command named it, because what
// is on the machine decides which folder has to be opened for it.
func lackedOf(refused []proxy.Refusal, said []sandbox.Lack) (l approval.Lacked, words []string) {
	add := func(t approval.Lack, word string) {
		if !l.Has(t) {
			l.Things = append(l.Things, t)
		}
		if word = string(t.Need) + " " + word; !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for _, h := range refused {
		if h.Package != "" {
			add(approval.Lack{Need: approval.NeedPackage, Name: h.Package,
				Note: "comes with the dependencies that its registry lists"}, h.Package)
			continue
		}
		add(approval.Lack{Need: approval.NeedHost, Name: h.Host}, h.Host)
	}
	for _, lack := range said {
		if lack.Path == "" {
			add(approval.Lack{Need: approval.NeedHost, Name: lack.Host, Said: true}, lack.Host)
			continue
		}
		path, note := lack.Open()
		add(approval.Lack{Need: approval.Need(lack.Need), Name: path, Said: true, Note: note}, lack.Path)
	}
	return l, words
}

// ask records what a command lacked, keeps it, and says what the agent can do. A command that ended well is no reason to ask anybody: many
// look for what they can do without.
func (s *Shell) ask(n *Note, r *ran, l approval.Lacked) string {
	if err := s.Lacked(n, filepath.Base(r.folder), r.command, l); err != nil {
		return "It cannot be asked for, because it is not on record: " + err.Error() + "."
	}
	if l.ExitCode == 0 {
		return "It ended well all the same, so nobody is asked. If it needs this, run it so that its exit code says that it failed."
	}
	if strings.HasPrefix(filepath.Base(r.folder), sessionPrefix) {
		return "It cannot be asked for here: a question needs an agent that Mycelium started (myc " + n.Agent + ")."
	}
	asked, never, err := wantOf(r.folder, r.command, r.dir).add(l, r.more, time.Now())
	switch {
	case err != nil:
		return "It cannot be asked for: " + err.Error() + "."
	case asked:
		return "Run the same command again to ask a person for it."
	case never:
		return "A person has refused it for the rest of this session."
	}
	return "It had it this time, and that did not help." // or there is more than a person can read
}
