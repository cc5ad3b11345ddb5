package facts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/policy"
	"mycelium/internal/shell"
)

// maxScripts bounds the scripts of package.json that are read for one call.
const maxScripts = 20

// lifecycle are the scripts that npm runs by itself, by the subcommand.
var lifecycle = map[string][]string{
	"install": {"preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"},
	"pack":    {"prepack", "prepare", "postpack"},
	"publish": {"prepublishOnly", "prepack", "prepare", "postpack", "publish", "postpublish"},
	"version": {"preversion", "version", "postversion"},
	"restart": {"stop", "start", "restart"},
}

// runners are the programs that run scripts of a package.json.
var runners = []string{"npm", "yarn", "pnpm", "bun", "npx"}

// aliases are other names of subcommands of npm.
var aliases = map[string]string{"t": "test", "tst": "test", "i": "install", "ci": "install", "add": "install", "in": "install",
	"it":           "test",
	"install-test": "test", "rebuild": "install"}

// scripts looks into a package.json that the session wrote, for the protected files that its scripts name, and for what no agent may do.
// The rest of a script is code of the project, as a test is.
type scripts struct {
	at   Place
	part *policy.Part
	seen map[string]bool
}

// ran adds to a part that runs scripts of a package.json which the session wrote the protected files that they name.
func ran(at Place, part *policy.Part) {
	if at.Protects == nil || at.Wrote == nil || !slices.Contains(runners, part.Program) {
		return
	}
	s := scripts{at: at, part: part, seen: map[string]bool{}}
	wrote := at.Wrote("/package.json")
	if slices.ContainsFunc(part.Argv, ofWorkspaces) {
		for _, file := range wrote {
			s.of(file, part.Argv)
		}
	}
	for _, p := range part.Paths {
		if file := filepath.Join(p.Clean, "package.json"); p.Access == policy.Read && p.Clean != "" && slices.Contains(wrote, file) {
			s.of(file, part.Argv)
		}
	}
}

// ofWorkspaces reports whether an option makes npm or the like work in other folders of the project.
func ofWorkspaces(arg string) bool {
	return strings.HasPrefix(arg, "-w") || strings.HasPrefix(arg, "--workspace") || strings.HasPrefix(arg, "--filter") ||
		slices.Contains([]string{"-r", "--recursive", "-F", "workspaces", "workspace", "foreach"}, arg)
}

// of judges the scripts of a file that the words of a command name.
func (s *scripts) of(file string, words []string) {
	text, err := os.ReadFile(file)
	var project struct {
		Scripts map[string]string `json:"scripts"`
	}
	if err != nil || json.Unmarshal(text, &project) != nil {
		return
	}
	for _, word := range words[min(1, len(words)):] {
		if name, ok := aliases[word]; ok {
			word = name
		}
		for _, name := range append([]string{"pre" + word, word, "post" + word}, lifecycle[word]...) {
			if line, ok := project.Scripts[name]; ok && !s.seen[name] && len(s.seen) < maxScripts {
				s.seen[name] = true
				s.line(file, line)
			}
		}
	}
}

// line judges one script.
func (s *scripts) line(file, line string) {
	f := shell.Facts(line, shell.Options{Dir: filepath.Dir(file), Home: s.at.Home})
	r := resolver{dir: filepath.Dir(file), home: s.at.Home}
	for i := range f.Parts {
		inner := &f.Parts[i]
		for _, p := range r.paths(inner.Paths) {
			if s.at.Protects(p) && len(s.part.Paths) < maxPaths/2 {
				s.part.Paths = append(s.part.Paths, p)
			}
		}
		for _, effect := range [...]string{policy.EffectOperator, policy.EffectAgent} {
			if slices.Contains(inner.Effects, effect) && !slices.Contains(s.part.Effects, effect) {
				s.part.Effects = append(s.part.Effects, effect)
			}
		}
		if slices.Contains(runners, inner.Program) {
			s.of(file, inner.Argv)
		}
	}
}
