package memory

import (
	"errors"
	"strings"
)

// Guard is what a text passes before an agent is told it, and before it is kept for an agent.
type Guard struct {
	Mask    func(said string) string // the text without its secrets
	Suspect func(said string) string // why no agent is told the text: it reads like an order to a model, for example; "" if it may be told
}

// entry returns an entry as an agent may see it, and why it may not; "" if it may.
func (g Guard) entry(e Entry) (Entry, string) {
	e.Content, e.Source = g.Mask(e.Content), g.Mask(e.Source)
	tags := make([]string, len(e.Tags))
	for i, t := range e.Tags {
		tags[i] = g.Mask(t)
	}
	e.Tags = tags
	return e, g.Suspect(e.said())
}

// keep returns an entry as it is kept for an agent, or an error that tells the agent why it is not.
func (g Guard) keep(e Entry) (Entry, error) {
	e, why := g.entry(e)
	if why != "" {
		return e, errors.New("this is not saved, because no agent would be told it: " + why + ". Say in your own words what is to be remembered")
	}
	return e, nil
}

// tags returns those tags that an agent may see.
func (g Guard) tags(list []string) []string {
	out := []string{}
	for _, t := range list {
		if t = g.Mask(t); g.Suspect(t) == "" {
			out = append(out, t)
		}
	}
	return out
}

// said is all of an entry that somebody wrote.
func (e *Entry) said() string { return e.Content + "\n" + e.Source + "\n" + strings.Join(e.Tags, ", ") }

// Withheld says why agents are not told an entry; "" if they are. suspect is that of [Guard].
func (e *Entry) Withheld(suspect func(said string) string) string { return suspect(e.said()) }
