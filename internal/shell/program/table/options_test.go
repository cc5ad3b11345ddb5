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

// beginning returns an option of the row that a name of several letters is taken for, because it begins so.
func beginning(row *program.Row, name string) string {
	for group := range strings.FieldsSeq(row.Options + " " + row.Plain) {
		names, _, _ := strings.Cut(group, "=")
		for one := range strings.SplitSeq(names, "|") {
			if len(name) > 2 && !strings.HasSuffix(name, "-") && strings.HasPrefix(one, name) {
				return one
			}
		}
	}
	return ""
}

// rowOf returns the row of "PROGRAM", or of "PROGRAM SUBCOMMAND …".
func rowOf(command string) *program.Row {
	words := strings.Fields(command)
	row := Find(words[0])
	for _, word := range words[1:] {
		if row == nil || row.Subs == nil {
			return row
		}
		i := slices.IndexFunc(row.Subs, func(sub program.Row) bool { return program.Named(sub.Name, word) })
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
	"tree -T, tree -o, terraform init -plugin-dir, sqlite3 -A, sqlite3 -maxsize, " +
	"sqlite3 -mmap, lsof -a, lsof -b, lsof -d, lsof -h, dpkg --compare-versions, dpkg --install, dpkg -i, dpkg --listfiles, dpkg --search, " +
	"objdump -EB, objdump -EL, shasum -a, shasum --algorithm, dpkg -L, dpkg -S, hostname -F, hostname --file, tput -S, yarn upgrade -S, "

// leftOut are the options that rows with Plain leave out on purpose, so that they ask: a line for each program, as in manuals.
//
//go:embed testdata/left-out.txt
var leftOut string

// nextWord are options that [=X] marks in options.txt although the next word is their value. Programs that are written with clap, commander or
// nopt take it if it is no option, as does git where it says that a last argument may be left out; the collector misreads others.
const nextWord = "yarn list --depth, eslint --ext, eslint --flag, eslint --global, eslint --ignore-pattern, eslint --plugin, " +
	"eslint --suppress-rule, mktemp -p, npm --browser, npm install --browser, npm run --browser, rustc -L, rustc -l, " +
	"rustfmt --config-path, rustfmt --config, rustfmt --emit, node --print, node -p, script -T, " +
	"git for-each-ref --contains, git for-each-ref --merged, git for-each-ref --no-contains, git for-each-ref --no-merged, " +
	"git shortlog --format, journalctl -n, journalctl --lines, "

// takesNextWord reports whether the next word may be the value of an option whose value may be left out.
func takesNextWord(command, option string) bool {
	return strings.HasPrefix(command, "cargo ") || strings.Contains(nextWord, command+" "+option+", ")
}

// onlyAttached are options whose value can only be attached: see the file.
//
//go:embed testdata/optional.txt
var onlyAttached string

// TestOptionalValuesAreAttached: an option whose value may be left out, and only attached, never takes the next word: that is an operand, and
// for a wrapper it is the command.
func TestOptionalValuesAreAttached(t *testing.T) {
	some := 0
	for line := range strings.Lines(onlyAttached) {
		command, options, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || line[0] == '#' {
			continue
		}
		row := rowOf(command)
		if row == nil {
			t.Errorf("%s has no row", command)
			continue
		}
		for name := range strings.FieldsSeq(options) {
			some++
			if role, named := roleOf(row, strings.TrimLeft(name, "-")); named && role != "" && role[0] != '?' && !takesNextWord(command, name) {
				t.Errorf("%s: %s takes a value only attached, the row gives it the next word", command, name)
			}
		}
	}
	if some < 350 {
		t.Errorf("%d options are compared, want 350", some)
	}
}

// TestRowsNameTheOptionsOfManuals: a row that names the options of its manual names all but those of left-out.txt, and it knows which of
// them take a value. What the other rows do not name is logged.
func TestRowsNameTheOptionsOfManuals(t *testing.T) {
	whole, left := 0, []string{}
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
				if longer := beginning(row, strings.TrimLeft(name, "-")); longer != "" && row.Plain != "" {
					t.Errorf("%s: %s is left out, but the row takes it for the beginning of %s", command, name, longer)
				}
			case mark == "" && role != "" && role != "?":
				t.Errorf("%s: %s takes no value, the row gives it one", command, name)
			case mark == "[=" && !takesNextWord(command, name) && role != "" && role[0] != '?':
				t.Errorf("%s: %s takes a value only attached, the row gives it the next word", command, name)
			case mark == "=" && role == "":
				t.Errorf("%s: %s takes a value, the row gives it none", command, name)
			}
		}
		switch said := command + ": " + strings.Join(unnamed, " ") + "\n"; {
		case len(unnamed) > 0 && row.Plain != "":
			left = append(left, said)
		case len(unnamed) > 0:
			t.Log(said)
		}
	}
	for _, said := range left {
		if !strings.Contains(leftOut, said) {
			t.Errorf("a row leaves out what left-out.txt does not have: %s", said)
		}
	}
	for said := range strings.Lines(leftOut) {
		if !slices.Contains(left, said) {
			t.Errorf("no row leaves out what left-out.txt has: %s", said)
		}
	}
	if whole < 450 {
		t.Errorf("%d programs and subcommands name all their options, want 450", whole)
	}
}
