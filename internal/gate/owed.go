package gate

import (
	"context"
	"sync"
	"sync/atomic"

	"mycelium/internal/audit"
)

// append writes a record. The caller's cancellation does not reach it: what happened is recorded even if the caller is gone. The log
// bounds its own waiting.
func (g *Gate) append(ctx context.Context, r audit.Record) error {
	return g.log.Append(context.WithoutCancel(ctx), r)
}

// debts are outcomes that could not be written. The calls ran and their results went out. No other call runs until the log has taken
// these records.
type debts struct {
	owing atomic.Bool // read on every call, without the lock

	mu   sync.Mutex
	owed []audit.Record
	lost int // beyond maxDebts: those calls stay "unfinished" in the log
}

// maxDebts bounds the outcomes that are kept while the log is down: as many calls as may be under way at once.
const maxDebts = 4096

func (d *debts) add(r audit.Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.owing.Store(true)
	if len(d.owed) < maxDebts {
		d.owed = append(d.owed, r)
	} else {
		d.lost++
	}
}

// settle writes what is owed. Its error means that the log still does not work.
func (g *Gate) settle(ctx context.Context) error {
	d := &g.owed
	if !d.owing.Load() {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.owed) > 0 {
		if err := g.append(ctx, d.owed[0]); err != nil {
			return err
		}
		d.owed = d.owed[1:]
	}
	if d.lost > 0 {
		g.logger.Error("outcomes of calls were lost while the audit log did not work", "count", d.lost)
	}
	d.owed, d.lost = nil, 0
	d.owing.Store(false)
	return nil
}
