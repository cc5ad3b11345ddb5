package shell_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/shell"
)

// given is an option with a value as a manual has it.
type given struct {
	command string // "PROGRAM SUBCOMMAND"
	option  string // "--output"
	value   string // what the manual calls the value, in small letters, or ""
	writes  bool   // the manual speaks of writing
	forms   []string
}

// The ends of the names of options and values that are files, folders, commands or addresses.
var (
	aFile    = regexp.MustCompile(`(?i)(([^o]|\b)file|filename|path|dir|directory|folder|output|\bout|\blog|socket|config|conf)s?$`)
	aCommand = regexp.MustCompile(`(?i)(command|\bcmd|\bprog|program|([^e]|\b)script|\bexec|pager|editor|askpass|shell)s?$`)
	anHost   = regexp.MustCompile(`(?i)(\burl|\buri|\bhost|hostname|proxy|server|registry)s?$`)
	aTarget  = regexp.MustCompile(`(?i)(output|\blog|logfile|log-file|write|save|dump|\bout)$`)
)

// either reports whether the name of an option, or that of its value, ends as one of a kind.
func either(kind *regexp.Regexp, g given) bool {
	return kind.MatchString(g.option) || kind.MatchString(g.value)
}

// manualValues returns the options of all manuals that have a value.
func manualValues(t *testing.T) (list []given) {
	t.Helper()
	const folder = "program/table/testdata/"
	files, err := filepath.Glob(folder + "manuals-*.txt")
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for _, file := range append(files, folder+"options.txt", folder+"values.txt") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			command, options, ok := strings.Cut(strings.TrimSpace(line), ": ")
			if !ok || line[0] == '#' {
				continue
			}
			for word := range strings.FieldsSeq(options) {
				option, value, valued := strings.Cut(word, "=")
				if !valued {
					continue
				}
				option, optional := strings.CutSuffix(option, "[")
				i, seen := at[command+" "+option]
				if !seen {
					i = len(list)
					at[command+" "+option] = i
					list = append(list, given{command: command, option: option})
				}
				g := &list[i]
				g.value, g.writes = strings.TrimSuffix(value, ">"), strings.HasSuffix(value, ">")
				switch {
				case seen:
				case strings.HasPrefix(option, "--"):
					g.forms = []string{option + "=%"}
				default:
					g.forms = []string{option + "%"}
				}
				if !seen && !optional {
					g.forms = append(g.forms, option+" %")
				}
			}
		}
	}
	return list
}

// texts are options whose value is not what its name says, "*" standing for every program, and why.
var texts = map[string]string{
	"one of a few words":               "*/--output bun/--shell shellcheck/--shell gh/--shell terraform/-lockfile eslint/--report-unused-inline-configs git/--untracked-files",
	"a yes or no":                      "yarn/--scripts-prepend-node-path biome/--use-editorconfig biome/--vcs-use-ignore-file grep/--binary-files",
	"a text that stands in the output": "ld/--dynamic-linker ld/-I ld/-h ld/-soname ld/-rpath gcov/--source-prefix gcov/-s",
	"a number":                         "bun/--concurrent-scripts npm/--maxsockets git/--log",
	"a kind of connections":            "ss/--socket",
	"a name in a listing, or where it begins": "diff/--starting-file diff/-S grep/--exclude-dir git/--rotate-to git/--skip-to gh/--filename " +
		"dpkg-query/--listfiles dpkg-query/--control-path git/--dirstat-by-file git/--exclude-per-directory",
	"a name for the text on standard input":                         "*/--stdin-filename */--stdin-filepath */--stdin-file-path",
	"a target, which make takes for new or old":                     "make/--assume-new make/--assume-old make/--new-file make/--old-file make/--what-if make/-W make/-o",
	"a name and an address, or the name of a host":                  "docker/--add-host openssl/-verify_hostname",
	"names and values, which the handler reads":                     "git/--config rustfmt/--config helm/--set-file",
	"the name of a configuration of the build":                      "cmake/--config",
	"a program in Python, of which the types are told":              "mypy/--command",
	"a pattern in what is shown":                                    "helm/--jsonpath",
	"it runs on the other machine, and a command that has one asks": "rsync/--rsync-path",
}

// sources are options of which the manual speaks of writing, and whose file is only read.
const sources = "dmesg/--file dmesg/-F git/-O pip/--requirement pip/-r logger/--file logger/-f openssl/-certfile openssl/-CAstore"

// TestValuesThatManualsName: the value of an option that is a file, a folder, a command or an address by its manual, or by the option's name,
// stands in the facts of a command that is allowed by the shipped rules, and as one that is written where the manual speaks of that.
func TestValuesThatManualsName(t *testing.T) {
	p, scope := shippedPolicy(t)
	allowed := func(command string) (policy.Facts, bool) {
		c := bashCall(scope, command)
		return c.Facts, p.Decide(c).Effect == policy.Allow
	}
	left := map[string]bool{} // the lines of texts and sources that excuse nothing
	for _, list := range texts {
		for name := range strings.FieldsSeq(list) {
			left[name] = true
		}
	}
	for name := range strings.FieldsSeq(sources) {
		left[name] = true
	}
	// excused reports whether a list has the option.
	excused := func(g given) bool {
		program, _, _ := strings.Cut(g.command, " ")
		found := false
		for _, name := range []string{program + "/" + g.option, "*/" + g.option} {
			if _, ok := left[name]; ok {
				left[name], found = false, true
			}
		}
		return found
	}
	compared := 0
	for _, g := range manualValues(t) {
		if !either(aFile, g) && !either(aCommand, g) && !either(anHost, g) {
			continue
		}
		for _, rest := range []string{"", " x.txt", " x.txt y.txt"} {
			if _, ok := allowed(g.command + rest); !ok {
				continue // it asks whatever the option is
			}
			compared++
			for _, form := range g.forms {
				value := "zq/f"
				switch {
				case strings.Contains(g.value, ":"):
					value = "1,2:zq/f"
				case either(anHost, g) && !either(aFile, g):
					value = "https://zq.example/f"
				}
				command := g.command + " " + strings.Replace(form, "%", value, 1) + rest
				f, ok := allowed(command)
				switch {
				case !ok:
				case !says(f) && !excused(g):
					t.Errorf("%s: the facts do not say %s, the %s of %s", command, value, g.value, g.option)
				case says(f) && (g.writes || either(aTarget, g)) && !written(f) && !excused(g):
					t.Errorf("%s: the facts say that %s is read, the manual that it is written", command, value)
				}
			}
			break
		}
	}
	for name, unused := range left {
		if unused {
			t.Errorf("%s needs no excuse", name)
		}
	}
	if t.Logf("%d options are compared", compared); compared < 1200 {
		t.Errorf("%d options are compared, want 1200", compared)
	}
}

// says reports whether the value stands in the facts.
func says(f policy.Facts) bool {
	return slices.ContainsFunc(f.Parts, func(part policy.Part) bool {
		return part.Program == "zq/f" || slices.Contains(part.Hosts, "zq.example") ||
			slices.ContainsFunc(part.Paths, func(at policy.Path) bool {
				return strings.HasSuffix(at.Clean, "/zq/f") || strings.HasSuffix(at.Clean, "/zq.example/f")
			})
	})
}

// written reports whether the value is written, deleted or executed.
func written(f policy.Facts) bool {
	return slices.ContainsFunc(f.Parts, func(part policy.Part) bool {
		return slices.ContainsFunc(part.Paths, func(at policy.Path) bool {
			return strings.HasSuffix(at.Clean, "/zq/f") && at.Access != policy.Read
		})
	})
}

// textsOfCompilers are options of compilers whose value, whatever it is, is no file, and why.
var textsOfCompilers = map[string]string{
	"a text for the preprocessor, or a target of make": "-D -U -A --assert --define-macro --undefine-macro -MT -MQ",
	"an ending":              "--dumpbase-ext -dumpbase-ext",
	"a word of the compiler": "-x -z -G -mthread-model --driver-mode --rsp-quoting --target --offload --offload-arch --no-offload-arch --completion --help",
	"what the names of files in the output begin with": "-fdebug-prefix-map -ffile-prefix-map -fmacro-prefix-map -fprofile-prefix-map -fcoverage-prefix-map " +
		"-fdebug-compilation-dir -ffile-compilation-dir -fcoverage-compilation-dir -object-file-name",
	"which functions are meant":             "-finstrument-functions-exclude-file-list -finstrument-functions-exclude-function-list -fprofile-exclude-files -fprofile-filter-files",
	"a package of Go, which nothing opens":  "-fgo-pkgpath -fgo-prefix -fgo-relative-import-path",
	"a text of which a number is made":      "-frandom-seed",
	"where a file of the compiler is shown": "-print-file-name -print-prog-name",
}

// TestValuesOfCompilers: each option of gcc and clang that takes a value, as their manuals write it, makes the command unclear if the value could be
// a path, or names it in the facts; as one that is written where the manual speaks of a file that is written.
func TestValuesOfCompilers(t *testing.T) {
	text, err := os.ReadFile("program/table/testdata/compilers.txt")
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, list := range textsOfCompilers {
		for name := range strings.FieldsSeq(list) {
			left[name] = true
		}
	}
	compared := 0
	for line := range strings.Lines(string(text)) {
		command, forms, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || line[0] == '#' {
			continue
		}
		for _, program := range []string{command, command + "-12", "x86_64-linux-gnu-" + command} {
			for form := range strings.FieldsSeq(forms) {
				form, writes := strings.CutSuffix(form, ">")
				compared++
				whole := program + " -c x.c " + strings.NewReplacer("_%", " zq/f", "%", "zq/f").Replace(form)
				f := shell.Facts(whole, inHome)
				name := strings.TrimRight(form, "=_%")
				_, excused := left[name]
				switch {
				case slices.ContainsFunc(f.Parts, func(p policy.Part) bool { return len(p.Unclear) > 0 }), written(f), says(f) && !writes:
				case excused:
					left[name] = false
				case says(f):
					t.Errorf("%s: the facts say that zq/f is read, the manual that it is written", whole)
				default:
					t.Errorf("%s: the facts do not say zq/f", whole)
				}
			}
		}
	}
	for name, unused := range left {
		if unused {
			t.Errorf("%s needs no excuse", name)
		}
	}
	if t.Logf("%d options are compared", compared); compared < 3000 {
		t.Errorf("%d options are compared, want 3000", compared)
	}
}
