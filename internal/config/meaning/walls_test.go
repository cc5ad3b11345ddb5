package meaning

import (
	"testing"

	"mycelium/internal/sandbox/jail"
)

// TestWalls: another maker of the walls is told by its name, and is not taken for a narrowing; ours is one.
func TestWalls(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		was, is jail.Backend
		text    string
		mark    Mark
	}{
		{"", jail.Own, "", Narrows},
		{"", jail.Bubblewrap, "bubblewrap makes the walls of commands in the sandbox instead of own, with the same layers", Unclear},
		{jail.Bubblewrap, jail.Container, "container makes the walls of commands in the sandbox instead of bubblewrap, with the same layers",
			Unclear},
		{"", jail.Seatbelt, "seatbelt makes the walls of commands in the sandbox instead of own, with other layers; the back end seatbelt was not " +
			"tried on a Mac: its rules were written from documentation and compared as text", Unclear},
		{jail.Seatbelt, "", "own makes the walls of commands in the sandbox instead of seatbelt, with other layers", Narrows},
		{jail.Container, "", "own makes the walls of commands in the sandbox instead of container, with the same layers", Narrows},
	} {
		if text, m := walls(nil, row.was, row.is); text != row.text || m != row.mark {
			t.Errorf("%q to %q: %s %q", row.was, row.is, m, text)
		}
	}
}
