package toolindex

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/backend"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// Category groups tools for people (D8).
type Category struct {
	ID          string   `yaml:"id" json:"id"`
	Name        string   `yaml:"name" json:"name"`
	Description string   `yaml:"description" json:"description,omitempty"`
	Order       int      `yaml:"order" json:"order"`
	Tools       []string `yaml:"tools" json:"tools,omitempty"` // patterns of tools that belong to it whatever their names
}

var categoryID = yamlfile.Word{First: yamlfile.Lower + yamlfile.Digits, Rest: yamlfile.Lower + yamlfile.Digits + "_-", Most: 64}

// IsCategoryID reports whether a category may have this id.
func IsCategoryID(id string) bool { return categoryID.MatchString(id) }

// generalCategory is the category of all other tools.
const generalCategory = "general"

// defaultCategories are the categories of D8, followed by those of A51.
var defaultCategories = []Category{
	{ID: "filesystem", Name: "Filesystem", Description: "File operations", Order: 1},
	{ID: "search", Name: "Search", Description: "Search operations", Order: 2},
	{ID: "chain", Name: "Chain", Description: "Chain management", Order: 3},
	{ID: "task", Name: "Task", Description: "Task management", Order: 4},
	{ID: "session", Name: "Session", Description: "Session management", Order: 5},
	{ID: "command", Name: "Command", Description: "Shell commands", Order: 6},
	{ID: "vcs", Name: "Version Control", Description: "Repositories and their history", Order: 7},
	{ID: "network", Name: "Network", Description: "Requests to other machines", Order: 8},
	{ID: "execution", Name: "Execution", Description: "Running programs and code", Order: 9},
	{ID: generalCategory, Name: "General", Description: "Everything else", Order: 10},
}

// Categories are the categories of a project's tools.
type Categories struct {
	list    []Category        // in order
	servers map[string]string // server → the category in its entry
	text    []byte            // of categories.yaml
}

// Read reads the categories of the project in dir, with its servers. Without a file they are the default ones. A file that does not load
// is an error with the line and a hint.
func Read(dir string, servers []backend.Server) (*Categories, error) {
	c := &Categories{servers: map[string]string{}}
	for _, s := range servers {
		c.servers[s.Name] = s.Category
	}
	data, err := source.Read(filepath.Join(dir, filepath.FromSlash(state.Categories)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %s", state.Categories, source.Reason(err))
	}
	list, problems := parseCategories(data)
	for _, pr := range problems {
		if !pr.Warning {
			return nil, text.Hinted(fmt.Errorf("%s:%d: %s", pr.File, pr.Line, pr.Message), pr.Hint)
		}
	}
	c.list, c.text = list, data
	return c, nil
}

// parseCategories reads categories.yaml, and adds the default categories that it lacks. They are sorted by Order.
func parseCategories(data []byte) ([]Category, []policy.Problem) {
	var doc struct {
		Categories []Category `yaml:"categories"`
	}
	problems := yamlfile.Decode(state.Categories, data, &doc)
	seen := map[string]bool{}
	for i, c := range doc.Categories {
		line := yamlfile.Line(data, fmt.Sprintf("$.categories[%d]", i))
		if !IsCategoryID(c.ID) {
			problems = append(problems, source.Fault(state.Categories, line, "category id is "+strconv.Quote(c.ID),
				"use small letters, digits, _ and -"))
		} else if seen[c.ID] {
			problems = append(problems, source.Fault(state.Categories, line, "category "+strconv.Quote(c.ID)+" is there twice", "keep one of them"))
		}
		seen[c.ID] = true
		for _, t := range c.Tools {
			if _, err := policy.ParsePattern(t); err != nil {
				problems = append(problems, source.Fault(state.Categories, line, err.Error(), "write server__tool or server__*"))
			}
		}
	}
	if source.Faulty(problems) {
		return slices.Clone(defaultCategories), problems
	}
	list := doc.Categories
	for _, c := range defaultCategories {
		if !seen[c.ID] {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b Category) int { return a.Order - b.Order })
	return list, problems
}

// of is the category of a tool: from categories.yaml, else from the entry of its server, else from its name or description.
func (c *Categories) of(it policy.Item, description string) string {
	for _, cat := range c.list {
		for _, t := range cat.Tools {
			if pattern, err := policy.ParsePattern(t); err == nil && pattern.Match(it) {
				return cat.ID
			}
		}
	}
	if said := c.servers[it.Server]; said != "" {
		return said
	}
	if it.IsControl() { // they read and change the session, whatever their names say
		return "session"
	}
	if group := policy.KindOf(it).Group; group != generalCategory {
		return group
	}
	return policy.GroupOf(description)
}

// All are the categories that a tool may have, in order. Those that only the entry of a server names are the last.
func (c *Categories) All() []Category {
	out, last := slices.Clone(c.list), 0
	known := map[string]bool{}
	for _, cat := range c.list {
		known[cat.ID] = true
		last = max(last, cat.Order)
	}
	for _, server := range slices.Sorted(maps.Keys(c.servers)) {
		if id := c.servers[server]; id != "" && !known[id] {
			known[id] = true
			last++
			out = append(out, Category{ID: id, Name: Humanise(id), Order: last})
		}
	}
	return out
}

// Render returns categories.yaml with every category that a tool may have. Missing categories are added at the end; the rest of the file
// keeps its bytes. A file that cannot be extended like that is an error.
func (c *Categories) Render() ([]byte, error) {
	var doc struct {
		Categories []Category `yaml:"categories"`
	}
	yamlfile.Decode(state.Categories, c.text, &doc)
	written := map[string]bool{}
	for _, cat := range doc.Categories {
		written[cat.ID] = true
	}
	var add []Category
	for _, cat := range c.All() {
		if !written[cat.ID] {
			written[cat.ID] = true
			add = append(add, cat)
		}
	}
	if len(add) == 0 {
		return c.text, nil
	}
	return appendCategories(c.text, doc.Categories, add)
}

// appendCategories appends categories to a file, in its indentation. It reads the result to check that the old categories are unchanged.
func appendCategories(old []byte, had, add []Category) ([]byte, error) {
	file := slices.Clone(old)
	indent := "  "
	if len(had) == 0 {
		if len(bytes.TrimSpace(old)) > 0 && yamlfile.Line(old, "$.categories") == 0 && len(yamlfile.Keys(old)) == 0 {
			file = append(source.EndLine(file), "\ncategories:\n"...) // comments only
		} else if len(bytes.TrimSpace(old)) == 0 {
			file = []byte("# Categories of tools: yours to edit. `myc tools sync` only adds what is missing.\n" +
				"# tools: [patterns] puts tools into a category whatever their names say.\ncategories:\n")
		}
	} else if m := regexp.MustCompile(`(?m)^( *)- `).FindSubmatch(old); m != nil {
		indent = string(m[1])
	}
	file = source.EndLine(file)
	for _, c := range add {
		file = fmt.Appendf(file, "%s- id: %s\n%s  name: %s\n", indent, yamlfile.Text(c.ID), indent, yamlfile.Text(c.Name))
		if c.Description != "" {
			file = fmt.Appendf(file, "%s  description: %s\n", indent, yamlfile.Text(c.Description))
		}
		file = fmt.Appendf(file, "%s  order: %d\n", indent, c.Order)
	}
	var again struct {
		Categories []Category `yaml:"categories"`
	}
	problems := yamlfile.Decode(state.Categories, file, &again)
	same := func(a, b Category) bool {
		return a.ID == b.ID && a.Name == b.Name && a.Description == b.Description && a.Order == b.Order && slices.Equal(a.Tools, b.Tools)
	}
	if source.Faulty(problems) || !slices.EqualFunc(again.Categories, append(slices.Clone(had), add...), same) {
		var ids []string
		for _, c := range add {
			ids = append(ids, c.ID)
		}
		return nil, text.Hinted(fmt.Errorf("extend %s: it cannot be extended in the form that it has", state.Categories),
			"add the categories "+strings.Join(ids, ", ")+" as items of `categories:`, each on lines of its own")
	}
	return file, nil
}
