package swarm

import (
	"fmt"

	"mycelium/internal/swarm/book"
)

// picture prints the schedule of a session.
func (a *app) picture(s *book.Session) error {
	for _, f := range s.Features {
		fmt.Fprintf(a.Out, "%s  %s  after %v\n", f.ID, f.Description, f.DependsOn)
	}
	return nil
}
