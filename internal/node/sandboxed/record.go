package sandboxed

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/audit"
	"mycelium/internal/config"
	"mycelium/internal/sandbox"
)

// Act is what is recorded of a person's run of a command in the sandbox, or of what a person did with the quarantine.
type Act struct {
	Act     string `json:"act"`
	Run     string `json:"run,omitempty"` // of the end of a run: the record of its beginning
	Program string `json:"program,omitempty"`
	Profile string `json:"profile,omitempty"`
	Path    string `json:"path,omitempty"`

	Network  bool          `json:"network,omitzero"`
	Read     []string      `json:"read,omitempty"`  // further paths that the command had
	Write    []string      `json:"write,omitempty"` // likewise
	Hosts    []string      `json:"hosts,omitempty"` // that it could reach by the proxy
	Masks    []string      `json:"masks,omitempty"` // NAME@HOST,HOST: the secrets that it could use
	ExitCode *int          `json:"exitCode,omitzero"`
	Left     *sandbox.Left `json:"left,omitzero"`
}

// Run runs a command of a person on a project, and records both. A command whose beginning cannot be recorded does not run.
func Run(ctx context.Context, p *config.Project, c *sandbox.Command) (*sandbox.Result, error) {
	self, err := Self()
	if err != nil {
		return nil, err
	}
	began := Act{Act: "sandbox exec", Program: filepath.Base(c.Argv[0]), Profile: c.Profile.Name, Network: c.Profile.Network,
		Read: slices.Concat(c.Read, c.Profile.Read), Write: slices.Concat(c.Write, c.Profile.Write),
		Hosts: slices.Concat(c.Hosts, c.Profile.Hosts)}
	for _, m := range c.Masks {
		began.Masks = append(began.Masks, m.Name+"@"+strings.Join(m.Hosts, ","))
	}
	id, recorded := "", *c
	recorded.Record = func() error {
		made, err := Record(ctx, p, began, fmt.Sprintf("%s in the sandbox, profile %s", began.Program, began.Profile))
		if err == nil {
			id = made
		}
		return err
	}
	result, err := sandbox.Run(ctx, self, &recorded)
	if id == "" {
		return nil, err // its beginning is not on record, so it did not run
	}
	ended := Act{Act: "sandbox exec ended", Run: id, Program: began.Program, Profile: began.Profile}
	note := "did not run"
	if result != nil {
		ended.ExitCode, ended.Left = &result.ExitCode, &result.Left
		note = fmt.Sprintf("exit code %d", result.ExitCode)
		if result.TimedOut {
			note = "ended after " + c.Profile.Timeout().String()
		}
		if q := result.Left.Quarantined; len(q) > 0 {
			note += "; put away " + strings.Join(q, ", ")
		}
	} else if err != nil {
		note += ": " + err.Error()
	}
	_, recordErr := Record(ctx, p, ended, began.Program+" in the sandbox: "+note)
	return result, errors.Join(err, recordErr)
}

// Record writes a person's act to the log of a project, and returns the id of the record.
func Record(ctx context.Context, p *config.Project, act Act, note string) (id string, err error) {
	args, err := json.Marshal(act)
	if err != nil {
		return "", fmt.Errorf("record %s: %w", act.Act, err)
	}
	o, err := p.AuditLog()
	if err != nil {
		return "", err
	}
	log, err := audit.Open(o)
	if err != nil {
		return "", fmt.Errorf("record %s: %w", act.Act, err)
	}
	id = audit.NewID()
	err = log.Append(context.WithoutCancel(ctx), audit.Record{ID: id, Kind: audit.Operator, Time: time.Now(), Principal: "operator",
		Surface: "cli", Args: args, Note: note})
	return id, errors.Join(err, log.Close())
}
