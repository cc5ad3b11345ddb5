package skill

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"mycelium/internal/text"
)

//go:embed shipped
var shipped embed.FS

//go:embed templates
var templates embed.FS

// Shipped returns the skills of the program, in folders by name. init and `skill add --template` copy them.
func Shipped() fs.FS { return sub(shipped, "shipped") }

// sub returns an embedded folder.
func sub(fsys fs.FS, dir string) fs.FS {
	out, err := fs.Sub(fsys, dir)
	if err != nil {
		return embed.FS{} // only for an invalid path
	}
	return out
}

// Template is a start for a new skill.
type Template struct {
	Name        string
	Description string
}

// DefaultTemplate is the template that Render uses if none is named.
const DefaultTemplate = "basic"

// Templates lists the templates, the default first, then by name. It does not list the shipped skills, which are templates too.
func Templates() []Template {
	out := []Template{}
	for _, name := range folders(sub(templates, "templates")) {
		data, err := fs.ReadFile(templates, "templates/"+name+"/"+pageFile)
		if err != nil {
			continue
		}
		out = append(out, Template{name, templateDescription(data)})
	}
	slices.SortFunc(out, func(a, b Template) int {
		if (a.Name == DefaultTemplate) != (b.Name == DefaultTemplate) {
			if a.Name == DefaultTemplate {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// templateDescription returns the comment in the first line of a template's front matter.
func templateDescription(data []byte) string {
	for line := range strings.Lines(string(data)) {
		if text, ok := strings.CutPrefix(line, "# "); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

func folders(fsys fs.FS) []string {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

// Render returns the files of a new skill by their paths in its folder. template names a template or a shipped skill. If it is empty,
// Render uses the shipped skill of that name if there is one, otherwise the default template.
func Render(name, template string) (map[string][]byte, error) {
	if !namePattern.MatchString(name) {
		return nil, fmt.Errorf("skill name %q: use lower-case letters, digits and hyphens, at most 64", name)
	}
	starts, ours := folders(sub(templates, "templates")), folders(Shipped())
	if template == "" {
		template = DefaultTemplate
		if slices.Contains(ours, name) {
			template = name
		}
	}
	var from fs.FS
	switch {
	case slices.Contains(starts, template) && (template != name || !slices.Contains(ours, template)):
		from = sub(templates, "templates/"+template)
	case slices.Contains(ours, template):
		from = sub(shipped, "shipped/"+template)
	default:
		known := slices.Concat(starts, ours)
		slices.Sort(known)
		known = slices.Compact(known)
		if near := text.Nearest(template, known); near != "" {
			return nil, fmt.Errorf("there is no template %q; did you mean %q?", template, near)
		}
		return nil, fmt.Errorf("there is no template %q; known: %s", template, strings.Join(known, ", "))
	}
	out := map[string][]byte{}
	err := fs.WalkDir(from, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, p)
		if err != nil {
			return err
		}
		if p == pageFile {
			data = rename(data, name)
		}
		out[p] = data
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read template %s: %w", template, err)
	}
	return out, nil
}

// rename sets the name in the front matter of a SKILL.md, and removes the line that describes a template.
func rename(data []byte, name string) []byte {
	lines := strings.SplitAfter(string(data), "\n")
	out := make([]string, 0, len(lines))
	named := false
	for i, line := range lines {
		switch {
		case i == 1 && strings.HasPrefix(line, "# "):
			continue
		case !named && strings.HasPrefix(line, "name:"):
			line, named = "name: "+name+"\n", true
		}
		out = append(out, line)
	}
	return []byte(strings.Join(out, ""))
}
