package facts

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/lazy"
	"mycelium/internal/policy"
)

// goCompiles are the subcommands of go that compile.
var goCompiles = []string{"build", "run", "test", "vet", "install", "generate"}

var (
	readsFiles = lazy.Regexp(`\b(?:file|templatefile|filebase64|fileset|filemd5|filesha)[0-9a-z]*\(`)

	embeds  = lazy.Regexp(`//go:embed[ \t]+([^\n\\]+)`)
	ofCgo   = lazy.Regexp(`(?m)^[ \t/*]*#[ \t]*include[ \t]*["<]([^">\n]+)`)
	inLists = lazy.Regexp(`(?m)^[ \t]*(?:-r|-c|--requirements?|--constraints?)[ \t=]*([^\s#]+)`)
	locally = lazy.Regexp(`(?m)^[ \t]*(?:(?:-e|--editable)[ \t=]*)?(?:file:)?([^\s#;\[\]@-][^\s#;\[\]@:]*)`)
)

// embedded adds the protected files that Go sources embed, or include by cgo: the program holds them, and errors show them. What lay in the
// project before the session is its people's, so the files that the session wrote are read, and the command, which may write one.
func (s *sources) embedded(command string, written []string) {
	s.goSource(command, s.at.Dir)
	for _, file := range written[:min(len(written), 4*maxSources)] {
		s.goSource(beginning(file), filepath.Dir(file))
	}
}

func (s *sources) goSource(text, folder string) {
	for _, m := range embeds().FindAllStringSubmatch(text, -1) {
		for pattern := range strings.FieldsSeq(m[1]) {
			pattern, all := strings.CutPrefix(strings.Trim(pattern, "\"`"), "all:")
			found, _ := filepath.Glob(filepath.Join(folder, pattern))
			for _, file := range found[:min(len(found), maxSources)] {
				if info, err := os.Stat(file); err == nil && info.IsDir() && all {
					s.wholeFolder(file)
				} else {
					s.named(file, "/")
				}
			}
		}
	}
	for _, m := range ofCgo().FindAllStringSubmatch(text, -1) {
		s.named(m[1], folder)
	}
}

// wholeFolder judges what lies in a folder.
func (s *sources) wholeFolder(folder string) {
	n := 0
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if n++; err != nil || n > maxNames {
			return fs.SkipAll
		}
		if !d.IsDir() {
			s.named(path, "/")
		}
		return nil
	})
}

// required adds what lists of requirements name: other lists, of which pip prints the lines that it does not understand, and folders with
// a setup.py, which runs.
func (s *sources) required() {
	for _, p := range s.part.Paths {
		if p.Access == policy.Read && !p.Pattern && p.Clean != "" {
			s.todo = append(s.todo, p.Clean)
		}
	}
	for len(s.todo) > 0 && len(s.seen) < maxSources {
		file := s.todo[0]
		if s.todo = s.todo[1:]; s.seen[file] {
			continue
		}
		s.seen[file] = true
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			if file != s.at.Dir || slices.Contains(s.part.Argv, ".") {
				s.builds(file, "/")
			}
			continue
		}
		text := joinedLines().ReplaceAllString(beginning(file), "")
		for _, m := range inLists().FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "${") {
				unclear(s.part, "a list of requirements names a file by a variable")
			}
			s.named(strings.TrimPrefix(strings.Trim(m[1], `"'`), "file://"), filepath.Dir(file))
		}
		for _, m := range locally().FindAllStringSubmatch(text, -1) {
			for _, dir := range [...]string{filepath.Dir(file), s.at.Dir} {
				s.builds(m[1], dir)
			}
		}
	}
}

// validated executes the files of Terraform that the session wrote and that read others: also a check of them shows what it does not
// accept.
func (s *sources) validated() {
	for _, file := range s.at.Wrote(".tf", ".tf.json") {
		if len(s.part.Paths) < maxPaths/2 && readsFiles().MatchString(beginning(file)) {
			s.part.Paths = append(s.part.Paths, policy.Path{Access: policy.Execute, Raw: file, Clean: file})
		}
	}
}

// builds adds the script with which pip builds a folder.
func (s *sources) builds(name, folder string) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	for _, script := range [...]string{filepath.Join(name, "setup.py"), filepath.Join(name, "pyproject.toml")} {
		if _, err := os.Lstat(script); err != nil || len(s.part.Paths) > maxPaths/2 {
			continue
		}
		if filepath.Ext(script) == ".toml" && !strings.Contains(beginning(script), "backend-path") {
			continue // another package builds it
		}
		p := policy.Path{Access: policy.Execute, Raw: script, Clean: script}
		if !slices.ContainsFunc(s.part.Paths, func(o policy.Path) bool { return o.Access == p.Access && o.Clean == p.Clean }) {
			s.part.Paths = append(s.part.Paths, p)
		}
	}
}
