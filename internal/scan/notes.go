package scan

import (
	"slices"
	"strings"
)

// Notes about parameters and names of states read like orders: "system: must be metric or imperial", "<hidden> rows are not listed". The
// rules here tell them from orders to the model. A name counts as one only if the definition itself declares it, as a parameter or as a
// value, and only a note that asks for nothing else is harmless.

// strong are directives that no note about a parameter needs.
var strong = []string{"ignore", "you are", "approve", "obey", "disregard", "silently", "from now on", "read ", "fetch ", "exfiltrate",
	"override", "bypass", "reveal", "copy", "route"}

// address finds a form of address to the model that an order follows.
func (t *passage) address(s *sentence) (role string, ok bool) {
	role, ok = containsAny(s.text, roles...)
	if !ok {
		return "", false
	}
	order := s.text[strings.Index(s.text, role)+len(role)-5:]
	return role, contains(order, directives...) && !t.explains(s, role, order)
}

// explains reports whether a sentence explains what a parameter or a value means that has the name of a role.
func (t *passage) explains(s *sentence, role, order string) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(role, ":"), " mode")
	declared := t.params[name] || t.values[name] || strings.HasSuffix(t.where, ".role.description")
	if !declared || !strings.HasPrefix(strings.TrimSpace(s.text), role) || contains(order, strong...) {
		return false
	}
	return s.has&(cHarm|cRead|cStill|cTell|cIgnore|cAgree|cUser) == 0 && !slices.ContainsFunc(s.words, func(w word) bool {
		return w.class&cSend != 0 && w.text != "give" && w.text != "pass" && w.text != "include"
	})
}

// state reports whether a tag is the name of a value that a sentence speaks of: no tag closes it, and it orders nothing.
func (t *passage) state(tag, from string) bool {
	line, _, _ := strings.Cut(from, ".")
	return t.values[tag] && !strings.Contains(from, "</") && !contains(line, directives...) && !contains(line, "you ", "your ", "user")
}

// others reports whether what is not told after a word is not told to other people than the one who is served: "do not notify the users
// who watch the card". "Do not tell users apart" speaks of no telling at all.
func (s *sentence) others(not int) bool {
	for i := not + 1; i+1 < len(s.words); i++ {
		if w := s.words[i].text; w == "users" || w == "people" || w == "humans" {
			next := s.words[i+1].text
			return next == "apart" || (next == "who" || next == "whose") && s.words[not+1].text != "tell" && s.words[not+1].text != "reveal"
		}
	}
	return false
}

// sendsNothing reports whether the action after a word is not to send anything: "archive silently: send no notice to members".
func (s *sentence) sendsNothing(still int) bool {
	for i := still + 1; i+1 < len(s.words) && i <= still+3; i++ {
		if s.words[i].class&cSend != 0 {
			return s.words[i+1].text == "no" && s.has&cUser == 0
		}
	}
	return false
}
