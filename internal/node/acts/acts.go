// Package acts records what a person does with a command that needs no daemon.
package acts

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/audit"
	"mycelium/internal/config"
)

// Act is what is recorded of a change that a person makes. It has ids and no contents.
type Act struct {
	Act    string `json:"act"`
	Item   string `json:"item,omitempty"`   // what is changed: the id of a conversation or of a memory, the file that is taken over, a tool
	Digest string `json:"digest,omitempty"` // of what was shown
	Role   string `json:"role,omitempty"`   // whose it is
	By     `json:",inline"`
}

// By says who acts. The zero value is a person at a terminal of this machine.
type By struct {
	Person string `json:"by,omitempty"`     // user of this machine
	Device string `json:"device,omitempty"` // the browser, as [mycelium/internal/node/api.Answer.Device] has it; empty: a terminal
}

// Of is the person behind a process of this user, in a browser if device names one.
func Of(uid int, device string) By { return By{Person: User(uid), Device: device} }

// String is who acts, for people.
func (b By) String() string {
	if b.Device != "" {
		return b.Person + " (browser, " + b.Device + ")"
	}
	return b.Person
}

// Recorder writes what people do into a log that is open.
type Recorder struct{ Log *audit.Log }

// Record records an act. server is the one that it is about; note says it for people.
func (r Recorder) Record(ctx context.Context, a Act, server, note string) error {
	args, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("record %s: %w", a.Act, err)
	}
	surface := "cli"
	if a.Device != "" {
		surface = "browser"
	}
	return r.Log.Append(context.WithoutCancel(ctx), audit.Record{ID: audit.NewID(), Kind: audit.Operator, Time: time.Now(),
		Principal: "operator", Surface: surface, Server: server, Tool: a.Item, Args: args, Note: note})
}

// Trust records that a person accepts files, and puts them in force with the bytes that were shown.
func Trust(ctx context.Context, c *config.Candidate, by By) error {
	o, err := Logs(c).AuditLog()
	if err != nil {
		return fmt.Errorf("record trust: %w", err)
	}
	log, err := audit.Open(o)
	if err != nil {
		return fmt.Errorf("record trust: %w", err)
	}
	defer func() { _ = log.Close() }()
	if err := (Recorder{log}).Record(ctx, Act{Act: "trust", Digest: c.Digest, By: by}, "", c.Summary()); err != nil {
		return err
	}
	return c.Accept(time.Now())
}

// Logs returns the project into whose log it is recorded that a person accepts files.
func Logs(c *config.Candidate) *config.Project {
	p := *c.Current
	if c.Outside() {
		p.State = p.State.Outside(p.Dir)
	}
	return &p
}

// Do records an act and then does it. An act that cannot be recorded is not done; one that fails is recorded as failed.
func Do(ctx context.Context, p *config.Project, a Act, do func() error) error {
	if _, err := Record(ctx, p, a, a.note()); err != nil {
		return err
	}
	err := do()
	if err != nil {
		failed := a
		failed.Act += " failed"
		_, recordErr := Record(ctx, p, failed, failed.note())
		err = errors.Join(err, recordErr)
	}
	return err
}

// note says the act in a line.
func (a Act) note() string {
	out := a.Act
	if a.Item != "" {
		out += " " + a.Item
	}
	if a.Role != "" {
		out += ", role " + a.Role
	}
	if by := a.String(); by != "" {
		out += ", by " + by
	}
	return out
}

// Record writes an act to the log of a project, and returns the id of the record. act is what its arguments say.
func Record(ctx context.Context, p *config.Project, act any, note string) (id string, err error) {
	surface := "cli"
	if a, is := act.(Act); is && a.Device != "" {
		surface = "browser"
	}
	return RecordFrom(ctx, p, surface, act, note)
}

// RecordFrom is Record for an act on a surface: "cli", or "browser".
func RecordFrom(ctx context.Context, p *config.Project, surface string, act any, note string) (id string, err error) {
	args, err := json.Marshal(act)
	if err != nil {
		return "", fmt.Errorf("record what a person does: %w", err)
	}
	o, err := p.AuditLog()
	if err != nil {
		return "", err
	}
	log, err := audit.Open(o)
	if err != nil {
		return "", fmt.Errorf("record what a person does: %w", err)
	}
	id = audit.NewID()
	err = log.Append(context.WithoutCancel(ctx), audit.Record{ID: id, Kind: audit.Operator, Time: time.Now(), Principal: "operator",
		Surface: surface, Args: args, Note: note})
	return id, errors.Join(err, log.Close())
}

// User is the name of a user of this machine, for the record.
func User(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + id
}
