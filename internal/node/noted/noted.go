// Package noted looks through what agents and people noted in a memory, before an agent is told it.
package noted

import (
	"sync"

	"github.com/go-json-experiment/json"

	"mycelium/internal/memory"
	"mycelium/internal/scan"
)

// Guard returns the guard of the memories: mask returns a text without its secrets.
func Guard(mask func(said string) string) memory.Guard {
	return memory.Guard{Mask: mask, Suspect: Reader()}
}

// Reader returns a function that says why a text is told to no agent, and "" if it may be told. It applies the rules for the definitions
// of servers: orders to the model, hidden characters, harmful commands, and so on. What is only doubtful there is told. The rules are
// compiled at the first text.
func Reader() func(said string) string {
	rules := sync.OnceValue(func() *scan.Scanner { return scan.New().Server(scan.Context{}) })
	return func(said string) string {
		raw, err := json.Marshal(map[string]string{"description": said})
		if err != nil {
			return "it is not valid UTF-8"
		}
		for _, f := range rules().Definition(raw) {
			if f.Severity == scan.Hard {
				return f.Why
			}
		}
		return ""
	}
}
