// Package find finds the things that a request in plain words needs, among things with a name and a description: tools and skills. It is
// pure: texts go in, a ranking comes out, and the same texts give the same ranking. English and Japanese are understood, also mixed.
//
// The ranking is BM25F over the words of the fields. A word of the request also counts, at half weight, for what means nearly the same
// (lexicon.txt). A request of several steps is taken apart, and each step contributes to what is found.
package find

import (
	"math"
	"slices"
	"strings"

	"mycelium/internal/text"
)

// Doc is one thing that can be found.
type Doc struct {
	Name   string   // of a tool, without its server
	Server string   // empty: it has none
	Text   string   // what it says about itself
	Keys   []string // names of its parameters, or of the tools of a skill
	Notes  []string // what is said about its parameters, or the words that call for a skill
}

// Hit is one thing that was found.
type Hit struct {
	Doc   int     // its place among the documents of the index
	Score float64 // above 0; comparable within one answer only
	Share float64 // which part of the words of the request it has, 0 to 1; a word of nearly the same meaning counts half
}

// The fields and their weights are those of issue 13. The other constants were chosen on the training catalogs of testdata.
const (
	nameWeight   = 3
	textWeight   = 2
	serverWeight = 1.5
	keyWeight    = 0.8
	noteWeight   = 0.5

	saturation = 3    // BM25's k1: how soon more mentions of a word stop counting
	lengthNorm = 0.45 // BM25's b: how much a long description weakens each of its words
	serverHint = 0.25 // what naming a server adds to the scores of its tools
	alternate  = 0.5  // of a word that means nearly the same
	partWeight = 0.5  // of a word that repeats what other words say
	gramWeight = 0.15 // of shared pieces of four characters, which only break ties
)

// maxText bounds what is indexed of one text, and read of a request, in bytes.
const maxText = 4 << 10

// posting is what one document has of one term.
type posting struct {
	doc    int32
	weight float64 // what the term adds to the score of the document
}

// Index finds documents. It never changes, and is safe for concurrent use.
type Index struct {
	keys    map[key]int
	docs    int
	terms   map[string][]posting
	servers map[string][]int32 // the documents of the servers that a term names
	classes [][]posting        // of each class of the lexicon: the best of its members
	grams   map[uint32][]int32
	rare    float64 // the weight of a word that no document has
}

// New makes an index.
func New(docs []Doc) *Index {
	x := &Index{
		docs: len(docs), keys: map[key]int{}, terms: map[string][]posting{}, servers: map[string][]int32{}, grams: map[uint32][]int32{},
	}
	lengths, total := make([]float64, len(docs)), 0.0
	for i, d := range docs {
		x.keys[key{d.Server, d.Name}] = i
		lengths[i] = x.add(int32(i), d)
		for _, w := range split(d.Server) {
			x.servers[w.terms[0]] = append(x.servers[w.terms[0]], int32(i))
		}
		total += lengths[i]
	}
	x.rare = rarity(len(docs), 0)
	for _, list := range x.terms {
		idf := rarity(len(docs), len(list))
		for i := range list {
			p := &list[i]
			tf := p.weight / (1 - lengthNorm + lengthNorm*lengths[p.doc]/(total/float64(len(docs))))
			p.weight = idf * tf * (saturation + 1) / (saturation + tf)
		}
	}
	x.classes = x.best(len(docs))
	return x
}

// rarity is what a word counts that so many of the documents have (BM25's idf).
func rarity(docs, have int) float64 {
	n, df := float64(docs), float64(have)
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}

// add counts the words of a document, and returns its length in words, weighted.
func (x *Index) add(doc int32, d Doc) float64 {
	counts, order := map[string]float64{}, []string{}
	length := 0.0
	count := func(s string, weight float64) {
		for _, w := range split(text.Prefix(s, maxText)) {
			weight := weight
			if w.part {
				weight *= partWeight
			} else {
				length += weight
			}
			for _, t := range w.terms {
				if _, ok := counts[t]; !ok {
					order = append(order, t)
				}
				counts[t] += weight
			}
		}
	}
	count(d.Name, nameWeight)
	count(d.Text, textWeight)
	count(d.Server, serverWeight)
	for _, k := range d.Keys {
		count(k, keyWeight)
	}
	for _, n := range d.Notes {
		count(n, noteWeight)
	}
	for _, t := range order {
		x.terms[t] = append(x.terms[t], posting{doc, counts[t]})
	}
	for _, g := range grams(d.Server + " " + d.Name + " " + text.Prefix(d.Text, 200)) {
		x.grams[g] = append(x.grams[g], doc)
	}
	return length
}

// best returns for each class the best that its members have, by document. A rare word of a common class counts between the two: who
// says "fetch" rarely means only the one tool that says it too.
func (x *Index) best(docs int) [][]posting {
	lex := words()
	out := make([][]posting, len(lex.members))
	weights := make([]float64, docs)
	for c, members := range lex.members {
		var touched []int32
		for _, m := range members {
			for _, p := range x.terms[m] {
				if weights[p.doc] == 0 {
					touched = append(touched, p.doc)
				}
				weights[p.doc] = max(weights[p.doc], p.weight)
			}
		}
		for _, doc := range touched {
			weights[doc] = 0
		}
		common := rarity(docs, len(touched))
		for _, m := range members {
			own := rarity(docs, len(x.terms[m]))
			for _, p := range x.terms[m] {
				weights[p.doc] = max(weights[p.doc], p.weight*(own+common)/2/own)
			}
		}
		slices.Sort(touched)
		for _, doc := range touched {
			out[c] = append(out[c], posting{doc, weights[doc]})
			weights[doc] = 0
		}
	}
	return out
}

// Find returns at most limit documents for a request, the best first. learnt may be nil.
func (x *Index) Find(request string, limit int, learnt *Learnt) []Hit {
	if limit <= 0 || x.docs == 0 {
		return nil
	}
	request = text.Prefix(text.Compat(request), maxText)
	whole := x.rate(request, learnt)
	steps := clauses(request)
	if len(steps) < 2 {
		return whole.best(limit)
	}
	lists := make([][]Hit, 0, len(steps))
	for _, s := range steps {
		r := x.rate(s, learnt)
		for i := range r.scores {
			if r.scores[i] > 0 {
				r.scores[i] += contextWeight * whole.scores[i]
			}
		}
		lists = append(lists, r.best(limit))
	}
	return unite(append(lists, whole.best(limit)), limit)
}

// rating is what each document has of a request of one step.
type rating struct {
	scores []float64
	had    []float64 // how many of its words
	words  float64
}

// best returns the best documents. It keeps the best so far in order, since limit is small.
func (r rating) best(limit int) []Hit {
	var hits []Hit
	for i, s := range r.scores {
		if s <= 0 || len(hits) == limit && s <= hits[limit-1].Score {
			continue
		}
		if len(hits) < limit {
			hits = append(hits, Hit{})
		}
		at := len(hits) - 1
		for ; at > 0 && hits[at-1].Score < s; at-- {
			hits[at] = hits[at-1]
		}
		hits[at] = Hit{Doc: i, Score: s, Share: r.had[i] / max(r.words, 1)}
	}
	return hits
}

// rate returns what each document has of a request of one step.
func (x *Index) rate(request string, learnt *Learnt) rating {
	floats := make([]float64, 4*x.docs)
	total, had := floats[:x.docs], floats[x.docs:2*x.docs]
	best, part := floats[2*x.docs:3*x.docs], floats[3*x.docs:] // of one word
	lex := words()
	seen := map[string]bool{}
	var touched []int32
	count := 0.0
	take := func(list []posting, factor, share float64) {
		for _, p := range list {
			if w := p.weight * factor; w > best[p.doc] {
				if best[p.doc] == 0 {
					touched = append(touched, p.doc)
				}
				best[p.doc] = w
				part[p.doc] = max(part[p.doc], share)
			}
		}
	}
	for _, w := range asked(split(request)) {
		if seen[w.terms[0]] {
			continue
		}
		seen[w.terms[0]] = true
		factor, share := 1.0, 1.0
		if w.part {
			factor, share = partWeight, 0
		}
		count += share
		for _, t := range w.terms {
			take(x.terms[t], factor, share)
			for _, c := range lex.classes[t] {
				take(x.classes[c], factor*alternate, share*alternate)
			}
		}
		for _, doc := range touched {
			total[doc] += best[doc]
			had[doc] += part[doc]
			best[doc], part[doc] = 0, 0
		}
		touched = touched[:0]
	}
	x.hint(seen, total)
	learnt.add(x, total, seen)
	x.breakTies(request, total)
	return rating{total, had, count}
}

// hint prefers the documents of a server that a request names. A name that is an everyday word (files, calendar) is no hint that this
// server and no other is meant; those are the names that other servers' documents use too.
func (x *Index) hint(terms map[string]bool, total []float64) {
	for term := range terms { // in any order: a document belongs to one server, and a factor is applied to it once a term
		docs := x.servers[term]
		if len(x.terms[term]) > len(docs) {
			continue
		}
		for _, doc := range docs {
			total[doc] *= 1 + serverHint
		}
	}
}

// breakTies adds what a request shares with documents in pieces of four characters.
func (x *Index) breakTies(request string, total []float64) {
	all := grams(request)
	if len(all) == 0 {
		return
	}
	each := gramWeight / float64(len(all))
	for _, g := range all {
		for _, doc := range x.grams[g] {
			total[doc] += each * x.rare
		}
	}
}

// grams returns the distinct pieces of four characters of the words of a text, as hashes (FNV-1a).
func grams(s string) []uint32 {
	var out []uint32
	for _, w := range strings.FieldsFunc(strings.ToLower(text.Compat(s)), func(r rune) bool { return !isWord(r) && !isJapanese(r) }) {
		runes := []rune(w)
		for i := 0; i+4 <= len(runes); i++ {
			h := uint32(2166136261)
			for _, r := range runes[i : i+4] {
				h = (h ^ uint32(r)) * 16777619
			}
			out = append(out, h)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// asked returns the words of a request that say something: words such as "the" and "please" go, unless there is no other.
func asked(all []word) []word {
	out := slices.DeleteFunc(slices.Clone(all), func(w word) bool { return isFiller(w.terms[0]) })
	if len(out) == 0 {
		return all
	}
	return out
}

// isFiller reports whether a stem carries no meaning in a request.
func isFiller(stem string) bool {
	switch stem {
	case "a", "an", "the", "this", "that", "thes", "those", "i", "me", "my", "we", "us", "our", "you", "your", "it", "its", "he", "she",
		"her", "him", "his", "they", "them", "their", "is", "are", "was", "wer", "be", "been", "am", "do", "does", "did", "done",
		"have", "has", "had",
		"can", "could", "would", "should", "will", "shall", "may", "might", "must", "to", "of", "in", "at", "by", "for", "from",
		"with", "into", "onto", "as", "and", "or", "but", "not", "no", "if", "then", "than", "so", "too", "also", "just", "pleas", "pls",
		"want", "need", "lik", "there", "here", "what", "how", "when", "wher", "why", "any", "some", "about", "after",
		"s", "t", "m", "d", "ll", "re", "ve", "don", "help", "abl", "using", "via", "up", "out", "much", "many", "thing", "new", "got",
		"go", "going", "on":
		return true
	}
	return false
}
