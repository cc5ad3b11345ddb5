// Package source reads the files that people write, and reports problems at places in them. All packages of config use it.
package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mycelium/internal/atomicfile"
	"mycelium/internal/policy"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// The names of the files, relative to a project folder or to the user's folder.
const (
	MainFile      = "mycelium.yaml"
	ConfigFile    = "config.json" // of the seeds; mcpServers and session
	ClientFile    = ".mcp.json"   // a client's configuration; mcpServers only
	RulesFile     = "rules.yaml"  // read when policy.rules does not say otherwise
	SkillsFolder  = "skills"
	RolesFolder   = "roles"
	RoleIndexFile = "index.yaml" // in the roles folder: many roles under `roles:`

	// folders that nothing reads yet; what is in them governs all the same
	ProtocolsFolder = "protocols"
	WorkflowsFolder = "workflows"
)

// Folders are the folders in which every file counts.
var Folders = []string{SkillsFolder, RolesFolder, ProtocolsFolder, WorkflowsFolder}

// Read reads a regular file of at most [yamlfile.MaxSize] bytes of UTF-8. It opens nothing that could block, such as a pipe or a device.
func Read(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		if _, lerr := os.Lstat(path); lerr == nil && errors.Is(err, fs.ErrNotExist) {
			return nil, errors.New("the link leads nowhere") // not fs.ErrNotExist: a broken link must not count as a file that was left out
		}
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("it is not a regular file (%s)", st.Mode().Type())
	}
	f, _, err := atomicfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, yamlfile.MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > yamlfile.MaxSize {
		return nil, fmt.Errorf("it is larger than %d KiB", yamlfile.MaxSize>>10)
	}
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8")
	}
	return data, nil
}

// Reason is the text of an error without its path, for messages that name the path already.
func Reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// Resolve follows links. A path that cannot be resolved, because it does not exist yet, is only cleaned.
func Resolve(path string) string {
	if path == "" {
		return ""
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return filepath.Clean(path)
}

// Within reports whether path is dir or lies below it. Both are absolute and clean.
func Within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && dir != "" && (rel == "." || filepath.IsLocal(rel))
}

// Report receives a problem of the value under a dotted key.
type Report func(key, message, hint string)

// Fault is a problem that breaks what the file says.
func Fault(file string, line int, message, hint string) policy.Problem {
	return policy.Problem{File: file, Line: line, Message: message, Hint: hint}
}

// Warning is a problem that people should see.
func Warning(file string, line int, message, hint string) policy.Problem {
	return policy.Problem{File: file, Line: line, Message: message, Hint: hint, Warning: true}
}

// Faulty reports whether one of the problems is more than a warning.
func Faulty(problems []policy.Problem) bool {
	return slices.ContainsFunc(problems, func(p policy.Problem) bool { return !p.Warning })
}

// Line is the line of a dotted key, or of the nearest key above it that the text has.
func Line(data []byte, key string) int {
	for at := "$." + key; ; {
		if n := yamlfile.Line(data, at); n > 0 {
			return n
		}
		i := strings.LastIndexAny(at, ".[")
		if i <= 1 {
			return 0
		}
		at = at[:i]
	}
}

// Key writes a key as a part of a YAML path.
func Key(key string) string {
	if strings.ContainsAny(key, ".['") {
		return "'" + key + "'"
	}
	return key
}

// Suggest is a hint that names the nearest choice, or all of them.
func Suggest(word string, choices []string) string {
	if near := text.Nearest(word, choices); near != "" {
		return "did you mean " + near + "?"
	}
	return "write " + strings.Join(choices[:len(choices)-1], ", ") + " or " + choices[len(choices)-1]
}

// QuotedList writes names in quotes, with commas between them.
func QuotedList(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = strconv.Quote(n)
	}
	return strings.Join(q, ", ")
}

// EndLine appends a line feed to a text whose last line has none.
func EndLine(b []byte) []byte {
	if len(b) > 0 && b[len(b)-1] != '\n' {
		return append(b, '\n')
	}
	return b
}
