package credential

import (
	"slices"
	"strings"
	"unicode"

	"mycelium/internal/text"
)

// A name is a word in the names of members, variables and headers that hold a secret.
type name struct {
	word  string // small letters, without separators
	grade grade
}

// grade says where a word makes a name that of a secret.
type grade uint8

const (
	certain       grade = iota // anywhere in any name, separators ignored
	alone                      // as one of the words of a name: auth, not author
	ending                     // as the last word of a name, if the value looks random
	variable                   // anywhere in the name of an environment variable
	hint                       // likewise, where masking too much does no harm
	asked                      // as a word or words in a question to a person
	askedJapanese              // anywhere in a question to a person: Japanese has no spaces between words
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

	{"pass", asked},
	{"pwd", asked},
	{"passcode", asked},
	{"pass code", asked},
	{"pass word", asked},
	{"pass phrase", asked},
	{"key", asked}, // but see harmlessKeys
	{"keys", asked},
	{"keyphrase", asked},
	{"accesskey", asked},
	{"pin", asked},
	{"pincode", asked},
	{"otp", asked},
	{"totp", asked},
	{"2fa", asked},
	{"2 fa", asked},
	{"mfa", asked},
	{"two factor", asked},
	{"one time", asked},
	{"onetime", asked},
	{"security code", asked},
	{"verification code", asked},
	{"confirmation code", asked},
	{"authentication code", asked},
	{"authenticator", asked},
	{"login code", asked},
	{"sms code", asked},
	{"access code", asked},
	{"backup code", asked},
	{"recovery code", asked},
	{"recovery phrase", asked},
	{"seed phrase", asked},
	{"mnemonic", asked},
	{"card number", asked},
	{"cardnumber", asked},
	{"card no", asked},
	{"credit card", asked},
	{"creditcard", asked},
	{"debit card", asked},
	{"cvv", asked},
	{"cvv2", asked},
	{"cvc", asked},
	{"cvc2", asked},
	{"ssn", asked},
	{"social security", asked},

	{"パスワード", askedJapanese},
	{"ﾊﾟｽﾜｰﾄﾞ", askedJapanese},
	{"パスフレーズ", askedJapanese},
	{"パスコード", askedJapanese},
	{"暗証番号", askedJapanese},
	{"暗証コード", askedJapanese},
	{"トークン", askedJapanese},
	{"シークレット", askedJapanese},
	{"秘密", askedJapanese}, // 秘密鍵, 秘密の質問, 秘密の言葉
	{"合言葉", askedJapanese},
	{"合い言葉", askedJapanese},
	{"鍵", askedJapanese},
	{"apiキー", askedJapanese},
	{"アクセスキー", askedJapanese},
	{"ライセンスキー", askedJapanese},
	{"リカバリーキー", askedJapanese},
	{"回復キー", askedJapanese},
	{"認証コード", askedJapanese},
	{"認証番号", askedJapanese},
	{"認証情報", askedJapanese},
	{"資格情報", askedJapanese},
	{"確認コード", askedJapanese},
	{"検証コード", askedJapanese},
	{"セキュリティコード", askedJapanese},
	{"リカバリーコード", askedJapanese},
	{"バックアップコード", askedJapanese},
	{"ワンタイム", askedJapanese},
	{"二段階認証", askedJapanese},
	{"2段階認証", askedJapanese},
	{"二要素認証", askedJapanese},
	{"復元フレーズ", askedJapanese},
	{"シードフレーズ", askedJapanese},
	{"ニーモニック", askedJapanese},
	{"カード番号", askedJapanese},
	{"クレジットカード", askedJapanese},
	{"マイナンバー", askedJapanese},
	{"個人番号", askedJapanese},
}

// harmlessKeys are the words before "key" with which a person is asked for no secret.
var harmlessKeys = []string{"issue", "project", "primary", "foreign", "sort", "partition", "public", "translation", "dictionary", "map"}

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

// AsksFor returns the word by which a text asks a person for a secret; "" if it has none. The text is the name, the title or the description
// of a field, or the sentence above a form, in English or Japanese. number reports that the answer is a number: then a key that counts tokens
// is not sensitive. Characters that cannot be seen, full-width letters and spaces between the letters of a word hide nothing, and a word that
// mixes Latin letters with Greek or Cyrillic ones is returned whatever it says.
func AsksFor(s string, number bool) string {
	s = plainLetters(s)
	small := strings.ToLower(s)
	for i := range names {
		if names[i].grade == askedJapanese && strings.Contains(small, names[i].word) {
			return names[i].word
		}
	}
	words := joinLetters(Words(s))
	for i, w := range words {
		switch {
		case mixesAlphabets(w):
			return w
		case (w == "key" || w == "keys") && i > 0 && slices.Contains(harmlessKeys, words[i-1]):
			words[i] = ""
		}
	}
	leads := Leads(strings.Join(words, "_"))
	for i, w := range words {
		if is(w, asked) || Sensitive(w, number) && !leads {
			return w
		}
		if i+1 == len(words) {
			break
		}
		if two := w + " " + words[i+1]; is(two, asked) || is(w+words[i+1], certain) { // api key
			return two
		}
	}
	return ""
}

// plainLetters leaves out what cannot be seen, and writes full-width letters and digits as ordinary ones.
func plainLetters(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0xff01 && r <= 0xff5e:
			return r - 0xfee0
		case r != '\n' && r != '\t' && text.KindOf(r) != text.Shown && text.KindOf(r) != text.Space, unicode.Is(unicode.Mn, r):
			return -1
		}
		return r
	}, s)
}

// joinLetters joins words of one letter that follow each other: p a s s w o r d, P.I.N.
func joinLetters(words []string) (out []string) {
	single := false
	for _, w := range words {
		one := len([]rune(w)) == 1
		if one && single {
			out[len(out)-1] += w
		} else {
			out = append(out, w)
		}
		single = one
	}
	return out
}

// mixesAlphabets reports whether a word has Latin letters and Greek or Cyrillic ones, which look the same.
func mixesAlphabets(w string) bool {
	latin := strings.ContainsFunc(w, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
	return latin && strings.ContainsFunc(w, func(r rune) bool { return unicode.In(r, unicode.Greek, unicode.Cyrillic) })
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
