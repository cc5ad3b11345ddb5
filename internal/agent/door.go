package agent

import (
	"context"
	"encoding/json"

	"mycelium/internal/model"
)

// Door is the session of an agent at the gateway. Its methods are safe for concurrent use.
type Door interface {
	// Tools lists the tools that are visible now.
	Tools(ctx context.Context) ([]Tool, error)
	// Call calls a tool and waits for its end, as long as that takes. waits is called when the call waits for a person. The error is that
	// the gateway could not be asked, or that of ctx; a tool that fails or is refused is a result.
	Call(ctx context.Context, u Use, waits func(Waiting)) (Result, error)
	// Said tells the session what a person said, which may activate skills, and returns what stands then. Nothing was said with "".
	Said(ctx context.Context, said string) (Standing, error)
	// Changed reports whether the list of tools may have changed since Changed was called last.
	Changed() bool
}

// Tool is a tool that an agent sees.
type Tool struct {
	Name        string // server__name
	Description string
	Schema      json.RawMessage // of its arguments
	ReadOnly    bool            // it says that it changes nothing
}

// Use is one call of a tool.
type Use struct {
	ID       string // of the model's tool_use block
	Tool     string
	Args     json.RawMessage
	Thinking string  // why the model makes the call, in its own words; "" where it did not say
	Model    string  // that thought so
	Budget   float64 // USD that is left of the conversation's budget; 0: it has none
}

// Result is the outcome of a call. Effect, Failed and Text are those of [Done].
type Result struct {
	Effect  string
	Failed  bool
	Text    string
	Content []model.Block // what the model is shown: texts and pictures
	Cost    float64       // USD, of the sub-agent that the call started
}

// Standing is what a session is.
type Standing struct {
	Role   string
	Active []string // skills
	Brief  string   // what the model is told of the session, its role and its active skills
	Asks   []string // skills that were asked for, and that a person may activate
	Wanted string   // what the model is told of skills that were asked for and are not active
	Model  string   // that the role prefers; "": none
}
