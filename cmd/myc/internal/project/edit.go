package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/config/source"
	"mycelium/internal/node/failure"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

// Edit is `myc edit`.
func Edit(a *base.App) *cobra.Command { return (&app{a}).editCmd() }

func (a *app) editCmd() *cobra.Command {
	return &cobra.Command{
		Use: "edit rules | config | roles/NAME | skills/NAME", Short: "Edit a file that governs, and put it in force when it is saved",
		Long: "Opens a copy of the file in $VISUAL or $EDITOR. When you have saved it and left the editor, the command checks the\n" +
			"copy, shows what changed and what that means, accepts it, and writes the file. A copy that does not load changes\n" +
			"nothing: it is kept, and the next myc edit of the file goes on with it.",
		Example: "  myc edit rules\n  myc edit roles/developer\n  EDITOR=nano myc edit config",
		Args:    base.ArgRange(1, 1, "one of rules, config, roles/NAME, skills/NAME"),
		RunE:    func(c *cobra.Command, args []string) error { return a.edit(c.Context(), args[0]) },
	}
}

func (a *app) edit(ctx context.Context, what string) error {
	if err := a.NeedPerson("edit what governs agents"); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	if !p.Trusted {
		return failure.New(failure.Conflict, fmt.Errorf("edit: nothing of %s is accepted", p.Dir),
			"look at it and accept it first: myc trust")
	}
	name, err := editedFile(p, what)
	if err != nil {
		return err
	}
	e := &editing{app: a, p: p, what: what, name: name, copy: filepath.Join(p.State.Edits(), "copy", filepath.FromSlash(name)),
		base: filepath.Join(p.State.Edits(), "base", filepath.FromSlash(name))}
	if err := e.open(); err != nil {
		return fmt.Errorf("edit %s: %w", name, err)
	}
	for {
		if err := e.editor(ctx); err != nil {
			return failure.Hint(fmt.Errorf("edit %s: %w", name, err),
				"nothing was changed; set VISUAL or EDITOR to a program that edits text")
		}
		switch again, err := e.take(); {
		case err != nil:
			return fmt.Errorf("edit %s: %w", name, err)
		case !again:
			return nil
		}
	}
}

// editedFile returns the file of the project that a word of the command line means, by its path in the project.
func editedFile(p *config.Project, what string) (string, error) {
	kind, name, _ := strings.Cut(what, "/")
	var known []string
	switch kind {
	case "config":
		return source.MainFile, nil
	case "rules":
		for _, f := range p.File.Policy.Rules {
			if filepath.IsLocal(f) {
				return f, nil
			}
		}
		return source.RulesFile, nil
	case "roles":
		for _, r := range p.Roles {
			if file, _ := p.Where("roles." + r.ID); filepath.IsLocal(file) {
				if known = append(known, "roles/"+r.ID); r.ID == name {
					return file, nil
				}
			}
		}
	case "skills":
		for _, s := range p.Skills {
			if s.Source == skill.Source("project") {
				if known = append(known, "skills/"+s.Name); s.Name == name {
					return s.File, nil
				}
			}
		}
	default:
		return "", failure.Usagef("edit: %q is none of rules, config, roles/NAME and skills/NAME", what)
	}
	slices.Sort(known)
	hint := "there are: " + strings.Join(slices.Compact(known), ", ")
	if near := text.Nearest(what, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return "", failure.New(failure.NotFound, fmt.Errorf("edit: no file of this project declares %s", what), hint)
}

// editor opens the copy, and returns when the person has left the editor.
func (e *editing) editor(ctx context.Context) error {
	program := e.Getenv("VISUAL")
	if program == "" {
		program = e.Getenv("EDITOR")
	}
	if program == "" {
		program = "vi"
	}
	//nolint:gosec // the person's own editor, which may have arguments
	run := exec.CommandContext(ctx, "sh", "-c", program+` "$1"`, "sh", e.copy)
	run.Stdin, run.Stdout, run.Stderr, run.Env = e.In, e.Out, e.Err, e.Environ
	if err := run.Run(); err != nil {
		return fmt.Errorf("the editor %s: %w", program, err)
	}
	return nil
}

// readFile reads a file; an absent one is empty.
func readFile(path string) ([]byte, error) {
	switch st, err := os.Lstat(path); {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is a link or no file; edit what it leads to", path)
	}
	return os.ReadFile(filepath.Clean(path))
}
