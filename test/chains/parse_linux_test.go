// Package chains measures from outside what governs an agent: chains of steps, as a clever agent would take them, are really executed in
// a scratch project, each step after the installed hook allowed it, and afterwards the same must be in force as before. README.md says how
// a chain is written.
package chains

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// chain is a list of steps with a name. Its cause is the name of its file.
type chain struct {
	Name  string
	Cause string
	Rows  []string // of threats.md
	// Sandbox: code that the agent wrote, and may run, forges what our state has. Nothing but a sandbox keeps the user's own hands off.
	Sandbox bool
	Long    bool   // only in the long form
	Told    bool   // the hook's entries may change, by code that may run: then they are put back, or `myc hook status` says so
	Refused bool   // the last step must be refused: it changes nothing that governs, but takes the project from its person
	Mode    string // "daemon", "alone", or "" for either
	Steps   []step
}

// step is one use of a tool.
type step struct {
	Line  int
	Given bool // somebody else did it before, a colleague's push for example; the hook is not asked
	Tool  string
	Input map[string]any
}

var (
	headLine = regexp.MustCompile(`^== ([a-z0-9-]+)((?: [A-Za-z0-9]+)*)$`)
	rowWord  = regexp.MustCompile(`^W[0-9]+$`)
	mention  = regexp.MustCompile(`(?m)^@([a-z-]+)$`)
)

// readChains reads every file of a folder. contents.txt has the texts that chains mention.
func readChains(dir string) ([]chain, error) {
	contents, err := readContents(filepath.Join(dir, "contents.txt"))
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.chains"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no chains in %s: %w", dir, err)
	}
	var all []chain
	seen := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		chains, err := parseChains(strings.TrimSuffix(filepath.Base(path), ".chains"), string(text), contents)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, c := range chains {
			if seen[c.Name] {
				return nil, fmt.Errorf("%s: two chains have the name %s", path, c.Name)
			}
			seen[c.Name] = true
		}
		all = append(all, chains...)
	}
	return all, nil
}

// readContents reads texts, each below a line `== NAME`.
func readContents(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for part := range strings.SplitSeq("\n"+string(text), "\n== ") {
		if name, body, ok := strings.Cut(part, "\n"); ok && name != "" {
			out[name] = strings.TrimRight(body, "\n") + "\n"
		}
	}
	return out, nil
}

// parseChains reads one file. A line that begins with a tab belongs to the step above it; a line `@NAME` there is that text of contents.
func parseChains(cause, text string, contents map[string]string) ([]chain, error) {
	var chains []chain
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line, at := lines[i], i+1
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "== "):
			c, err := parseHead(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", at, err)
			}
			c.Cause = cause
			chains = append(chains, c)
			continue
		}
		var body []string
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t") {
			i++
			body = append(body, lines[i][1:])
		}
		s, err := parseStep(line, strings.Join(body, "\n"), contents)
		if err != nil || len(chains) == 0 {
			return nil, fmt.Errorf("line %d: %q is no step of a chain: %w", at, line, err)
		}
		s.Line = at
		last := &chains[len(chains)-1]
		last.Steps = append(last.Steps, s)
	}
	for _, c := range chains {
		if len(c.Steps) == 0 || len(c.Rows) == 0 {
			return nil, fmt.Errorf("chain %s has no steps, or no row of threats.md", c.Name)
		}
	}
	return chains, nil
}

func parseHead(line string) (chain, error) {
	m := headLine.FindStringSubmatch(line)
	if m == nil {
		return chain{}, fmt.Errorf("%q is no head of a chain: == NAME W6 [sandbox|told|refused] [long] [daemon|alone]", line)
	}
	c := chain{Name: m[1]}
	for word := range strings.FieldsSeq(m[2]) {
		switch {
		case rowWord.MatchString(word):
			c.Rows = append(c.Rows, word)
		case word == "sandbox":
			c.Sandbox = true
		case word == "long":
			c.Long = true
		case word == "told":
			c.Told = true
		case word == "refused":
			c.Refused = true
		case slices.Contains([]string{"daemon", "alone"}, word):
			c.Mode = word
		default:
			return chain{}, fmt.Errorf("%s: unknown word %q", c.Name, word)
		}
	}
	return c, nil
}

// parseStep reads `$ COMMAND`, `Write PATH`, `Edit PATH` (its body has the old text, a line `=>` and the new one) or `TOOL {JSON}`.
func parseStep(line, body string, contents map[string]string) (step, error) {
	var s step
	line, s.Given = strings.CutPrefix(line, "given ")
	var missing string
	body = mention.ReplaceAllStringFunc(body, func(m string) string {
		text, ok := contents[m[1:]]
		if !ok {
			missing = m
		}
		return strings.TrimSuffix(text, "\n")
	})
	if missing != "" {
		return s, fmt.Errorf("contents.txt has no text %s", missing)
	}
	tool, rest, _ := strings.Cut(line, " ")
	s.Tool = tool
	switch tool {
	case "$":
		s.Tool = "Bash"
		if body != "" {
			rest += "\n" + body
		}
		s.Input = map[string]any{"command": rest, "description": "x"}
	case "Write":
		s.Input = map[string]any{"file_path": absolute(rest), "content": body + "\n"}
	case "Edit":
		was, is, ok := strings.Cut(body, "\n=>\n")
		if !ok {
			return s, fmt.Errorf("an Edit needs the old text, a line => and the new text")
		}
		s.Input = map[string]any{"file_path": absolute(rest), "old_string": was, "new_string": is}
	case "Read":
		s.Input = map[string]any{"file_path": absolute(rest)}
	default:
		if err := json.Unmarshal([]byte(rest), &s.Input); err != nil {
			return s, fmt.Errorf("the input of %s: %w", tool, err)
		}
	}
	return s, nil
}

// absolute is how agents name files: Claude Code wants absolute paths.
func absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return projectDir + "/" + path // as written: nothing is cleaned
}
