package skill

import "mycelium/internal/skill/intent"

// Suggest returns the skills that a text asks for.
func (l *Library) Suggest(said string, among []string) []intent.Suggestion {
	return l.intents.Read(said, among).Wanted
}

// Intent returns what a text asks for, among the named skills.
func (l *Library) Intent(said string, among []string) intent.Intent {
	return l.intents.Read(said, among)
}
