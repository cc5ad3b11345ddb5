package node

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/node/project"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// environs compares the environments of what agents start with that of the person who works in the project. One that differs changes
// nothing, because the state is not found by it; it is recorded, once for each session and content.
type environs struct {
	state  state.Paths
	log    *audit.Log
	logger *slog.Logger

	mu   sync.Mutex
	seen map[string]string // by session: the environment that was compared last
	now  map[string]string // by session: what differs
}

// maxEnvirons bounds how many sessions are remembered. Beyond that all are forgotten, and compared again.
const maxEnvirons = 1000

// compare compares the environment of a program that an agent started in a session, as [hook.Places] returns it.
func (v *environs) compare(ctx context.Context, agent, session string, environ []string) {
	content := strings.Join(environ, "\x00")
	v.mu.Lock()
	defer v.mu.Unlock()
	key := agent + " " + session
	if v.seen[key] == content && content != "" || content == "" {
		return
	}
	if len(v.seen) >= maxEnvirons || v.seen == nil {
		v.seen, v.now = map[string]string{}, map[string]string{}
	}
	v.seen[key] = content
	note, err := v.state.ReadNote()
	if err != nil {
		v.logger.Warn("compare an agent's environment", "err", err)
		return
	}
	delete(v.now, key)
	if line := differing(note, agent, session, environ); line != "" {
		v.now[key] = line
		if err := recordEnviron(ctx, v.log, v.state, agent, line); err != nil {
			v.logger.Warn("record an agent's environment", "err", err)
		}
	}
}

// Warnings says which sessions have another environment than the person.
func (v *environs) Warnings() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Sorted(maps.Values(v.now))
}

// maxDiffering bounds what is told of one environment, in characters.
const maxDiffering = 500

// differing says in a line how an environment differs from the person's; "" if it does not.
func differing(note state.Note, agent, session string, environ []string) string {
	list := project.Differing(note, environ)
	if len(list) == 0 {
		return ""
	}
	return text.Cell("the environment of "+agent+" (session "+session+") differs from its person's: "+strings.Join(list, ", "), maxDiffering)
}

// recordEnviron records an environment that differs, unless that was done before.
func recordEnviron(ctx context.Context, log *audit.Log, p state.Paths, agent, line string) error {
	if !firstTime(p.Told(), "environ", line) {
		return nil
	}
	return log.Append(ctx, audit.Record{
		ID: audit.NewID(), Kind: audit.Guard, Time: time.Now(), Surface: "environment", Tool: agent, Reason: line,
	})
}
