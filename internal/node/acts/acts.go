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
	Act  string `json:"act"`
	Item string `json:"item,omitempty"` // what is changed: the id of a conversation or of a memory, or the file that is taken over
	Role string `json:"role,omitempty"` // whose it is
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
	return out
}

// Record writes an act to the log of a project, and returns the id of the record. act is what its arguments say.
func Record(ctx context.Context, p *config.Project, act any, note string) (id string, err error) {
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
		Surface: "cli", Args: args, Note: note})
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
