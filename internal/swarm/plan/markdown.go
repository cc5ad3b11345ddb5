package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// draft is a feature of a Markdown plan before its dependencies are resolved.
type draft struct {
	Feature
	title  string // as it is written, for dependencies that name it
	number string // of a numbered one
	line   int
	done   bool
	below  details
	lines  map[string]int // of its fields
	aside  string         // the end of its title, such as "(after 2)": names of features, or else words of the title
	after  []string       // the names in it
}

// readMarkdown reads a Markdown plan. Its features are its headings, if they are numbered or have lines such as "depends on:" below
// them; or else the items of its lists that are not nested: those with a checkbox, else the numbered ones, else all; or else its
// headings; and a text without any of them is read like a task. An item that is ticked is done and is no feature.
func readMarkdown(file, s string, programs []string) (Plan, []policy.Problem) {
	all := scan(s)
	blocks := withoutProse(all)
	is, level := features(blocks)
	if is == nil {
		return readTask(file, s)
	}
	if level < maxLevel { // what explains a feature stays with it
		blocks = all
	}
	c := &checker{programs: programs}
	var drafts []*draft
	within := false // the block belongs to the last draft
	for _, b := range blocks {
		switch {
		case is(b):
			d := newDraft(b)
			drafts, within = append(drafts, d), true
		case b.kind == heading && b.level <= level:
			within = false
		case within:
			c.detail(drafts[len(drafts)-1], b)
		}
	}
	c.at = func(i int, field string) (string, int) {
		open := slices.DeleteFunc(slices.Clone(drafts), func(d *draft) bool { return d.done })
		if i >= len(open) {
			return file, 0
		}
		return file, cmp.Or(open[i].lines[field], open[i].line)
	}
	for i := range c.problems { // of lines that were refused
		c.problems[i].File = file
	}
	if len(drafts) > MaxFeatures { // before anything looks for their names
		return c.plan(make([]Feature, len(drafts))), c.problems
	}
	return c.plan(c.resolve(drafts)), c.problems
}

// withoutProse leaves out the sections in which a plan explains itself.
func withoutProse(blocks []block) []block {
	var out []block
	skip := 0 // the level of the heading whose section is left out
	for _, b := range blocks {
		if b.kind == heading && (skip == 0 || b.level <= skip) {
			skip = 0
			if isProse(b.text) {
				skip = b.level
			}
		}
		if skip == 0 {
			out = append(out, b)
		}
	}
	return out
}

// maxLevel is above the level of every heading.
const maxLevel = 7

// features says which blocks of a plan are features, nil if it has none, and up to which level a heading ends a feature.
func features(blocks []block) (is func(block) bool, level int) {
	count := map[string]int{}
	last := 0 // the level of the last heading
	var levels [maxLevel]int
	for _, b := range blocks {
		_, _, isAttribute := attribute(b.text)
		switch {
		case b.kind == heading:
			last = b.level
			levels[b.level]++
			if number, _ := cutLabel(b.text); (number != "" || b.check) && level == 0 {
				level = b.level
			}
		case isAttribute && b.depth == 0 && last > 0 && level == 0:
			level = last
		case b.depth > 0 || isAttribute:
		case b.check:
			count["check"]++
		case b.kind == numbered:
			count["numbered"]++
		case b.kind == bulleted:
			count["bulleted"]++
		}
	}
	item := func(b block) bool { return b.depth == 0 && (b.kind == numbered || b.kind == bulleted) }
	switch {
	case level > 0:
	case count["check"] > 0:
		return func(b block) bool { return item(b) && b.check }, maxLevel
	case count["numbered"] > 0:
		return func(b block) bool { return item(b) && b.kind == numbered }, maxLevel
	case count["bulleted"] > 0:
		return item, maxLevel
	default:
		for level = 2; level < maxLevel && levels[level] == 0; level++ {
		}
		if level == maxLevel {
			return nil, 0
		}
	}
	return func(b block) bool { return b.kind == heading && b.level == level && !isProse(b.text) }, level
}

// isProse reports whether a heading is one of those under which a plan explains itself.
func isProse(title string) bool {
	switch strings.ToLower(strings.TrimRight(title, ":：")) {
	case "overview", "background", "context", "goal", "goals", "non-goals", "summary", "introduction", "notes", "risks", "open questions",
		"assumptions", "references", "概要", "背景", "目的", "目標", "備考", "注意", "参考", "リスク", "前提":
		return true
	}
	return false
}

// cutLabel cuts the label off a title such as "Feature 2: Parser", "3. Parser" and "機能4：解析".
func cutLabel(title string) (number, rest string) {
	if number, rest, ok := cutNumber(title); ok {
		return number, rest
	}
	for _, word := range []string{"feature", "task", "step", "phase", "機能", "タスク", "手順"} {
		if len(title) <= len(word) || !strings.EqualFold(title[:len(word)], word) {
			continue
		}
		after := strings.TrimLeft(title[len(word):], " -#")
		digits := after[:len(after)-len(strings.TrimLeft(after, "0123456789"))]
		for _, mark := range []string{":", "：", ".", " -", " –", " —", ")"} {
			if rest, ok := strings.CutPrefix(after[len(digits):], mark); ok && digits != "" && len(digits) <= 4 {
				return digits, strings.TrimSpace(rest)
			}
		}
	}
	return "", title
}

func newDraft(b block) *draft {
	d := &draft{number: b.number, line: b.line, done: b.done, lines: map[string]int{}}
	title := b.text
	if d.number == "" {
		d.number, title = cutLabel(title)
	}
	d.title = title
	if id, rest, ok := cutID(title); ok {
		d.ID, d.title, title = id, id, rest
	}
	if before, list, certain := cutAfter(title); list != nil {
		if certain {
			d.DependsOn = list
		} else {
			d.aside, d.after = title[len(before):], list
		}
		title = before
		if d.ID == "" {
			d.title = before
		}
	}
	d.Description = strings.TrimSpace(strings.ReplaceAll(title, "**", ""))
	return d
}

// cutID cuts the id off a title such as "`parser`: Read the file" and "**parser**: Read the file".
func cutID(title string) (id, rest string, ok bool) {
	for _, quote := range []string{"`", "**"} {
		inner, found := strings.CutPrefix(title, quote)
		if !found {
			continue
		}
		id, rest, found = strings.Cut(inner, quote)
		if !found {
			continue
		}
		colonInside := strings.HasSuffix(id, ":")
		id = strings.TrimSuffix(id, ":")
		for _, mark := range []string{":", "：", " -", " –", " —"} {
			if after, cut := strings.CutPrefix(rest, mark); isID(id) && (cut || colonInside) && strings.TrimSpace(after) != "" {
				return id, strings.TrimSpace(after), true
			}
		}
	}
	return "", title, false
}

// cutAfter cuts the dependencies off a title such as "Parser (depends on: 1, 2)" and, less certain, "Parser (after scanner)".
func cutAfter(title string) (before string, on []string, certain bool) {
	for _, brackets := range [][2]string{{"(", ")"}, {"（", "）"}} {
		i := strings.LastIndex(title, brackets[0])
		inner, closed := strings.CutSuffix(title[max(i, 0):], brackets[1])
		if i < 0 || !closed {
			continue
		}
		inner = strings.TrimPrefix(inner, brackets[0])
		for _, word := range []string{"depends on", "依存", "after", "needs"} {
			if len(inner) <= len(word) || !strings.EqualFold(inner[:len(word)], word) {
				continue
			}
			names := strings.TrimLeft(inner[len(word):], " :：")
			if on := values(names); len(names) < len(inner)-len(word) && len(on) > 0 {
				return strings.TrimRight(title[:i], " "), on, word == "depends on" || word == "依存"
			}
		}
	}
	return title, nil, false
}

// attribute reads a line such as "depends on: a, b" and "- **Role:** backend".
func attribute(line string) (field, value string, ok bool) {
	line = strings.ReplaceAll(line, "**", "")
	name, value, found := strings.Cut(line, ":")
	if wide, after, isWide := strings.Cut(line, "："); isWide && len(wide) < len(name) {
		name, value, found = wide, after, true
	}
	if !found {
		return "", "", false
	}
	switch strings.ToLower(strings.Trim(name, " *_`")) {
	case "id":
		field = "id"
	case "depends on", "depends", "dependson", "depends_on", "dependencies", "after", "needs", "依存", "依存先":
		field = "dependsOn"
	case "role", "役割":
		field = "role"
	case "skill", "skills", "スキル":
		field = "skills"
	case "file", "files", "ファイル":
		field = "files"
	case "verify", "verification", "test command", "検証":
		field = "verify"
	case "estimate", "見積", "見積もり":
		field = "estimate"
	case "protocolbindings", "includeprotocols":
		field = "protocols"
	default:
		return "", "", false
	}
	return field, strings.TrimSpace(value), true
}

// values divides a list; "none" is an empty one.
func values(s string) []string {
	var out []string
	for _, v := range strings.FieldsFunc(strings.ReplaceAll(s, " and ", ","), func(r rune) bool { return r == ',' || r == '、' || r == ';' }) {
		v = strings.Trim(strings.TrimSpace(v), "`\"*")
		switch strings.ToLower(v) {
		case "", "none", "-", "nothing", "なし", "無し":
		default:
			out = append(out, v)
		}
	}
	return out
}

// detail takes a block below a feature: a line that says something about it, or one of its details.
func (c *checker) detail(d *draft, b block) {
	field, value, ok := attribute(b.text)
	if !ok || b.kind == fence || b.kind == heading {
		d.below.add(b.raw)
		return
	}
	d.lines[field] = b.line
	var err error
	switch field {
	case "id":
		d.ID = strings.Trim(value, "`")
	case "dependsOn":
		d.DependsOn = append(d.DependsOn, values(value)...)
	case "role":
		d.Role = strings.Trim(value, "`")
	case "skills":
		d.Skills = append(d.Skills, values(value)...)
	case "files":
		d.Files = append(d.Files, values(value)...)
	case "verify":
		v := newValidation()
		err = v.VerifyCommand.split(strings.Trim(value, "` "))
		d.Validation, d.lines["validation"] = &v, b.line
	case "estimate":
		err = d.Estimate.UnmarshalText([]byte(strings.Trim(value, "` ")))
	case "protocols":
		err = fmt.Errorf("%s: %s", strings.TrimSpace(b.text), NoProtocols)
	}
	if err != nil {
		c.at = func(int, string) (string, int) { return "", b.line }
		c.report(0, field, "", "feature %s: %v", quoted(cmp.Or(d.ID, d.title)), err)
	}
}

// resolve gives ids to the drafts and to what they depend on. A dependency is an id, a number or a title; one on a feature that is done
// is fulfilled. What it does not know it leaves, and the check of the plan tells it.
func (c *checker) resolve(drafts []*draft) []Feature {
	numbers := map[string]int{}
	for _, d := range drafts {
		numbers[d.number]++
	}
	taken := map[string]bool{}
	for _, d := range drafts {
		if id := "feature-" + d.number; d.ID == "" && d.number != "" && numbers[d.number] == 1 {
			d.ID = id
		}
		taken[d.ID] = true
	}
	for i, d := range drafts {
		for n := i + 1; d.ID == ""; n++ {
			if id := fmt.Sprintf("feature-%d", n); !taken[id] {
				d.ID, taken[id] = id, true
			}
		}
	}
	var out []Feature
	for _, d := range drafts {
		if d.done {
			continue
		}
		var on []string
		for _, name := range d.DependsOn {
			switch other := named(drafts, name); {
			case other == nil:
				on = append(on, name)
			case !other.done:
				on = append(on, other.ID)
			}
		}
		d.DependsOn, d.Details = on, d.below.String()
		if !slices.ContainsFunc(d.after, func(name string) bool { return named(drafts, name) == nil }) {
			for _, name := range d.after {
				if other := named(drafts, name); !other.done && !slices.Contains(d.DependsOn, other.ID) {
					d.DependsOn = append(d.DependsOn, other.ID)
				}
			}
		} else {
			d.Description += d.aside
		}
		out = append(out, d.Feature)
	}
	return out
}

// named is the draft that a dependency names: by its id, its number or its title.
func named(drafts []*draft, name string) *draft {
	number := strings.TrimLeft(name, "#")
	if n, rest := cutLabel(name + ":"); n != "" && strings.Trim(rest, ":") == "" {
		number = n
	}
	for _, is := range []func(i int, d *draft) bool{
		func(_ int, d *draft) bool { return d.ID == name },
		func(_ int, d *draft) bool { return d.number != "" && d.number == number },
		func(_ int, d *draft) bool {
			return strings.EqualFold(d.title, name) || strings.EqualFold(d.Description, name)
		},
		func(i int, d *draft) bool { return d.number == "" && fmt.Sprint(i+1) == number },
	} {
		if i := slices.IndexFunc(drafts, func(d *draft) bool { return is(slices.Index(drafts, d), d) }); i >= 0 {
			return drafts[i]
		}
	}
	return nil
}
