package intent

import (
	"slices"
	"strings"
)

// onlySupposed reports whether a sentence only supposes something.
func onlySupposed(t []token, asks bool) bool {
	switch {
	case among(t[0].text, " suppose imagine supposing assuming were "):
		return true
	case hasWords(t, "what if", "if you were to", "suppose", "in theory", "theoretically", "hypothetically", "in case", "would happen",
		"would you be able", "if i asked", "if i had", "if we had", "one day", "someday", "some day"):
		return true
	case hasWords(t, "should we", "should i", "are you able", "as they say"):
		return true // what the person weighs, or says of others
	}
	return asks && (hasWords(t, "you want me to") || t[0].text == "would" && hasWords(t, "or"))
}

// fragment reads a clause without a verb: it asks for what it names if it is short, and answers what was asked before.
func (r *reading) fragment(t []token, q request) {
	if len(q.things) == 0 {
		return
	}
	for i, x := range t {
		unneeded := x.text == "needed" && i > 0 && strings.HasSuffix(t[i-1].text, "n't")
		if unneeded || among(x.text, negations) && !among(t[0].text, determiners) {
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

// telling are words of clauses that tell something.
const telling = " am be been said says went think it's that's i'm i he she they will fell got broke failed died happened "

// statement reports whether a clause tells something.
func statement(t []token) bool {
	for i, x := range t {
		switch {
		case among(x.text, telling), among(x.text, presently):
			return true
		case i == 0 || x.file:
		case among(x.text, " has had have ran did already "):
			return true
		case strings.HasSuffix(x.text, "ed") && len(x.text) > 4 && !among(t[i-1].text, determiners):
			return true
		case i+1 < len(t) && strings.HasSuffix(x.text, "s") && lexicon()[x.stem].verbal:
			if among(t[i+1].text, " the a an my our your his her their this it ") {
				return true // nobody reviews my code
			}
		}
	}
	return among(t[0].text, determiners)
}

// question reads a question that is no request in the form of one, and reports whether it was one. What it is about is looked at if it
// is about this project: "which tests fail?", not "what is a test?".
func (r *reading) question(t []token) bool {
	for len(t) > 1 && among(t[0].text, " and so ok okay but hey hi ") {
		t = t[1:]
	}
	first := t[0].text
	if !among(first, questions) && !among(first, presently) && !among(first, " does do did has when any ") {
		return false
	}
	found := r.hits(t)
	r.last = slices.DeleteFunc(slices.Clone(found), func(h hit) bool { return h.word.thing == none })
	if general(t) {
		return true
	}
	if (first == "who" || first == "when") && slices.ContainsFunc(t, func(x token) bool { return among(x.text, touched) }) {
		h, _ := r.look("git")
		r.want(request{things: []hit{h}}) // the history knows
		return true
	}
	var q request
	ours := slices.ContainsFunc(t, func(x token) bool { return x.file || x.text == "our" || x.text == "we" && first != "how" })
	for n, h := range found {
		switch {
		case h.word.thing == none, n+1 < len(found) && found[n+1].at == h.end && found[n+1].word.thing != none:
			// the build script is a script
		case h.word.thing != texts && h.word.thing != code:
			q.things = append(q.things, h)
		case !h.word.verbal:
			ours = true
		}
	}
	switch {
	case len(q.things) > 0:
		r.last = q.things
		r.want(q)
	case ours && (among(first, questions) || among(first, " is are does ") || hasWords(t, "any idea")):
		r.want(request{verb: hit{phrase: "read", word: lexicon()["read"]}, hasVerb: true})
	}
	return true
}

const (
	touched  = " changed touched wrote edited modified added broke removed deleted introduced "
	opinions = " like prefer think feel people anyone anybody better best important invented released hate general ever mean " +
		"difference " + string(quoted) + " "
)

// general reports whether a question is about what words mean, about opinions, or about how much there is of something.
func general(t []token) bool {
	return slices.ContainsFunc(t, func(x token) bool { return among(x.text, opinions) }) ||
		hasWords(t, "how much", "how long", "how old", "how would", "what is a", "what is an", "what's a", "what's an")
}

// ending notes words that end a task, where a sentence says that it is done or that another thing comes next (B16).
func (r *reading) ending(t []token) {
	for _, c := range clauses(t) {
		i := 0
		for i < len(c) && among(c[i].text, " great perfect good fine well now and so that's thats it's its this is all very nice ") {
			i++
		}
		if i == len(c) || c[i].file {
			continue
		}
		rest := c[i+1:]
		switch c[i].text {
		case "ok", "okay", "thanks", "thank", "thx", "done", "finished", "next", "other":
			r.ends = true
		case "complete", "completed":
			r.ends = r.ends || len(rest) == 0 || i > 0
		case "something", "on":
			r.ends = r.ends || hasWords(rest, "other", "else")
		default:
			r.ends = r.ends || hasWords(c, "looks good", "looks complete", "looks done", "all done", "all right now") || isDone(c)
		}
	}
}

// isDone reports whether a clause says that something is done: "are done in the client" says how.
func isDone(t []token) bool {
	for i := 1; i < len(t); i++ {
		last := i+1 == len(t) || among(t[i+1].text, " now already here for with finally ")
		if last && among(t[i-1].text, " is are ") && among(t[i].text, " done finished complete completed over ") {
			return true
		}
	}
	return false
}
