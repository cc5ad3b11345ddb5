package audit

import (
	"slices"
	"strings"

	"mycelium/internal/rawjson"
)

// Secrets finds secrets in what servers answer, by the rules of [Redact] and the log's own further words.
type Secrets struct{ more [][]string }

// Secrets returns the finder with the words of this log.
func (l *Log) Secrets() Secrets { return Secrets{moreWords(l.o.Redact)} }

// Redacted is what stands in the place of a secret.
const Redacted = redacted

// Key reports whether the text under a key of a JSON object is a secret. Tokens that lead from one page or message to the next are
// none: without them the answer is of no use.
func (s Secrets) Key(key string) bool {
	if strings.Contains(strings.ToLower(key), "token") && slices.ContainsFunc(words(key), leads) {
		return false
	}
	return secretKey(key, false, s.more)
}

func leads(word string) bool {
	switch word {
	case "page", "next", "previous", "prev", "continuation", "cursor", "sync", "progress", "delta":
		return true
	}
	return false
}

// Text replaces what looks like a secret in a text: credentials by their form; in a text that is JSON, what stands under the key of
// a secret; else what is assigned to the name of one, as in KEY=value, password: "value" (a value that is quoted, or long
// and with a digit: the rest is prose and program text).
func (s Secrets) Text(text string) string {
	if len(text) < shortest {
		return text
	}
	if t := strings.TrimLeft(text, " \t\r\n"); t != "" && (t[0] == '{' || t[0] == '[') {
		if raw := []byte(text); rawjson.WellFormed(raw) {
			return string(appendRedacted(nil, raw, s.more, false))
		}
	}
	text = redactShapes(text)
	if !strings.ContainsAny(text, "=:") {
		return text
	}
	text = variable().ReplaceAllString(text, "${1}"+redacted)
	return assigned().ReplaceAllStringFunc(text, func(found string) string {
		at := assigned().FindStringSubmatchIndex(found)
		name, value := found[:at[4]], found[at[4]:]
		switch c := value[0]; {
		case c == '"' || c == '\'':
			return name + string(c) + redacted + string(c)
		case !strings.ContainsAny(value, "0123456789"):
			return found
		}
		return name + redacted
	})
}

const secretName = `(?:password|passwd|passphrase|secret|token|api[_-]?key|credentials?|private[_-]?key)`

var (
	variable = lazy(`(?m)^([ \t]*(?:export[ \t]+)?[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|CREDENTIALS?|PRIVATE_KEY)[A-Z0-9_]*=)[^\s#][^\r\n]*`)
	assigned = lazy(`(?i)([A-Za-z0-9_.-]*` + secretName + `[A-Za-z0-9_]*["']?[ \t]*(?:=>|[=:])[ \t]*)("[^"\r\n]{4,}"|'[^'\r\n]{4,}'|[^\s"'` + "`" + `,;(){}\[\]<>$]{6,})`)
)
