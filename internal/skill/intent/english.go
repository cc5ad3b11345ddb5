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
			out = append(out, token{text: p, stem: stem(p), file: true, first: i == 0, last: i == len(parts)-1, comma: comma && i == len(parts)-1})
		}
	}
	return out
}

func among(word, list string) bool {
	i := strings.Index(list, " "+word+" ")
	return i >= 0 && !strings.Contains(word, " ")
}

const (
	// What may stand before the verb of a request.
	politeness = " please pls plz kindly can could would will you we i i'd like want need to let's lets let us just now then first also so and but or ok okay well hey hi " +
		"go ahead try quickly maybe again once more next finally help me should must do only start continue going gonna wanna it's its time instead thanks thx perfect good great fine " +
		"however afterwards after that always carefully really never not don't dont never both actually simply it "
	determiners = " the a an this that these those my our your his her their its each every all any some no which what old latest last next first "
	negations   = " nobody except excluding forget hold refrain didn't not don't dont do_not never no without avoid skip stop instead rather nor neither cannot can't shouldn't won't mustn't isn't aren't needn't wouldn't nothing leave "
	supposing   = " if suppose supposing imagine hypothetically whenever unless assuming "
	splitters   = " and then but while so plus & "
	opinions    = " like prefer think feel people anyone anybody better best important invented released hate general ever "
	pronouns    = " it them this that these those everything all one "
)

// english reads a sentence as requests, one a clause.
func (r *reading) english(s []rune, asks bool) {
	all := tokens(s)
	if len(all) == 0 {
		return
	}
	r.ending(all, asks && len(all) > 1)
	if r.supposed(all, asks) {
		return
	}
	asks = asks || among(all[0].text, " what what's which who who's where where's how how's why ")
	if asks && r.question(all) {
		return
	}
	r.negated = false
	for _, c := range clauses(all) {
		r.clause(c, len(all), asks)
	}
}

// supposed reports whether a sentence only supposes something.
func (r *reading) supposed(t []token, asks bool) bool {
	switch {
	case among(t[0].text, " suppose imagine supposing assuming were "):
		return true
	case hasWords(t, "what if"), hasWords(t, "should we") || hasWords(t, "should i"), hasWords(t, "are you able"), hasWords(t, "as they say"), hasWords(t, "by hand"), hasWords(t, "myself"), hasWords(t, "if you were to"), hasWords(t, "you want me to") && asks, hasWords(t, "suppose"), hasWords(t, "in theory"), hasWords(t, "theoretically"), hasWords(t, "hypothetically"), hasWords(t, "in case"), hasWords(t, "would happen"):
		return true
	case hasWords(t, "would you be able"), hasWords(t, "if i asked"), hasWords(t, "if i had"), hasWords(t, "if we had"), hasWords(t, "one day"), hasWords(t, "someday"), hasWords(t, "some day"), asks && t[0].text == "would" && hasWords(t, "or"):
		return true
	}
	return false
}

func hasWords(t []token, phrase string) bool {
	f := strings.Fields(phrase)
	for i := 0; i+len(f) <= len(t); i++ {
		if slices.EqualFunc(f, t[i:i+len(f)], func(w string, x token) bool { return w == x.text }) {
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
		case t[i].text == "instead" && among(t[start].text, " use put write set "):
		case t[i-1].file && t[i-1].last && start == 0 && (t[0].text == "in" || t[0].text == "on"):
			cut(i) // in settings.py set DEBUG
		case among(t[i].text, splitters) || among(t[i].text, " without except excluding instead before after when if because until unless or where once "):
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
				h.at, h.end = i, i+k
				out = append(out, h)
				n = k
				break
			}
		}
		i += max(n, 1)
	}
	return out
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
	if w := t[0].text; t[0].file && t[0].first && !t[0].last && len(t) == 1 && (strings.HasPrefix(w, "test_") || strings.HasSuffix(w, "_test") || strings.HasSuffix(w, "_spec")) {
		return hit{phrase: "test", word: word{thing: tests}}, true // as tests are named
	}
	if ok && t[0].file {
		h.word.verb, h.word.verbal = none, false
		if h.word.thing == none || t[0].first && !t[0].last && h.word.thing != docs {
			return hit{}, false
		}
	}
	return h, ok
}

// clause reads one clause.
func (r *reading) clause(t []token, whole int, asks bool) {
	if len(t) > 1 && among(t[0].text, " thanks thank thx sorry great nice good ") && !t[0].comma && (hasWords(t, "for") || hasWords(t, "about") || hasWords(t, "on") || len(t) == 2) || hasWords(t, "i said") || hasWords(t, "tomorrow") {
		return
	}
	if among(t[0].text, " if when before after because until unless whenever while where once ") {
		r.negated = false
		return
	}
	hits := r.hits(t)
	verb, refused := r.verbOf(t, hits)
	if t[0].text == "or" && r.negated {
		refused = true
	}
	q := request{refused: refused}
	for i, h := range hits {
		switch {
		case i == verb:
			q.verb, q.hasVerb = h, true
		case h.word.thing != none && verb < 0:
			q.things = append(q.things, h)
		}
	}
	if verb >= 0 {
		q.things, q.head = objects(t, hits, hits[verb])
	}
	if verb < 0 {
		if q.verb, q.hasVerb = unknownVerb(t); q.hasVerb {
			for _, h := range hits {
				if h.at == q.verb.at && h.word.thing != none {
					q.verb.word.thing, q.verb.triggers, q.verb.phrase = h.word.thing, h.triggers, h.phrase // to chart the errors
				}
			}
			q.things, q.head = objects(t, hits, q.verb)
		}
		if i := slices.IndexFunc(t, func(x token) bool { return x.text == "needs" }); i > 0 && i+1 < len(t) && t[i+1].text != "to" {
			q.verb, q.hasVerb = hit{phrase: "need", word: word{verb: create, verbal: true}}, true // the README needs a section on TLS
		}
		if q.hasVerb {
			verb = 0
		}
	}
	q.verb = sense(t, q)
	if verb < 0 {
		r.fragment(t, whole, q, asks)
		return
	}
	r.negated = refused
	if q.verb.word.thing == none && q.verb.end < len(t) && among(t[q.verb.end].text, pronouns) {
		q.things = append(slices.Clone(r.last), q.things...)
	}
	if len(q.things) > 0 {
		r.last = q.things
	}
	r.want(q)
}

// objects returns the things that a verb is about, and the kind of the first: of a noun phrase the last noun ("the chart component"), and
// of what a preposition adds only where and into what ("in the docs", "to a spreadsheet").
func objects(t []token, hits []hit, verb hit) (things []hit, head kind) {
	keep, first := true, true
	var last hit
	flush := func() {
		side := !first && (head == code || head == texts) && last.word.thing != docs && !last.word.thing.medium()
		if last.word.thing != none && (keep || last.word.thing.medium()) && !side {
			things = append(things, last)
			if first {
				head = last.word.thing
			}
		}
		first = first && last.word.thing == none
		last = hit{}
	}
	next := 0
	for i := range t {
		for next < len(hits) && hits[next].at < i {
			next++
		}
		if i >= verb.end && !t[i].file {
			switch {
			case t[i].text == "that" && i == verb.end && verb.word.verb == check: // check that it holds
			case among(t[i].text, " that which who so whose than how what why where "):
				flush()
				return things, head
			case among(t[i].text, " in into to as from on onto at with "):
				flush()
				keep = true
			case among(t[i].text, " of for by about against over under between via "):
				flush()
				keep = len(things) == 0
			}
		}
		if next < len(hits) && hits[next].at == i && hits[next].at != verb.at && hits[next].word.thing != none {
			if i < verb.at { // before the verb: "the docs are missing it, add it"
				continue
			}
			h := hits[next]
			if h.phrase == "fil" && last.end == h.at && last.word.thing != none || verb.phrase == "mak" && last.word.thing != none {
				continue // an excel file is a spreadsheet
			}
			last = h
		} else if next < len(hits) && hits[next].at == i && i == last.end && last.word.thing.medium() && hits[next].word.verbal {
			last.word.thing, last.triggers = code, nil // the pdf export is code
		}
	}
	flush()
	return things, head
}

// unknownVerb returns a verb that no lexicon has, where a clause begins as a request does: "wire the flag through".
func unknownVerb(t []token) (hit, bool) {
	i := 0
	for i < len(t) && !t[i].file && among(t[i].text, politeness) && !among(t[i].text, negations) {
		i++
	}
	if i+2 >= len(t) || t[i].file || statement(t) || among(t[i].text, determiners) || among(t[i].text, negations) {
		return hit{}, false
	}
	next := t[i+1].text
	if !among(next, " the a an this that these those my our all every each ") || among(t[i].text, " for of in on at by with to from as is the about than thanks into ") {
		return hit{}, false
	}
	return hit{at: i, end: i + 1, phrase: t[i].stem, word: word{verb: do, verbal: true}}, true
}

// sense returns the verb of a request in the sense that its things give it: to make a heading say something is to change it, and to
// explain something in a guide is to write it there.
func sense(t []token, q request) hit {
	v := q.verb
	if !q.hasVerb {
		return v
	}
	switch {
	case v.word.verb == do && v.word.thing == none && (hasWords(t, "overview") || hasWords(t, "tour") || hasWords(t, "summary")):
		v.word.verb = read
	case (v.phrase == "hav" || v.phrase == "tak" || v.phrase == "giv") && hasWords(t, "look"):
		v.word.verb = read
	case v.phrase == "turn" && (hasWords(t, "off") || hasWords(t, "on")):
		v.word.verb = change
	case (v.phrase == "get" || v.phrase == "giv") && q.head == texts && hasWords(t, "me"):
		v.word.verb = read
	case hasWords(t, "instead of") && v.word.verb == do && v.word.thing == none,
		v.phrase == "mak" && q.head == texts, v.word.verb == do && v.phrase == "put" && hasWords(t, "back"):
		v.word.verb = change
	case v.phrase == "explain" || v.phrase == "describ" || v.phrase == "summariz":
		for _, h := range q.things {
			if (h.word.thing == docs || h.word.thing == news) && h.at > 0 && (t[h.at-1].text == "in" || h.at > 1 && t[h.at-2].text == "in") {
				v.word.verb = create
			}
		}
	}
	return v
}

// verbOf returns the place of the verb of a request among the hits of a clause, -1 if it has none, and whether the clause speaks
// against it.
func (r *reading) verbOf(t []token, hits []hit) (verb int, refused bool) {
	for i, h := range hits {
		if !h.word.verbal || t[h.at].file || h.at > 0 && among(t[h.at-1].text, determiners) || !base(t[h.at:h.end]) {
			continue
		}
		lead := t[:h.at]
		if !leads(lead, t[h.at].text) || !light(t, h) {
			continue
		}
		refused = h.end < len(t) && t[h.end].text == "nothing"
		for _, x := range lead {
			refused = refused || among(x.text, negations)
		}
		if len(lead) > 1 && lead[0].text == "why" {
			refused = false
		}
		return i, refused
	}
	return -1, false
}

// light reports whether a verb that is often an auxiliary stands for itself.
func light(t []token, h hit) bool {
	next := token{}
	if h.end < len(t) {
		next = t[h.end]
	}
	if strings.HasSuffix(t[h.at].text, "ing") && among(next.text, " is was takes are isn't ") {
		return false // reading is fun
	}
	if !among(next.text, determiners) && !among(next.text, pronouns) && !among(next.text, " that if whether how why what where which who me please ") && !next.file {
		for _, x := range t[h.end:] {
			if among(x.text, " is are was were fell has ") {
				return false // test data is in fixtures
			}
		}
	}
	switch t[h.at].text {
	case "see", "view", "read", "look":
		return next.text != "you" && next.text != "from"
	case "do":
		return next.text != "not" && next.text != "you" && next.text != "we" && next.text != "i"
	case "have":
		return h.at == 0 || among(t[h.at-1].text, " please and then you ")
	case "want", "like", "need":
		return among(next.text, determiners) || among(next.text, " more better some ")
	}
	return true
}

// base reports whether a verb has the form of a request: not that of the past or of another person.
func base(t []token) bool {
	w := t[0].text
	if strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "eed") && len(w) > 4 && w != "embed" {
		return false
	}
	if len(t) == 1 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && stem(w) != w {
		return false
	}
	return true
}

// leads reports whether words may stand before the verb of a request.
func leads(t []token, next string) bool {
	past := false
	for i, x := range t {
		if x.file {
			return false
		}
		if (x.text == "will" || x.text == "can") && i > 0 && among(t[i-1].text, " i we ") || x.text == "me" && i == 1 && t[0].text == "let" && len(t) == 2 && !among(next, " see know have ") {
			return false // the person does it
		}
		switch {
		case x.text == "to" && i > 0 && t[i-1].text == "how", x.text == "used":
			return false
		case among(x.text, politeness), among(x.text, negations), x.text == "why" && i == 0, x.text == "than", x.text == "of", x.text == "need" || x.text == "for":
		case x.text == quote:
			return false
		default:
			past = true
		}
	}
	return !past
}

const quote = string(quoted)

// fragment reads a clause without a verb: it asks for what it names if it is short, and answers what was asked before.
func (r *reading) fragment(t []token, whole int, q request, asks bool) {
	if len(q.things) == 0 {
		return
	}
	for i, x := range t {
		if among(x.text, negations) || x.text == "needed" && i > 0 && strings.HasSuffix(t[i-1].text, "n't") {
			q.refused = true
		}
	}
	if q.refused {
		r.want(q)
		return
	}
	r.last = q.things
	if len(t) > 6 || statement(t) || strings.HasSuffix(t[0].text, "ed") {
		return
	}
	r.want(q)
}

// statement reports whether a clause tells something.
func statement(t []token) bool {
	for i, x := range t {
		if i > 0 && among(x.text, " has had have ") || among(x.text, " is are was were am be been said says went think it's that's i'm i he she they will ") ||
			i > 0 && among(x.text, " ran did already ") || among(x.text, " fell went got broke failed died happened ") ||
			i > 0 && !x.file && !among(t[i-1].text, determiners) && (strings.HasSuffix(x.text, "ed") && len(x.text) > 4) ||
			i > 0 && i+1 < len(t) && strings.HasSuffix(x.text, "s") && lexicon()[x.stem].verbal && among(t[i+1].text, " the a an my our your his her their this it ") {
			return true
		}
	}
	return among(t[0].text, determiners)
}

// question reads a question that is no request in the form of one, and reports whether it was one.
func (r *reading) question(t []token) bool {
	first := t[0].text
	i := 0
	for i < len(t) && among(t[i].text, " and so ok okay but hey hi ") {
		i++
	}
	if i < len(t) {
		first = t[i].text
	}
	if !among(first, " what what's which who where how why is are does do did has what're where's who's how's was were when any ") {
		return false
	}
	if hasWords(t, "mean") || hasWords(t, "how much") || hasWords(t, "how long") || hasWords(t, "how old") || hasWords(t, "what is a") || hasWords(t, "what is an") || hasWords(t, "what's a") || hasWords(t, "what's an") || hasWords(t, "how would") ||
		slices.ContainsFunc(t, func(x token) bool { return x.text == quote || among(x.text, opinions) }) || hasWords(t, "difference") {
		return true
	}
	if len(t) > 1 && (first == "who" || first == "when") && slices.ContainsFunc(t, func(x token) bool {
		return among(x.text, " changed touched wrote edited modified added broke removed deleted introduced ")
	}) {
		h, _ := r.look("git")
		r.want(request{things: []hit{h}}) // the history knows
		return true
	}
	q := request{}
	weak := false
	found := r.hits(t[i:])
	for n, h := range found {
		if n+1 < len(found) && found[n+1].at == h.end && found[n+1].word.thing != none {
			continue // the build script is a script
		}
		switch {
		case h.word.thing == none:
		case (h.word.thing == texts || h.word.thing == code) && !h.word.verbal:
			weak = true
		case h.word.thing == code:
		default:
			q.things = append(q.things, h)
		}
	}
	for _, x := range t {
		weak = weak || x.file || first != "how" && x.text == "we" || x.text == "our"
	}
	switch {
	case len(q.things) > 0:
		r.last = q.things
		r.want(q)
	case weak && among(first, " what what's which who where how why where's is are does "):
		r.want(request{verb: hit{phrase: "read", word: lexicon()["read"]}, hasVerb: true})
	}
	return true
}

// ending notes words that end a task, where a sentence says that it is done or that another thing comes next.
func (r *reading) ending(t []token, asks bool) {
	if asks {
		return
	}
	for _, c := range clauses(t) {
		i := 0
		for i < len(c) && among(c[i].text, " great perfect good fine well now and so that's thats it's its this is all very nice cool ") {
			i++
		}
		if i == len(c) || c[i].file {
			continue
		}
		rest := c[i+1:]
		switch c[i].text {
		case "ok", "okay", "thanks", "thank", "thx", "done", "finished", "next":
			r.ends = true
		case "complete", "completed":
			r.ends = r.ends || len(rest) == 0 || i > 0
		case "something", "on", "other":
			r.ends = r.ends || c[i].text == "other" || hasWords(rest, "other") || hasWords(rest, "else")
		default:
			if hasWords(c, "looks good") || hasWords(c, "looks complete") || hasWords(c, "looks done") || hasWords(c, "is done") || hasWords(c, "is finished") || hasWords(c, "are done") {
				r.ends = true
			}
			last := c[len(c)-1].text
			if n := len(c); n > 2 && among(c[n-2].text, " is are that's it's all ") && among(last, " done finished complete completed over ") || len(c) > 2 && hasWords(c, "all right now") {
				r.ends = true
			}
		}
	}
}
