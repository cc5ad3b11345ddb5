package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/atomicfile"
	"mycelium/internal/op/failure"
	"mycelium/internal/skill"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

func (a *app) skillExportCmd() *cobra.Command {
	var to string
	c := &cobra.Command{Use: "export NAME", Short: "Write a skill as an Agent Skill, which other programs read",
		Long: "Prints the SKILL.md of a skill as the Agent Skills format has it: name, description and instructions. With --to, it writes\n" +
			"the folder NAME there, with the skill's other files. Roles, tools, triggers and memory are left out: no other program\n" +
			"holds an agent to them, and there allowed-tools would approve tools instead of restricting them.",
		Example: "  myc skill export reader\n  myc skill export reader --to ~/.claude/skills", Args: base.ArgRange(1, 1, "one skill"),
		RunE: func(_ *cobra.Command, args []string) error { return a.skillExport(args[0], to) }}
	c.Flags().StringVar(&to, "to", "", "folder in which the skill's folder is made; it must not have one of that name")
	return c
}

// exported is an exported skill in the shape of `myc skill export --json`.
type exported struct {
	Name  string   `json:"name"`
	To    string   `json:"to,omitempty"` // the folder that was written
	Files []string `json:"files"`
	Text  string   `json:"text"` // of SKILL.md
}

func (a *app) skillExport(name, to string) error {
	if err := a.NeedPerson("export a skill"); err != nil {
		return err
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	all := v.Skills.All()
	i := slices.IndexFunc(all, func(s skill.Checked) bool { return s.Name == name })
	if i < 0 {
		return a.noSkill(v, name)
	}
	s := &all[i].Skill
	others, err := s.Resources()
	if err != nil {
		return fmt.Errorf("skill export: %w", err)
	}
	out := exported{Name: name, Files: append([]string{"SKILL.md"}, others...), Text: agentSkill(s)}
	if to == "" {
		if a.JSON {
			return a.PrintJSON(out)
		}
		fmt.Fprint(a.Out, out.Text)
		if len(others) > 0 {
			fmt.Fprintf(a.Err, "myc: the skill has %s more: --to FOLDER writes them too\n", text.Count(len(others), "file"))
		}
		return nil
	}
	if out.To, err = writeExport(s, to, out); err != nil {
		return fmt.Errorf("skill export: %w", err)
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	for _, file := range out.Files {
		fmt.Fprintf(a.Out, "wrote %s\n", filepath.Join(out.To, filepath.FromSlash(file)))
	}
	return nil
}

// agentSkill is the SKILL.md of a skill as the Agent Skills format has it.
func agentSkill(s *skill.Skill) string {
	var b strings.Builder
	b.WriteString("---\n")
	for _, l := range append(yamlfile.Entry("name", s.Name), yamlfile.Entry("description", s.Description)...) {
		b.WriteString(l + "\n")
	}
	var more []string
	for _, m := range [][2]string{{"version", s.Metadata.Version}, {"author", s.Metadata.Author}} {
		if m[1] != "" {
			more = append(more, "  "+m[0]+": "+yamlfile.Text(m[1])+"\n")
		}
	}
	if len(more) > 0 {
		b.WriteString("metadata:\n" + strings.Join(more, ""))
	}
	return b.String() + "---\n\n" + strings.TrimSpace(s.Instructions) + "\n"
}

// writeExport writes the folder of a skill, whole or not at all, and returns its path.
func writeExport(s *skill.Skill, to string, x exported) (string, error) {
	target := filepath.Join(to, s.Name)
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		return "", failure.Hint(fmt.Errorf("skill export: %s is there already", target), "remove it first, or name another folder")
	}
	if err := os.MkdirAll(to, 0o755); err != nil { //nolint:gosec // people's own files, as their editor would make them
		return "", err
	}
	draft, err := os.MkdirTemp(to, "."+s.Name+"-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(draft) }()     // nothing is there any more if all went well
	if err := os.Chmod(draft, 0o755); err != nil { //nolint:gosec // as above
		return "", err
	}
	for _, file := range x.Files {
		data, perm := []byte(x.Text), fs.FileMode(0o644)
		if file != "SKILL.md" {
			if data, err = s.Resource(file); err != nil {
				return "", err
			}
			if st, err := fs.Stat(s.Dir, file); err == nil && st.Mode()&0o111 != 0 {
				perm = 0o755
			}
		}
		at := filepath.Join(draft, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // as above
			return "", err
		}
		if err := atomicfile.Write(at, data, perm); err != nil {
			return "", err
		}
	}
	return target, os.Rename(draft, target)
}
