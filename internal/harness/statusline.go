package harness

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// StatusLine describes the setting of an agent whose command prints its status line. The agent starts the command by a shell, with a JSON
// object about the session on standard input, and shows the first line of its output. The format is that of Claude Code 2.1.197 and
// 2.1.330.
type StatusLine struct {
	Setting string // its name at the root of a file of settings
	Event   string // the event in our entry; the input names none
}

// statusLimit is how long the status line may take. The agent shows the last one meanwhile.
const statusLimit = 5 * time.Second

// maxStatus bounds a status line, in cells of a terminal. The agent cuts it at the width of its own.
const maxStatus = 300

// statusLine returns an answer as a status line. Its message may have texts of others in it.
func statusLine(a Answer) []byte {
	return []byte(text.TruncateCells(text.Flatten(strings.TrimSpace(a.Message)), maxStatus) + "\n")
}

// Status returns the value of the setting that makes a program print the status line. The agent starts it when something happens and, if
// every is not 0, after each so many seconds.
func (a Agent) Status(r Runs, every int) jsontext.Value {
	fields := []rawjson.Field{{Name: "type", Value: rawjson.Quote("command")}, {Name: "command", Value: rawjson.Quote(r.shellLine())}}
	if every > 0 {
		fields = append(fields, rawjson.Field{Name: "refreshInterval", Value: fmt.Append(nil, every)})
	}
	return rawjson.Object(fields...)
}
