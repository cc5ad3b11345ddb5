package slash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mycelium/internal/skill"
	"mycelium/internal/text"
)

// brought is a command of a skill, as list_commands tells it (requirements, A21).
type brought struct {
	Name        string
	Description string
	Skill       string
	HandlerType string
	ToolName    string
	ScriptPath  string
	Usage       string
	Arguments   []skill.Argument
}

// Load asks the gateway which commands the skills bring. It is called again when the role or the skills change.
func (s *Set) Load(ctx context.Context) error {
	var list struct{ Commands []brought }
	if err := ask(ctx, s, "mycelium-skills__list_commands", &list); err != nil {
		return err
	}
	ours := builtin()
	var out []Command
	for _, b := range list.Commands {
		taken := func(c Command) bool { return c.Name == b.Name }
		if b.Name == "" || strings.ContainsFunc(b.Name, unicode.IsSpace) || slices.ContainsFunc(ours, taken) || slices.ContainsFunc(out, taken) {
			continue
		}
		_, args, _ := strings.Cut(b.Usage, " ")
		if args == "" {
			for _, a := range b.Arguments {
				word := strings.ToUpper(a.Name)
				if !a.Required {
					word = "[" + word + "]"
				}
				args = strings.TrimSpace(args + " " + word)
			}
		}
		out = append(out, Command{Name: text.OneLine(b.Name), Args: text.OneLine(args), About: b.Description,
			Skill: text.OneLine(b.Skill), run: b.run})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.brought = out
	return nil
}

// run activates the skill, because the person asks for it, and calls its tool or its script through the door.
func (b brought) run(ctx context.Context, s *Set, now Now, args []string) (Result, error) {
	if !slices.Contains(now.Skills, b.Skill) {
		if _, err := s.Run(ctx, now, "session", "skills", now.Session, "+"+b.Skill); err != nil {
			return Result{}, err
		}
	}
	tool, with := b.ToolName, any(nil)
	var err error
	if b.HandlerType == "script" {
		tool, with = "mycelium-skills__run_script", map[string]any{"skill": b.Skill, "path": b.ScriptPath, "args": append([]string{}, args...)}
	} else if with, err = b.arguments(args); err != nil {
		return Result{}, err
	}
	o, err := s.call(ctx, tool, with)
	if err != nil {
		return Result{}, err
	}
	if o.Failed {
		return Result{}, fmt.Errorf("/%s: %s", b.Name, o.Text)
	}
	return Result{Text: o.Text}, nil
}

// arguments are the words by the names that the skill gives them. Words that are too many belong to the last one.
func (b brought) arguments(words []string) (map[string]any, error) {
	out := map[string]any{}
	if n := len(b.Arguments); n > 0 && len(words) > n {
		words = append(words[:n-1:n-1], strings.Join(words[n-1:], " "))
	} else if n == 0 && len(words) > 0 {
		return nil, usage(b.Name, "it takes no arguments")
	}
	for i, a := range b.Arguments {
		switch {
		case i < len(words):
			out[a.Name] = words[i]
		case a.Required:
			return nil, usage(b.Name, "%s is missing: /%s %s", a.Name, b.Name, b.Usage)
		case a.Default != nil:
			out[a.Name] = a.Default
		}
	}
	return out, nil
}
