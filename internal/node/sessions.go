package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/gateway"
	"mycelium/internal/node/api"
	"mycelium/internal/node/fence"
	"mycelium/internal/node/project"
	"mycelium/internal/node/spawned"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
)

// Sessions are the live sessions: those of credentials, and those of clients that have none.
type Sessions struct {
	gate     *gate.Gate
	gateway  func() *gateway.Server
	files    *reloader
	environs *environs
	agents   *spawned.Agents
	logger   *slog.Logger
}

// New mints a session with a credential. Only the reply has its token.
func (s *Sessions) New(ctx context.Context, p api.SessionParams) (api.Session, error) {
	spec := p.Spec("")
	spec.TTL = time.Duration(p.TTL)
	switch {
	case p.Card != "":
		if p.Role != "" || len(p.May) > 0 {
			return api.Session{}, failure.New(failure.Usage, errors.New("a card and a role: the card decides which role the session has"),
				"leave out --role and --may, or --card")
		}
		if err := s.files.View().ByCard(ctx, p.Card, &spec); err != nil {
			return api.Session{}, err
		}
	case p.Role == "":
		spec.Role = s.files.Project().File.Session.DefaultRole
	}
	live, token, err := s.gate.Sessions.Mint(ctx, spec)
	if err != nil {
		return api.Session{}, noRole(err)
	}
	out := describe(live)
	out.Token = token
	return out, nil
}

// List returns every live session.
func (s *Sessions) List(ctx context.Context) ([]session.Summary, error) {
	return s.gate.Sessions.List(ctx)
}

// Change switches the role or the active skills of a live session, as its operator.
func (s *Sessions) Change(ctx context.Context, p api.ChangeParams) (api.Session, error) {
	live, err := s.find(ctx, p.ID)
	if err != nil {
		return api.Session{}, err
	}
	if p.Role != "" {
		if _, err := s.gate.Sessions.SetRole(ctx, live, p.Role, session.ByOperator); err != nil {
			return api.Session{}, noRole(err)
		}
	}
	if len(p.Add)+len(p.Remove) > 0 {
		if err := s.gate.Sessions.SetSkills(ctx, live, p.Add, p.Remove, session.ByOperator); err != nil {
			return api.Session{}, failure.New(failure.Invalid, err, "")
		}
	}
	return describe(live), nil
}

// End ends a session. Its token is void at once.
func (s *Sessions) End(ctx context.Context, id string) error {
	if _, err := s.find(ctx, id); err != nil {
		return err
	}
	return s.gate.Sessions.End(ctx, id)
}

func (s *Sessions) find(ctx context.Context, id string) (*session.Session, error) {
	live, err := s.gate.Sessions.Find(ctx, id)
	if err != nil {
		return nil, failure.New(failure.NotFound, errors.New("no live session has the id "+id), "myc session list shows them")
	}
	return live, nil
}

func describe(live *session.Session) api.Session {
	now := live.Summary()
	return api.Session{ID: live.ID, Role: now.Role, Skills: now.Skills, Expires: now.Expires, Writes: live.Writes, Folder: live.Folder}
}

// spec is the session that a client without a credential gets. A person may take any role that exists; an agent chooses among
// session.roles only (decision 9), and so does who names a role by the environment.
func (s *Sessions) spec(c op.Caller, p api.SessionParams) (session.Spec, error) {
	conf := s.files.Project().File.Session
	spec := p.Spec(project.LocalPrincipal)
	agent := fence.AgentBehind(c.PID) != ""
	if agent && p.Folder != "" {
		return spec, failure.New(failure.Denied, errors.New("only a person starts a session that works in another folder"), "")
	}
	if p.Role == "" && p.May == nil {
		spec.Role, spec.Roles = conf.DefaultRole, conf.Roles
		if agent { // the gateway and the hook of an agent have one role
			spec.Role = conf.RoleOfAgent()
		}
	}
	var bound []string // the roles that session: must name
	switch {
	case agent:
		bound = append([]string{spec.Role}, spec.Roles...)
	case p.Narrow:
		bound = []string{spec.Role}
	}
	for _, r := range bound {
		if r != "" && r != conf.DefaultRole && r != conf.AgentRole && !slices.Contains(conf.Roles, r) {
			return spec, noRole(fmt.Errorf("Unknown role: %s", r)) //nolint:staticcheck,revive // the same words everywhere
		}
	}
	return spec, nil
}

// open returns the session of a client: the one of its token, or else a new one. done ends a session that is only for this client.
func (s *Sessions) open(ctx context.Context, c op.Caller, p api.SessionParams) (live *session.Session, done func(), err error) {
	if p.Token == "" {
		spec, err := s.spec(c, p)
		if err != nil {
			return nil, nil, err
		}
		if live, err = s.gate.Sessions.Open(ctx, spec); err != nil {
			return nil, nil, noRole(err)
		}
		return live, func() { s.end(ctx, live.ID) }, nil
	}
	if live, err = s.authenticate(ctx, p.Token); err != nil {
		return nil, nil, err
	}
	if p.Role != "" && p.Role != live.Scope().Principal.Role {
		if _, err := s.gate.Sessions.SetRole(ctx, live, p.Role, session.ByAgent); err != nil {
			return nil, nil, noRole(err)
		}
	}
	if p.Own {
		return live, func() { s.end(ctx, live.ID) }, nil
	}
	return live, func() {}, nil
}

// authenticate returns the session of a token.
func (s *Sessions) authenticate(ctx context.Context, token string) (*session.Session, error) {
	live, err := s.gate.Sessions.Authenticate(ctx, token)
	if err != nil {
		return nil, failure.New(failure.Denied, errors.New("this token is not one of a live session"), "")
	}
	return live, nil
}

// attach opens the session of a stdio client: the one of its token, or else a new one, whose token lets the client attach again.
func (s *Sessions) attach(ctx context.Context, c op.Caller, p api.SessionParams) (api.Attached, *session.Session, func(), error) {
	answer, environ, model := api.Attached{Token: p.Token}, p.Environ, p.Model
	if p.Token == "" {
		spec, err := s.spec(c, p)
		if err != nil {
			return answer, nil, nil, err
		}
		_, token, err := s.gate.Sessions.Mint(ctx, spec)
		if err != nil {
			return answer, nil, nil, noRole(err)
		}
		answer.Token, p = token, api.SessionParams{Token: token, Own: true}
	}
	live, done, err := s.open(ctx, c, p)
	if err != nil {
		return answer, nil, nil, err
	}
	now := live.Snapshot()
	answer.Session, answer.Writes, answer.Folder = live.ID, now.Scope.Only, now.Scope.Folder
	s.agents.Hand(live, model)
	s.environs.compare(ctx, "myc mcp", live.ID, environ)
	return answer, live, done, nil
}

// Attach opens the session of a client of this process. serve serves it MCP until in ends, and has to be called.
func (s *Sessions) Attach(ctx context.Context, p api.SessionParams) (serve func(in io.Reader, out io.Writer) error, err error) {
	_, live, done, err := s.attach(ctx, op.Caller{PID: os.Getpid(), UID: os.Getuid()}, p)
	if err != nil {
		return nil, err
	}
	return func(in io.Reader, out io.Writer) error {
		defer done()
		return s.gateway().Stdio(ctx, live, p.Only, nil, in, out)
	}, nil
}

// end ends a session whose client has gone. When the daemon itself ends, the session stays, so that the client finds it again.
func (s *Sessions) end(ctx context.Context, id string) {
	if ctx.Err() != nil {
		return
	}
	if err := s.gate.Sessions.End(ctx, id); err != nil {
		s.logger.Warn("end session", "id", id, "err", err)
	}
}

// noRole is the failure of a session that asks for a role or a skill that it cannot have.
func noRole(err error) error {
	if damage, ok := errors.AsType[*audit.DamageError](err); ok {
		return failure.New(failure.Unavailable, err, damage.Hint())
	}
	hint := "myc policy roles lists the roles that exist"
	if skill := (*session.SkillError)(nil); errors.As(err, &skill) {
		hint = "myc skill list shows the skills, and why one takes no effect"
	}
	return failure.New(failure.NoRole, err, hint)
}
