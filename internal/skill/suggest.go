package skill

import "mycelium/internal/skill/intent"

// Intent returns what a text asks for, among the named skills (B14).
func (l *Library) Intent(said string, among []string) intent.Intent {
	return l.intents().Read(said, among)
}
