package servers

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/backend"
	"mycelium/internal/code"
	"mycelium/internal/config/source"
	"mycelium/internal/lazy"
)

// Governing returns the files of a project that a server runs, sorted: those that its entry names, and what these run or load by a literal
// name in turn. They govern as its entry does. Some may not exist: they would be loaded from then on. whole is false if there are more than
// are looked for.
func Governing(s backend.Server, project string) (files []string, whole bool) {
	files = namedFiles(s, project)
	loaded, whole := code.Loaded(s.Command, files, project)
	files = append(files, loaded...)
	slices.Sort(files)
	return slices.Compact(files), whole
}

// namedFiles returns the files of a project that the command, the arguments or the working folder of a server name, except for its data. A
// folder that is named is not searched.
func namedFiles(s backend.Server, project string) []string {
	if s.Command == "" {
		return nil
	}
	n := naming{cwd: inFolder(s.Cwd, project), project: project}
	n.add(words([]string{s.Command}), func(string, bool) bool { return false })
	interpreted, module := code.IsInterpreter(s.Command), slices.Contains(s.Args, "-m")
	inline := interpreted && slices.ContainsFunc(s.Args, codeFollows().MatchString)
	script := interpreted && !module && !inline // the first file that an interpreter is given is what it runs
	n.add(words(s.Args), func(path string, linked bool) bool {
		if script || code.IsProgram(path) {
			script = false
			return false
		}
		return !linked && isDeclared(s.Data, n.cwd, path) || !inline && isDatabase(path)
	})
	return n.found
}

// codeFollows matches an option of an interpreter after which code follows, which may run any file that it names.
var codeFollows = lazy.Regexp(`^(-[a-z]*[cep]|--eval|--print)$`)

// naming collects the files of a project that words name.
type naming struct {
	cwd, project string
	found        []string
}

// add adds the files that words name, except for those of which data says that they are data. It is asked once for each file, in order;
// linked says that a link outside of the project leads to the file.
func (n *naming) add(words []string, data func(path string, linked bool) bool) {
	for _, word := range words {
		path, linked := inFolder(word, n.cwd), false
		if target := source.Resolve(path); !source.Within(n.project, path) && source.Within(n.project, target) {
			path, linked = target, true
		}
		if !source.Within(n.project, path) || slices.Contains(n.found, path) {
			continue
		}
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && !data(path, linked) {
			n.found = append(n.found, path)
		}
	}
}

// inFolder returns a path, which may be relative to a folder, cleaned.
func inFolder(path, folder string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

// isDeclared reports whether a person says of a file, or of a folder above it, that it is data. The path counts as it is written, and not
// what a link leads to.
func isDeclared(data []string, cwd, path string) bool {
	return slices.ContainsFunc(data, func(d string) bool { return source.Within(inFolder(d, cwd), path) })
}

// words returns the words of a command line that may be paths: each argument, what follows an = in it, and the words of a command in it.
func words(args []string) []string {
	var out []string
	for _, arg := range args {
		for _, word := range append(strings.Fields(arg), arg) {
			word = strings.Trim(word, `"'`)
			if _, value, ok := strings.Cut(word, "="); ok {
				out = append(out, value)
			}
			out = append(out, word)
		}
	}
	return slices.DeleteFunc(out, func(w string) bool { return w == "" || strings.ContainsRune(w, 0) })
}

// isDatabase reports whether a file is a database in the form of SQLite. A server changes the database that it is given all day. The
// form alone does not make a file harmless: dash, for one, skips the first line and runs the rest.
func isDatabase(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false // keeping it will say why it cannot be read
	}
	defer f.Close()
	magic := []byte("SQLite format 3\x00")
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, magic)
}

// MayBeData reports whether a person may say of a file that a server names that it is data.
func MayBeData(s backend.Server, project, path string) bool {
	s.Data = []string{path}
	return !slices.Contains(namedFiles(s, project), path)
}
