package run

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// SessionCost is what one session of an agent cost on one day, in US dollars.
type SessionCost struct {
	USD    float64            `json:"usd"`
	Models map[string]float64 `json:"models,omitempty"` // the parts of USD, by model; empty where an earlier version kept only the sum
}

// UnmarshalJSONFrom also reads the number that an earlier version kept.
func (c *SessionCost) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '0' {
		*c = SessionCost{}
		return json.UnmarshalDecode(d, &c.USD)
	}
	type plain SessionCost
	return json.UnmarshalDecode(d, (*plain)(c))
}

// add adds the cost of a message.
func (c *SessionCost) add(model string, usd float64) {
	if c.Models == nil {
		c.Models = map[string]float64{}
	}
	c.Models[model] += usd
	c.USD += usd
}

// clone returns a deep copy.
func (c *SessionCost) clone() SessionCost { return SessionCost{c.USD, maps.Clone(c.Models)} }

// dayCosts are the costs of one day, by agent and session: "claude 1111-2222".
type dayCosts map[string]SessionCost

// total is the sum of a day.
func (d dayCosts) total() (usd float64) {
	for _, c := range d {
		usd += c.USD
	}
	return usd
}

// The costs of a day are in a file of their own in the folder of the costs: agents-2026-11-22.json.
const (
	costsPrefix = "agents-"
	costsSuffix = ".json"
)

func costsFile(dir, day string) string { return filepath.Join(dir, costsPrefix+day+costsSuffix) }

// readDay reads the costs of a day. A day without a file has no costs.
func readDay(file string) (dayCosts, error) {
	costs := dayCosts{}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return costs, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &costs)
	}
	if err != nil {
		return dayCosts{}, fmt.Errorf("read the costs of agents in %s: %w", file, err)
	}
	for session, c := range costs {
		if !(c.USD >= 0) {
			return dayCosts{}, fmt.Errorf("read the costs of agents in %s: session %q spent %v", file, session, c.USD)
		}
	}
	if costs == nil {
		costs = dayCosts{}
	}
	return costs, nil
}

// Cost is what a session of an agent cost with one model, in US dollars.
type Cost struct {
	Agent   string  `json:"agent"`
	Session string  `json:"session"` // the agent's own id of it
	Model   string  `json:"model"`   // "": an earlier version kept only the sum
	USD     float64 `json:"usd"`
}

// Costs adds up what the budget of a project kept in its folder: the days from that of since, in the time zone of since. They are in no
// particular order. Agents cost nothing there that no daemon has followed.
func Costs(dir string, since time.Time) ([]Cost, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the costs of agents: %w", err)
	}
	sums := map[Cost]float64{}
	for _, e := range entries {
		day, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), costsSuffix), costsPrefix)
		if _, err := time.Parse(time.DateOnly, day); !ok || err != nil || day < since.Format(time.DateOnly) {
			continue
		}
		costs, err := readDay(costsFile(dir, day))
		if err != nil {
			return nil, err
		}
		for session, c := range costs {
			agent, id, _ := strings.Cut(session, " ")
			for model, usd := range c.Models {
				sums[Cost{Agent: agent, Session: id, Model: model}] += usd
			}
			if len(c.Models) == 0 {
				sums[Cost{Agent: agent, Session: id}] += c.USD
			}
		}
	}
	out := make([]Cost, 0, len(sums))
	for c, usd := range sums {
		c.USD = usd
		out = append(out, c)
	}
	return out, nil
}

// CostOn returns what agents cost on the day of a time, in US dollars.
func CostOn(dir string, at time.Time) (usd float64, err error) {
	costs, err := readDay(costsFile(dir, at.Format(time.DateOnly)))
	return costs.total(), err
}
