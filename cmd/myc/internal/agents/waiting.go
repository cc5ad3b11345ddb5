package agents

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/harness"
	"mycelium/internal/node/api"
)

// isHeadless reports whether an agent runs without a dialog, so that nobody sees in it that a call waits.
func isHeadless(l harness.Launch, args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(l.Headless, arg) })
}

// takeAsk sets --ask, which may stand anywhere before --, and returns the other arguments.
func takeAsk(flags *pflag.FlagSet, args []string) ([]string, error) {
	for i, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); arg == "--" {
			break
		} else if name != "--ask" {
			continue
		}
		taken, err := base.TakeFlag(flags, args[i:])
		return slices.Delete(slices.Clone(args), i, i+taken), err
	}
	return args, nil
}

// tellWaiting says on stderr, once for each, that a call of a session waits for an approval, until the function that it returns is
// called. If the daemon ends, it says no more: the agent goes on without it.
func (a *app) tellWaiting(ctx context.Context, session string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		c, err := a.Running(ctx)
		if err != nil || c == nil {
			return
		}
		told := map[string]bool{}
		_ = base.WatchApprovals(ctx, c, api.WatchParams{Session: session}, func(r approval.Request) {
			if r.State == approval.Pending && r.Kind == approval.Call && !told[r.ID] {
				told[r.ID] = true
				base.SayWaiting(a.Err, r.Tool, r.ID, r.Deadline)
			}
		})
	})
	return func() {
		cancel()
		watching.Wait()
	}
}
