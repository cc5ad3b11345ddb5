package plan

import (
	"cmp"
	"fmt"
	"path"
	"reflect"
	"strings"
	"unicode/utf8"

	"mycelium/internal/policy"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// MaxSize is how long a plan may be, in bytes: more than anybody reads.
const MaxSize = 256 << 10

// fallback is how many characters of a task become its description, if the task lists no features (row C1 of the requirements).
const fallback = 200

// Read reads the plan in a file. Its name says its form: .yaml, .yml and .json are features as data, .md and .markdown a Markdown plan,
// everything else is a task in words, as for [FromTask]. For programs see [Plan].
func Read(file string, data []byte, programs ...string) (Plan, []policy.Problem) {
	if len(data) > MaxSize || !utf8.Valid(data) {
		hint := "save it as UTF-8"
		if len(data) > MaxSize {
			hint = fmt.Sprintf("a plan has %d bytes at most", MaxSize)
		}
		return Plan{}, []policy.Problem{{File: file, Message: "the plan cannot be read", Hint: hint}}
	}
	switch strings.ToLower(path.Ext(file)) {
	case ".yaml", ".yml", ".json":
		return readData(file, data, programs)
	case ".md", ".markdown":
		return readMarkdown(file, string(data), programs)
	}
	return readTask(file, string(data))
}

// FromTask makes a plan of a task in words (row C1): each of existing is a feature; without them each numbered, bulleted or verb-led
// line of the task is one, and what is indented below it are its details; without such lines the task is one feature, described by
// its first 200 characters.
func FromTask(task string, existing []string) (Plan, []policy.Problem) {
	if len(existing) == 0 {
		if len(task) > MaxSize {
			task = text.Prefix(task, MaxSize)
		}
		return readTask("", task)
	}
	features := make([]Feature, len(existing))
	for i, e := range existing {
		features[i].Description = strings.TrimSpace(e)
	}
	return New(features)
}

// IsList reports whether a task in words lists its features: a numbered or bulleted line, or several lines that ask for something to be
// done. What is no list has to be divided first.
func IsList(task string) bool {
	asked := 0
	for _, b := range scan(task) {
		switch {
		case b.depth > 0:
		case b.kind == numbered, b.kind == bulleted:
			return true
		case b.kind == paragraph && isVerbLed(b.text):
			asked++
		}
	}
	return asked > 1
}

func readTask(file, task string) (Plan, []policy.Problem) {
	task = strings.ToValidUTF8(strings.ReplaceAll(task, "\x00", ""), "�")
	var features []Feature
	var below []details
	var lines []int
	for _, b := range scan(task) {
		switch {
		case b.depth == 0 && (b.kind == numbered || b.kind == bulleted || b.kind == paragraph && isVerbLed(b.text)):
			if b.done {
				continue
			}
			features, below, lines = append(features, Feature{Description: b.text}), append(below, details{}), append(lines, b.line)
		case len(features) > 0 && (b.depth > 0 || b.kind == fence):
			below[len(below)-1].add(b.raw)
		}
	}
	for i := range features {
		features[i].Details = below[i].String()
	}
	if len(features) == 0 {
		whole := strings.TrimSpace(task)
		f := Feature{Description: text.TruncateRunes(strings.Join(strings.Fields(whole), " "), fallback)}
		if utf8.RuneCountInString(whole) > fallback {
			f.Details = text.TruncateRunes(whole, maxDetails)
		}
		features, lines = []Feature{f}, []int{1}
		if whole == "" {
			features = nil
		}
	}
	c := &checker{at: func(i int, _ string) (string, int) { return file, lineAt(lines, i) }}
	return c.plan(features), c.problems
}

func lineAt(lines []int, i int) int {
	if i < len(lines) {
		return lines[i]
	}
	return 0
}

// details are the lines below a feature. What is longer than details can be does not grow: it is refused anyway.
type details struct {
	lines []string
	size  int
}

func (d *details) add(line string) {
	if d.size <= utf8.UTFMax*maxDetails {
		d.lines, d.size = append(d.lines, line), d.size+len(line)+1
	}
}

func (d *details) String() string { return strings.Join(d.lines, "\n") }

// verbs lead a line that asks for something to be done.
const verbs = " add allow analyse analyze build change check clean configure connect convert create define delete deploy design detect" +
	" document enable ensure expose extend extract fix generate handle implement improve integrate introduce install limit log" +
	" make merge migrate move optimise optimize parse port prevent provide publish read record redesign reduce refactor remove" +
	" rename replace report restructure return review rewrite run send set setup show simplify split start stop store support" +
	" test track translate update upgrade use validate verify wire write "

// verbEnds end a line of Japanese that asks for something to be done: there the verb comes last.
var verbEnds = [...]string{"する", "します", "作る", "作ります", "書く", "書きます", "直す", "直します", "加える", "加えます",
	"できるように", "してください",
	"作成", "実装", "追加", "修正", "更新", "削除", "対応", "導入", "変更", "改善"}

// isVerbLed reports whether a line asks for something to be done.
func isVerbLed(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	first = strings.ToLower(strings.Trim(first, "*_`,.:"))
	if first != "" && strings.Contains(verbs, " "+first+" ") {
		return true
	}
	line = strings.TrimRight(line, "。．. ")
	for _, end := range verbEnds {
		if strings.HasSuffix(line, end) {
			return true
		}
	}
	return false
}

// entry is a feature in a file of features, with the keys that are refused.
type entry struct {
	Feature          `yaml:",inline"`
	ProtocolBindings any `yaml:"protocolBindings" about:"is refused: there are no protocols yet"`
	IncludeProtocols any `yaml:"includeProtocols" about:"is refused: there are no protocols yet"`
}

// document is a file of features: a list, or a list under the key features.
type document struct {
	Features         []entry `yaml:"features"`
	IncludeProtocols any     `yaml:"includeProtocols"`
	bare             bool
}

// Document is the type of a feature in a file of features, with the other names of its keys.
func Document() (t reflect.Type, names map[string]string) {
	return reflect.TypeFor[entry](), aliases()
}

// aliases are the other names of keys.
func aliases() map[string]string {
	return map[string]string{"depends_on": "dependsOn", "depends-on": "dependsOn", "dependencies": "dependsOn"}
}

type plainDocument document

// UnmarshalYAML decodes both forms.
func (d *document) UnmarshalYAML(unmarshal func(any) error) error {
	var list []any
	if unmarshal(&list) == nil {
		d.bare = true
		return unmarshal(&d.Features)
	}
	return unmarshal((*plainDocument)(d))
}

func readData(file string, data []byte, programs []string) (Plan, []policy.Problem) {
	var d document
	parsed, problems := yamlfile.Read(file, data)
	if len(problems) == 0 {
		problems = parsed.Decode(aliases(), &d)
	}
	if len(problems) > 0 {
		return Plan{}, problems
	}
	root := "$.features"
	if d.bare {
		root = "$"
	}
	c := &checker{programs: programs, at: func(i int, field string) (string, int) {
		place := fmt.Sprintf("%s[%d]", root, i)
		return file, cmp.Or(parsed.Line(place+"."+field), parsed.Line(place), 1)
	}}
	features := make([]Feature, len(d.Features))
	for i, e := range d.Features {
		features[i] = e.Feature
		for _, refused := range []struct {
			key   string
			value any
		}{{"protocolBindings", e.ProtocolBindings}, {"includeProtocols", e.IncludeProtocols}} {
			if refused.value != nil {
				c.report(i, refused.key, "remove it", "feature %s has %s: %s", quoted(cmp.Or(e.ID, fmt.Sprintf("feature-%d", i+1))), refused.key,
					NoProtocols)
			}
		}
	}
	if d.IncludeProtocols != nil {
		c.report(0, "includeProtocols", "remove it", "the plan has includeProtocols: %s", NoProtocols)
	}
	return c.plan(features), c.problems
}
