package facts

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"mycelium/internal/lazy"
	"mycelium/internal/policy"
)

// Bounds of the sources that are read for one call.
const (
	maxSources = 64
	maxSource  = 1 << 20 // bytes
)

// What a source of C or of an assembler reads by name. A compiler prints lines of the files: -E prints all, an error the one where it is,
// also of the file that #line names.
var (
	hash        = `(?m)(?:^|['"])[ \t]*(?:#|%:|\?\?=)[ \t]*` // at the beginning of a line, or of a text in a command
	joinedLines = lazy.Regexp(`\\[ \t]*\r?\n`)
	comment     = lazy.Regexp(`(?s)/\*.*?\*/`)
	directive   = lazy.Regexp(hash + `(?:include(?:_next)?|import|embed|(?:line[ \t]+)?[0-9]+)[ \t]*["<]([^">\n]+)`)
	assembled   = lazy.Regexp(`\.(?:incbin|include)[ \t]+\\?["<]([^"\\>\n]+)`)
	byMacro     = lazy.Regexp(hash + `(?:include(?:_next)?|import|embed)[ \t]+[A-Za-z_]`)
	macro       = lazy.Regexp(hash + `define[ \t].*["<]([^">\n]+)[">]`)
)

// sources looks for the protected files that the sources of a compiler name. What they include in the project is read in turn.
type sources struct {
	at      Place
	part    *policy.Part
	folders []string // of -I and its kin
	seen    map[string]bool
	todo    []string
}

// included adds to a part that compiles the protected files which its sources name. command is the text of the whole call: it may write a
// source, or hand it to the compiler.
func included(at Place, part *policy.Part, command string) {
	if at.Protects == nil {
		return
	}
	s := sources{at: at, part: part, seen: map[string]bool{}}
	switch {
	case compiles(part.Program):
	case part.Program == "go" && at.Wrote != nil && len(part.Argv) > 1 && slices.Contains(goCompiles, part.Argv[1]):
		s.embedded(command, at.Wrote(".go", ".c", ".h", ".s", ".S"))
		return
	case runs(part, "terraform", "tofu") && at.Wrote != nil:
		s.validated()
		return
	case strings.HasPrefix(part.Program, "pip") || slices.Contains(part.Argv, "pip"):
		s.required()
		return
	default:
		return
	}
	for i, arg := range part.Argv {
		for _, option := range [...]string{"-I", "-iquote", "-isystem", "-idirafter", "--include-directory="} {
			if rest, ok := strings.CutPrefix(arg, option); ok && rest != "" {
				s.folders = append(s.folders, s.absolute(rest))
			} else if ok && i+1 < len(part.Argv) {
				s.folders = append(s.folders, s.absolute(part.Argv[i+1]))
			}
		}
	}
	for _, p := range part.Paths { // without those that scan adds
		switch {
		case p.Access != policy.Read || p.Clean == "":
		case p.Pattern:
			files, _ := doublestar.FilepathGlob(p.Clean)
			s.todo = append(s.todo, files[:min(len(files), maxSources)]...)
		default:
			s.todo = append(s.todo, p.Clean)
		}
	}
	command += "\n" + strings.Join(part.Argv, "\n")
	s.scan(command, at.Dir)
	for _, file := range s.todo {
		s.scan(command, filepath.Dir(file)) // an earlier part may write the source
	}
	for len(s.todo) > 0 && len(s.seen) < maxSources {
		file := s.todo[0]
		if s.todo = s.todo[1:]; !s.seen[file] {
			s.seen[file] = true
			s.scan(beginning(file), filepath.Dir(file))
		}
	}
}

// runs reports whether a part runs one of the programs.
func runs(part *policy.Part, names ...string) bool { return slices.Contains(names, part.Program) }

// compiles reports whether a program reads files that its sources name.
func compiles(program string) bool {
	name, _, _ := strings.Cut(program, "-") // gcc-14
	switch name {
	case "gcc", "cc", "g++", "c++", "cpp", "clang", "clang++", "tcc", "as", "nasm", "yasm", "c89", "c99", "gfortran", "gdc", "nvcc":
		return true
	}
	return false
}

func (s *sources) absolute(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(s.at.Dir, name)
}

// scan reads a text that lies in a folder.
func (s *sources) scan(text, folder string) {
	text = comment().ReplaceAllString(joinedLines().ReplaceAllString(text, ""), " ")
	found := append(directive().FindAllStringSubmatch(text, -1), assembled().FindAllStringSubmatch(text, -1)...)
	if byMacro().MatchString(text) {
		found = append(found, macro().FindAllStringSubmatch(text, -1)...)
		for _, arg := range s.part.Argv {
			if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-D") {
				found = append(found, []string{"", strings.Trim(value, `"<>\`)})
			}
		}
	}
	for _, m := range found {
		for _, dir := range append([]string{folder, s.at.Dir}, s.folders...) {
			s.named(m[1], dir)
		}
	}
}

// named judges a name as it stands for a file in a folder.
func (s *sources) named(name, folder string) {
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(folder, name)
	}
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() {
		return
	}
	p := policy.Path{Access: policy.Read, Raw: name, Clean: path, Resolved: Resolve(path)}
	switch {
	case s.at.Protects(p):
		if len(s.part.Paths) < maxPaths/2 {
			s.part.Paths = append(s.part.Paths, p)
		}
	case holds(s.at.Dir, path):
		s.todo = append(s.todo, path)
	}
}

// beginning returns the first part of a regular file.
func beginning(file string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxSource))
	return string(text)
}
