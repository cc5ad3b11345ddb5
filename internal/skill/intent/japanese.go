package intent

import (
	"slices"
	"strings"
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

// ends are the endings of verbs and what they say, by mood. An ending that begins another one stands after it.
const (
	endsAgainst  = "以外 じゃなくて じゃない ではない しちゃだめ しちゃいけ するな してはだめ してはいけ はやめて は待っ を待っ は避け を避け しないで しないこと しない しません せずに せず しなくて しなくても ないで なくて なくても なくていい ずに ません ないこと はしないで はせずに は不要 が不要 も不要 不要 はいらない はいりません はいらな は要りません は要らない はなし なしで なし は必要ない は必要な する必要は する必要が の必要は はやめ をやめ やめて は飛ばし を飛ばし は触ら には触ら を触ら は結構 するのではなく のではなく ではなく はまだいい は後で はまだ 加えないで はまだしないで は作らない は禁止 はしなくて は加えない を加えない らないで らなくて さなくて さないで かないで わずに らずに さずに えないで えずに えなくて"
	endsSupposed = "することに したらどう したら した場合 する場合 するなら するとき するときは したとき するとしたら すると すれば だら たら れば なら する際 した際"
	endsTold     = "します のかな していた していま してい してる ている ています てある てあり してしま てしま しました しまし した。 した ました ったよ った いた んだ 済み されて された されました ありがとう が必要 があり がある られた たよ かもしれ って言"
	endsAsked    = "をください をもらえ をいただ るだけ むだけ してください して しよう したい してほしい してもら をお願い させて お願い を頼 願います てください て たい てほしい てもら よう ください ほしい をして をしてください をやって し直して し直し をかけ だけして だけ流して なおして するように 可能 できますか できる を始め"
)

// clauseEnd are the signs that part clauses.
const clauseEnd = "、,"

// japanese reads a sentence in Japanese, which may have English words in it.
func (r *reading) japanese(s []rune, asks bool) {
	str := string(s)
	r.finished(str)
	if strings.Contains(str, "もっと教え") || strings.Contains(str, "としたら") || strings.Contains(str, "理論上") || strings.Contains(str, "理屈") || strings.HasPrefix(str, "もし") || strings.HasPrefix(str, "仮に") || strings.Contains(str, "かもしれ") || strings.Contains(str, "今後") || strings.HasPrefix(str, "いつか") {
		return
	}
	asks = asks || strings.HasSuffix(str, "か") || strings.HasSuffix(str, "どれ") || strings.HasSuffix(str, "誰") || strings.HasSuffix(str, "どこ")
	for _, w := range [...]string{"どう思", "好き", "大事", "より", "いつ", "発明"} {
		if asks && strings.Contains(str, w) {
			return // an opinion
		}
	}
	if asks && strings.Contains(str, "誰") && (strings.Contains(str, "変更") || strings.Contains(str, "触") || strings.Contains(str, "編集")) {
		h, _ := r.look("git")
		r.want(request{things: []hit{h}}) // the history knows
		return
	}
	hits := r.spread(s)
	var things []hit
	wait := -1 // where the requests begin whose mood the next verb gives
	var chain []request
	from := 0
	flush := func(m mood) {
		for _, q := range chain {
			if m == asked {
				r.want(q)
			}
		}
		chain, wait = nil, -1
	}
	_ = wait
	for i, h := range hits {
		if strings.HasPrefix(h.phrase, "直") && h.at > 0 && s[h.at-1] == 'し' {
			continue // し直して: to do again
		}
		m := noun
		if h.word.verbal {
			m = moodOf(s, h, i+1 < len(hits), asks)
		}
		if m == noun {
			if hasEnding(string(s[h.end:min(h.end+16, len(s))]), endsAgainst) {
				r.want(request{things: []hit{h}, refused: true})
				continue
			}
			if h.word.thing != none {
				if h.word.verbal && !asks && isPast(s, h) {
					continue
				}
				things = append(things, h)
			}
			continue
		}
		q := request{verb: h, hasVerb: true, refused: m == against, things: slices.Clone(things[min(from, len(things)):])}
		from0 := from
		from = len(things)
		q.things = objectsBefore(s, q.things, h)
		q.things = slices.DeleteFunc(q.things, func(x hit) bool { return x.end < h.at && conditional(s[x.end:h.at]) })
		if n := len(q.things); n > 0 {
			q.head = q.things[n-1].word.thing
		}
		if h.word.thing != none && (m == asked || m == against) { // ビルドとテストをして
			for _, x := range things[min(from0, len(things)):] {
				if x.word.verbal && x.end < len(s) && (s[x.end] == 'と' || s[x.end] == 'や' || s[x.end] == 'も') {
					r.want(request{verb: x, hasVerb: true, refused: m == against})
				}
			}
		}
		if len(q.things) == 0 && (h.word.verb == change || h.word.verb == create) {
			q.things = r.last
		}
		if h.phrase == "見" && h.at > 0 && s[h.at-1] == 'か' {
			q.verb.word.verb = check // whether it compiles
		}
		if len(q.things) == 0 && h.word.verb == check && conditional(s[:h.at]) {
			continue // tell me when it breaks
		}
		if m == against && len(q.things) > 0 && h.word.verb == do && h.word.thing == none {
			q.verb, q.hasVerb = hit{}, false
		}
		if h.phrase == "出し" && q.head == texts {
			q.verb.word.verb = read
		}
		if m == asked && i+1 < len(hits) && goesOn(s[h.end:]) {
			m = chained
		}
		switch m {
		case chained:
			chain = append(chain, q)
		case asked:
			r.last = q.things
			flush(asked)
			r.want(q)
		case against:
			r.want(q)
		default:
			flush(m)
		}
	}
	flush(asked)
	rest := things[min(from, len(things)):]
	if len(rest) > 0 {
		r.bare(s, rest, asks)
	}
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
	for _, end := range strings.Fields(endsAgainst) {
		if strings.HasPrefix(tail, end) {
			r.want(request{things: things, refused: true})
			return
		}
	}
	strong := slices.DeleteFunc(slices.Clone(things), func(h hit) bool { return h.word.thing >= texts && h.triggers == nil })
	str := string(s)
	switch {
	case strings.Contains(str, "意味") || strings.Contains(str, "違い") || strings.Contains(str, "とは") || strings.Contains(str, "って何") || strings.Contains(str, string(quoted)):
	case asks && len(strong) > 0 && !strings.Contains(str, "たらどう"):
		r.want(request{things: strong})
	case asks && (strings.Contains(str, "どこ") || strings.Contains(str, "どの") || strings.Contains(str, "なぜ") || strings.Contains(str, "何") || strings.Contains(str, "ある")):
		if h, ok := r.look("読み"); ok {
			r.want(request{verb: h, hasVerb: true})
		}
	case asksFor(str):
		r.want(request{things: things, verb: hit{word: word{verb: do, verbal: true}}, hasVerb: true})
	case len(strong) > 0 && (tail == "" || tail == "を" || tail == "だけ" || tail == "で" && last.word.thing.medium() || strings.HasPrefix(tail, " please")) && len(s) < 30:
		r.want(request{things: strong})
	}
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
			keeps := x.word.thing.medium() && next != code || x.word.thing == versions && verb.word.verb == read || x.word.thing == docs && (next == texts || next == code) && (verb.word.verb == change || verb.word.verb == create)
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
	for _, end := range [...]string{"て", "てください", "てほしい", "てくれ", "でください", "てもらえますか", "てね", "よう", "たい"} {
		if strings.HasSuffix(s, end) {
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
		case isLast && h.word.verbal && leads(lead, "") && after < len(s) && !strings.ContainsRune("しすせさをはがのにでとものや、お", s[after]):
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
func moodOf(s []rune, h hit, more, asks bool) mood {
	if h.at == h.end { // English before its thing
		return asked
	}
	tail := string(s[h.end:min(h.end+16, len(s))])
	tail = strings.TrimLeft(tail, " ")
	isNoun := nominal(h.phrase)
	for _, ending := range [...]struct {
		list string
		m    mood
	}{{endsAgainst, against}, {endsSupposed, supposed}} {
		if hasEnding(tail, ending.list) {
			return ending.m
		}
	}
	if strings.Contains(tail, "たいと") || strings.Contains(tail, "たいらしい") || strings.Contains(tail, "のかな") || strings.Contains(tail, "って言") || strings.HasPrefix(tail, "してくれない") && !asks {
		return told
	}
	if strings.HasPrefix(tail, "したい") || strings.HasPrefix(tail, "たい") {
		return asked
	}
	if h.phrase == "お願い" {
		return asked
	}
	if hasEnding(tail, endsTold) {
		return told
	}
	if !isNoun && (strings.HasSuffix(h.phrase, "っ") || strings.HasSuffix(h.phrase, "ん")) && strings.HasPrefix(tail, "た") || strings.HasPrefix(tail, "だ") && strings.HasSuffix(h.phrase, "ん") {
		return told
	}
	if hasEnding(tail, endsAsked) || strings.HasSuffix(h.phrase, "ん") && strings.HasPrefix(tail, "で") {
		return asked
	}
	if strings.HasPrefix(tail, "だけ、") || strings.HasPrefix(tail, "のみ、") {
		return asked
	}
	for _, only := range [...]string{"を", "だけ", "のみ", "ね", "を"} {
		tail = strings.TrimPrefix(tail, only)
	}
	rest, _ := strings.CutPrefix(tail, "し")
	switch {
	case tail == "":
		return asked
	case strings.IndexAny(rest, "、, ") == 0 && (rest != tail || !isNoun):
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
		if strings.HasPrefix(tail, end) {
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
	for _, w := range [...]string{"終わりました", "終わったよ", "終わったので", "終わった。", "終わり", "完了", "完成した", "できました", "終了", "続けて", "ありがとう", "助かりました", "おつかれ", "お疲れ", "次は", "次のタスク", "今度は", "続いて", "ok、", "ok,", "okです"} {
		if !strings.Contains(s, w) {
			continue
		}
		if w == "完了" && (strings.Contains(s, "完了させ") || strings.Contains(s, "完了した") || strings.Contains(s, "完了する")) {
			continue
		}
		r.ends = true
	}
	if s == "ok" || s == "完了" {
		r.ends = true
	}
}
