// Package agentcard reads the agent cards of A2A (0.3 and 1.0) and verifies their signatures.
//
// A card is public: whoever can fetch it can present it. A signature says that the holder of a key wrote the card, and not that the agent
// which brings it is the one that it describes. So a card is never a credential here: an operator mints a session from it.
package agentcard

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy/identity"
	"mycelium/internal/rawjson"
)

// MaxSize bounds a card, in bytes. Cards in the field have some kilobytes.
const MaxSize = 256 << 10

// maxSkills bounds the skills of a card.
const maxSkills = 1000

// Card is an agent card, as far as it is used here.
type Card struct {
	identity.Card
	Signatures []Signature

	raw []byte
}

// Signature is a signature of a card in the JSON form of a JWS (RFC 7515, 7.2).
type Signature struct {
	Protected string `json:"protected"`
	Signature string `json:"signature"`
}

// document is the form of a card. The members that 0.3 and 1.0 demand are pointers or raw, so that an absent one is seen.
type document struct {
	Name         string         `json:"name"`
	Description  *string        `json:"description"`
	Version      *string        `json:"version"`
	URL          string         `json:"url"`                 // 0.3
	Interfaces   jsontext.Value `json:"supportedInterfaces"` // 1.0
	Capabilities jsontext.Value `json:"capabilities"`
	Inputs       jsontext.Value `json:"defaultInputModes"`
	Outputs      jsontext.Value `json:"defaultOutputModes"`
	Skills       []struct {
		ID          string   `json:"id"`
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Tags        []string `json:"tags"`
	} `json:"skills"`
	Signatures []Signature `json:"signatures"`
}

// Parse reads a card. A card with a member twice is refused: readers would not agree about it.
func Parse(raw []byte) (*Card, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("it is larger than %d bytes", MaxSize)
	}
	if jsontext.Value(raw).Kind() != jsontext.KindBeginObject {
		return nil, errors.New("it is no JSON object")
	}
	var d document
	if err := rawjson.Decode(raw, &d); err != nil {
		return nil, err
	}
	if len(d.Skills) > maxSkills {
		return nil, fmt.Errorf("it lists more than %d skills", maxSkills)
	}
	c := &Card{Card: identity.Card{Name: d.Name, Lacks: d.lacks()}, Signatures: d.Signatures, raw: raw}
	for _, s := range d.Skills {
		c.Skills = append(c.Skills, identity.Skill{ID: s.ID, Name: s.Name, Tags: s.Tags})
	}
	return c, nil
}

// lacks returns the required members that are absent or empty.
func (d *document) lacks() (names []string) {
	need := func(there bool, name string) {
		if !there {
			names = append(names, name)
		}
	}
	need(d.Name != "", "name")
	need(d.Description != nil && *d.Description != "", "description")
	need(d.Version != nil && *d.Version != "", "version")
	need(d.URL != "" || d.Interfaces.Kind() == jsontext.KindBeginArray, "url or supportedInterfaces")
	need(d.Capabilities.Kind() == jsontext.KindBeginObject, "capabilities")
	need(d.Inputs.Kind() == jsontext.KindBeginArray, "defaultInputModes")
	need(d.Outputs.Kind() == jsontext.KindBeginArray, "defaultOutputModes")
	need(len(d.Skills) > 0, "skills")
	for i, s := range d.Skills {
		need(s.ID != "" && s.Name != "" && s.Description != "" && s.Tags != nil, "id, name, description or tags of skills["+strconv.Itoa(i)+"]")
	}
	return names
}
