package differ

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed grammar.txt
var grammarText string

// grammar has the forms of each rule.
type grammar struct {
	first string
	rules map[string][]form
}

// form is one form of a rule: pieces of text with rules between them, so there is one piece more than there are rules.
type form struct {
	weight int
	bash   bool // only bash has it
	pieces []string
	rules  []string
	height int // of the smallest tree with this form at its root
}

var (
	formLine = regexp.MustCompile(`^\t(\d*)(b?)\| (.*)$`)
	hole     = regexp.MustCompile(`«(\w+)»`)
)

// readGrammar reads a grammar as grammar.txt describes it.
func readGrammar(text string) (*grammar, error) {
	g := &grammar{rules: map[string][]form{}}
	name := ""
	for i, line := range strings.Split(text, "\n") {
		switch m := formLine.FindStringSubmatch(line); {
		case line == "" || line[0] == '#':
		case line[0] != '\t':
			if name = line; g.first == "" {
				g.first = name
			}
			if g.rules[name] != nil {
				return nil, fmt.Errorf("line %d: the rule %q stands twice", i+1, name)
			}
		case m == nil || name == "":
			return nil, fmt.Errorf("line %d: %q is no form of a rule", i+1, line)
		default:
			f := form{weight: 1, bash: m[2] != ""}
			if m[1] != "" {
				f.weight, _ = strconv.Atoi(m[1])
			}
			at := 0
			for _, h := range hole.FindAllStringSubmatchIndex(m[3], -1) {
				f.pieces = append(f.pieces, m[3][at:h[0]])
				f.rules = append(f.rules, m[3][h[2]:h[3]])
				at = h[1]
			}
			f.pieces = append(f.pieces, m[3][at:])
			g.rules[name] = append(g.rules[name], f)
		}
	}
	return g, g.measure()
}

// measure sets the heights of the forms. A rule without forms, and one that has no end, is an error.
func (g *grammar) measure() error {
	for changed := true; changed; {
		changed = false
		for _, forms := range g.rules {
			for i := range forms {
				f := &forms[i]
				if f.height > 0 {
					continue
				}
				height := 1
				for _, r := range f.rules {
					h := g.height(r)
					if h == 0 {
						height = 0
						break
					}
					height = max(height, h+1)
				}
				if height > 0 {
					f.height, changed = height, true
				}
			}
		}
	}
	for name, forms := range g.rules {
		for _, f := range forms {
			if f.height == 0 {
				return fmt.Errorf("a form of the rule %q names a rule that has no forms, or has no end", name)
			}
		}
	}
	return nil
}

// height returns that of the smallest form of a rule which every shell has; 0 if it is not known yet.
func (g *grammar) height(rule string) (least int) {
	for _, f := range g.rules[rule] {
		if f.height > 0 && !f.bash && (least == 0 || f.height < least) {
			least = f.height
		}
	}
	return least
}

// tree is a command as the grammar made it.
type tree struct {
	rule string
	form *form
	kids []*tree
}

// maxHeight bounds the trees: below it a rule takes one of its smallest forms.
const maxHeight = 9

// make returns a random tree.
func (g *grammar) make(r *rand.Rand, rule string, bash bool, room int) *tree {
	var forms []*form
	total := 0
	for room = max(room, g.height(rule)); len(forms) == 0; room++ {
		for i := range g.rules[rule] {
			if f := &g.rules[rule][i]; f.height <= room && (bash || !f.bash) {
				forms = append(forms, f)
				total += f.weight
			}
		}
	}
	at := r.IntN(total)
	t := &tree{rule: rule}
	for _, f := range forms {
		if at -= f.weight; at < 0 {
			t.form = f
			break
		}
	}
	for _, name := range t.form.rules {
		t.kids = append(t.kids, g.make(r, name, bash, room-2))
	}
	return t
}

// String returns the command.
func (t *tree) String() string {
	var b strings.Builder
	t.write(&b)
	return strings.ReplaceAll(b.String(), "⏎", "\n")
}

func (t *tree) write(b *strings.Builder) {
	for i, k := range t.kids {
		b.WriteString(t.form.pieces[i])
		k.write(b)
	}
	b.WriteString(t.form.pieces[len(t.kids)])
}

// least returns the smallest tree with a form at its root.
func (g *grammar) least(rule string, f *form) *tree {
	t := &tree{rule: rule, form: f}
	for _, name := range f.rules {
		i := slices.IndexFunc(g.rules[name], func(f form) bool { return !f.bash && f.height == g.height(name) })
		t.kids = append(t.kids, g.least(name, &g.rules[name][i]))
	}
	return t
}

// below returns the trees of a rule in a tree, without its root.
func (t *tree) below(rule string) (out []*tree) {
	for _, k := range t.kids {
		if k.rule == rule {
			out = append(out, k)
		}
		out = append(out, k.below(rule)...)
	}
	return out
}

// maxTries bounds the work on one command that fails.
const maxTries = 200

// shrink returns a smaller tree that still fails: it puts parts of a tree, the smallest forms, and nothing, in the place of larger
// ones for as long as that helps.
func (g *grammar) shrink(t *tree, bash bool, fails func(command string) bool) *tree {
	tries := 0
	var at func(node *tree) bool
	at = func(node *tree) bool {
		size := len(node.String())
		candidates := append(node.below(node.rule), &tree{rule: node.rule, form: &form{pieces: []string{""}}})
		for i := range g.rules[node.rule] {
			if f := &g.rules[node.rule][i]; f.height <= 2 && (bash || !f.bash) {
				candidates = append(candidates, g.least(node.rule, f))
			}
		}
		slices.SortStableFunc(candidates, func(a, b *tree) int { return len(a.String()) - len(b.String()) })
		was := *node
		for _, c := range candidates {
			if len(c.String()) >= size || tries >= maxTries {
				break
			}
			tries++
			if *node = *c; fails(t.String()) {
				return true
			}
			*node = was
		}
		for _, k := range node.kids {
			if at(k) {
				return true
			}
		}
		return false
	}
	for tries < maxTries && at(t) {
	}
	return t
}
