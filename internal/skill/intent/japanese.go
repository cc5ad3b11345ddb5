package intent

import (
	_ "embed" // the endings of verbs
	"slices"
	"strings"
	"sync"
	"unicode"
)

// mood is what the ending of a Japanese verb says.
type mood uint8

const (
	noun     mood = iota // the word is no verb here
	asked                // して, してください, お願い, at the end of a sentence
	against              // しないで, せずに, 不要
	supposed             // したら, する場合
	told                 // しました, している
	chained              // し、 or a stem before a comma: as the verb after it
)

// endingLines are the endings of verbs and what they say: a line is a mood and endings. Those that are against something are looked at
// first, then those of what is supposed, told and asked.
//
//go:embed endings.txt
var endingLines string

// moods are the endings of each mood, parted by spaces.
type moods struct{ against, supposed, told, asked string }

// endings returns the endings. They are read when they are first used.
func endings() *moods {
	theEndings.once.Do(func() {
		m := &theEndings.moods
		lists := map[string]*string{"against": &m.against, "supposed": &m.supposed, "told": &m.told, "asked": &m.asked}
		for line := range strings.Lines(endingLines) {
			if name, list, ok := strings.Cut(strings.TrimSpace(line), " "); ok && lists[name] != nil {
				*lists[name] += " " + list
			}
		}
	})
	return &theEndings.moods
}

var theEndings struct {
	once sync.Once
	moods
}

// longestEnding is the number of characters after a verb in which its ending is looked for.
const longestEnding = 16

// tailOf returns what follows a place, as far as an ending of a verb goes.
func tailOf(s []rune, at int) string { return string(s[at:min(at+longestEnding, len(s))]) }

// containsAny reports whether a text has one of the words.
func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// japanese reads a sentence in Japanese, which may have English words in it.
func (r *reading) japanese(s []rune, asks bool) {
	str := string(s)
	r.finished(str)
	asking := [...]string{"か", "どれ", "誰", "どこ", "なぜ", "どうして"}
	asks = asks || slices.ContainsFunc(asking[:], func(w string) bool { return strings.HasSuffix(str, w) })
	switch {
	case containsAny(str, "もっと教え", "としたら", "理論上", "理屈", "かもしれ", "今後"),
		strings.HasPrefix(str, "もし"), strings.HasPrefix(str, "仮に"), strings.HasPrefix(str, "いつか"):
		return // what is only supposed
	case asks && containsAny(str, "どう思", "と思", "どっち", "どちら", "好き", "大事", "より", "いつ", "発明"):
		return // an opinion
	case asks && strings.Contains(str, "誰") && containsAny(str, "変更", "触", "編集"):
		h, _ := r.look("git")
		r.want(request{things: []hit{h}}) // the history knows
		return
	}
	c := chain{r: r, s: s, asks: asks}
	hits := r.spread(s)
	for i, h := range hits {
		before := string(s[:h.at])
		if strings.HasPrefix(h.phrase, "直") && strings.HasSuffix(before, "し") || h.phrase == "にして" && strings.HasSuffix(before, "だけ") {
			continue // し直して: to do again; 読むだけにして: to read
		}
		if m := c.moodOf(h); m == noun {
			c.noun(h)
		} else {
			c.verb(h, m, i+1 < len(hits))
		}
	}
	c.settle(asked)
	switch {
	case len(c.things) > 0:
		r.bare(s, c.things, asks)
	case asks && containsAny(str, "呼ばれて", "使われて", "書いてある", "書かれて", "定義されて"):
		r.isRead()
	}
}

// chain is a sentence in which verbs follow their things, and the last verb says what becomes of those before it.
type chain struct {
	r       *reading
	s       []rune
	asks    bool
	things  []hit     // after the last verb
	waiting []request // those that the next verb decides about
}

// moodOf returns what the ending of a word says, and noun for one that is no verb.
func (c *chain) moodOf(h hit) mood {
	if !h.word.verbal {
		return noun
	}
	return moodOf(c.s, h, c.asks)
}

// noun takes a word that is no verb where it stands.
func (c *chain) noun(h hit) {
	switch {
	case hasEnding(tailOf(c.s, h.end), endings().against):
		c.r.want(request{things: []hit{h}, refused: true})
	case hasEnding(tailOf(c.s, h.end), "前に 後に 待ち 中に 担当"): // コミット前に: a time, not a task
	case h.word.thing == none, h.word.verbal && !c.asks && isPast(c.s, h):
	default:
		c.things = append(c.things, h)
	}
}

// verb takes a verb and the things before it. more says that other words follow.
func (c *chain) verb(h hit, m mood, more bool) {
	q := request{verb: h, hasVerb: true, refused: m == against, things: objectsBefore(c.s, c.things, h)}
	q.things = slices.DeleteFunc(q.things, func(x hit) bool { return x.end < h.at && conditional(c.s[x.end:h.at]) })
	if h.word.thing != none && (m == asked || m == against) { // ビルドとテストをして
		for _, x := range c.things {
			if x.word.verbal && x.end < len(c.s) && strings.ContainsRune("とやも", c.s[x.end]) {
				c.r.want(request{verb: x, hasVerb: true, refused: m == against})
			}
		}
	}
	c.things = nil
	if n := len(q.things); n > 0 {
		q.head = q.things[n-1].word.thing
	}
	switch {
	case len(q.things) == 0 && (h.word.verb == change || h.word.verb == create):
		q.things = c.r.last
	case len(q.things) == 0 && h.word.verb == check && conditional(c.s[:h.at]):
		return // tell me when it breaks
	case m == against && len(q.things) > 0 && h.word.verb == do && h.word.thing == none:
		q.verb, q.hasVerb = hit{}, false
	}
	switch {
	case h.phrase == "見" && h.at > 0 && c.s[h.at-1] == 'か':
		q.verb.word.verb = check // whether it compiles
	case h.word.verb == read && slices.ContainsFunc(q.things, func(x hit) bool { return x.word.thing == docs && c.s[x.end] == 'で' }):
		q.verb.word.verb = create // to explain it in a document is to write it there
	case h.phrase == "出し" && q.head == texts:
		q.verb.word.verb = read
	}
	if m == asked && more && goesOn(c.s[h.end:]) {
		m = chained
	}
	switch m {
	case chained:
		c.r.last = q.things
		c.waiting = append(c.waiting, q)
	case asked:
		c.r.last = q.things
		c.settle(asked)
		c.r.want(q)
	case against:
		c.r.want(q)
	default:
		c.settle(m)
	}
}

// settle decides about the requests that wait for a verb.
func (c *chain) settle(m mood) {
	for _, q := range c.waiting {
		if m == asked {
			c.r.want(q)
		}
	}
	c.waiting = nil
}

// goesOn reports whether a verb in its te-form has another one after it in the sentence: コミットしてプッシュしました.
func goesOn(tail []rune) bool {
	i := 0
	if len(tail) > 0 && tail[0] == 'し' {
		i = 1
	}
	if i+1 >= len(tail) || tail[i] != 'て' && tail[i] != 'で' {
		return false
	}
	return unicode.In(tail[i+1], unicode.Han, unicode.Katakana) || isSpaced(tail[i+1])
}

// bare reads things after which no verb stands: 動作確認は？ asks for them, ビルドサーバは東京にある tells something.
func (r *reading) bare(s []rune, things []hit, asks bool) {
	things = slices.DeleteFunc(slices.Clone(things), func(x hit) bool { return conditional(s[x.end:]) })
	r.last = things
	if len(things) == 0 {
		return
	}
	last := things[len(things)-1]
	tail := string(s[last.end:])
	if hasEnding(tail, endings().against) {
		r.want(request{things: things, refused: true})
		return
	}
	strong := slices.DeleteFunc(slices.Clone(things), func(h hit) bool {
		return h.word.thing >= texts && (asks || h.triggers == nil) && h.word.thing != kinds
	})
	str := string(s)
	switch {
	case containsAny(str, "違い", "とは", "って何", string(quoted)), strings.Contains(str, "意味") && !containsAny(str, "この", "その"):
	case asks && len(strong) > 0 && !strings.Contains(str, "たらどう"):
		r.want(request{things: strong})
	case asks && containsAny(str, "どこ", "どの", "どれ", "なぜ", "何", "ある") || asks && tail == "は":
		r.isRead()
	case strings.HasPrefix(tail, "が必要"):
		r.want(request{things: things, verb: hit{word: word{verb: create, verbal: true}}, hasVerb: true})
	case asksFor(str):
		r.want(request{things: things, verb: hit{word: word{verb: do, verbal: true}}, hasVerb: true})
	case len(strong) > 0 && len(s) < shortSentence && (isOpen(tail) || tail == "で" && last.word.thing.medium()):
		r.want(request{things: strong})
	}
}

// isRead notes that a text asks for something that is read.
func (r *reading) isRead() {
	r.want(request{verb: hit{phrase: "読み", word: word{verb: read, verbal: true}}, hasVerb: true})
}

// shortSentence is the number of characters below which things without a verb are a request.
const shortSentence = 30

// isOpen reports whether what follows a thing leaves open what is to be done with it.
func isOpen(tail string) bool {
	return tail == "" || tail == "を" || tail == "だけ" || strings.HasPrefix(tail, " please")
}

// objectsBefore returns the things that a verb is about: of グラフのコンポーネントのバグを the last, of two with を the later. A document
// or a format stays, as it says where.
func objectsBefore(s []rune, things []hit, verb hit) []hit {
	var out []hit
	for i, x := range things {
		drop := false
		tail := s[x.end:min(verb.at, len(s))]
		if i+1 < len(things) {
			gap := string(s[x.end:max(things[i+1].at, x.end)])
			next := things[i+1].word.thing
			writes := verb.word.verb == change || verb.word.verb == create
			keeps := x.word.thing.medium() && next != code || x.word.thing == versions && verb.word.verb == read ||
				x.word.thing == docs && (next == texts || next == code) && writes
			drop = (gap == "" && x.end > x.at || len([]rune(gap)) <= 5 && strings.Contains(gap, "の")) && !keeps
			if len(tail) > 0 && tail[0] == 'を' {
				for _, y := range things[i+1:] {
					drop = drop || y.end < len(s) && s[y.end] == 'を'
				}
			}
		}
		if !drop {
			out = append(out, x)
		}
	}
	return out
}

// conditional reports whether what stands before s is supposed: 通ったら, 通れば.
func conditional(s []rune) bool {
	str := string(s)
	return strings.Contains(str, "たら") || strings.Contains(str, "れば") || strings.Contains(str, "だら")
}

// asksFor reports whether a sentence ends as a request does, whatever its verb is.
func asksFor(s string) bool {
	for _, end := range [...]string{"て", "てください", "てほしい", "てくれ", "でください", "てもらえますか", "てね", "よう", "たい",
		"んで", "いで"} {
		if strings.HasSuffix(s, end) && !strings.HasSuffix(s, "ないで") {
			return true
		}
	}
	return false
}

// spread finds the words that mean something, in the order of the sentence.
func (r *reading) spread(s []rune) []hit {
	var out []hit
	for i := 0; i < len(s); {
		if isSpaced(s[i]) {
			end := i + 1
			for end < len(s) && s[end] < 0x80 && s[end] != ',' && s[end] != '(' && s[end] != ')' {
				end++
			}
			out = append(out, r.latin(s, i, end)...)
			i = end
			continue
		}
		h, ok := r.at(s, i)
		if !ok {
			h, ok = r.unknownNoun(s, i)
		}
		if !ok {
			i++
			continue
		}
		out = append(out, h)
		i = h.end
	}
	return out
}

// unknownNoun returns a word of Chinese characters or katakana that no lexicon has and that する makes a verb.
func (r *reading) unknownNoun(s []rune, i int) (hit, bool) {
	end := i
	for end < len(s) && (unicode.In(s[end], unicode.Han, unicode.Katakana) || s[end] == 'ー') {
		if _, known := r.at(s, end); known {
			return hit{}, false // a known word in a longer one
		}
		end++
	}
	if end-i < 2 || i > 0 && unicode.In(s[i-1], unicode.Han, unicode.Katakana) {
		return hit{}, false
	}
	tail := string(s[end:min(end+3, len(s))])
	for _, suru := range [...]string{"して", "せず", "しな", "する", "した", "しま", "し、"} {
		if strings.HasPrefix(tail, suru) {
			return hit{at: i, end: end, phrase: string(s[i:end]), word: word{verb: do, verbal: true}}, true
		}
	}
	return hit{}, false
}

// particles begin what follows a word in Japanese: する, をする, は, お願い.
const particles = "しすせさをはがのにでとものや、お"

// latin finds the words of a run of English in a Japanese sentence.
func (r *reading) latin(s []rune, from, to int) []hit {
	toks := tokens(s[from:to])
	if len(toks) == 0 {
		return nil
	}
	hits := r.hits(toks)
	out := hits[:0]
	for _, h := range hits {
		lead := toks[:h.at]
		isLast := h.end == len(toks)
		if h.word.verbal && !isLast && (!leads(lead, toks[h.at].text) || !base(toks[h.at:h.end])) {
			h.word.verbal = false
		}
		if h.at > 0 && among(toks[h.at-1].text, determiners) {
			h.word.verbal = false
		}
		after := to
		for after < len(s) && s[after] == ' ' {
			after++
		}
		switch {
		case isLast && h.word.verbal && leads(lead, "") && after < len(s) && !strings.ContainsRune(particles, s[after]):
			h.at, h.end = from, from // please fix このバグ
		case isLast:
			h.at, h.end = from, to
			for h.end > from && s[h.end-1] == ' ' {
				h.end--
			}
		default:
			h.at, h.end = from, from // a verb before its thing
		}
		out = append(out, h)
	}
	return out
}

// moodOf returns what the ending of a verb says.
func moodOf(s []rune, h hit, asks bool) mood {
	if h.at == h.end { // English before its thing
		return asked
	}
	tail := strings.TrimLeft(tailOf(s, h.end), " ")
	nasal := strings.HasSuffix(h.phrase, "ん") // 読んで, 読んだ
	switch {
	case hasEnding(tail, endings().against):
		return against
	case hasEnding(tail, endings().supposed):
		return supposed
	case containsAny(tail, "たいと", "たいらしい", "のかな", "って言"), strings.HasPrefix(tail, "してくれない") && !asks:
		return told
	case hasEnding(tail, "したい たい していただ ていただ"), h.phrase == "お願い", h.phrase == "探し" && hasEnding(tail, "ています てます"):
		return asked
	case hasEnding(tail, "ても でも しても") && !hasEnding(tail, "てもら でもら してもら てもい でもい してもい"):
		return told // 読んでも分からない
	case hasEnding(tail, endings().told),
		strings.HasSuffix(h.phrase, "っ") && strings.HasPrefix(tail, "た"), nasal && hasEnding(tail, "た だ"):
		return told
	case hasEnding(tail, endings().asked),
		(nasal || strings.HasSuffix(h.phrase, "ない")) && strings.HasPrefix(tail, "で"), hasEnding(tail, "だけ、 のみ、"):
		return asked
	}
	for _, only := range [...]string{"を", "だけ", "のみ", "ね", "を"} {
		tail = strings.TrimPrefix(tail, only)
	}
	rest, _ := strings.CutPrefix(tail, "し")
	switch {
	case tail == "":
		return asked
	case strings.IndexAny(rest, "、, ") == 0 && (rest != tail || !nominal(h.phrase)):
		return chained
	case rest == "":
		return asked
	case strings.HasPrefix(tail, "please"):
		return asked
	}
	return noun
}

// nominal reports whether a word needs する to be a verb: 編集, テスト, commit. Others end in kana: 読み.
func nominal(w string) bool {
	r := []rune(w)
	return !unicode.Is(unicode.Hiragana, r[len(r)-1])
}

func hasEnding(tail, list string) bool {
	for list != "" {
		var end string
		end, list, _ = strings.Cut(list, " ")
		if end != "" && strings.HasPrefix(tail, end) {
			return true
		}
	}
	return false
}

// isPast reports whether a verbal noun is the subject of what is told: 変更はもう本番に入っている.
func isPast(s []rune, h hit) bool {
	tail := string(s[h.end:min(h.end+3, len(s))])
	return strings.HasPrefix(tail, "は") && !strings.Contains(string(s[h.end:]), "て") || strings.HasPrefix(tail, "で")
}

// finished notes words that end a task.
func (r *reading) finished(s string) {
	done := strings.Contains(s, "完了") && !containsAny(s, "完了させ", "完了した", "完了する")
	if done || s == "ok" || containsAny(s, "終わりました", "終わったよ", "終わったので", "終わり", "完成した", "できました", "終了", "続けて",
		"ありがとう", "助かりました", "おつかれ", "お疲れ", "次は", "次のタスク", "今度は", "続いて", "ok、", "ok,", "okです") {
		r.ends = true
	}
}
