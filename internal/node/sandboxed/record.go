package sandboxed

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/node/acts"
	"mycelium/internal/registry"
	"mycelium/internal/sandbox"
)

// Act is what is recorded of a person's run of a command in the sandbox, or of what a person did with the quarantine.
type Act struct {
	Act     string `json:"act"`
	Run     string `json:"run,omitempty"` // of the end of a run: the record of its beginning
	Program string `json:"program,omitempty"`
	Profile string `json:"profile,omitempty"`
	Path    string `json:"path,omitempty"`

	Network    bool          `json:"network,omitzero"`
	Read       []string      `json:"read,omitempty"`       // further paths that the command had
	Write      []string      `json:"write,omitempty"`      // likewise
	Hosts      []string      `json:"hosts,omitempty"`      // that it could reach by the proxy
	Registries []string      `json:"registries,omitempty"` // that it could fetch packages from
	Packages   []string      `json:"packages,omitempty"`   // of them, that no lock file has
	Masks      []string      `json:"masks,omitempty"`      // NAME@HOST,HOST: the secrets that it could use
	ExitCode   *int          `json:"exitCode,omitzero"`
	Left       *sandbox.Left `json:"left,omitzero"`
}

// Run runs a command of a person on a project, and records both. A command whose beginning cannot be recorded does not run.
func Run(ctx context.Context, p *config.Project, c *sandbox.Command) (*sandbox.Result, error) {
	self, err := Self()
	if err != nil {
		return nil, err
	}
	began := Act{Act: "sandbox exec", Program: filepath.Base(c.Argv[0]), Profile: c.Profile.Name, Network: c.Profile.Network,
		Read: slices.Concat(c.Read, c.Profile.Read), Write: slices.Concat(c.Write, c.Profile.Write),
		Hosts: slices.Concat(c.Hosts, c.Profile.Hosts), Packages: slices.Concat(c.Packages, c.Profile.Packages),
		Registries: registry.Names(registry.Join(c.Registries, c.Profile.Registries))}
	for _, m := range c.Masks {
		began.Masks = append(began.Masks, m.Name+"@"+strings.Join(m.Hosts, ","))
	}
	id, recorded := "", *c
	recorded.Record = func() error {
		made, err := acts.Record(ctx, p, began, fmt.Sprintf("%s in the sandbox, profile %s", began.Program, began.Profile))
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
	_, recordErr := acts.Record(ctx, p, ended, began.Program+" in the sandbox: "+note)
	return result, errors.Join(err, recordErr)
}
