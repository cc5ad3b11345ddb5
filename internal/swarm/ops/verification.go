package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/verify"
	"mycelium/internal/text"
)

// Commands reads commands of a verification. A program must be of the list, or one that a person has allowed.
func Commands(said, allowed []string) (out [][]string, err error) {
	for _, one := range said {
		argv, err := plan.ParseCommand(one)
		if err == nil {
			err = verify.Refuse(argv, allowed)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, argv)
	}
	return out, nil
}

// Bounds of what a session verifies with: each landing runs all of it.
const (
	maxCommands = 20
	maxCommand  = 1000 // bytes
)

// Verification adds commands that each landing must pass, and before that takes away those that there are, if anew is set. An agent takes
// away only what agents have added: it does not weaken what a person set. A landing that is being verified is not concerned.
func (o Ops) Verification(ctx context.Context, id string, commands []string, anew bool) (*book.Session, error) {
	return o.Change(ctx, id, "", func(s *book.Session) ([]book.Event, error) {
		v := &s.Settings
		if s.Closed {
			return nil, fmt.Errorf("session %s is closed, and nothing lands in it any more", s.ID)
		}
		added, err := Commands(commands, v.Programs)
		if err != nil {
			return nil, err
		}
		was := *v
		switch {
		case anew && o.By == Person:
			v.Verify, v.Added = nil, nil
		case anew:
			v.Verify, v.Added = without(v.Verify, v.Added), nil
		}
		for i, argv := range added {
			if len(commands[i]) > maxCommand {
				return nil, fmt.Errorf("a command has %d bytes, and %d is the limit", len(commands[i]), maxCommand)
			}
			had := among(v.Verify, argv)
			if !had {
				v.Verify = append(slices.Clip(v.Verify), argv)
			}
			switch {
			case o.By == Person: // what a person wants, too, no agent takes away
				v.Added = without(v.Added, [][]string{argv})
			case !had:
				v.Added = append(slices.Clip(v.Added), argv)
			}
		}
		if len(v.Verify) > maxCommands {
			return nil, fmt.Errorf("a session verifies with %d commands at most", maxCommands)
		}
		if slices.EqualFunc(was.Verify, v.Verify, slices.Equal) && len(was.Added) == len(v.Added) {
			return nil, nil
		}
		return []book.Event{{Kind: "session", Text: o.By + " changed the verification: " + Verifies(s)}}, nil
	})
}

// among reports whether a command is one of a list.
func among(list [][]string, argv []string) bool {
	return slices.ContainsFunc(list, func(one []string) bool { return slices.Equal(one, argv) })
}

// without are the commands of a list that are not of another one.
func without(list, gone [][]string) [][]string {
	return slices.DeleteFunc(slices.Clone(list), func(argv []string) bool { return among(gone, argv) })
}

// Verifies says what each landing must pass.
func Verifies(s *book.Session) string {
	if len(s.Settings.Verify) == 0 {
		return "nothing but the checks of each feature"
	}
	var all []string
	for _, argv := range s.Settings.Verify {
		all = append(all, strings.Join(argv, " "))
	}
	return text.Cell(strings.Join(all, "; "), 2000)
}
