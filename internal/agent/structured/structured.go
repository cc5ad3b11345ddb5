// Package structured gets an answer out of an agent that is JSON and fits a schema.
package structured

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"mycelium/internal/agent"
	"mycelium/internal/text"
)

// Schema is a JSON Schema of an answer.
type Schema struct {
	text     string
	resolved *jsonschema.Resolved
}

// Parse reads a schema. References to other documents are not followed.
func Parse(raw []byte) (parsed *Schema, err error) {
	defer func() {
		if p := recover(); p != nil { // of the library, at a schema that it does not expect
			err = fmt.Errorf("the schema cannot be compiled: %v", p)
		}
	}()
	var s jsonschema.Schema
	if err := stdjson.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("it is not a JSON Schema: %w", err)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{Loader: func(*url.URL) (*jsonschema.Schema, error) {
		return nil, errors.New("references to other documents are not followed")
	}})
	if err != nil {
		return nil, fmt.Errorf("the schema does not compile: %w", err)
	}
	return &Schema{strings.TrimSpace(string(raw)), r}, nil
}

// Check returns the JSON value that an answer is, if it fits. A fence of Markdown around it is no part of it.
func (s *Schema) Check(answer string) (jsontext.Value, error) {
	v := jsontext.Value(text.Unfenced(answer))
	if !v.IsValid() {
		return nil, errors.New("the answer is not one JSON value")
	}
	var value any
	if err := json.Unmarshal(v, &value); err != nil {
		return nil, fmt.Errorf("the answer is not one JSON value: %w", err)
	}
	if err := s.resolved.Validate(value); err != nil {
		return nil, fmt.Errorf("the answer does not fit the schema: %w", err)
	}
	return v, nil
}

// Say asks an engine for an answer that fits, and once more with the error if the first does not.
func (s *Schema) Say(ctx context.Context, e agent.Engine, said string, tell func(agent.Event)) (agent.Turn, jsontext.Value, error) {
	turn, err := e.Say(ctx, said+"\n\nYour last answer must be one JSON value that fits this JSON Schema, without any other text:\n"+s.text,
		tell)
	if err != nil || turn.Stop != agent.StopEnd {
		return turn, nil, err
	}
	v, wrong := s.Check(turn.Text)
	if wrong == nil {
		return turn, v, nil
	}
	tell(agent.Event{Note: wrong.Error() + "; asking once more"})
	again, err := e.Say(ctx, text.Truncate(wrong.Error(),
		2000)+". Answer again, with one JSON value that fits the schema and no other text.", tell)
	again.Usage, again.Cost, again.Turns = turn.Usage.Plus(again.Usage), turn.Cost+again.Cost, turn.Turns+again.Turns
	for _, tool := range again.Tools {
		if !slices.Contains(turn.Tools, tool) {
			turn.Tools = append(turn.Tools, tool)
		}
	}
	again.Tools = turn.Tools
	if err != nil || again.Stop != agent.StopEnd {
		return again, nil, err
	}
	v, err = s.Check(again.Text)
	return again, v, err
}
