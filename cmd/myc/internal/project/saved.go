package project

import (
	"fmt"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/gate/session"
	"mycelium/internal/text"
)

// savedTokens says what tool search saves.
func savedTokens(l session.Listed) string {
	if l.All == 0 {
		return base.OrDash("")
	}
	return fmt.Sprintf("%d of %d tokens of tool schemas, %.0f %% saved (%s)", l.Listed, l.All, 100*(1-float64(l.Listed)/float64(l.All)),
		text.Count(l.Sessions, "session"))
}
