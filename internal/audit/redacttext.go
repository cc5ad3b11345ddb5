package audit

import (
	"strings"

	"mycelium/internal/credential"
	"mycelium/internal/lazy"
	"mycelium/internal/rawjson"
)

// Secrets finds secrets in answers of servers, by the rules of [Redact] and the further words of a log.
type Secrets struct{ more [][]string }

// Secrets returns the finder with the words of this log.
func (l *Log) Secrets() Secrets { return Secrets{moreWords(l.kept.Load().redact)} }

// Key reports whether the text under a key of a JSON object is a secret. A token for the next page is not, because the client needs it to
// continue.
func (s Secrets) Key(key string) bool {
	return !credential.Leads(key) && secretKey(key, false, s.more)
}

// Text replaces what looks like a secret in a text: credentials by their form; if the text is JSON, the values of secret keys; otherwise
// values that are assigned to the name of a secret, as in KEY=value or password: "value". An assigned value counts if it is quoted, or
// long and with a digit; other values are usually prose or program text.
func (s Secrets) Text(text string) string {
	if t := strings.TrimLeft(text, " \t\r\n"); t != "" && (t[0] == '{' || t[0] == '[') {
		if raw := []byte(text); rawjson.WellFormed(raw) {
			return string(appendRedacted(nil, raw, s.more, false))
		}
	}
	text = credential.Mask(text)
	if !strings.ContainsAny(text, "=:") {
		return text
	}
	text = variable().ReplaceAllString(text, "${1}"+credential.Redacted)
	return assigned().ReplaceAllStringFunc(text, func(found string) string {
		at := assigned().FindStringSubmatchIndex(found)
		name, value := found[:at[4]], found[at[4]:]
		switch c := value[0]; {
		case c == '"' || c == '\'':
			return name + string(c) + credential.Redacted + string(c)
		case !strings.ContainsAny(value, "0123456789"):
			return found
		}
		return name + credential.Redacted
	})
}

var (
	variable = lazy.Regexp(`(?m)^([ \t]*(?:export[ \t]+)?[A-Z0-9_]*` + strings.ToUpper(credential.NamePattern) + `[A-Z0-9_]*=)[^\s#][^\r\n]*`)
	assigned = lazy.Regexp(`(?i)([A-Za-z0-9_.-]*` + credential.NamePattern + `[A-Za-z0-9_]*["']?[ \t]*(?:=>|[=:])[ \t]*)` +
		`("[^"\r\n]{4,}"|'[^'\r\n]{4,}'|[^\s"'` + "`" + `,;(){}\[\]<>$]{6,})`)
)
