package table

import (
	"embed"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/shell/program"
)

// manuals are what scripts/options collected, a line for each program, with the options that its own help or completion names; and, in
// manuals-*.txt, what was read in the manuals of programs that are not installed where the tests run.
//
//go:embed testdata/options.txt testdata/manuals-*.txt
var manuals embed.FS

// manualLines returns the lines of all manuals.
func manualLines(t *testing.T) (lines []string) {
	files, err := manuals.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := manuals.ReadFile("testdata/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// roleOf returns the role of an option's value, and whether the row names the option.
func roleOf(row *program.Row, name string) (role string, named bool) {
	for group := range strings.FieldsSeq(row.Options + " " + row.Plain) {
		names, role, _ := strings.Cut(group, "=")
		for one := range strings.SplitSeq(names, "|") {
			if one == name {
				return role, true
			}
		}
	}
	return "", false
}

// rowOf returns the row of "PROGRAM" or "PROGRAM SUBCOMMAND", at any depth.
func rowOf(command string) *program.Row {
	name, rest, _ := strings.Cut(command, " ")
	row := Find(name)
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

// otherwise are options that take a value although the help text of this machine does not show it, or takes it in another place: tree
// writes the value without a mark, and -i of base64 and -f of stat are those of BSD.
var otherwise = "base64 -i, du --time, rg --max-columns, stat -f, yamllint -f, zstd -S, zstd -T, wget --hsts-file, file -P, " +
	"file --parameter, ss -N, ss --net, curl -x, curl --proxy, curl --preproxy, " +
	"git format-patch -n, cpio -I, cpio -O, lsof -c, lsof -p, lsof -u, xargs -I, tree --charset, " +
	"tree --filelimit, tree --gitfile, tree --infofile, tree --sort, tree -H, tree -I, tree -L, tree -P, " +
	"tree -T, tree -o, " +
	"yarn upgrade -S, "

// leftOut are the options that rows with Plain leave out on purpose, so that they ask: a line for each program, as in manuals.
//
//go:embed testdata/left-out.txt
var leftOut string

// TestRowsNameTheOptionsOfManuals: a row that names the options of its manual names all but those of left-out.txt, and it knows which of
// them take a value. What the other rows do not name is logged.
func TestRowsNameTheOptionsOfManuals(t *testing.T) {
	whole, left := 0, ""
	for _, line := range manualLines(t) {
		command, options, _ := strings.Cut(line, ": ")
		row := rowOf(command)
		if row == nil {
			t.Logf("%s has no row", command)
			continue
		}
		if row.Plain != "" {
			whole++
		}
		var unnamed []string
		for option := range strings.FieldsSeq(options) {
			name := strings.TrimRight(option, "[=")
			role, named := roleOf(row, strings.TrimLeft(name, "-"))
			if positive, ok := strings.CutPrefix(name, "--no-"); ok && !named { // see program.Row
				_, named = roleOf(row, positive)
			}
			if strings.Contains(otherwise, command+" "+name+",") {
				continue
			}
			switch mark := option[len(name):]; {
			case !named:
				unnamed = append(unnamed, option)
			case mark == "" && role != "" && role != "?":
				t.Errorf("%s: %s takes no value, the row gives it one", command, name)
			case mark == "=" && role == "":
				t.Errorf("%s: %s takes a value, the row gives it none", command, name)
			}
		}
		switch said := command + ": " + strings.Join(unnamed, " ") + "\n"; {
		case len(unnamed) > 0 && row.Plain != "":
			left += said
		case len(unnamed) > 0:
			t.Log(said)
		}
	}
	if left != leftOut {
		t.Errorf("the rows leave out\n%s\nwant\n%s", left, leftOut)
	}
	if whole < 60 {
		t.Errorf("%d programs and subcommands name all their options, want 60", whole)
	}
}
