package agentshell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/config"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/shell"
)

// Lack is what a command of an agent's shell lacked in the sandbox.
type Lack struct {
	Agent   string
	Session string
	Command string
	Lacked  approval.Lacked
}

// RecordLack records that a command lacked something, as a denial with its hosts and paths.
func RecordLack(ctx context.Context, p *config.Project, l Lack) error {
	args, err := json.Marshal(map[string]string{"command": l.Command})
	if err != nil {
		return fmt.Errorf("record what a command lacked in the sandbox: %w", err)
	}
	o, err := p.AuditLog()
	if err != nil {
		return err
	}
	log, err := audit.Open(o)
	if err != nil {
		return fmt.Errorf("record what a command lacked in the sandbox: %w", err)
	}
	err = log.Append(context.WithoutCancel(ctx), audit.Record{
		ID: audit.NewID(), Kind: audit.Decided, Time: time.Now(), Session: l.Session, Principal: project.LocalPrincipal,
		Role: p.File.Session.RoleOfAgent(), Surface: "hook", Agent: l.Agent, Server: policy.Bash.Server, Tool: policy.Bash.String(), Args: args,
		Facts: l.facts(), Effect: policy.Deny.String(), Rule: "sandbox", Sandbox: l.Lacked.Profile, DecidedBy: "sandbox",
		Reason: fmt.Sprintf("it lacked %s in the sandbox, and ended with exit code %d", l.Lacked, l.Lacked.ExitCode),
	})
	return errors.Join(err, log.Close())
}

// facts are the program and what it lacked.
func (l Lack) facts() *policy.Facts {
	var part policy.Part
	if parts := shell.Facts(l.Command, shell.Options{}).Parts; len(parts) > 0 {
		part.Program = parts[0].Program
	}
	for _, t := range l.Lacked.Things {
		switch t.Need {
		case approval.NeedHost:
			host, _, _ := net.SplitHostPort(t.Name)
			part.Hosts = append(part.Hosts, cmp.Or(host, t.Name))
		case approval.NeedRead:
			part.Paths = append(part.Paths, policy.Path{Raw: t.Name, Clean: t.Name, Access: policy.Read})
		case approval.NeedWrite:
			part.Paths = append(part.Paths, policy.Path{Raw: t.Name, Clean: t.Name, Access: policy.Write})
		case approval.NeedPackage: // facts name no packages
		}
	}
	return &policy.Facts{Parts: []policy.Part{part}}
}
