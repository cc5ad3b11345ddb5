package install

import (
	"fmt"
	"slices"
)

// Lines returns the lines for a shell that the settings of the agent have now, besides our own: hooks that are no programs with
// arguments, and status lines. own is the text of the settings of one run. A file that the agent cannot read has none.
func (s *Setup) Lines(own []byte) ([]string, error) {
	files, err := s.Agent.Settings(s.Dir, s.Environ)
	if err != nil {
		return nil, fmt.Errorf("find the settings of %s: %w", s.Agent.Title, err)
	}
	out := linesOf(s, own)
	for _, f := range files {
		if text, _, err := readConfig(f.Path); err == nil {
			out = append(out, linesOf(s, text)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// linesOf returns the lines for a shell in one file.
func linesOf(s *Setup, text []byte) (out []string) {
	all, err := s.handlers(text)
	if err != nil {
		return nil
	}
	for _, h := range all {
		if h.Args == nil && h.Command != "" {
			out = append(out, h.Command)
		}
	}
	if root, err := parseJSON(text, s.Agent.Hooks.Comments); err == nil {
		if line := lookup(&root, []string{s.Agent.StatusLine.Setting, "command"}); line != nil {
			out = append(out, line.str(text))
		}
	}
	return out
}
