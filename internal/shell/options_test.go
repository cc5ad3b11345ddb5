package shell_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/policy"
	"mycelium/internal/shell"
	"mycelium/internal/shell/program"
	"mycelium/internal/shell/program/table"
)

// whole returns the commands, "PROGRAM" or "PROGRAM SUBCOMMAND", whose rows name all options of the manual, with the rows.
func whole(t *testing.T) map[string]*program.Row {
	t.Helper()
	const folder = "program/table/testdata/"
	files, err := filepath.Glob(folder + "manuals-*.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]*program.Row{}
	for _, file := range append(files, folder+"options.txt") {
		manuals, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(manuals)) {
			command, _, ok := strings.Cut(line, ": ")
			if row := rowOf(command); ok && line[0] != '#' && row != nil && row.Plain != "" {
				rows[command] = row
			}
		}
	}
	return rows
}

// rowOf returns the row of a program or of a subcommand at any depth, or nil.
func rowOf(command string) *program.Row {
	name, rest, _ := strings.Cut(command, " ")
	row := table.Find(name)
	for sub := range strings.FieldsSeq(rest) {
		if row == nil {
			return nil
		}
		i := slices.IndexFunc(row.Subs, func(r program.Row) bool { return program.Named(r.Name, sub) })
		if i < 0 {
			return nil
		}
		row = &row.Subs[i]
	}
	return row
}

// unclear reports whether a command is one that is not understood.
func unclear(command string) bool {
	return slices.ContainsFunc(shell.Facts(command, inHome).Parts, func(p policy.Part) bool {
		return slices.Contains(p.Effects, policy.EffectUnclear)
	})
}

// TestUnnamedOptionIsUnclear: where the row of a program names the options of its manual, any other makes the command unclear, in each form
// in which it can be written, and those that the row names do not.
func TestUnnamedOptionIsUnclear(t *testing.T) {
	rows := whole(t)
	commands := make([]string, 0, len(rows))
	for command := range rows {
		commands = append(commands, command)
	}
	slices.Sort(commands)
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.SampledFrom(commands).Draw(t, "command")
		row := rows[command]
		names := map[string]bool{}
		for group := range strings.FieldsSeq(row.Options + " " + row.Plain) {
			group, _, _ = strings.Cut(group, "=")
			for name := range strings.SplitSeq(group, "|") {
				names[name] = true
			}
		}
		long := rapid.StringMatching(`[a-z]{3,8}(-[a-z]{3,8})?`).Draw(t, "long")
		for name := range names {
			if strings.HasPrefix(name, strings.TrimPrefix(long, "no-")) || strings.HasPrefix(name, long) {
				t.Skip("it is an abbreviation")
			}
		}
		forms := []string{" --" + long, " --" + long + "=x", " --" + long + " x"}
		if row.Style != program.First && row.Style != program.SingleFirst && row.Subs == nil {
			// otherwise, what stands behind the first operand belongs to something else
			forms = append(forms, " x --"+long)
		}
		for _, form := range forms {
			if !unclear(command + form) {
				t.Errorf("%s%s is taken for understood", command, form)
			}
		}
		letter := rapid.StringMatching(`[A-Za-z]`).Draw(t, "letter")
		if !names[letter] && !unclear(command+" -"+letter) {
			t.Errorf("%s -%s is taken for understood", command, letter)
		}
	})
	for command, row := range rows {
		for group := range strings.FieldsSeq(row.Plain) {
			group, role, _ := strings.Cut(group, "=")
			for name := range strings.SplitSeq(group, "|") {
				option := " --" + name
				switch {
				case name == "#":
					option = " -5"
				case len(name) == 1:
					option = " -" + name
				}
				if role == "v" {
					option += " 5"
				}
				parts := shell.Facts(command+option, inHome).Parts
				for _, p := range parts {
					if slices.ContainsFunc(p.Unclear, func(why string) bool { return strings.HasPrefix(why, "what the option ") }) {
						t.Errorf("%s%s: %v", command, option, p.Unclear)
					}
				}
			}
		}
	}
	if len(rows) < 60 {
		t.Errorf("%d rows name all options, want 60", len(rows))
	}
}

// TestShortenedOptions: GNU programs and git take any beginning of an option's name, down to one letter.
func TestShortenedOptions(t *testing.T) {
	for short, long := range map[string]string{
		"sort --ou=../x f": "sort --output=../x f", "sort --o ../x f": "sort --output ../x f", "git log --outp=/tmp/x": "git log --output=/tmp/x",
		"git push --f o m": "git push --force o m", "git push --m o": "git push --mirror o", "sed --in s/a/b/ f": "sed --in-place s/a/b/ f",
		"tar --to='sh x' -xf a.tar": "tar --to-command='sh x' -xf a.tar", "rsync --rsh='sh x' a b": "rsync -e 'sh x' a b",
	} {
		effects, paths := effectsOf(long)
		shortEffects, shortPaths := effectsOf(short)
		for e := range effects {
			if !shortEffects[e] {
				t.Errorf("%q has not the effect %s of %q", short, e, long)
			}
		}
		for p := range paths {
			if !shortPaths[p] {
				t.Errorf("%q does not do %s, as %q does: %v", short, p, long, shortPaths)
			}
		}
	}
}
