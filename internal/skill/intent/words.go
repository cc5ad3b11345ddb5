package intent

import (
	_ "embed" // the words of the lexicon
	"slices"
	"strings"
	"sync"
)

// kind is what a word is about. A verb has one of the first kinds, a thing one of the others. A word can be both: "test" is a verb whose
// thing is a test.
type kind uint8

const (
	none       kind = iota
	do              // to run, to take, to give: what is done is said by the thing
	read            // to look at something
	check           // to find out whether something holds
	change          // to alter what exists
	create          // to make what does not exist
	firstThing      // the kinds below are things

	tests
	builds
	reviews
	versions // version control
	docs
	skills
	sheets
	pdfs
	browsers
	data
	faces // what users see
	news  // what colleagues are told
	texts // values, wordings: what an editor changes
	code  // also what malfunctions
	kinds
)

// medium reports whether a thing is a format or a means: it is wanted in whatever a request does with it.
func (k kind) medium() bool { return k == sheets || k == pdfs || k == browsers }

// word is an entry of the lexicon.
type word struct {
	verb, thing kind
	verbal      bool // it can be the verb of a request
	does        kind // the thing of the verb, where the noun is another: to port is to write code, and a port is a value
}

// english and japanese are the words of requests. A line is a kind of verb, a kind of thing and the words; "-" is none. English words
// are compared by their stems, and a phrase has its parts joined by "_". Of Japanese verbs the stem is written: their endings are read
// after it. Where a word stands in two lines of a verb or a thing, the last one counts.
var (
	//go:embed english.txt
	english string
	//go:embed japanese.txt
	japanese string
)

// lexicon are the words that are known without any skill. It is made when it is first used.
func lexicon() map[string]word {
	theLexicon.once.Do(func() { theLexicon.words = readLexicon() })
	return theLexicon.words
}

// theLexicon is the lexicon. It is no [sync.OnceValue], which would cost every start of the program.
var theLexicon struct {
	once  sync.Once
	words map[string]word
}

func readLexicon() map[string]word {
	verbs := map[string]kind{"-": none, "do": do, "read": read, "check": check, "change": change, "create": create}
	things := map[string]kind{
		"-": none, "code": code, "texts": texts,
		"tests": tests, "builds": builds, "reviews": reviews, "versions": versions, "docs": docs,
		"skills": skills, "sheets": sheets, "pdfs": pdfs, "browsers": browsers, "data": data, "faces": faces, "news": news,
	}
	out := map[string]word{}
	for line := range strings.Lines(english + japanese) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		v, t := verbs[f[0]], things[f[1]]
		for _, s := range f[2:] {
			s = stems(strings.ReplaceAll(s, "_", " "))
			w := out[s]
			if v != none {
				w.verb, w.verbal, w.does = v, true, t
			}
			if t != none {
				w.thing = t
			}
			out[s] = w
		}
	}
	return out
}

// stem returns a word of English without the endings of its forms. It is made for comparing words, and not always a word.
func stem(s string) string {
	n := len(s)
	switch {
	case n > 5 && strings.HasSuffix(s, "ing"):
		s = undouble(s[:n-3])
	case n > 4 && strings.HasSuffix(s, "ies"):
		return s[:n-3] + "y"
	case n > 4 && strings.HasSuffix(s, "ied"):
		return s[:n-3] + "y"
	case n > 4 && strings.HasSuffix(s, "ed"):
		s = undouble(s[:n-2])
	case n > 4 && slices.ContainsFunc(esPlurals[:], func(end string) bool { return strings.HasSuffix(s, end) }):
		s = s[:n-2]
	case n > 3 && s[n-1] == 's' && s[n-2] != 's' && s[n-2] != 'u' && s[n-2] != 'i':
		s = s[:n-1]
		if n > 7 && strings.HasSuffix(s, "ing") && s != "setting" {
			return stem(s) // warnings
		}
	}
	if n := len(s); n > 3 && s[n-1] == 'e' {
		s = s[:n-1]
		if n > 7 && strings.HasSuffix(s, "ing") && s != "setting" {
			return stem(s) // warnings
		}
	}
	return s
}

// esPlurals end plurals and verbs whose stem is without "es".
var esPlurals = [...]string{"sses", "ches", "shes", "xes"}

// stems returns the words of a phrase by their stems, parted by single spaces. Words of other scripts stay as they are.
func stems(s string) string {
	f := strings.Fields(s)
	for i := range f {
		f[i] = stem(f[i])
	}
	return strings.Join(f, " ")
}

func undouble(s string) string {
	if n := len(s); n > 2 && s[n-1] == s[n-2] && !strings.ContainsRune("lsz", rune(s[n-1])) {
		return s[:n-1]
	}
	return s
}
