package project

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/relocate"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// trustMoved brings the state of a folder here that was moved, and shows what changed in its files since they were accepted.
func (a *app) trustMoved(ctx context.Context, from string, by base.Consent) error {
	if err := a.NeedPerson("bring the state of another folder here"); err != nil {
		return err
	}
	to, err := a.State()
	if err != nil {
		return err
	}
	if from == "" && to.Chosen() == "" {
		was, _, ok := to.MovedFrom()
		if !ok {
			return failure.New(failure.NotFound, fmt.Errorf("trust: no folder that is gone was %s: copies and clones are new", to.Project),
				"accept them: myc trust; if it was moved to another file system, name its path: myc trust --moved --from DIR")
		}
		from = was.Project
	}
	if from, err = filepath.Abs(from); err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	found, err := a.Mover().FindMoved(to, from)
	if err != nil {
		return err
	}
	a.showFound(to, found)
	if !by.Yes && !agreed(a, "Bring this state here? [y/N] ") {
		return a.unasked("nothing was moved")
	}
	if err := a.Mover().Move(ctx, to, from); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "myc: the state is in %s, and its log is intact\n", to.Folder())
	if !base.StdinIsTerminal(a.In) { // consent to the move is no consent to what has changed
		return a.trustDiff()
	}
	return a.trust(ctx, base.Consent{})
}

// settleState brings the state here that the project has somewhere else, if a person agrees, before a new one is begun.
func (a *app) settleState(ctx context.Context, by base.Consent) error {
	to, err := a.State()
	if err != nil {
		return err
	}
	if a.Foreign(to) {
		fmt.Fprintf(a.Err, "myc: %s\n", foreign(to))
	}
	if _, err := to.ReadNote(); !errors.Is(err, state.ErrUnknown) {
		return nil // Load finishes what was begun; a damaged note is reported by what uses it
	}
	if found, err := to.Journals(); err != nil || len(found) > 0 {
		return err
	}
	if usual := a.Former(to); usual != "" {
		return a.takeOver(ctx, to, usual, by)
	}
	if from, _, ok := to.MovedFrom(); ok {
		fmt.Fprintf(a.Err, "myc: this folder may be %s, which was moved; myc trust --moved brings its log and sessions here\n", from.Project)
		if by.Yes || by.Expect != "" || !base.StdinIsTerminal(a.In) {
			return nil
		}
		if !a.Confirm("Begin anew instead? [y/N] ") {
			return failure.New(failure.Denied, errors.New("trust: nothing was changed"), "myc trust --moved")
		}
	}
	return nil
}

// foreign says that a project has state that is not its own.
func foreign(p state.Paths) string {
	return filepath.Join(p.Project, state.FolderName) + " has the state of another user or of another folder; it has no effect"
}

// doctorState reports state of the project that is somewhere else.
func (a *app) doctorState(p state.Paths, add base.Report) {
	if a.Foreign(p) {
		add("warning", "state", foreign(p), "remove it if it is not needed; .mycelium/tools stays")
	}
	_, err := p.ReadNote()
	from, _, moved := p.MovedFrom()
	switch {
	case err == nil:
	case a.Former(p) != "":
		add("warning", "state", "an earlier version kept the log in the project; it is not taken over yet", "take it over: myc trust")
	case moved:
		add("warning", "state", "this folder may be "+from.Project+", which was moved", "bring its log and sessions here: myc trust --moved")
	}
}

// takeOver takes over the state that an earlier version kept in the project.
func (a *app) takeOver(ctx context.Context, to state.Paths, usual state.Root, by base.Consent) error {
	found, err := a.Mover().FindFormer(to, usual)
	if err != nil {
		return err
	}
	a.showFound(to, found)
	if !by.Yes && by.Expect == "" && !agreed(a, "Take this over? [y/N] ") {
		return a.unasked("nothing was taken over")
	}
	if err := a.Mover().TakeOver(ctx, to, usual); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "myc: the state is in %s, and its log is intact; the old files are in %s, where you may delete them\n",
		to.Folder(), to.Aside())
	return nil
}

// showFound says where a state is and what comes along.
func (a *app) showFound(to state.Paths, f *relocate.Found) {
	fmt.Fprintf(a.Err, "from %s\nto   %s\n", text.OneLine(f.From), text.OneLine(to.Project))
	for _, part := range f.Parts {
		fmt.Fprintf(a.Err, "  + %s\n", part)
	}
	for _, part := range f.Left {
		fmt.Fprintf(a.Err, "  - %s\n", part)
	}
}

// agreed asks a person at a terminal; elsewhere nobody agrees.
func agreed(a *app, question string) bool { return base.StdinIsTerminal(a.In) && a.Confirm(question) }

// unasked is the error of an act to which nobody agreed.
func (a *app) unasked(what string) error {
	hint := ""
	if !base.StdinIsTerminal(a.In) {
		hint = "run it in a terminal, or with --yes"
	}
	return failure.New(failure.Denied, errors.New("trust: "+what+", because nobody agreed"), hint)
}

// waits reports whether what was written is not in force: it stands beside files of somebody else, which start programs.
func (s *setUp) waits() bool {
	quiet := s.Loader
	quiet.Err = io.Discard
	p, err := quiet.Load()
	return err == nil && !p.Trusted
}
