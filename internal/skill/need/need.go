// Package need looks for the programs and Python modules that skills require, and says how to install them. What it finds is for people: a
// skill takes effect without its programs, and no decision depends on what is installed.
package need

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"mycelium/internal/skill"
)

// Lack is something that a skill requires and that this machine does not have.
type Lack struct {
	Name    string // as the skill writes it
	Python  bool   // it is a module of python3, not a program
	Install string // how to install it
}

// String names it for people.
func (l Lack) String() string {
	name := strings.ReplaceAll(l.Name, "|", " or ")
	if l.Python {
		return "the Python module " + name
	}
	return name
}

// patience bounds the time that python3 has to say which modules it finds. It answers in 10 to 100 ms.
const patience = 30 * time.Second

// finder prints the modules among its arguments that python3 does not find. It imports none of them.
const finder = `import sys, importlib.util as u
for m in sys.argv[1:]:
    try:
        found = u.find_spec(m) is not None
    except Exception:
        found = False
    if not found:
        print(m)`

// Look returns what skills lack on this machine, by the name of the skill. It starts python3 at most once. Skills whose declaration is
// invalid are not looked at.
func Look(ctx context.Context, skills []skill.Checked) map[string][]Lack {
	var modules []string
	for _, s := range skills {
		if s.State != skill.Invalid {
			for _, entry := range s.Requires.Python {
				modules = append(modules, strings.Split(entry, "|")...)
			}
		}
	}
	slices.Sort(modules)
	absent := absentModules(ctx, slices.Compact(modules))
	out := map[string][]Lack{}
	for _, s := range skills {
		if s.State == skill.Invalid {
			continue
		}
		for _, entry := range s.Requires.Programs {
			if !slices.ContainsFunc(strings.Split(entry, "|"), installed) {
				out[s.Name] = append(out[s.Name], Lack{Name: entry, Install: installProgram(entry)})
			}
		}
		for _, entry := range s.Requires.Python {
			if !slices.ContainsFunc(strings.Split(entry, "|"), func(m string) bool { return !slices.Contains(absent, m) }) {
				out[s.Name] = append(out[s.Name], Lack{Name: entry, Python: true, Install: installModule(entry)})
			}
		}
	}
	return out
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// absentModules returns the modules that python3 does not find. Without a python3 that answers, these are all of them.
func absentModules(ctx context.Context, modules []string) []string {
	python, err := exec.LookPath("python3")
	if len(modules) == 0 || err != nil {
		return modules
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// The names have the form of modules. Python looks for modules in its own folder first, which may be a project's.
	c := exec.CommandContext(ctx, python, append([]string{"-c", finder}, modules...)...) //nolint:gosec // as said
	c.Dir, c.WaitDelay = "/", time.Second
	said, err := c.Output()
	if err != nil {
		return modules
	}
	return strings.Fields(string(bytes.ToValidUTF8(said, nil)))
}

// installProgram says how to install a program: the package of Debian and Ubuntu that has it (packages.debian.org, release 12), which has
// the same name at Homebrew, or another one that is told.
func installProgram(entry string) string {
	name, _, _ := strings.Cut(entry, "|")
	debian, brew := name, name
	switch name {
	case "pdftotext", "pdftoppm", "pdfinfo", "pdfunite", "pdfseparate":
		debian, brew = "poppler-utils", "poppler"
	case "soffice":
		debian, brew = "libreoffice", "--cask libreoffice"
	case "chromium", "google-chrome":
		debian, brew = "chromium", "--cask chromium"
	case "node", "npm", "npx":
		debian, brew = "nodejs npm", "node"
	case "python3":
		brew = "python"
	case "rsvg-convert":
		debian, brew = "librsvg2-bin", "librsvg"
	}
	return "apt install " + debian + ", or brew install " + brew
}

// installModule says how to install a Python module: its name at PyPI, and the package of Debian 12 where there is one.
func installModule(entry string) string {
	name, _, _ := strings.Cut(entry, "|")
	pip, debian := name, ""
	switch name {
	case "docx":
		pip, debian = "python-docx", "python3-docx"
	case "openpyxl", "pypdf", "numpy", "pandas", "matplotlib":
		debian = "python3-" + name
	case "PIL":
		pip, debian = "pillow", "python3-pil"
	}
	if debian == "" {
		return "python3 -m pip install " + pip
	}
	return "apt install " + debian + ", or python3 -m pip install " + pip
}
