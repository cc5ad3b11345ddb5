package plan

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// ConflictKind is what two features have in common.
type ConflictKind string

// The kinds of conflicts (row C5 of the requirements), the surest first.
const (
	SameFile      ConflictKind = "file"
	SameComponent ConflictKind = "component"
	SameFolder    ConflictKind = "folder"
	SameAction    ConflictKind = "action" // both refactor, rewrite, restructure, redesign, overhaul or migrate
)

// Conflict is a prediction that two features get in each other's way. Both are ids, What is what they have in common.
type Conflict struct {
	A    string       `json:"a"`
	B    string       `json:"b"`
	Kind ConflictKind `json:"kind"`
	What []string     `json:"what"`
}

// SameFiles reports whether two such features would change the same files: they name the same file, or the same component of the
// program. A folder or an action in common is a hint for people only.
func (c Conflict) SameFiles() bool { return c.Kind == SameFile || c.Kind == SameComponent }

// places is where a feature would work.
type places struct {
	files, components, folders, actions []string
}

// Conflicts predicts, from descriptions and named files, which features conflict: one for each pair, of the surest kind. Features of
// which one waits for the other never run side by side; the caller leaves them out.
func Conflicts(features []Feature) []Conflict {
	all := make([]places, len(features))
	for i, f := range features {
		all[i] = placesOf(f)
	}
	var out []Conflict
	for i := range features {
		for j := i + 1; j < len(features); j++ {
			if kind, what := common(all[i], all[j]); kind != "" {
				out = append(out, Conflict{features[i].ID, features[j].ID, kind, what})
			}
		}
	}
	return out
}

// Waits reports whether a feature waits for another one, directly or by others.
func (p Plan) Waits(id, on string) bool {
	seen := map[string]bool{}
	var reach func(id string) bool
	reach = func(id string) bool {
		f, ok := p.Feature(id)
		if !ok || seen[id] {
			return false
		}
		seen[id] = true
		return slices.Contains(f.DependsOn, on) || slices.ContainsFunc(f.DependsOn, reach)
	}
	return reach(id)
}

// Apart is a group of the features that conflict with none of each other, the first ones first: they are safe to run in parallel.
func Apart(features []Feature) []string {
	conflicts := Conflicts(features)
	var group []string
	for _, f := range features {
		if !slices.ContainsFunc(conflicts, func(c Conflict) bool {
			return c.B == f.ID && slices.Contains(group, c.A) || c.A == f.ID && slices.Contains(group, c.B)
		}) {
			group = append(group, f.ID)
		}
	}
	return group
}

func common(a, b places) (ConflictKind, []string) {
	var what []string
	for _, f := range a.files {
		for _, g := range b.files {
			if over, ok := overlap(f, g); ok && !slices.Contains(what, over) {
				what = append(what, over)
			}
		}
	}
	if what != nil {
		return SameFile, what
	}
	for _, l := range []struct {
		kind ConflictKind
		a, b []string
	}{{SameComponent, a.components, b.components}, {SameFolder, a.folders, b.folders}, {SameAction, a.actions, b.actions}} {
		if what := intersect(l.a, l.b); what != nil {
			return l.kind, what
		}
	}
	return "", nil
}

func intersect(a, b []string) []string {
	var out []string
	for _, s := range a {
		if slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// overlap is the narrower one of two paths if one is the other or lies in it. A folder ends in a slash.
func overlap(a, b string) (string, bool) {
	switch {
	case a == b, strings.HasSuffix(b, "/") && strings.HasPrefix(a, b):
		return a, true
	case strings.HasSuffix(a, "/") && strings.HasPrefix(b, a):
		return b, true
	}
	return "", false
}

// Overlap reports whether two paths are the same, or one lies in the other, which is a folder and ends in a slash.
func Overlap(a, b string) bool {
	_, ok := overlap(clean(a), clean(b))
	return ok
}

// placesOf finds where a feature would work, in its files and its description.
func placesOf(f Feature) places {
	var p places
	add := func(list *[]string, s string) {
		if !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for _, file := range f.Files {
		add(&p.files, clean(file))
	}
	for _, word := range strings.FieldsFunc(f.Description, isBreak) {
		if word = strings.TrimRight(word, ".:!?"); isPath(word) {
			add(&p.files, clean(word))
		}
	}
	for _, file := range p.files {
		if dir := path.Dir(strings.TrimSuffix(file, "/")); dir != "." {
			add(&p.folders, dir)
		}
	}
	for _, c := range componentsOf(f.Description) {
		add(&p.components, c)
	}
	p.actions = find(major, wordsOf(f.Description), f.Description)
	return p
}

// Named are the files and folders that a feature names, in its list and in its description.
func Named(f Feature) []string { return placesOf(f).files }

// touchPoints are the files, folders and components that a feature names.
func touchPoints(f Feature) []string {
	p := placesOf(f)
	return slices.Concat(p.files, p.components)
}

// clean brings a path into one form: a folder ends in a slash, also one that is written as src/**.
func clean(file string) string {
	base, stars := strings.CutSuffix(file, "**")
	if !stars {
		base, stars = strings.CutSuffix(file, "*")
	}
	out := path.Clean(base)
	if stars || strings.HasSuffix(file, "/") {
		out += "/"
	}
	return strings.TrimPrefix(out, "./")
}

// isBreak separates words in which paths are looked for. Japanese text goes on without a space, so its letters separate too.
func isBreak(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\"'`,;()[]{}<>「」（）、。", r) ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// isPath reports whether a word is a path: it has the extension of a file that programs are made of, or slashes and a beginning or an end
// that only a path has. "and/or" is none.
func isPath(word string) bool {
	if strings.Contains(word, "://") || strings.HasPrefix(word, "/") || len(word) < 3 {
		return false
	}
	name := path.Base(word)
	if i := strings.LastIndex(name, "."); i > 0 && strings.Contains(extensions, " "+strings.ToLower(name[i+1:])+" ") {
		return true
	}
	first, rest, slash := strings.Cut(word, "/")
	return slash && (rest == "" || strings.HasSuffix(word, "/") || strings.Count(word, "/") > 1 || strings.Contains(roots, " "+first+" "))
}

const (
	major      = `refactor rewrit restructur redesign overhaul migrat リファクタ 書き直 再構成 再設計 刷新 移行`
	extensions = " go mod sum py rb rs js jsx ts tsx mjs cjs java kt swift c h cc cpp hpp cs php ex exs dart scala sh sql html css scss" +
		" vue svelte json yaml yml toml xml md proto graphql tf gradle lock txt cfg ini env tmpl "
	roots = " src lib app apps pkg cmd internal test tests docs web api server client components packages public scripts config db migrations "
)

// componentsOf finds the components of a program that a description names: words with inner capitals (UserService), and words before
// or after a noun such as "service" and "画面".
func componentsOf(description string) []string {
	var out []string
	words := strings.FieldsFunc(description, func(r rune) bool { return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		if isCamel(w) {
			out = append(out, strings.ToLower(w))
			continue
		}
		noun := strings.TrimSuffix(strings.ToLower(w), "s")
		if i > 0 && strings.Contains(nouns, " "+noun+" ") && !strings.Contains(fillers, " "+strings.ToLower(words[i-1])+" ") &&
			!isCamel(words[i-1]) {
			out = append(out, strings.ToLower(words[i-1])+noun) // "user service" is UserService
		}
		for _, suffix := range [...]string{"コンポーネント", "モジュール", "サービス", "画面", "テーブル", "ページ"} {
			if name, _, ok := strings.Cut(w, suffix); ok {
				if cut := strings.LastIndexFunc(name, func(r rune) bool { return unicode.In(r, unicode.Hiragana) && r != 'ー' }); cut >= 0 {
					name = strings.TrimLeftFunc(name[cut:], func(r rune) bool { return unicode.In(r, unicode.Hiragana) })
				}
				if name != "" {
					out = append(out, name+suffix)
				}
			}
		}
	}
	return out
}

const (
	nouns = " component service module page screen endpoint table controller handler model middleware router parser store repository form "
	// fillers stand before a noun and name nothing.
	fillers = " a an the this that each every all new one some any its their our your other another existing of and or in to for with data "
)

// isCamel reports whether a word has a capital after a small letter, as UserService has and GitHub too; names of products are rare
// enough.
func isCamel(w string) bool {
	humps, lower := 0, false
	for i, r := range w {
		if unicode.IsUpper(r) && (lower || i == 0) {
			humps++
		}
		lower = unicode.IsLower(r)
	}
	return humps > 1 || humps == 1 && w != "" && unicode.IsLower(rune(w[0]))
}
