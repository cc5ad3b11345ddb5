package code

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/lazy"
	"mycelium/internal/policy"
)

// manifest are the files of a project in which a program finds what it runs. The first one marks the folder of the project, which may be
// above the one in which the program works.
type manifest struct {
	programs string
	files    string // what it runs
	locks    string // besides, when it fetches what the project depends on
}

var manifests = [...]manifest{
	{"npm npx", "package.json .npmrc", "package-lock.json npm-shrinkwrap.json"},
	{"yarn", "package.json .yarnrc .yarnrc.yml .npmrc", "yarn.lock"},
	{"pnpm pnpx", "package.json pnpm-workspace.yaml .pnpmfile.cjs .npmrc", "pnpm-lock.yaml"},
	{"bun bunx", "package.json bunfig.toml", "bun.lock bun.lockb"},
	{"deno", "deno.json deno.jsonc package.json", "deno.lock"},
	{"pip pip3 pipx", "pyproject.toml setup.py setup.cfg", ""},
	{"uv", "pyproject.toml uv.toml", "uv.lock"},
	{"poetry", "pyproject.toml poetry.toml", "poetry.lock"},
	{"pdm", "pyproject.toml", "pdm.lock"},
	{"pipenv", "Pipfile", "Pipfile.lock"},
	{"tox", "tox.ini pyproject.toml setup.cfg", ""},
	{"nox", "noxfile.py", ""},
	{"pytest", "pyproject.toml pytest.ini tox.ini setup.cfg conftest.py", ""},
	{"bundle bundler", "Gemfile", "Gemfile.lock"},
	{"composer", "composer.json", "composer.lock"},
	{"cargo", "Cargo.toml build.rs .cargo/config.toml", "Cargo.lock"},
	{"go", "go.mod go.work", "go.sum"},
	{"mvn mvnw", "pom.xml", ""},
	{"gradle gradlew", "build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties", "gradle.lockfile"},
	{"cmake", "CMakeLists.txt", ""},
	{"docker podman", "Dockerfile Containerfile compose.yaml compose.yml docker-compose.yml docker-compose.yaml", ""},
	{"task", "Taskfile.yml Taskfile.yaml", ""},
	{"ansible-playbook", "ansible.cfg", ""},
}

// manifests takes the files in which the program of a part finds commands, and reports whether there is one in which its commands were
// read.
func (r *reader) manifests(p *policy.Part) (read bool) {
	i := slices.IndexFunc(manifests[:], func(m manifest) bool { return slices.Contains(strings.Fields(m.programs), p.Program) })
	if i < 0 {
		return false
	}
	names := strings.Fields(manifests[i].files)
	fetches := has(p, policy.EffectDeps, policy.EffectInstall)
	if fetches {
		names = append(names, strings.Fields(manifests[i].locks)...)
	}
	for _, dir := range r.folders(p) {
		dir = r.rootOf(dir, names[0])
		for _, name := range names {
			path := filepath.Join(dir, name)
			r.file(path, opaque)
			if name == "package.json" {
				read = r.scripts(p, path, fetches) || read
			}
		}
	}
	if fetches {
		for _, at := range p.Paths { // pip install -r requirements.txt
			if info, there := stat(at.Clean); at.Access == policy.Read && there && info.Mode().IsRegular() {
				r.file(at.Clean, opaque)
			}
		}
	}
	return read
}

// folders returns the folders in which a part works: those that it reads, or else the one of the call.
func (r *reader) folders(p *policy.Part) []string {
	var out []string
	for _, at := range p.Paths {
		if info, there := stat(at.Clean); at.Access == policy.Read && there && info.IsDir() && !slices.Contains(out, at.Clean) {
			out = append(out, at.Clean)
		}
	}
	if len(out) == 0 {
		out = append(out, r.dir)
	}
	return out
}

func stat(path string) (os.FileInfo, bool) {
	info, err := os.Stat(path)
	return info, err == nil
}

// rootOf returns the nearest folder upward that has a file, or the folder itself. On the way the file is noted as absent.
func (r *reader) rootOf(dir, name string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, there := stat(filepath.Join(at, name)); there {
			return at
		}
		if at == filepath.Dir(at) || at == r.Home || slices.Contains(r.projects, at) {
			return dir
		}
		r.file(filepath.Join(at, name), opaque)
	}
}

// lifecycle are the scripts of package.json that run when packages are installed (npm's documentation of scripts).
const lifecycle = "preinstall install postinstall prepublish preprepare prepare postprepare dependencies"

// scripts takes the commands of package.json that a call runs, and reports whether it found them.
func (r *reader) scripts(p *policy.Part, path string, fetches bool) (found bool) {
	var doc struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(r.texts[path], &doc) != nil {
		return false
	}
	var names []string
	for _, word := range p.Argv[min(1, len(p.Argv)):] {
		word = cmp.Or(map[string]string{"t": "test", "tst": "test"}[word], word)
		names = append(names, "pre"+word, word, "post"+word)
	}
	if fetches {
		names = append(names, strings.Fields(lifecycle)...)
	}
	for _, name := range names {
		if command, ok := doc.Scripts[name]; ok {
			found = true
			r.recipe(command, filepath.Dir(path))
		}
	}
	return found || fetches
}

// recipe takes a command that a build runs. What is not clear in it is more code that was not read: recipes are written with variables.
func (r *reader) recipe(command, dir string) {
	f := r.commandsOf(command, dir)
	for i := range f.Parts {
		if len(f.Parts[i].Unclear) > 0 {
			r.out.More = true
			f.Parts[i].Unclear = nil
		}
		if slices.ContainsFunc(f.Parts[i].Paths, func(p policy.Path) bool { return p.Access == policy.Execute && p.Clean == "" }) {
			r.out.More = true
			f.Parts[i].Paths = slices.DeleteFunc(f.Parts[i].Paths, func(p policy.Path) bool { return p.Clean == "" })
		}
	}
	r.command(&f)
}

var (
	makeVariable = lazy.Regexp(`\$[({]([A-Za-z0-9_.-]+)[)}]`)
	makeAssigns  = lazy.Regexp(`(?m)^([A-Za-z0-9_.-]+)[ \t]*[:?+]*=[ \t]*([A-Za-z0-9_./ -]*?)[ \t]*$`)
)

// makefile looks in a Makefile: the files that it includes, and the commands of all its targets.
func (r *reader) makefile(s source) {
	dir := filepath.Dir(s.path)
	values := map[string]string{}
	for _, m := range makeAssigns().FindAllStringSubmatch(s.text, -1) {
		values[m[1]] = m[2]
	}
	expand := func(line string) string {
		line = makeVariable().ReplaceAllStringFunc(line, func(v string) string {
			name := makeVariable().FindStringSubmatch(v)[1]
			if value, known := values[name]; known {
				return value
			}
			return "$" + strings.Map(word, name)
		})
		return strings.ReplaceAll(line, "$$", "$")
	}
	for line := range strings.Lines(strings.ReplaceAll(s.text, "\\\n", " ")) {
		line = strings.TrimRight(line, "\n")
		if command, ok := strings.CutPrefix(line, "\t"); ok {
			if command = strings.TrimLeft(command, "@-+ "); command != "" {
				r.recipe(expand(command), dir)
			}
			continue
		}
		if fields := strings.Fields(expand(line)); len(fields) > 1 && slices.Contains([]string{"include", "-include", "sinclude"}, fields[0]) {
			for _, name := range fields[1:] {
				if strings.ContainsAny(name, "$*?[") {
					r.out.More = true
					continue
				}
				if !filepath.IsAbs(name) {
					name = filepath.Join(dir, name)
				}
				r.file(name, makefile)
			}
		}
		if strings.Contains(line, "$(shell") || strings.Contains(line, "!=") {
			r.out.More = true
		}
	}
}

// word keeps the characters of the name of a shell variable.
func word(c rune) rune {
	if c == '.' || c == '-' {
		return '_'
	}
	return c
}
