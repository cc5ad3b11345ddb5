package shell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/policy"
	"mycelium/internal/shell"
)

// scripts writes commands in which functions hide programs and variables change, at random. In each, p and q are programs that log how they
// were called, and p may be a function as well.
type scripts struct {
	*rapid.T
	bash bool
}

// simpleStatements are single commands. Those after the empty text are for bash only.
var simpleStatements = []string{
	"p $x $y", `p "$x"`, "command p $x", "env p $x", "nohup p $y 2>/dev/null", "sh -c 'p 1'", "eval 'p $x'", "p $1", "command -- p",
	"x=a", "x=b", "x=$y", "y=$x", "x=a y=$x", "y=c", "export x=b y=$x", "export y=$x x=c", "local x=b y=$x", "local x",
	"x=b g", "x=c :", "x=b eval 'p $x'", "x=b p $x", "x=a y=$x env p $y", "export \"x=b\"", "m=x; export $m=c", "x=c eval :",
	"unset x", "unset -f p", "unset p", "unset -f g", "shift 2>/dev/null", "set -- a b", "set -- $x", "g", "g b", "h", "h c", "p", "p 2",
	"q $x", "trap 'p $y' EXIT", "command eval x=a", "echo $x | { read y; p $y; }", "echo 'p $x' | sh", "echo c | read x", "exec 3>&1",
	"return", "break", "continue", "",
	"declare x=c y=$x", "declare x", "typeset y=b", "declare -g x=b", "export -f p", "bash -c 'p 3'", "export -f p; sh -c 'p 4'",
	"read x <<< b", "printf -v x c", "builtin eval 'p $x'", "declare \"y=c\"", "command declare x=b", "mapfile -t x <<< c", "x+=b",
	"env -i PATH=\"$PATH\" LOG=\"$LOG\" bash -c 'p 5'", "sh <<< 'p 6'", "x=(b c)", "x[0]=c", "x[1]=b", "p ${x[0]}", "p ${x:-d}", "p ${x%b}",
}

// around are the compound commands. The holes are bodies.
var compounds = []string{
	"( % )", "{ %\n}", "if true; then %\nfi", "if false; then %\nelse %\nfi", "true && { %\n}", "false || { %\n}", "true || { %\n}",
	"{ %\n} | cat", "{ %\n} & wait", ": $( % )", "for x in a b; do %\ndone", "for y in 1; do %\ndone", "for z in; do %\ndone",
	"#=; while [ \"$#\" != 11 ]; do #=1$#; %\ndone", "#=; until [ \"$#\" = 111 ]; do #=1$#; %\ndone", "while false; do %\ndone",
	"case $x in a) %\n;; *) %\n;; esac", "p() { q fn \"$@\"\n}", "p() { command p fn \"$@\"\n}", "p() { :\n} | cat", "{ p() { :\n}\n} | cat",
	"p() { :\n}", "true && p() { :\n}",
}

func (s scripts) statement(depth, level int) string {
	kind := rapid.IntRange(0, 9).Draw(s.T, "kind")
	if depth == 0 || kind < 6 {
		end := len(simpleStatements)
		if !s.bash {
			end = slices.Index(simpleStatements, "")
		}
		text := simpleStatements[rapid.IntRange(0, end-1).Draw(s.T, "simple")]
		if first, _, _ := strings.Cut(text, " "); level == 2 && first == "g" || level == 1 && (first == "g" || first == "h") ||
			strings.HasSuffix(text, " g") && level > 0 || text == "" { // no recursion
			return ":"
		}
		return text
	}
	if kind == 6 && level == 0 {
		name, inner := "g", 2
		if rapid.Bool().Draw(s.T, "h") {
			name, inner = "h", 1
		}
		return name + "() { " + s.body(depth-1, inner) + "\n}"
	}
	text := rapid.SampledFrom(compounds).Draw(s.T, "compound")
	text = strings.ReplaceAll(text, "#", "n"+strings.Repeat("n", depth+4*level)) // a counter of its own
	for strings.Contains(text, "%") {
		text = strings.Replace(text, "%", s.body(depth-1, level), 1)
	}
	return text
}

func (s scripts) body(depth, level int) string {
	n := rapid.IntRange(1, 3).Draw(s.T, "n")
	var list []string
	for range n {
		list = append(list, s.statement(depth, level))
	}
	return strings.Join(list, "\n")
}

// TestShellsRunWhatIsRead runs random commands in bash and in dash: each program that ran stands in the facts, with the arguments that it
// had, unless the facts say that they are not known.
func TestShellsRunWhatIsRead(t *testing.T) {
	for _, name := range []string{"bash", "dash"} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skip(err)
			}
			bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
			for _, p := range []string{"p", "q"} {
				text := "#!/bin/sh\necho \"" + p + " $*\" >> \"$LOG\"\n"
				if err := os.WriteFile(filepath.Join(bin, p), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			rapid.Check(t, func(t *rapid.T) {
				command := "x=a; y=b\n" + scripts{t, name == "bash"}.body(3, 0) + "\np $x $y"
				for _, line := range ran(t, name, command, bin, log) {
					if f := shell.Facts(command, inHome); !reads(f, line) {
						t.Errorf("%s runs %q, which the facts do not have:\n%s\n%+v", name, line, command, f.Parts)
					}
				}
			})
		})
	}
}

// ran returns how the programs of a command were called.
func ran(t *rapid.T, name, command, bin, log string) []string {
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), name, "-c", command)
	c.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "LOG=" + log}
	_ = c.Run() // many of the commands fail
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// reads reports whether facts have a program with its arguments, or say that something is not known.
func reads(f policy.Facts, line string) bool {
	want := strings.Fields(line)
	return len(want) == 0 || slices.ContainsFunc(f.Parts, func(p policy.Part) bool {
		if p.Program == "" && len(p.Unclear) > 0 {
			return true
		}
		if p.Program != want[0] {
			return len(p.Argv) > 0 && len(p.Unclear) > 0 && p.Argv[0] != "cd"
		}
		if strings.ContainsAny(strings.Join(p.Argv, " "), "$`") {
			return true
		}
		return slices.Equal(strings.Fields(strings.Join(p.Argv[1:], " ")), want[1:])
	})
}
