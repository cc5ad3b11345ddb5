package base

import (
	"context"
	"fmt"
	"time"

	"mycelium/internal/config"
	"mycelium/internal/node/fence"
	"mycelium/internal/state"
)

// Begin is the first step of an act with which a person takes a folder under the policy: know makes its state known, and if the person
// has no files of his own, that is accepted, so that such files wait if they appear later.
func (a *App) Begin(know func() (state.Paths, error)) error {
	if _, err := know(); err != nil {
		return err
	}
	if _, err := a.KnowOutside(); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	return p.User.AcceptNone(time.Now())
}

// SayProject says to a person which project a command is about, if it was called in another working tree of it.
func (a *App) SayProject() {
	if note := a.Note(); note != "" && !a.JSON {
		fmt.Fprintln(a.Err, "project: "+note)
	}
}

// CheckTrust asks a person to accept the files of a project, or his own, of which nobody has accepted anything, or says that this is
// missing. A command goes on without: then what is accepted and the built-in server take effect.
func (a *App) CheckTrust() error {
	p, err := a.Load()
	if err != nil || !p.Missing() && !p.User.Missing() {
		return err
	}
	return a.askTrust(p)
}

// trustCommand is the command that accepts the files of this project, for who stands in the same folder.
func trustCommand(a *App) string {
	if a.Dir == "" || a.Dir == "." {
		return "myc trust"
	}
	return "myc -C " + a.Dir + " trust"
}

// askTrust asks a person at a terminal. Elsewhere it prints the command to run.
func (a *App) askTrust(p *config.Project) error {
	if !StdinIsTerminal(a.In) || fence.AgentHere(a.Environ) != "" {
		if p.User.Missing() {
			fmt.Fprintf(a.Err, "myc: nothing of your own files in %s is accepted: no call is allowed in any project\n", p.UserDir)
		}
		if p.Missing() {
			fmt.Fprintf(a.Err, "myc: nothing of %s is accepted: its own servers, skills and rules do not take effect\n", p.Dir)
		}
		fmt.Fprintf(a.Err, "hint: %s shows their contents and accepts them (trust is of contents, not of a folder)\n", trustCommand(a))
		return nil
	}
	c, err := p.Candidate()
	if err != nil {
		return err
	}
	if c.Postponed() {
		return nil
	}
	_, err = a.Review(context.Background(), p, c, Consent{})
	return err
}
