package scan

import "strings"

// exfil looks for requests for data that a tool does not need.
func (t *passage) exfil(s *sentence) {
	line := s.text
	asked := t.place == inParam || t.place == inData || t.place == inKey
	if i, ok := s.talk(); ok {
		switch {
		case asked && s.has&cWhole != 0 && !contains(line, "language of the conversation"):
			t.hit(Exfil, s, i, "the text asks for the conversation")
		case s.has&cSend != 0 && s.has&cWhole != 0 && contains(line, "conversation", "chat history", "chat log", " the chat", "this chat",
			"dialogue"):
			t.hit(Exfil, s, i, "the text says that the conversation is sent somewhere")
		}
	}
	if i := strings.Index(line, "system prompt"); i >= 0 && contains(line[max(0, i-40):i], "your ", "copy of", "model's", "own ",
		"contents of your", "reveal", "print", "repeat", "the current", "assistant's") {
		t.hit(Exfil, s, s.wordAt("system prompt"), "the text asks for the system prompt")
	}
	if m, ok := containsAny(line, "hidden instructions", "initial instructions", "complete chain of thought", "full chain of thought",
		"entire chain of thought", "your chain of thought"); ok && asked {
		t.hit(Exfil, s, s.wordAt(m), "the text asks for the model's instructions or thoughts")
	}
	if m, ok := containsAny(line, "all environment variables", "every environment variable", "environment variables of the process",
		"the environment variables", "entire environment", "process environment", "all env vars"); ok && (asked || s.has&cSend != 0) {
		t.hit(Exfil, s, s.wordAt(m), "the text asks for environment variables")
	}
	if m, ok := containsAny(line, "everything you remember", "everything you know about", "private data", "personal data of the user",
		"all tools that you", "all tools you", "tools that you can use", "tools you have access", "your available tools",
		"everything that was said", "all that was said", "word for word", "output of printenv", "output of env", "what your operator",
		"your operator gave you", "instructions that your", "instructions you were given", "the clipboard"); ok && asked && !negated(line, m) {
		t.hit(Exfil, s, s.wordAt(m), "the text asks for information that only the model has")
	}
	if m, ok := containsAny(line, "the clipboard", "the open files", "the keystrokes"); ok &&
		contains(line, "://", "mirrored to", "sent to", "uploaded to") {
		t.hit(Exfil, s, s.wordAt(m), "the text says that the user's clipboard, files or keystrokes are sent away")
	}
	t.credentials(s, asked)
	if contains(line, "subdomain") && s.has&cCred != 0 && contains(line, "encode", "resolve") {
		t.hit(Exfil, s, s.wordAt("subdomain"), "the text describes how to send data out through name resolution")
	}
}

// talk finds a word for the conversation. "messages" alone does not count.
func (s *sentence) talk() (int, bool) {
	for i, w := range s.words {
		if w.class&cTalk == 0 {
			continue
		}
		switch w.text {
		case "conversation", "dialogue", "dialog":
			return i, true
		case "chat":
			if contains(s.text, "chat history", "chat log", "the chat", "this chat", "whole chat") {
				return i, true
			}
		case "message", "messages", "history", "transcript":
			if contains(s.text, "user and the assistant", "user and assistant", "previous messages", "conversation") {
				return i, true
			}
		}
	}
	return 0, false
}

// credentials looks for requests for the user's credentials.
func (t *passage) credentials(s *sentence, asked bool) {
	for i, w := range s.words {
		if w.class&cCred == 0 || i == 0 {
			continue
		}
		near := s.text[max(0, w.start-40):w.start]
		whose := contains(near, "user's ", "users' ", "their ", "page's ", "your api", "your private", "the api ")
		if !whose || contains(s.text, "password reset", "never the model", "by the user", "user's own key", "by pinentry") {
			continue
		}
		for j, v := range s.words[:i] {
			if i-j <= 8 && v.class&(cSend|cPut) != 0 && !s.passive(j) && (v.text != "use" || asked) && (asked || v.class&cSend != 0) &&
				!negated(s.text, v.text) {
				t.hit(Exfil, s, j, "the text asks for the user's credentials")
				return
			}
		}
		if strings.HasSuffix(near, "page's ") {
			t.hit(Exfil, s, i, "the text asks for the cookies or credentials of a page")
		}
	}
}

// known are words for knowledge of the model, in the query of an address.
var known = []string{"conversation", "chat", "history", "summary", "cookie", "prompt", "context", "session", "secret", "password",
	"user_email", "messages", "env", "memory", "credentials", "api_key"}

// placeholders looks for addresses that take data with them.
func (t *passage) placeholders() {
	if !strings.Contains(t.raw, "://") {
		return
	}
	if t.picture.MatchString(t.raw) {
		t.add(Exfil, Hard, t.where, t.raw, "the address of a picture carries data away")
	}
	for _, m := range t.query.FindAllString(t.raw, 8) {
		if i := strings.Index(m, "?"); i >= 0 && contains(strings.ToLower(m[i:]), known...) {
			t.add(Exfil, Hard, t.where, m, "an address carries away data that only the model has")
		}
	}
}
