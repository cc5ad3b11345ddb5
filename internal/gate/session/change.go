package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/audit"
	"mycelium/internal/policy"
)

// change is what is recorded of a session. It is the arguments of the record, so that it can be queried like a call.
type change struct {
	// Act is minted, opened, spawned, verified, claims, role_switch, skills, policy_change, ended or expired.
	Act       string   `json:"act"`
	By        string   `json:"by"`                // agent, prompt, operator, policy, time, issuer
	Because   string   `json:"because,omitempty"` // the words of a prompt that skills have as triggers, and how sure they make
	From      string   `json:"from,omitempty"`
	To        string   `json:"to,omitempty"`
	Added     []string `json:"added,omitempty"`
	Removed   []string `json:"removed,omitempty"`
	Roles     []string `json:"roles,omitempty"` // that it may take, at its start
	Principal string   `json:"principal,omitempty"`
	Name      string   `json:"name,omitempty"`
	Expires   string   `json:"expires,omitempty"`
	Writes    string   `json:"writes,omitempty"` // the only file that it may change
	Folder    string   `json:"folder,omitempty"` // the linked worktree in which it works
	Above     string   `json:"above,omitempty"`  // of a sub-agent: the session that started it
	Call      string   `json:"call,omitempty"`   // likewise: the call that did
	Failed    string   `json:"failed,omitempty"` // why it was taken back
}

// note returns the change in words.
func (c change) note() string {
	var b strings.Builder
	switch c.Act {
	case "role_switch":
		fmt.Fprintf(&b, "role %s → %s", OrNone(NonEmpty(c.From)), OrNone(NonEmpty(c.To)))
	case "skills":
		b.WriteString("skills changed")
	case "policy_change":
		b.WriteString("the policy changed")
	default:
		b.WriteString("session " + c.Act)
	}
	fmt.Fprintf(&b, " (%s)", c.By)
	for _, e := range c.events(time.Time{}) {
		fmt.Fprintf(&b, "; %s %s", e.Type, e.Skill)
	}
	if c.Failed != "" {
		fmt.Fprintf(&b, "; taken back: %s", c.Failed)
	}
	return b.String()
}

// NonEmpty returns a list of s, empty if s is.
func NonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// events returns the demotions and promotions of a change, in that order (B13).
func (c change) events(at time.Time) []Event {
	reason := c.Act + " by " + c.By
	if c.Because != "" {
		reason += ": " + c.Because
	}
	var out []Event
	for _, name := range c.Removed {
		out = append(out, Event{Type: "deescalate", Skill: name, Reason: reason, Time: at})
	}
	for _, name := range c.Added {
		out = append(out, Event{Type: "escalate", Skill: name, Reason: reason, Time: at})
	}
	return out
}

// recordStart records that a session began.
func (r *Registry) recordStart(ctx context.Context, s *Session, act string) error {
	sc := s.Snapshot()
	c := change{
		Act: act, By: string(ByOperator), To: sc.Scope.Principal.Role, Added: sc.Scope.Skills,
		Roles: sc.Scope.Principal.Roles, Principal: s.Principal.ID, Name: s.Name, Writes: s.Writes, Folder: s.Folder,
	}
	if s.issuer != "" {
		c.By = byIssuer
	}
	if !s.expires.IsZero() {
		c.Expires = s.expires.UTC().Format(time.RFC3339)
	}
	return r.recordChange(ctx, s, sc.Scope, c)
}

// recordChange writes one record of the life of a session, and adds to its history. scope is the scope after the change.
func (r *Registry) recordChange(ctx context.Context, s *Session, scope policy.Scope, c change) error {
	args, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("record change of session %s: %w", s.ID, err)
	}
	rec := audit.Record{
		ID: audit.NewID(), Kind: audit.Session, Time: r.now(), Session: s.ID, Principal: scope.Principal.ID,
		Role: scope.Principal.Role, Skills: scope.Skills, Args: args, Note: c.note(),
	}
	if p := scope.Principal.Parent; p != nil {
		rec.Parent = p.ID
	}
	if err := r.append(ctx, rec); err != nil {
		return err
	}
	if c.Failed == "" {
		s.history.add(c.events(rec.Time))
	}
	return nil
}

// append writes a record. The caller's cancellation does not reach it: what happened is recorded even if the caller is gone.
func (r *Registry) append(ctx context.Context, rec audit.Record) error {
	return r.log.Append(context.WithoutCancel(ctx), rec)
}
