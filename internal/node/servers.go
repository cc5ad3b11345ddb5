package node

import (
	"context"
	"slices"
	"strings"
	"sync"

	"mycelium/internal/backend"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/node/api"
	"mycelium/internal/node/fence"
	"mycelium/internal/op"
	"mycelium/internal/text"
)

// Servers are the MCP servers of the project: what they offer, the logins at them, and the variables that they are started with.
type Servers struct {
	pool    *backend.Pool
	files   *reloader
	environ []string // of this process
	renew   func()   // is called when the variables have changed

	mu     sync.Mutex
	handed []string // variables from clients, NAME=VALUE
}

// Learn asks every server what it offers. It goes on after a server that fails.
func (s *Servers) Learn(ctx context.Context) api.LearnReply {
	out := api.LearnReply{Failed: map[string]string{}}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, server := range s.files.Project().Servers {
		if server.Disabled || server.Builtin != "" {
			continue
		}
		all.Go(func() {
			if err := s.pool.Learn(ctx, server.Name); err != nil {
				mu.Lock()
				defer mu.Unlock()
				out.Failed[server.Name] = text.Describe(err)
			}
		})
	}
	all.Wait()
	s.files.Recompile()
	return out
}

// BeginLogin prepares an authorization by a person, whose browser comes back to the address redirect.
func (s *Servers) BeginLogin(ctx context.Context, server, redirect string) (oauth.Login, error) {
	return s.pool.BeginLogin(ctx, server, redirect)
}

// EndLogin completes a login with the query that the browser brought back, and learns what the server offers to the user.
func (s *Servers) EndLogin(ctx context.Context, server, query string) (api.LoginReply, error) {
	r := api.LoginReply{Server: server}
	if err := s.pool.EndLogin(ctx, server, query); err != nil {
		return r, err
	}
	if err := s.pool.Learn(ctx, server); err != nil {
		r.Problem = text.Describe(err)
	}
	s.files.Recompile()
	for _, status := range s.pool.Status() {
		if status.Name == server {
			r.Tools = status.Tools
		}
	}
	return r, nil
}

// Logout forgets the tokens for a server.
func (s *Servers) Logout(ctx context.Context, server string) (api.LogoutReply, error) {
	had, err := s.pool.Logout(ctx, server)
	return api.LogoutReply{Server: server, Had: had}, err
}

// EnvironNames returns the names of the variables that an attaching client hands over.
func (s *Servers) EnvironNames() []string { return append([]string{}, s.files.Project().File.Env...) }

// SetEnviron takes variables from a client, if mycelium.yaml names them: ${VAR} in server entries expands from them. A variable from an
// earlier client stays if this client lacks it. The client of an agent can add missing variables but cannot replace any: otherwise an
// agent could choose the environment of servers that others use.
func (s *Servers) SetEnviron(c op.Caller, environ []string) {
	named := s.files.Project().File.Env
	agent := fence.AgentBehind(c.PID) != ""
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range environ {
		name, _, ok := strings.Cut(e, "=")
		if !ok || !slices.Contains(named, name) {
			continue
		}
		same := func(old string) bool { return strings.HasPrefix(old, name+"=") }
		if agent && (slices.ContainsFunc(s.handed, same) || slices.ContainsFunc(s.environ, same)) {
			continue
		}
		s.handed = append(slices.DeleteFunc(s.handed, same), e)
	}
	s.pool.SetEnviron(slices.Concat(s.environ, s.handed)) // the last one counts
	s.renew()
}
