package credential

import (
	"slices"
	"strings"
	"unicode"
)

// A name is a word in the names of members, variables and headers that hold a secret.
type name struct {
	word  string // small letters, without separators
	grade grade
}

// grade says where a word makes a name that of a secret.
type grade uint8

const (
	certain  grade = iota // anywhere in any name, separators ignored
	alone                 // as one of the words of a name: auth, not author
	ending                // as the last word of a name, if the value looks random
	variable              // anywhere in the name of an environment variable
	hint                  // likewise, where masking too much does no harm
)

var names = []name{
	{"password", certain},
	{"passwd", certain},
	{"passphrase", certain},
	{"secret", certain},
	{"apikey", certain},
	{"credential", certain},
	{"privatekey", certain},
	{"authorization", certain},
	{"auth", alone},
	{"oauth", alone},
	{"pass", ending},
	{"pwd", ending},
	{"token", variable}, // in other names too, unless they count tokens: see [Sensitive]
	{"accesskey", variable},
	{"key", hint},
	{"pass", hint},
	{"auth", hint},
	{"cred", hint},
}

// NamePattern is the regular expression of the names that are secret in running text: name=value, "name": "value".
const NamePattern = `(?:password|passwd|passphrase|secret|token|api[_-]?key|credentials?|private[_-]?key)`

// has reports whether a normalized name contains a word of the given grades.
func has(flat string, grades ...grade) bool {
	for i := range names {
		if slices.Contains(grades, names[i].grade) && strings.Contains(flat, names[i].word) {
			return true
		}
	}
	return false
}

// is reports whether a word has a grade.
func is(word string, g grade) bool { return slices.Contains(names, name{word, g}) }

// Sensitive reports whether the member of an object holds a secret, by its key: in any case and with or without separators it
// contains password, passwd, passphrase, secret, token, apikey, credential, privatekey or authorization, or auth is one of its
// words (auth, x-auth, basicAuth; not author). A key that counts tokens (max_tokens, tokenCount, totalTokens) is not sensitive if its
// value is a number, and a key about a tokenizer never is.
func Sensitive(key string, number bool) bool {
	words, flat := []string{key}, key
	if !plain(key) {
		words = Words(key)
		flat = strings.Join(words, "")
	}
	if has(flat, certain) || slices.ContainsFunc(words, func(w string) bool { return is(w, alone) }) {
		return true
	}
	if !strings.Contains(flat, "token") || !strings.Contains(strings.NewReplacer("tokeniz", "", "tokenis", "").Replace(flat), "token") {
		return false
	}
	return !number || !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(counts, w) })
}

// counts are the words that make a key about tokens a number of tokens.
var counts = []string{"tokens", "count", "max", "min", "limit", "num", "number", "total", "budget", "used", "usage"}

// Leads reports whether a key holds a token that leads from one page or message to the next. It is not a secret, and the answer is
// useless without it.
func Leads(key string) bool {
	if !strings.Contains(strings.ToLower(key), "token") {
		return false
	}
	return slices.ContainsFunc(Words(key), func(w string) bool {
		switch w {
		case "page", "next", "previous", "prev", "continuation", "cursor", "sync", "progress", "delta":
			return true
		}
		return false
	})
}

// EndsSensitive reports whether a name ends in a word for a secret: db_password, API_KEYS, pass. A random-looking value under it is
// probably a secret.
func EndsSensitive(key string) bool {
	words := Words(key)
	if len(words) == 0 || Leads(key) {
		return false
	}
	last, flat := words[len(words)-1], strings.TrimSuffix(strings.Join(words, ""), "s")
	return is(last, ending) || strings.HasSuffix(flat, "token") ||
		slices.ContainsFunc(names, func(n name) bool { return n.grade == certain && strings.HasSuffix(flat, n.word) })
}

// Variable reports whether an environment variable has the name of a secret.
func Variable(name string) bool { return has(flatten(name), certain, variable) }

// MayBeVariable is [Variable] for names under which an operator configures values. It also accepts names with key, pass, auth or cred.
func MayBeVariable(name string) bool { return has(flatten(name), certain, variable, hint) }

func flatten(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// plain reports whether a key is one word in small letters, as most are.
func plain(key string) bool {
	for i := range len(key) {
		if c := key[i]; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// Words splits a key at separators and at changes of case (maxTokens, HTTPAuth, user_ssn, x-auth), in lower case.
func Words(key string) []string {
	var out []string
	var cur []rune
	flush := func() {
		if len(cur) > 0 {
			out = append(out, strings.ToLower(string(cur)))
			cur = cur[:0]
		}
	}
	rs := []rune(key)
	for i, c := range rs {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			flush()
			continue
		}
		afterLower := i > 0 && !unicode.IsUpper(rs[i-1])
		lastOfCapitals := i+1 < len(rs) && unicode.IsLower(rs[i+1])
		if unicode.IsUpper(c) && (afterLower || lastOfCapitals) {
			flush()
		}
		cur = append(cur, c)
	}
	flush()
	return out
}
