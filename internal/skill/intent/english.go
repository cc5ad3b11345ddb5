package intent

import (
	"slices"
	"strings"
)

// token is a word of a sentence.
type token struct {
	text, stem string
	file       bool // a part of a path or of a name with signs in it: src/main.go, next.js
	last       bool // of the parts of such a name
	first      bool
	comma      bool // a comma follows
}

// tokens parts a sentence into words.
func tokens(s []rune) []token {
	var out []token
	for _, f := range strings.FieldsFunc(string(s), func(r rune) bool { return r == ' ' || strings.ContainsRune("()[]{}<>*&|", r) }) {
		comma := strings.HasSuffix(f, ",") || strings.HasSuffix(f, "、") || f == "-" || f == "–" || f == "—"
		f = strings.Trim(f, ",、.!?:;\"“”…-–—@#$")
		if f == "" {
			if n := len(out); comma && n > 0 {
				out[n-1].comma = true
			}
			continue
		}
		parts := fields(strings.ReplaceAll(f, "'", ""))
		if strings.ContainsAny(f, "'-") && !strings.ContainsAny(f, "/._\\") || len(parts) < 2 {
			file := strings.ContainsAny(f, "/_\\") || strings.HasPrefix(f, ".")
			out = append(out, token{text: f, stem: stem(strings.TrimSuffix(f, "'s")), file: file, first: true, last: true, comma: comma})
			continue
		}
		for i, p := range parts {
			end := i == len(parts)-1
			out = append(out, token{text: p, stem: stem(p), file: true, first: i == 0, last: end, comma: comma && end})
		}
	}
	return out
}

// among reports whether a word is in a list, which has a space before and after each word.
func among(word, list string) bool {
	for at := 0; word != ""; {
		i := strings.Index(list[at:], word)
		if i < 0 {
			break
		}
		if at += i; at > 0 && list[at-1] == ' ' && list[at+len(word)] == ' ' {
			return strings.IndexByte(word, ' ') < 0
		}
		at += len(word)
	}
	return false
}

const (
	// What may stand before the verb of a request.
	politeness = " please pls plz kindly can could would will you we i i'd like want need to let's lets let lemme us just now then first " +
		"also so and but or ok okay well hey hi go ahead try quickly maybe again once more next finally help me should must do only start " +
		"continue going gonna wanna it's its time instead thanks thx perfect good great fine however afterwards after that always " +
		"carefully really never not don't dont both actually simply it "
	determiners = " the a an this that these those my our your his her their its each every all any some no which what old latest " +
		"last next first "
	// What speaks against the verb that follows.
	negations = " nobody except excluding forget hold refrain didn't not don't dont never no without avoid skip stop instead rather nor " +
		"neither cannot can't shouldn't won't mustn't isn't aren't needn't wouldn't nothing leave "
	// What begins a clause that says when or why, and asks for nothing.
	conditions = " if when before after because until unless whenever while where once "
	articles   = " the a an this that these those my our all every each "
	questions  = " what what's which who who's where where's how how's why "
	presently  = " is are was were "
	splitters  = " and then but while so plus & "
	pronouns   = " it them this that these those everything all one "
)

// english reads a sentence as requests, one a clause.
func (r *reading) english(s []rune, asks bool) {
	all := tokens(s)
	if len(all) == 0 {
		return
	}
	if !asks || len(all) == 1 {
		r.ending(all)
	}
	if onlySupposed(all, asks) {
		return
	}
	asks = asks || among(all[0].text, questions)
	if asks && r.question(all) {
		return
	}
	r.negated = false
	list := clauses(all)
	for _, c := range list[r.subjects(list):] {
		r.clause(c)
	}
}

// hasWords reports whether a sentence has one of the phrases.
func hasWords(t []token, phrases ...string) bool {
	for i := range t {
		for _, p := range phrases {
			if begins(t[i:], p) {
				return true
			}
		}
	}
	return false
}

// begins reports whether words begin with a phrase.
func begins(t []token, phrase string) bool {
	for _, x := range t {
		var word string
		word, phrase, _ = strings.Cut(phrase, " ")
		if word != x.text {
			return false
		}
		if phrase == "" {
			return true
		}
	}
	return false
}

// clauses parts a sentence at commas and at words that begin a clause.
func clauses(t []token) [][]token {
	var out [][]token
	start := 0
	cut := func(i int) {
		if i > start {
			out = append(out, t[start:i])
			start = i
		}
	}
	for i := range t {
		switch {
		case i == start:
		case t[i-1].comma:
			cut(i)
		case t[i].file:
		case t[i].text == "if" && (i > 0 && among(t[i-1].text, " see check verify tell me know test ")):
		case among(t[i].text, " where when ") && among(t[i-1].text, " me know see find out show exactly and explain "):
		case t[i].text == "instead" && among(t[start].text, " use put write set "):
		case t[i-1].file && t[i-1].last && start == 0 && (t[0].text == "in" || t[0].text == "on"):
			cut(i) // in settings.py set DEBUG
		case among(t[i].text, splitters) || among(t[i].text, conditions) || among(t[i].text, " without except excluding instead or "):
			cut(i)
		case t[i].text == "rather" && i+1 < len(t) && t[i+1].text == "than":
			cut(i)
		}
	}
	cut(len(t))
	return out
}

// hits finds the words that mean something in a clause, the longest first.
func (r *reading) hits(t []token) []hit {
	var out []hit
	for i := 0; i < len(t); {
		n := 0
		for k := min(r.x.longest, len(t)-i); k > 0; k-- {
			if h, ok := r.phrase(t[i : i+k]); ok {
				h.at, h.end, h.said = i, i+k, written(t[i:i+k])
				out = append(out, h)
				n = k
				break
			}
		}
		i += max(n, 1)
	}
	return out
}

// written returns words as they stand in the text.
func written(t []token) string {
	words := make([]string, len(t))
	for i, x := range t {
		words[i] = x.text
	}
	return strings.Join(words, " ")
}

func (r *reading) phrase(t []token) (hit, bool) {
	if t[0].file && (!t[0].first && !t[0].last || !t[len(t)-1].last && len(t) > 1) {
		return hit{}, false // in the middle of a path
	}
	if len(t) == 1 && among(t[0].text, pronouns) {
		return hit{}, false
	}
	key := t[0].stem
	for _, x := range t[1:] {
		if x.file {
			return hit{}, false
		}
		key += " " + x.stem
	}
	h, ok := r.look(key)
	if t[0].file && t[0].first && !t[0].last && len(t) == 1 && namesTest(t[0].text) {
		return hit{phrase: "test", word: word{thing: tests}}, true
	}
	if ok && t[0].file {
		h.word.verb, h.word.verbal = none, false
		if h.word.thing == none || t[0].first && !t[0].last && h.word.thing != docs {
			return hit{}, false
		}
	}
	return h, ok
}

// namesTest reports whether a file without its extension is named as tests are in Go, Python or Ruby.
func namesTest(s string) bool {
	return strings.HasPrefix(s, "test_") || strings.HasSuffix(s, "_test") || strings.HasSuffix(s, "_spec")
}

// subjects returns the number of clauses at the start of a sentence that are the subject of a statement, and it: "tests, docs and the
// chart are in the repo" asks for none of them.
func (r *reading) subjects(list [][]token) int {
	for n, c := range list {
		hits := r.hits(c)
		single := len(c) == 1 && len(hits) == 1 && hits[0].word.thing != none && n > 0
		if _, unknown := unknownVerb(c); unknown || among(c[0].text, conditions) {
			return 0
		}
		if verb, _ := verbOf(c, hits); verb >= 0 && !single {
			return 0
		}
		if slices.ContainsFunc(c[1:], func(x token) bool { return !x.file && among(x.text, presently) }) {
			return n + min(n, 1)
		}
	}
	return 0
}

// clause reads one clause.
func (r *reading) clause(t []token) {
	if among(t[0].text, conditions) {
		r.negated = false
	}
	if among(t[0].text, conditions) || comments(t) {
		return
	}
	you := slices.IndexFunc(t, func(x token) bool { return x.text == "you" })
	if you > 0 && t[0].text == "i" && hasWords(t[you:], "you should", "you could") {
		t = t[you:] // I think you should run the linter
	}
	if begins(t, "i'm looking for") || begins(t, "i am looking for") {
		t = t[1:]
		t[0].text, t[0].stem = "please", "pleas"
	}
	hits := r.hits(t)
	q := r.requestOf(t, hits)
	if t[0].text == "or" && r.negated {
		q.refused = true
	}
	if !q.hasVerb {
		r.fragment(t, q)
		return
	}
	q.verb = sense(t, q)
	r.negated = q.refused
	if q.verb.word.thing == none && q.verb.end < len(t) && among(t[q.verb.end].text, pronouns) {
		q.things = append(slices.Clone(r.last), q.things...)
	}
	if len(q.things) > 0 {
		r.last = q.things
	}
	r.want(q)
}

// comments reports whether a clause only thanks for something, or is about what was said or what is later.
func comments(t []token) bool {
	if hasWords(t, "i said", "tomorrow", "by hand", "myself") { // what the person says of others, or does alone
		return true
	}
	return len(t) > 1 && !t[0].comma && among(t[0].text, " thanks thank thx sorry great nice good ") &&
		(len(t) == 2 || hasWords(t, "for", "about", "on"))
}

// requestOf returns what a clause asks for. Without a verb, all that it names are its things.
func (r *reading) requestOf(t []token, hits []hit) request {
	verb, refused := verbOf(t, hits)
	q := request{refused: refused}
	if verb >= 0 {
		q.verb, q.hasVerb = hits[verb], true
		if does := q.verb.word.does; does != none {
			q.verb.word.thing = does
		}
	} else if q.verb, q.hasVerb = unknownVerb(t); q.hasVerb {
		for _, h := range hits {
			if h.at == q.verb.at && h.word.thing != none && h.word.thing != texts { // to chart the errors
				q.verb.word.thing, q.verb.triggers, q.verb.phrase = h.word.thing, h.triggers, h.phrase
			}
		}
	}
	if q.hasVerb {
		q.things, q.head = objects(t, hits, q.verb)
		return q
	}
	if v, things, ok := passive(t, hits); ok {
		q.verb, q.hasVerb, q.things = v, true, things
		if n := len(things); n > 0 {
			q.head = things[n-1].word.thing
		}
		return q
	}
	for _, h := range hits {
		if h.word.thing != none {
			q.things = append(q.things, h)
		}
	}
	i := slices.IndexFunc(t, func(x token) bool { return among(x.text, " needs need should ") })
	if i > 0 && i+1 < len(t) && t[i+1].text != "to" && (t[i].text == "needs" || len(q.things) > 0 && q.things[0].word.thing == docs) {
		// the README needs a section on TLS
		q.verb, q.hasVerb = hit{phrase: "need", word: word{verb: create, verbal: true}}, true
	}
	return q
}

// objects returns the things that a verb is about, and the kind of the first: of a noun phrase the last noun ("the chart component"), and
// of what a preposition adds only where and into what ("in the docs", "to a spreadsheet").
func objects(t []token, hits []hit, verb hit) (things []hit, head kind) {
	keep, first := true, true
	var last hit
	end := func() {
		thing := last.word.thing
		aside := !first && (head == code || head == texts) && thing != docs && thing != reviews && !thing.medium()
		if thing != none && (keep || thing.medium()) && !aside {
			things = append(things, last)
			if first {
				head = last.word.thing
			}
		}
		first = first && last.word.thing == none
		last = hit{}
	}
	for i, next := verb.end, 0; i < len(t); i++ {
		for next < len(hits) && hits[next].at < i {
			next++
		}
		switch joins(t[i], i == verb.end && verb.end == verb.at+1) {
		case endsPhrase:
			end()
			return things, head
		case saysWhere:
			end()
			keep = true
		case saysWhose:
			end()
			keep = len(things) == 0
		}
		if next == len(hits) || hits[next].at != i {
			continue
		}
		switch h := hits[next]; {
		case h.word.thing == none && h.word.verbal && i == last.end && last.word.thing.medium():
			last.word.thing, last.triggers = code, nil // the pdf export is code
		case h.word.thing == none:
		case last.word.thing != none && (verb.phrase == "mak" || h.phrase == "fil" && last.end == i || h.word.verbal && h.word.thing == code):
			// an excel file is a spreadsheet
		default:
			last = h
		}
	}
	end()
	return things, head
}

// The words that join phrases.
const (
	endsPhrase = iota + 1 // a clause of its own begins
	saysWhere             // a place or a result follows
	saysWhose             // what follows only says which one
)

// joins returns how a word joins what follows it, and 0 if it does not. "that" straight after the verb is what the verb is about.
func joins(x token, object bool) int {
	switch {
	case x.file || object && x.text == "that":
		return 0
	case among(x.text, " that which who so whose than how what why where "):
		return endsPhrase
	case among(x.text, " in into to as from on onto at with "):
		return saysWhere
	case among(x.text, " of for by about against over under between via "):
		return saysWhose
	}
	return 0
}
