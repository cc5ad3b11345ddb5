package plan

import (
	"strings"
	"unicode"

	"mycelium/internal/text"
)

// Threshold is the complexity from which two planners compete for a feature (row C22 of the requirements).
const Threshold = 60

// Complexity is how hard a feature looks (row C85): the sum of its parts, 0 to 100.
type Complexity struct {
	Total        int      `json:"total"`
	Length       int      `json:"length"`          // 0 to 20: one for each ten columns of the description
	Keywords     int      `json:"keywords"`        // 0 to 30: six for each word that tells of difficulty
	Scope        int      `json:"scope"`           // 0 to 20: five for each word that tells of breadth; architecture counts half
	Dependencies int      `json:"dependencies"`    // 0 to 15: three each
	TouchPoints  int      `json:"touchPoints"`     // 0 to 15: three for each file, folder and component that it names
	Found        []string `json:"found,omitempty"` // the words behind Keywords and Scope
}

// Advice is what to do with a feature.
type Advice string

// The advices of row C85.
const (
	Compete Advice = "competitive_planning" // two planners, one plan
	Review  Advice = "manual_review"        // a person looks at the feature first
	Simple  Advice = "simple"               // a worker begins
)

// Advise says what to do with a feature: from the threshold on, two planners compete; from seven tenths of it, a person looks first.
func (c Complexity) Advise(threshold int) Advice {
	switch {
	case c.Total >= threshold:
		return Compete
	case 10*c.Total >= 7*threshold:
		return Review
	}
	return Simple
}

// The words that a description is searched for, by their beginnings. Japanese has no spaces, so there they may stand anywhere.
const (
	hard = `algorithm async atomic auth authentic authoriz backward-compat cach compil concurren consensus crypt deadlock distribut
 encrypt fail-over failover integrat legacy lock migrat multi-tenant multithread oauth optimi parallel parser payment performan permission
 protocol queue race real-time realtime recover redesign refactor replicat restructur rewrite rollback scal schedul schema secur
 stream synchroni thread transaction websocket
 並行 並列 分散 暗号 認証 認可 移行 性能 最適化 排他 再設計 刷新 同期 非同期 決済 トランザクション リファクタ セキュリティ`
	broad = `across all complete comprehensive end-to-end entire every everywhere full global multiple several system-wide
 throughout various whole
 全体 全て すべて 横断 複数 一式`
	architecture = `architect backend database engine framework frontend infrastructur layer microservice middleware module pipeline
 platform service subsystem
 基盤 設計 構成 アーキテクチャ データベース サービス モジュール`
)

// Score is the complexity of a feature. Its details do not count: a feature is not harder because more is known about it.
func Score(f Feature) Complexity {
	words := wordsOf(f.Description)
	c := Complexity{Length: min(text.Width(f.Description)/10, 20), Dependencies: min(3*len(f.DependsOn), 15),
		TouchPoints: min(3*len(touchPoints(f)), 15)}
	difficult, wide, structure := find(hard, words, f.Description), find(broad, words, f.Description), find(architecture, words, f.Description)
	c.Keywords = min(6*len(difficult), 30)
	c.Scope = min((10*len(wide)+5*len(structure))/2, 20)
	c.Found = append(append(difficult, wide...), structure...)
	c.Total = c.Length + c.Keywords + c.Scope + c.Dependencies + c.TouchPoints
	return c
}

// find returns which of the listed words a text has.
func find(list string, words []string, s string) []string {
	var out []string
	for _, beginning := range strings.Fields(list) {
		if beginning[0] >= 0x80 {
			if strings.Contains(s, beginning) {
				out = append(out, beginning)
			}
			continue
		}
		for _, w := range words {
			whole := len(beginning) < 5 && beginning != "cach" && beginning != "scal" // "all" is not "allow", and "auth" not "author"
			if w == beginning || !whole && strings.HasPrefix(w, beginning) {
				out = append(out, beginning)
				break
			}
		}
	}
	return out
}

// wordsOf divides a text into lower-case words; a hyphen belongs to a word.
func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
