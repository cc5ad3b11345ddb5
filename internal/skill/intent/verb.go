package intent

import (
	"slices"
	"strings"
)

// passive returns the verb of a request in the passive voice, "this has to be documented", and the things before it.
func passive(t []token, hits []hit) (verb hit, things []hit, ok bool) {
	for i := range t {
		n := 0
		switch {
		case begins(t[i:], "needs to be"), begins(t[i:], "need to be"), begins(t[i:], "has to be"), begins(t[i:], "have to be"):
			n = 3
		case begins(t[i:], "must be"), begins(t[i:], "should be"):
			n = 2
		default:
			continue
		}
		for _, h := range hits {
			switch {
			case h.at < i && h.word.thing != none:
				things = append(things, h)
			case h.at == i+n && h.word.verbal:
				return h, things, true
			}
		}
	}
	return hit{}, nil, false
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
	if !among(next, articles) || among(t[i].text, " for of in on at by with to from as is the about than thanks into ") {
		return hit{}, false
	}
	return hit{at: i, end: i + 1, phrase: t[i].stem, said: t[i].text, word: word{verb: do, verbal: true}}, true
}

// sense returns the verb of a request in the sense that its things give it: to make a heading say something is to change it, and to
// explain something in a guide is to write it there.
func sense(t []token, q request) hit {
	v := q.verb
	if !q.hasVerb {
		return v
	}
	switch {
	case hasWords(t, "critical look", "hard look", "second look", "critical eye"):
		v.word.verb, v.word.thing, v.said = do, reviews, "look"
	case v.word.verb == do && v.word.thing == none && hasWords(t, "overview", "tour", "summary"):
		v.word.verb = read
	case (v.phrase == "hav" || v.phrase == "tak" || v.phrase == "giv") && hasWords(t, "look", "read"):
		v.word.verb = read
	case (v.phrase == "get" || v.phrase == "mak") && q.head == tests && hasWords(t, "green", "pass", "passing"):
		v.word.verb = change
	case v.phrase == "turn" && hasWords(t, "off", "on"):
		v.word.verb = change
	case (v.phrase == "get" || v.phrase == "giv") && q.head == texts && hasWords(t, "me"):
		v.word.verb = read
	case hasWords(t, "instead of") && v.word.verb == do && v.word.thing == none,
		v.phrase == "mak" && q.head == texts, v.word.verb == do && v.phrase == "put" && hasWords(t, "back"):
		v.word.verb = change
	case v.phrase == "explain" || v.phrase == "describ" || v.phrase == "summariz":
		for _, h := range q.things {
			written := h.word.thing == docs || h.word.thing == news
			if written && h.at > 0 && (t[h.at-1].text == "in" || h.at > 1 && t[h.at-2].text == "in") {
				v.word.verb = create
			}
		}
	}
	return v
}

// verbOf returns the place of the verb of a request among the hits of a clause, -1 if it has none, and whether the clause speaks
// against it.
func verbOf(t []token, hits []hit) (verb int, refused bool) {
	for i, h := range hits {
		if !h.word.verbal || t[h.at].file || h.at > 0 && among(t[h.at-1].text, determiners) || !base(t[h.at:h.end]) {
			continue
		}
		lead := t[:h.at]
		if !leads(lead, t[h.at].text) || !light(t, h) {
			continue
		}
		refused = h.end < len(t) && t[h.end].text == "nothing" && !hasWords(t, "nothing but")
		for i, x := range lead {
			refused = refused || among(x.text, negations) && (x.text != "rather" || i == 0 || lead[i-1].text != "i'd")
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
	object := next.file || among(next.text, determiners) || among(next.text, pronouns) || among(next.text, questions) ||
		among(next.text, " if whether me please ")
	if !object && slices.ContainsFunc(t[h.end:], func(x token) bool { return among(x.text, presently) || among(x.text, " fell has ") }) {
		return false // test data is in fixtures
	}
	switch t[h.at].text {
	case "see", "view", "read", "look":
		return next.text != "you" && next.text != "from"
	case "let":
		return among(next.text, " the a an users people ")
	case "do":
		return next.text != "not" && next.text != "you" && next.text != "we" && next.text != "i"
	case "have":
		return h.at == 0 || among(t[h.at-1].text, " please and then you let's rather ")
	case "like":
		if h.at > 0 && t[h.at-1].text == "i" {
			return false // an opinion, where "I'd like" is a request
		}
		fallthrough
	case "want", "need":
		return among(next.text, determiners) || among(next.text, " more better some ") || lexicon()[next.stem].thing != none
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

// leads reports whether words may stand before the verb of a request, which is next.
func leads(t []token, next string) bool {
	if len(t) == 2 && t[0].text == "let" && t[1].text == "me" && !among(next, " see know have ") {
		return false // the person does it
	}
	for i, x := range t {
		before := ""
		if i > 0 {
			before = t[i-1].text
		}
		switch {
		case x.file, x.text == "to" && before == "how", (x.text == "will" || x.text == "can") && (before == "i" || before == "we"):
			return false // what somebody will do, or how
		case among(x.text, politeness), among(x.text, negations), x.text == "why" && i == 0, among(x.text, " than of for "):
		default:
			return false
		}
	}
	return true
}
