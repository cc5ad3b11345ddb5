package project

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"mycelium/cmd/myc/internal/base"
	loaded "mycelium/internal/node/project"
	"mycelium/internal/text"
)

// doctorServers starts every server once, with or without a daemon, and reports those that do not start. It returns their names.
func (a *app) doctorServers(ctx context.Context, v *loaded.View, add base.Report) (failed []string) {
	probes := make([]loaded.Probe, len(v.Project.Servers))
	var all sync.WaitGroup
	slots := make(chan struct{}, 4) // as many as the pool learns at once
	for i, s := range v.Project.Servers {
		if s.Disabled || s.Builtin != "" {
			continue
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			probes[i] = a.Probe(ctx, v.Project, s, false, v.Project.MayStart)
		})
	}
	all.Wait()
	for i, s := range v.Project.Servers {
		switch p := probes[i]; {
		case s.Disabled || s.Builtin != "":
		case p.Err != nil:
			hint := "myc server test " + s.Name + " starts it again"
			if s.URL != "" {
				hint = "check that its address is right and answers; myc server test " + s.Name + " tries again"
			}
			why := strings.TrimPrefix(p.Err.Error(), fmt.Sprintf("server %q: ", s.Name)) // the row names it
			add("problem", "server "+s.Name, why, cmp.Or(text.HintOf(p.Err), hint))
			failed = append(failed, s.Name)
		default:
			add("ok", "server "+s.Name, "starts; "+text.Count(len(p.Tools), "tool"), "")
		}
	}
	return failed
}
