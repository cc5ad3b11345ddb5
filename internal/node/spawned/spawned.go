// Package spawned runs sub-agents: each is a process of this program, `myc sub-agent`, with the credential of a session of its own. The
// keeper has it, so that it ends with the call that started it, and with the daemon, however that ends.
package spawned

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/agent/fleet"
	"mycelium/internal/approval"
	"mycelium/internal/config"
	"mycelium/internal/credential"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/hook"
	"mycelium/internal/keeper"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// Command is the command that a sub-agent is.
const Command = "sub-agent"

// Agents runs the sub-agents of a project.
type Agents struct {
	Dir     string // of the project
	State   state.Paths
	Environ []string       // of the daemon
	Keeper  keeper.Spawner // has their processes
	// Expand resolves ${secret:NAME}, for the key of sessions whose client has none.
	Expand  func(string) (string, error)
	BaseURL string // that belongs to this key; empty: that of the API
	Config  func() *config.Project
	// Charge is told what a sub-agent of a session cost; nil: nobody is.
	Charge func(s *session.Session, usd float64)

	mu     sync.Mutex
	models map[*session.Session]api.Model
}

// Hand keeps with what the client of a session asks its models, for sub-agents of the session. It is forgotten when the session is over.
func (x *Agents) Hand(s *session.Session, m api.Model) {
	if m.Key == "" {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.models == nil {
		x.models = map[*session.Session]api.Model{}
	}
	for old := range x.models {
		select {
		case <-old.Done():
			delete(x.models, old)
		default:
		}
	}
	x.models[s] = m
}

// model is with what a sub-agent asks its models: what the client of a session above it does, else the key among the secrets. The zero
// value: there is no key.
func (x *Agents) model(s *session.Session) api.Model {
	x.mu.Lock()
	defer x.mu.Unlock()
	for s = s.Above(); s != nil; s = s.Above() {
		if m, ok := x.models[s]; ok {
			return m
		}
	}
	if key, err := x.Expand(approval.JudgeKey); err == nil && key != "" {
		return api.Model{Key: key, BaseURL: x.BaseURL}
	}
	return api.Model{}
}

// ModelOf is with what the clients of a principal ask their models. The zero value: none of them has a key.
func (x *Agents) ModelOf(principal string) api.Model {
	x.mu.Lock()
	defer x.mu.Unlock()
	for s, m := range x.models {
		if s.Principal.ID == principal {
			return m
		}
	}
	return api.Model{}
}

// The bounds of a sub-agent's process.
const (
	stopWithin = 2 * time.Second  // from the end of its call to SIGKILL
	tellEvery  = 10 * time.Second // how often a client hears that it is at work
	maxAnswer  = 4 << 20          // bytes of its result
	maxSaid    = 2000             // bytes that are kept of what it said on stderr
)

// Run runs a sub-agent. It is a [control.Starter].
func (x *Agents) Run(ctx context.Context, a control.Agent) (control.AgentResult, error) {
	argv, environ, err := x.command(a)
	if err != nil {
		return control.AgentResult{}, err
	}
	p, err := x.Keeper.Spawn(argv, environ, x.Dir)
	if err != nil {
		return control.AgentResult{}, err
	}
	defer func() {
		_, _ = p.Stdout.Close(), p.Stderr.Close()
	}()
	stop := sync.OnceFunc(func() {
		_ = p.Stdin.Close()
		p.Stop(stopWithin)
	})
	ended := make(chan struct{})
	var parts sync.WaitGroup
	said := &keeper.Tail{Most: maxSaid}
	parts.Go(func() {
		_, _ = io.WriteString(p.Stdin, a.Task) // if it is gone, that is seen below
		_ = p.Stdin.Close()
	})
	parts.Go(func() { follow(p.Stderr, said, a.Tell) })
	parts.Go(func() { watch(ctx, a, ended, stop) })
	raw, _ := io.ReadAll(io.LimitReader(p.Stdout, maxAnswer))
	stop()
	close(ended)
	parts.Wait()
	out := answer(raw, p.Status(), strings.TrimSpace(said.String()))
	if out.Error != "" && ctx.Err() != nil {
		out.Error = "it was ended: " + cmp.Or(context.Cause(ctx), ctx.Err()).Error()
	}
	out.Role = a.Session.Scope().Principal.Role
	if x.Charge != nil {
		x.Charge(a.Session.Above(), out.Usage.Cost)
	}
	return out, nil
}

// watch ends a sub-agent with its call, or with its session, and says meanwhile that it is at work.
func watch(ctx context.Context, a control.Agent, ended <-chan struct{}, stop func()) {
	began := time.Now()
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			a.Tell(fmt.Sprintf("the sub-agent has worked for %s", time.Since(began).Round(time.Second)))
			continue
		case <-ctx.Done():
		case <-a.Session.Done():
		}
		stop()
		return
	}
}

// command is the command line and the environment of a sub-agent. The environment has what a daemon has of its person's, the credential,
// and the key of its model.
func (x *Agents) command(a control.Agent) (argv, environ []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find own program: %w", err)
	}
	session, _, _ := x.Config().File.Agents.Budget.Limits()
	budget := cmp.Or(session, fleet.DefaultBudget)
	if a.Budget > 0 {
		budget = min(budget, a.Budget)
	}
	argv = slices.Concat([]string{self, "-C", x.Dir}, x.State.Pin(), []string{Command, "--json",
		"--budget", strconv.FormatFloat(budget, 'f', -1, 64), "--above", a.Session.Above().ID})
	if a.Model != "" {
		argv = append(argv, "--model="+a.Model)
	}
	m := x.model(a.Session)
	if m.Key == "" {
		return nil, nil, errNoKey()
	}
	environ = append(project.Kept(x.Environ), hook.TokenVar+"="+a.Token, "NO_COLOR=1", "ANTHROPIC_API_KEY="+m.Key)
	if m.BaseURL != "" {
		environ = append(environ, "ANTHROPIC_BASE_URL="+m.BaseURL)
	}
	return argv, environ, nil
}

// errNoKey is the error where no model can be asked: a Claude Code is started by people only.
func errNoKey() error {
	return errors.New("there is no key for its model: the client of this session has no ANTHROPIC_API_KEY, and neither have the secrets " +
		"(a person puts it there: docs/secrets.md)")
}

// answer is what a sub-agent printed, or why it printed nothing that can be read.
func answer(raw []byte, status, said string) (out control.AgentResult) {
	if err := json.Unmarshal(bytes.TrimSpace(raw), &out); err == nil && out.Result != nil {
		return out
	}
	why := cmp.Or(text.OneLine(said), "it said nothing")
	return control.AgentResult{Result: jsontext.Value("null"), Tools: []string{},
		Error: fmt.Sprintf("it ended without an answer (%s): %s", cmp.Or(status, "it was ended"), credential.Mask(why))}
}

// follow reads lines, passes each on, and keeps the end of them.
func follow(r io.Reader, kept io.Writer, tell func(string)) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadSlice('\n') // a longer line comes in pieces
		if said := strings.TrimSpace(string(line)); said != "" {
			tell(text.Visible(credential.Mask(said)))
		}
		_, _ = kept.Write(line)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
