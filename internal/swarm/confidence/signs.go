package confidence

import (
	"math"
	"strconv"
	"strings"
)

// signs is a set of what a text tells about its speaker.
type signs uint8

const (
	success signs = 1 << iota
	completion
	retry
	frustration
)

func (s signs) has(one signs) bool { return s&one != 0 }

// maxSpoken is how much of a text is read for signs, in bytes: what a worker says, not what it quotes.
const maxSpoken = 4 << 10

// signsOf finds the signs in a text, English or Japanese.
func signsOf(s string) signs {
	if len(s) > maxSpoken {
		s = s[:maxSpoken]
	}
	s = strings.ToLower(s)
	var out signs
	for _, word := range []struct {
		sign  signs
		words []string
	}{
		{success, []string{"tests pass", "test passes", "all green", "successfully", "build succeeded", "works now", "成功", "合格",
			"通りました"}},
		{completion, []string{"is complete", "are complete", "completed", "is done", "done.", "all done", "finished", "完了", "完成"}},
		{retry, []string{"try again", "trying again", "retry", "once more", "another attempt", "もう一度", "再試行", "やり直"}},
		{frustration, []string{"i am stuck", "i'm stuck", "still fails", "still failing", "doesn't work", "does not work", "no idea why",
			"not sure why",
			"keeps failing", "行き詰", "うまくいきません", "まだ失敗", "わかりません"}},
	} {
		for _, w := range word.words {
			if strings.Contains(s, w) {
				out |= word.sign
				break
			}
		}
	}
	return out
}

// reported is the confidence that a text reports in a line such as "Confidence: 80%" or "自信：80", or [None]. The last line counts; what
// is out of range is brought into it.
func reported(s string) int {
	score := None
	plain := strings.NewReplacer("*", "", "_", "", "`", "", "：", ":")
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(plain.Replace(line))
		name, value, found := strings.Cut(line, ":")
		if name = strings.ToLower(strings.TrimLeft(name, "-#> ")); !found || name != "confidence" && name != "自信" && name != "自信度" {
			continue
		}
		value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(value, " .。"), "%"), "/100"))
		if n, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(n) {
			score = int(min(max(n, 0), 100))
		}
	}
	return score
}

// maxResult is how much of a result is compared, in bytes: its beginning and its end.
const maxResult = 64 << 10

// stable removes from a result what differs each time and tells nothing: durations, times of day, dates, addresses and the names of
// temporary files. Counts stay, because "3 failed" is not "2 failed".
func stable(s string) string {
	if len(s) > maxResult {
		s = s[:maxResult/2] + s[len(s)-maxResult/2:]
	}
	var b strings.Builder
	b.Grow(len(s))
	kept := 0 // up to where the text is written
	for i := 0; i < len(s); {
		n := wordLength(s[i:])
		word := s[i : i+n]
		if n > 0 && (word[0] == '/' && strings.HasPrefix(word, "/tmp/") || word[0] >= '0' && word[0] <= '9' && passing(word, s[i+n:])) {
			b.WriteString(s[kept:i])
			b.WriteByte('~')
			kept = i + n
		}
		i += max(n, 1)
	}
	b.WriteString(s[kept:])
	return b.String()
}

// passing reports whether a word that begins with a digit is a duration, a time or an address.
func passing(word, rest string) bool {
	return strings.HasPrefix(word, "0x") && len(word) > 5 || isTime(word) || isNumber(word) && unitFollows(rest)
}

// wordLength is the length of the word at the beginning of s; a word may hold what times and paths hold.
func wordLength(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '-' && c <= ':', c == '_', c == '+', c >= 0x80: // - . / 0 to 9 :
		default:
			return i
		}
	}
	return len(s)
}

func isNumber(word string) bool {
	return strings.Trim(word, "0123456789.") == "" && word[0] >= '0' && word[0] <= '9'
}

// isTime reports whether a word is a duration such as 0.12s and 1m30s, a time of day or a date.
func isTime(word string) bool {
	word = strings.TrimRight(word, ".:-")
	if word == "" || word[0] < '0' || word[0] > '9' {
		return false
	}
	if strings.Trim(word, "0123456789:.-TZ+") == "" { // 12:30:01, 2026-11-26, 2026-11-26T12:30:00Z
		return len(word) >= 8 && (word[2] == ':' && word[5] == ':' || word[4] == '-' && word[7] == '-')
	}
	for word != "" {
		n := 0
		for n < len(word) && (word[n] >= '0' && word[n] <= '9' || word[n] == '.') {
			n++
		}
		u := n
		for u < len(word) && (word[u] < '0' || word[u] > '9') {
			u++
		}
		if n == 0 || !isUnit(word[n:u]) {
			return false
		}
		word = word[u:]
	}
	return true
}

func isUnit(s string) bool {
	switch s {
	case "ns", "us", "µs", "ms", "s", "m", "h", "sec", "secs", "min", "mins":
		return true
	}
	return false
}

// unitFollows reports whether a number is followed by a unit of time, as in "3.2 seconds".
func unitFollows(rest string) bool {
	rest, ok := strings.CutPrefix(rest, " ")
	if !ok {
		return false
	}
	word := rest[:wordLength(rest)]
	switch word = strings.TrimRight(word, ".:"); word {
	case "seconds", "second", "minutes", "minute", "milliseconds":
		return true
	}
	return isUnit(word) && word != "m" && word != "h"
}
