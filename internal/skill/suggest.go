package skill

import (
	"strings"

	"mycelium/internal/skill/intent"
)

// Intent returns what a text asks for, among the named skills (B14).
func (l *Library) Intent(said string, among []string) intent.Intent {
	return l.intents().Read(said, among)
}

// Suggest returns the skills that fit a text, the best first: those that it asks for, and without one those whose own words it shares.
// A skill that the text speaks against is not among them.
func (l *Library) Suggest(said string, among []string) []intent.Suggestion {
	in := l.intents().Read(said, among)
	if len(in.Wanted)+len(in.Refused) > 0 {
		return in.Wanted
	}
	return l.intents().Similar(said, among)
}

// about returns the words of a skill beyond its name, description and triggers.
func about(s *Skill) string {
	words := append([]string{s.DisplayName}, s.AllowedTools...)
	for line := range strings.Lines(s.Instructions) {
		if strings.HasPrefix(line, "#") {
			words = append(words, strings.Trim(line, "# \n"))
		}
	}
	return strings.ReplaceAll(strings.Join(words, " "), "__", " ")
}
