package policy

import (
	"fmt"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
)

// remotePrompt shows the prompt that a role has from a server, as it was accepted.
func (a *app) remotePrompt(r *project.RemotePrompt) {
	if r == nil {
		return
	}
	accepted := r.Accepted
	if accepted == "" {
		accepted = "nothing yet, so the fallback holds"
	}
	fmt.Fprintln(a.Out)
	a.Facts([][]string{{"prompt of", r.String()}, {"kept for", r.Keep().String()}, {"fallback", base.OrDash(r.Fallback)},
		{"accepted", accepted}})
}
