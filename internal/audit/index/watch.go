package index

import (
	"context"

	"mycelium/internal/audit"
)

// Watch calls tell with each record that is written to the log from now on, as soon as it is there, until ctx is done. ready is called
// when no record can be missed any more; nil: nobody waits for that.
func (x *Index) Watch(ctx context.Context, ready func(), tell func(audit.Record)) error {
	from, err := audit.Back(x.o, 0)
	if err != nil {
		return wrap("watch the audit log", err)
	}
	if ready != nil {
		ready()
	}
	for l, err := range audit.Read(ctx, x.o, from, true) {
		if err != nil {
			return wrap("watch the audit log", err)
		}
		tell(l.Record)
	}
	return nil
}
