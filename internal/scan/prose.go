package scan

import (
	"strings"

	"mycelium/internal/policy/secretfile"
)

// prose looks for orders to the model in a text.
func (t *passage) prose() {
	t.folded = fold(t.raw)
	t.markup()
	for _, line := range sentences(t.folded) {
		if len(line) < 6 {
			continue
		}
		if !ascii(line) {
			t.cjk(line)
		}
		s := t.wordsOf(line)
		t.orders(&s)
		t.exfil(&s)
		t.shadow(&s)
	}
	t.placeholders()
}

// hit records a finding in a sentence. A quoted part of a text about dangers is not a finding.
func (t *passage) hit(family string, s *sentence, at int, why string) {
	severity := Hard
	if quoted(s, at) || s.has&cRefuse != 0 && t.place == inProse && family != Exfil {
		severity = Soft
	}
	if t.place == inData || t.place == inKey {
		severity = Hard
		if family != Shadow {
			why += ", in a place that should not contain prose"
		}
	}
	t.add(family, severity, t.where, s.text, why)
}

// quoted reports whether a word is between quotation marks.
func quoted(s *sentence, at int) bool {
	if at >= len(s.words) {
		return false
	}
	before, after := s.text[:s.words[at].start], s.text[s.words[at].end:]
	for _, q := range []string{`"`, "`", "「", "«"} {
		if strings.Count(before, q)%2 == 1 && strings.Contains(after, closing(q)) {
			return true
		}
	}
	return false
}

func closing(q string) string {
	switch q {
	case "「":
		return "」"
	case "«":
		return "»"
	}
	return q
}

// markup looks for marks that present a text as the message of somebody else: tags, chat templates, roles.
func (t *passage) markup() {
	f := t.folded
	for _, tag := range []string{"important", "system", "instructions", "instruction", "secret", "hidden", "critical", "admin", "override",
		"priority"} {
		if i := strings.Index(f, "<"+tag+">"); i >= 0 && len(strings.Fields(f[i:])) >= 4 && !t.state(tag, f[i:]) {
			t.add(Instruction, Hard, t.where, f[i:], "a tag marks a text as an order")
		}
	}
	if m, ok := containsAny(f, "<|im_start|>", "<|system|>", "<|im_end|>", "[inst]", "[/inst]", "<<sys>>", "### instruction", "### system",
		"<|endoftext|>", "<|start_header_id|>"); ok {
		t.add(Instruction, Hard, t.where, f[max(0, strings.Index(f, m)):], "the text has the marks of a chat template")
	}
}

// roles are forms of address to the model.
var roles = []string{"system:", "assistant:", "model:", "ai:", "note to the model", "note for the ai", "note for the model", "hidden note:",
	"note to ai", "llm:", "as the ai", "as an ai", "developer mode", "maintenance mode",
	"admin mode", "god mode", "assistant,", "the assistant must", "assistant must", "the model must", "the ai must", "the model should",
	"the assistant should"}

// directives are words of orders after such an address.
var directives = []string{"you must", "you are", "must ", "ignore", "do not", "don't", "never", "approve", "always", "disregard", "obey",
	"shall", "silently", "from now on", "keep ", "read ", "fetch ", "exfiltrate", "override",
	"bypass", "reveal", "copy", "route", "should"}

// orders looks for orders to the model in a sentence.
func (t *passage) orders(s *sentence) {
	line := s.text
	if i, ok := s.near(cIgnore, cOrder, 7); ok && s.between(i, cOrder, 7, cPrior|cLocal) {
		t.hit(Instruction, s, i, "the text tells the model to ignore its instructions")
	}
	if m, ok := containsAny(line, "forget everything", "forget all", "forget what", "everything you were told", "rules no longer apply",
		"guidelines no longer apply", "rules do not apply", "guidelines do not apply",
		"they do not apply", "no longer applies to you", "your new task", "your new role", "your new goal", "your real task", "obey this",
		"obey the", "must obey", "from now on you", "jailbr", "olvida todo", "oublie tout",
		"pay no attention to the", "set aside the earlier", "set aside the previous", "set aside your", "set aside all", "need not follow your",
		"no longer bound by", "outranks the user", "as if the user had asked", "coming from the developer", "nicht mehr an deine regeln",
		"ignore what the user", "disregard what the user", "override the user", "ignore the user", "disregard the user", "against the user"); ok {
		t.hit(Instruction, s, s.wordAt(m), "the text gives the model new orders")
	}
	if m, ok := containsAny(line, "you are now in ", "you are now dan", "you are now an admin", "you are now a ", "you are now unrestricted",
		"you are now root", "you are now free", "you are now the "); ok && !strings.Contains(line, "you are now going") {
		t.hit(Instruction, s, s.wordAt(m), "the text gives the model another role")
	}
	if m, ok := containsAny(line, "note to the ai", "note to ai", "note for the ai", "note to the model", "note for the model",
		"note to the assistant", "hidden note:", "hidden note to", "hidden note for", "hidden note,", "hidden note -",
		"message to the model", "message to the ai"); ok {
		t.hit(Instruction, s, s.wordAt(m), "the text addresses the model behind the user's back")
	}
	if role, ok := t.address(s); ok {
		t.hit(Instruction, s, s.wordAt(role), "the text pretends to be a message of the system or the model")
	}
	t.secrecy(s)
	t.approval(s)
	t.first(s)
	if path, ok := sensitive(line); ok {
		t.files(s, path)
	}
}

// secrecy looks for orders to keep something from the user.
func (t *passage) secrecy(s *sentence) {
	line := s.text
	why := "the text tells the model to keep something from the user"
	if i, ok := s.near(cNot, cTell, 1); ok && !strings.Contains(s.text[s.words[i].end:min(len(s.text), s.words[i].end+3)], ",") {
		if s.others(i) {
			return
		}
		if s.has&cUser != 0 && s.after(i, cUser, 7) {
			t.hit(Instruction, s, i, why)
		} else if contains(line, "не сообщай", "не говори", "n'en parle", "never tell", "never mention", "do not mention this",
			"don't mention this", "never reveal") {
			t.hit(Instruction, s, i, why)
		}
	} else if i, ok := s.either(cTell, cNot, 4); ok && s.has&cUser != 0 && foreign(line) {
		t.hit(Instruction, s, i, why)
	}
	if i, ok := s.near(cStill, cSend|cPut|cHarm|cCall|cRead, 2); ok && !s.sendsNothing(i) {
		t.hit(Instruction, s, i, "the text tells the model to do something silently")
	}
	if m, ok := containsAny(line, "keep this secret", "keep it secret", "keep this hidden", "keep it hidden", "keep this from",
		"hide this from", "hide it from", "hide its output", "hide the output", "hidden from the user", "secret from the user", "never learns",
		"must not learn", "never find out", "must not find out", "tell no one", "tell nobody", "verschweig",
		"without the user knowing", "without the user's knowledge", "user must not know", "user should not know", "user must not see",
		"user should never see", "user does not need to know", "user need not know", "behind the user's back"); ok {
		t.hit(Instruction, s, s.wordAt(m), why)
	}
}

// foreign reports whether a sentence is not in English, judged by its articles and prepositions.
func foreign(line string) bool {
	return !contains(line, " the ", " to ", " is ", " of ", " and ", " a ")
}

// approval looks for orders to avoid the approval of a person.
func (t *passage) approval(s *sentence) {
	line := s.text
	why := "the text tells the model to act without a person's approval"
	if i, ok := s.near(cNot, cAsk, 1); ok && s.has&cUser != 0 {
		switch {
		case strings.Contains(line, "without asking") && s.has&(cHarm|cSend) != 0 && !negated(line, "without asking"):
			t.hit(Instruction, s, i, why)
		case s.has&cAgree != 0 && !strings.Contains(line, "without"):
			t.hit(Instruction, s, i, why)
		}
	}
	if m, ok := containsAny(line, "bypass approval", "bypass confirmation", "bypass the approval", "bypass safety", "skip confirmation",
		"skip approval", "skip the confirmation", "approve everything", "approve all", "already approved every", "already approved all",
		"always answer yes", "no need to check with the user", "without checking with the user", "no need to ask the user before",
		"user has already approved", "user already approved", "no confirmation is needed from", "auto-approve every", "without telling",
		"without informing", "without notifying"); ok && !negated(line, m) {
		t.hit(Instruction, s, s.wordAt(m), why)
	}
}

// negated reports whether a part of a sentence is negated, as in "never do X without telling the user".
func negated(line, part string) bool {
	i := strings.Index(line, part)
	return i > 0 && contains(" "+line[:i], " not ", " never ", " don't ", " cannot ", " refuse", " must not ")
}

// first looks for a tool that demands to be called before all others.
func (t *passage) first(s *sentence) {
	line := s.text
	if s.has&cMust == 0 || s.has&cCall == 0 {
		return
	}
	if m, ok := containsAny(line, "in every conversation", "every conversation", "in every message", "before any other", "before every other",
		"before anything else", "before every tool", "before any tool", "before all other", "no matter what", "for every request",
		"in each conversation", "on every turn", "first, always", "before every call", "before each call to any"); ok {
		if !strings.Contains(line, "dialog") {
			t.hit(Instruction, s, s.wordAt(m), "the text demands that the model calls the tool before anything else")
		}
	}
}

// secretPlaces are words for files and stores of secrets: the names of the one table, and other words that people use.
var secretPlaces = append([]string{"~/.ssh", ".ssh/", "ssh key", "~/.aws", "~/.kube", "kube/config", "mcp.json", "env file", "~/.config",
	"~/.gnupg", "~/.docker", "bash_history", "zsh_history", "/etc/passwd", "/etc/shadow", "browser history", "private key", "keychain",
	"wallet.dat", "seed phrase", "~/.claude", "claude_desktop_config", "~/.codex"}, secretNames()...)

// secretNames returns the names of the table that stand for a secret wherever they are written: they have no star but at the end.
func secretNames() (names []string) {
	for _, f := range secretfile.Files {
		name := strings.TrimSuffix(f.Path, "*")
		if f.Grade == secretfile.Named && !strings.Contains(name, "*") {
			names = append(names, name)
		}
	}
	return names
}

func sensitive(line string) (string, bool) {
	p, ok := containsAny(line, secretPlaces...)
	if p == ".env" && ok && !contains(line, " .env", "/.env", "\".env", "`.env", "(.env") && !strings.HasPrefix(line, ".env") {
		return "", false
	}
	return p, ok
}

// files looks for orders to read such a place or to pass its content on.
func (t *passage) files(s *sentence, place string) {
	at := strings.Index(s.text, place)
	for i, w := range s.words {
		if w.start > at {
			break
		}
		if w.class&(cRead|cPut|cSend) == 0 || s.passive(i) || at-w.end > 90 {
			continue
		}
		if t.place == inParam && w.class&cPut != 0 || t.imperative(s, i) {
			t.hit(Exfil, s, i, "the text asks the model to read or pass on "+place)
			return
		}
	}
	if t.place != inProse && contains(s.text, "content", "contents", "text of", "value of") &&
		contains(s.text[:at], "content", "text of", "value of") {
		t.hit(Exfil, s, len(s.words), "the text asks for the content of "+place)
	}
}

// imperative reports whether a word is a command: at the beginning of the sentence, or after an introduction of commands.
func (t *passage) imperative(s *sentence, i int) bool {
	if t.place == inData || t.place == inKey || i == 0 && len(s.words) > 0 && t.place != inProse {
		return true
	}
	before := s.text[:s.words[i].start]
	trimmed := strings.TrimRight(before, " ")
	if trimmed == "" || strings.HasSuffix(trimmed, ",") || strings.HasSuffix(trimmed, ":") || strings.HasSuffix(trimmed, ">") {
		return true
	}
	if i > 0 {
		switch s.words[i-1].text {
		case "first", "must", "always", "then", "and", "please", "also", "you", "to", "silently", "shall", "should", "zuerst", "d'abord", "now",
			"zunachst", "primero":
			return true
		}
	}
	return false
}

// passive reports whether a word is a participle: "is read from".
func (s *sentence) passive(i int) bool {
	if i == 0 {
		return false
	}
	switch s.words[i-1].text {
	case "is", "are", "was", "were", "be", "been", "being", "of", "can", "may", "cannot", "never", "not", "the", "a", "an":
		return true
	}
	return false
}

// between reports whether a word of class c is between a word and the next word of class b.
func (s *sentence) between(from int, b class, gap int, c class) bool {
	seen := false
	for i := from + 1; i < len(s.words) && i <= from+gap+1; i++ {
		if s.words[i].class&c != 0 {
			seen = true
		}
		if s.words[i].class&b != 0 && (seen || s.words[i].class&c != 0) {
			return true
		}
		if s.words[i].class&b != 0 {
			break
		}
	}
	// In Romance languages and in English the adjective may follow: "instrucciones anteriores", "rules given to you".
	for i := from + 1; i < len(s.words) && i <= from+gap+4; i++ {
		if s.words[i].class&c != 0 {
			return true
		}
	}
	return false
}

// after reports whether a word of class c follows within gap words.
func (s *sentence) after(from int, c class, gap int) bool {
	for i := from + 1; i < len(s.words) && i <= from+gap+1; i++ {
		if s.words[i].class&c != 0 {
			return true
		}
	}
	return false
}

// wordAt is the index of the first word of a part of the sentence.
func (s *sentence) wordAt(part string) int {
	at := strings.Index(s.text, part)
	for i, w := range s.words {
		if w.end > at {
			return i
		}
	}
	return len(s.words)
}
