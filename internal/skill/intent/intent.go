// Package intent reads from what a person says which skills the person asks for. It reads English and Japanese as requests: what is
// negated, quoted, supposed or only mentioned asks for nothing. In other languages a skill's trigger is enough. It is pure: no clock, no
// files, no model.
package intent

import (
	"cmp"
	"slices"
	"strings"

	"mycelium/internal/text"
)

// Skill is what the reader knows of a skill.
type Skill struct {
	Name        string
	Description string
	Triggers    []string
}

// Suggestion is a skill that a text asks for.
type Suggestion struct {
	Skill   string   `json:"skill"`
	Score   float64  `json:"score"`   // 0 to 1, as B17
	Matched []string `json:"matched"` // the triggers that matched
}

// Intent is what a text asks for.
type Intent struct {
	Wanted  []Suggestion // the best first
	Refused []string     // skills that the text speaks against, sorted; none of them is wanted
	Ends    bool         // the text says that the work before it is done (B16)
}

// maxSaid bounds the part of a text that is read, in bytes. A request is at the start of a text.
const maxSaid = 64 << 10

// Index holds the words of the skills. It is immutable.
type Index struct {
	skills  []known
	byName  map[string]int
	phrases map[string][]int32 // a trigger by its stems → the skills that have it
	longest int                // the words of the longest trigger
	heads   map[rune]int       // the first character of triggers and words without spaces → the length of the longest
}

// known is a skill with what its words say.
type known struct {
	name     string
	triggers map[string]string // by their stems → as they are written
	verbs    uint32            // kinds of verbs in its words, as bits
	asked    uint32            // kinds of verbs among its triggers
	things   uint32            // kinds of things that its triggers name
	words    map[string]bool   // stems of its triggers and description
	whole    []whole           // triggers that are a request by themselves
}

// whole is a trigger that is a request by itself: it has several words, or a Japanese verb with what it is about.
type whole struct {
	folded, written string
	ends            bool // also at the end of a sentence
}

// New makes an index. Of two skills of one name the last counts.
func New(list []Skill) *Index {
	x := &Index{byName: map[string]int{}, phrases: map[string][]int32{}, heads: map[rune]int{}}
	for w := range lexicon() {
		x.head(w)
	}
	for _, s := range list {
		i, twice := x.byName[s.Name]
		if !twice {
			i = len(x.skills)
			x.byName[s.Name] = i
			x.skills = append(x.skills, known{})
		}
		x.skills[i] = x.learn(s)
	}
	for i := range x.skills {
		for t := range x.skills[i].triggers {
			x.phrases[t] = append(x.phrases[t], int32(i))
			x.longest = max(x.longest, len(strings.Fields(t)))
			x.head(t)
		}
	}
	x.longest = max(x.longest, longestKnown)
	return x
}

// head notes that a phrase without spaces begins with its first character.
func (x *Index) head(phrase string) {
	r := []rune(phrase)
	if len(r) > 0 && !isSpaced(r[0]) {
		x.heads[r[0]] = max(x.heads[r[0]], len(r))
	}
}

func (x *Index) learn(s Skill) known {
	k := known{name: s.Name, triggers: map[string]string{}, words: map[string]bool{}}
	lex := lexicon()
	var vague uint32 // things of triggers of several words
	for _, t := range s.Triggers {
		f := key(t)
		if f == "" {
			continue
		}
		folded := Fold(t)
		ends := strings.Contains(folded, "を") && (strings.HasSuffix(folded, "て") || strings.HasSuffix(folded, "で"))
		if ends || strings.Contains(folded, " ") {
			k.whole = append(k.whole, whole{folded, t, ends})
		}
		if _, twice := k.triggers[f]; !twice {
			k.triggers[f] = t
		}
		w, ok := lex[f]
		if !ok { // the last word of a phrase names its thing
			parts := strings.Fields(f)
			last, named := lex[parts[len(parts)-1]]
			// "Run tests" claims every request about tests. "Make algorithmic art" claims nothing else that is made, and "write an
			// end-to-end test" no other tests.
			whole := len(parts) == 2 && lex[parts[0]].verb != none && last.thing != texts && last.thing != code
			if w = last; named && (whole || w.thing.medium()) {
				w.verb, w.verbal = lex[parts[0]].verb, false
				vague |= 1 << w.thing
			}
		} else {
			k.things |= 1 << w.thing
		}
		if w.verb != none {
			k.asked |= 1 << w.verb
		}
		for _, p := range strings.Fields(f) {
			k.words[p] = true
		}
	}
	if k.things &^= 1; k.things == 0 {
		k.things = vague &^ 1
	}
	k.verbs = k.asked
	for _, part := range strings.FieldsFunc(Fold(s.Description), func(r rune) bool { return r == '.' || r == ',' || r == ';' }) {
		stems := fields(part)
		if slices.ContainsFunc(stems, func(w string) bool { return among(w, " not no nothing never or ") }) {
			continue // what it does not do
		}
		for _, p := range stems {
			p = stem(p)
			k.words[p] = true
			if w := lex[p]; w.verb != none {
				k.verbs |= 1 << w.verb
			}
		}
	}
	return k
}

// key returns a trigger as it is looked up: folded, by its stems. The endings of Japanese verbs are left out.
func key(trigger string) string {
	f := Fold(trigger)
	for _, end := range [...]string{"ください", "して", "て", "んで"} {
		if head, ok := strings.CutSuffix(f, end); ok && head != "" {
			f = head
			if end == "んで" {
				f += "ん"
			}
		}
	}
	return stems(f)
}

func fields(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return scriptOf(r) == between })
}

// Read returns what a text asks for, among the named skills. The order of the names does not matter.
func (x *Index) Read(said string, among []string) Intent {
	r := reading{x: x, may: make([]bool, len(x.skills)), marks: make([]mark, len(x.skills))}
	for _, name := range among {
		if i, ok := x.byName[name]; ok {
			r.may[i] = true
		}
	}
	r.text(text.Prefix(said, maxSaid))
	return r.result()
}

// mark is what a text says of one skill.
type mark struct {
	wanted, refused bool
	matched         []string
}

// reading is one text on its way to an Intent.
type reading struct {
	x       *Index
	may     []bool
	marks   []mark
	ends    bool
	words   int
	last    []hit // the things of the clause before, which "it" and "them" mean
	negated bool  // the clause before speaks against something
}

func (r *reading) result() Intent {
	out := Intent{Ends: r.ends}
	for i, m := range r.marks {
		switch {
		case m.wanted:
			tenths := min(3*len(m.matched), 9)
			if r.words > 5 {
				tenths++
			}
			out.Wanted = append(out.Wanted, Suggestion{r.x.skills[i].name, float64(tenths) / 10, m.matched})
		case m.refused:
			out.Refused = append(out.Refused, r.x.skills[i].name)
		}
	}
	slices.Sort(out.Refused)
	sortSuggestions(out.Wanted)
	return out
}

// sortSuggestions sorts the best first, and of two equal ones by name.
func sortSuggestions(list []Suggestion) {
	slices.SortFunc(list, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Skill, b.Skill))
	})
}

// hit is a word or phrase that means something.
type hit struct {
	at, end  int    // the tokens, or the characters in a script without spaces
	phrase   string // by its stems
	said     string // as the text has it, where that differs
	word     word
	triggers []int32 // skills that have the phrase as a trigger
}

// request is a clause: a verb, which may be missing, and the things that stand with it.
type request struct {
	verb    hit
	hasVerb bool
	things  []hit
	head    kind // the thing that the verb is about, where it can be seen
	refused bool // the request is not to do it
}

// want notes the skills of the best rank for a request.
func (r *reading) want(q request) {
	if len(q.things) == 0 && q.hasVerb && !q.refused && q.verb.word.verb == check {
		if slices.ContainsFunc(r.marks, func(m mark) bool { return m.wanted }) {
			return // run it and tell me what fails
		}
	}
	best, rank := []int(nil), 0
	for i := range r.x.skills {
		if !r.may[i] {
			continue
		}
		switch n := r.rank(i, q); {
		case n == 0 || n < rank:
		case n > rank:
			best, rank = []int{i}, n
		default:
			best = append(best, i)
		}
	}
	if rank == rankLoose {
		best = r.closest(best, q)
	}
	for _, i := range best {
		m := &r.marks[i]
		if q.refused {
			m.refused = true
			continue
		}
		m.wanted = true
		for _, w := range r.why(i, q) {
			if !slices.Contains(m.matched, w) {
				m.matched = append(m.matched, w)
			}
		}
	}
}

// The ranks of a skill for a request, from the weakest.
const (
	rankLoose = iota + 1 // its description has verbs of that kind
	rankVerb             // its triggers have verbs of that kind, and it works on code
	rankAny              // its triggers have verbs of that kind, and it is about nothing special
	rankOwn              // the verb is a trigger of it, and it is about something else
	rankExact            // the verb is a trigger of it
	rankCode             // it works on code, and the thing is code
	rankThing            // it is about the thing
	rankBoth             // it is about the thing, and its own words have the verb
)

// rank says how well a skill fits a request; 0: not.
func (r *reading) rank(i int, q request) int {
	k := &r.x.skills[i]
	thing, isCode, exact := false, false, q.hasVerb && slices.Contains(q.verb.triggers, int32(i))
	generic := !q.hasVerb || q.verb.word.thing == none
	medium := slices.ContainsFunc(q.things, func(h hit) bool { return h.word.thing.medium() })
	writes := q.hasVerb && (q.verb.word.verb == change || q.verb.word.verb == create)
	onText := q.head == texts && writes
	for _, h := range q.things {
		if (h.word.thing == tests || h.word.thing == builds) && k.things&(1<<code) != 0 && writes {
			isCode = true // to mend a test is to change code
		}
		about := slices.Contains(h.triggers, int32(i))
		if h.word.thing != none {
			about = about || k.things&(1<<h.word.thing) != 0
		}
		if !about || medium && !h.word.thing.medium() || onText && (h.word.thing == code || h.word.thing == faces) {
			continue
		}
		switch {
		case h.word.thing == code:
			own := slices.Contains(h.triggers, int32(i))
			isCode = !q.hasVerb && own || q.hasVerb && q.verb.word.verb != read && q.verb.word.verb != check
		case h.word.thing.medium() || generic:
			thing = true
		}
	}
	if q.hasVerb && !generic && k.things&(1<<q.verb.word.thing) != 0 {
		exact = true
	}
	fits := r.fits(i, q)
	switch {
	case thing && fits && q.hasVerb && (exact || k.words[q.verb.phrase]):
		return rankBoth
	case thing && fits:
		return rankThing
	case isCode && fits && generic:
		return rankCode
	case exact && onText && k.things != 0:
		return rankVerb
	case exact && generic && k.things != 0 && q.verb.word.verb == change:
		return rankOwn
	case exact:
		return rankExact
	case !q.hasVerb || !generic || q.verb.word.verb <= do:
		return 0
	case k.things != 0 && k.things&(1<<code) == 0:
		return 0
	case k.asked&(1<<q.verb.word.verb) != 0 && k.things == 0:
		return rankAny
	case k.asked&(1<<q.verb.word.verb) != 0:
		return rankVerb
	case k.verbs&(1<<q.verb.word.verb) != 0:
		return rankLoose
	}
	return 0
}

// fits reports whether a skill does what the verb of a request says to its things.
func (r *reading) fits(i int, q request) bool {
	k := &r.x.skills[i]
	if !q.hasVerb {
		return true
	}
	for _, h := range q.things {
		if h.word.thing == kinds && slices.Contains(h.triggers, int32(i)) { // what only this skill has words for
			return true
		}
		if (h.word.thing.medium() || h.word.thing == data || h.word.thing == skills) && k.things&(1<<h.word.thing) != 0 {
			return true
		}
	}
	switch q.verb.word.verb {
	case check:
		for _, h := range q.things {
			if h.word.thing == docs || h.word.thing == code {
				return k.verbs&(1<<read) != 0
			}
		}
	case read:
		return k.verbs&(1<<read) != 0
	case change, create:
		return k.verbs&(1<<change|1<<create) != 0
	default: // of other verbs nothing is known
	}
	return true
}

// closest leaves those skills of a loose fit whose own words have most of the request's.
func (r *reading) closest(list []int, q request) []int {
	count := func(i int) int {
		n := 0
		for _, h := range append(q.things, q.verb) {
			if r.x.skills[i].words[h.phrase] {
				n++
			}
		}
		return n
	}
	most := 0
	for _, i := range list {
		most = max(most, count(i))
	}
	if most == 0 {
		return nil
	}
	return slices.DeleteFunc(list, func(i int) bool { return count(i) < most })
}

// why returns the triggers of a skill that a request has, or the words by which the skill was found.
func (r *reading) why(i int, q request) []string {
	var exact, other []string
	k := &r.x.skills[i]
	for _, h := range append([]hit{q.verb}, q.things...) {
		switch {
		case h.phrase == "":
		case slices.Contains(h.triggers, int32(i)):
			exact = append(exact, k.triggers[h.phrase])
		case h.word.thing != none && k.things&(1<<h.word.thing) != 0: // what it is about says more than the verb
			other = slices.Insert(other, 0, cmp.Or(h.said, h.phrase))
		default:
			other = append(other, cmp.Or(h.said, h.phrase))
		}
	}
	if exact != nil {
		return exact
	}
	return other[:min(len(other), 1)]
}
