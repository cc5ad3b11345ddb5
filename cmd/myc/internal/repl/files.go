package repl

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/agent/slash"
	"mycelium/internal/text"
)

// files completes the names of files that the session may read. The policy decides about each name as it would about the call that reads
// the file, by `myc policy eval`.
type files struct {
	app *app
	dir string // of the project

	mu    sync.Mutex
	known map[string]listing // of a folder, relative to the project
}

// listing is a folder as a session sees it.
type listing struct {
	role, skills string
	names        []string // a folder ends in a slash
}

const (
	maxEntries = 500 // of a folder that are looked at
	maxFiles   = 50  // that are offered
)

// complete returns the files that may complete a beginning: those of its folder whose names have its letters in their order.
func (f *files) complete(ctx context.Context, begun string) []string {
	folder, word := path.Split(begun)
	if path.IsAbs(begun) || !filepath.IsLocal(filepath.FromSlash(path.Join(".", folder))) {
		return nil
	}
	var out []string
	for _, name := range f.list(ctx, folder) {
		if slash.Fuzzy(strings.ToLower(name), strings.ToLower(word)) && (word != "" || name[0] != '.') {
			out = append(out, folder+name)
		}
	}
	word = strings.ToLower(word)
	slices.SortStableFunc(out, func(a, b string) int {
		rank := func(s string) int {
			if strings.HasPrefix(strings.ToLower(s[len(folder):]), word) {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
	return out[:min(len(out), maxFiles)]
}

// list returns the files of a folder that the session may read.
func (f *files) list(ctx context.Context, folder string) []string {
	now, err := f.app.slash.Standing(ctx)
	if err != nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	skills := strings.Join(now.Active, ",")
	if l, ok := f.known[folder]; ok && folder == f.last() && l.role == now.Role && l.skills == skills {
		return l.names
	}
	entries, err := os.ReadDir(filepath.Join(f.dir, filepath.FromSlash(folder)))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries[:min(len(entries), maxEntries)] {
		switch {
		case e.Name() == ".git", text.OneLine(e.Name()) != e.Name(): // nobody can write a name with hidden characters
		case e.IsDir():
			names = append(names, e.Name()+"/")
		case e.Type().IsRegular():
			names = append(names, e.Name())
		}
	}
	names = f.readable(ctx, folder, names, now.Role, now.Active)
	f.known = map[string]listing{folder: {now.Role, skills, names}} // of one folder: what is on the disk changes
	return names
}

// last is the folder that is known.
func (f *files) last() string {
	for folder := range f.known {
		return folder
	}
	return ""
}

// reader is a tool with which agents read files, and the argument that names the file.
type reader struct{ tool, arg string }

// question is a line of `myc policy eval`.
type question struct {
	ID     string            `json:"id"`
	Tool   string            `json:"tool"`
	Args   map[string]string `json:"args"`
	Role   string            `json:"role,omitempty"`
	Skills []string          `json:"skills"`
	Dir    string            `json:"cwd"`
}

// readable returns the names of a folder that the session may read, with a tool of the gateway or with its own.
func (f *files) readable(ctx context.Context, folder string, names []string, role string, skills []string) []string {
	var in strings.Builder
	for _, name := range names {
		for _, r := range []reader{{"files__read_file", "path"}, {"agent__Read", "file_path"}} {
			file := filepath.Join(f.dir, filepath.FromSlash(folder+name))
			if strings.HasSuffix(name, "/") {
				file = filepath.Join(file, "x") // what is in it
			}
			b, err := json.Marshal(question{name, r.tool, map[string]string{r.arg: file}, role, skills, f.dir})
			if err != nil {
				return nil
			}
			in.Write(append(b, '\n'))
		}
	}
	out, err := f.app.with(ctx, f.dir, 0, strings.NewReader(in.String()), []string{"policy", "eval"})
	if err != nil {
		return nil
	}
	may := map[string]bool{}
	for dec := jsontext.NewDecoder(strings.NewReader(out)); ; {
		var a struct{ ID, Effect string }
		if json.UnmarshalDecode(dec, &a, json.MatchCaseInsensitiveNames(true)) != nil {
			break
		}
		may[a.ID] = may[a.ID] || a.Effect == "allow" || a.Effect == "ask"
	}
	return slices.DeleteFunc(names, func(n string) bool { return !may[n] })
}
