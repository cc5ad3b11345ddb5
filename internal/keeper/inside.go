package keeper

import (
	"context"
	"io"
	"time"
)

// Inside is a spawner of one "process" that is a function of this one: what speaks with programs over their standard streams speaks with
// it. The function ends when its input does, or its context; its error is the status.
type Inside func(ctx context.Context, in io.Reader, out io.Writer) error

// Spawn starts the function. The arguments are for programs.
func (f Inside) Spawn([]string, []string, string) (*Process, error) {
	ends, err := newPipes()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Process{Stdin: ends.ours[0], Stdout: ends.ours[1], Stderr: ends.ours[2], Exited: make(chan struct{})}
	p.stopGroup = func(grace time.Duration) {
		late := time.AfterFunc(grace, cancel)
		defer late.Stop()
		<-p.Exited
	}
	go func() {
		defer cancel()
		status := "exit status 0"
		if err := f(ctx, ends.child[0], ends.child[1]); err != nil {
			status = err.Error()
		}
		closeAll(ends.child[:])
		p.exit(status, false)
	}()
	return p, nil
}

// Close has nothing to do: whoever has the process ends it.
func (Inside) Close() {}
