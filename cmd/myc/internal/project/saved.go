package project

import (
	"fmt"

	"mycelium/internal/gate/session"
	"mycelium/internal/text"
)

// savedTokens is the row about what tool search saves; none where nobody listed tools.
func savedTokens(l session.Listed) [][]string {
	if l.All == 0 {
		return nil
	}
	return [][]string{{"schemas", fmt.Sprintf("%d of %d tokens listed, %.0f %% saved, in %s", l.Listed, l.All,
		100*(1-float64(l.Listed)/float64(l.All)), text.Count(l.Sessions, "session"))}}
}
