package servers

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/backend"
	"mycelium/internal/code"
	"mycelium/internal/config/source"
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

// namedFiles returns the files of a project that the command, the arguments or the working folder of a server name. A folder that is named
// is not searched.
func namedFiles(s backend.Server, project string) []string {
	if s.Command == "" {
		return nil
	}
	cwd := s.Cwd
	if !filepath.IsAbs(cwd) {
		cwd = filepath.Join(project, cwd)
	}
	var found []string
	for _, word := range words(append([]string{s.Command}, s.Args...)) {
		path := filepath.Clean(word)
		if !filepath.IsAbs(path) {
			path = filepath.Join(cwd, path)
		}
		if target := source.Resolve(path); !source.Within(project, path) && source.Within(project, target) {
			path = target // a link that leads into the project
		}
		if source.Within(project, path) && !slices.Contains(found, path) && isInstruction(path) {
			found = append(found, path)
		}
	}
	return found
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

// isInstruction reports whether there is a regular file that is not a database. A server changes the database that it is given all day.
func isInstruction(path string) bool {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return true // keeping it will say why it cannot be read
	}
	defer f.Close()
	magic := []byte("SQLite format 3\x00")
	head := make([]byte, len(magic))
	_, err = f.Read(head)
	return err != nil || !bytes.Equal(head, magic)
}
