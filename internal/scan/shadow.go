package scan

import "strings"

// foreignTool reports whether a word looks like the name of another server's tool.
func (w *walk) foreignTool(word string) bool {
	word = strings.Trim(word, "_")
	if w.own[word] || w.params[word] || len(word) < 4 {
		return false
	}
	if w.others[word] && strings.Contains(word, "_") || strings.Contains(word, "__") {
		return true
	}
	if !strings.Contains(word, "_") || strings.HasPrefix(word, "u_") {
		return false
	}
	first, rest, _ := strings.Cut(word, "_")
	if commonSnake[word] || rest == "" || first == "" {
		return false
	}
	for _, r := range word {
		if r >= '0' && r <= '9' || r >= 0x80 {
			return false
		}
	}
	return true
}

// commonSnake are words with an underscore that are not tools.
var commonSnake = map[string]bool{"node_modules": true, "file_path": true, "user_id": true, "api_key": true, "access_token": true,
	"snake_case": true, "utf_8": true, "created_at": true, "updated_at": true, "node_id": true, "lock_file": true,
	"weather_api_key": true, "google_maps_api_key": true, "database_url": true, "next_cursor": true, "team_id": true, "id_rsa": true,
	"bash_history": true, "refresh_token": true, "pf_inet": true, "sock_stream": true, "your_token": true}

// shadow looks for interference with the tools of other servers.
func (t *passage) shadow(s *sentence) {
	line := s.text
	if t.place == inKey {
		return
	}
	name := ""
	for i, w := range s.words {
		if s.embedded(i) {
			continue
		}
		if t.foreignTool(w.text) || strings.HasSuffix(line[:min(len(line), w.end+1)], "_*") && !t.own[w.text] {
			name = w.text
			if t.about(s, i) {
				t.hit(Shadow, s, i, "the text says how to use or replace "+name+", which does not belong to this server")
				return
			}
		}
	}
	if m, ok := containsAny(line, "other server", "another server", "other mcp server", "different server", "other tool",
		"every other search tool", "any other tool", "all other tools", "every tool of", "other mcp tool"); ok {
		if s.has&cMust != 0 || contains(line, "instead of", "forward", "route", "before calling", "before every", "replace", "prefer",
			"go through", "pass through", "report the answer", "stay away", "expect", "override", "do not use", "whenever") {
			if !negated(line, m) || contains(line, "do not use", "don't use", "not be used") {
				t.hit(Shadow, s, s.wordAt(m), "the text says how to use the tools of other servers")
				return
			}
		}
	}
	if m, ok := containsAny(line, " of the filesystem server", " of the memory server", " of the time server", " of the whatsapp server",
		" of the github server", "built-in file tool", "built-in tools"); ok && t.about(s, s.wordAt(m)) {
		t.hit(Shadow, s, s.wordAt(m), "the text says how to use the tools of other servers")
		return
	}
	if name != "" && t.others[name] {
		t.add(Shadow, Soft, t.where, line, "the text names "+name+", a tool of another server")
	}
}

// embedded reports whether a word is a part of an address, a template or an expression.
func (s *sentence) embedded(i int) bool {
	w := s.words[i]
	before, after := byte(' '), byte(' ')
	if w.start > 0 {
		before = s.text[w.start-1]
	}
	if w.end < len(s.text) {
		after = s.text[w.end]
	}
	return strings.IndexByte("={}&?/<$%@#", before) >= 0 || strings.IndexByte("={}>/", after) >= 0
}

// about reports whether a sentence says how to use the word at i, or not to use it.
func (t *passage) about(s *sentence, i int) bool {
	line := s.text
	if i >= len(s.words) {
		return false
	}
	before := line[:s.words[i].start]
	switch {
	case contains(before, "instead of", "in place of", "rather than", "replaces", "replacement for", "supersedes", "overrides", "override",
		"prefer", "do not use", "don't use", "never use", "stop using", "behaviour of", "behavior of", "any request for",
		"all calls to", "calls to", "every call to", "stay away from", "arguments of each", "arguments of every"):
		return !strings.Contains(before, "than this")
	case contains(line, "is broken", "is deprecated", "must not be used", "no longer", "now requires", "now needs", "is unsafe", "corrupts",
		"is wrong", "changes:", "first pass through", "through this tool", "only works when", "returns lies", "lose data", "always come here",
		"expect the flag", "expects the"):
		return true
	case s.has&cWhen != 0 && (s.has&cMust != 0 || contains(line, "change ", "set ", "add ", "is set", "has to", "replace the", "with its",
		"call ", "put ")) && s.clause(i):
		return true
	}
	return false
}

// clause reports whether the word at i is the subject of a "when", "if" or "after" before it.
func (s *sentence) clause(i int) bool {
	for j := max(0, i-6); j < i; j++ {
		if s.words[j].class&cWhen != 0 {
			return true
		}
	}
	return false
}
