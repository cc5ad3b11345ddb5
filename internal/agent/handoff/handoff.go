// Package handoff keeps what is known of a script that failed in a workflow, so that another agent, with more tools, can go on from there.
//
// The file is written by a program, but it lies in the project, where anybody can change it, and it has what a script printed. So what it
// says is told to a model as data.
package handoff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/atomicfile"
	"mycelium/internal/credential"
	"mycelium/internal/gate/guard"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

const (
	maxOutput  = 64 << 10 // bytes that are kept of each text; the middle of a longer one is left out
	maxContext = 1 << 20  // bytes of a file that is loaded

	maxKept = 50                  // contexts in the folder
	maxAge  = 90 * 24 * time.Hour // of a context, except for the newest

	fileTime = "20060102T150405.000000000Z.json" // name of a file, for package time
)

// Context is what is known of a script that failed (requirements, A28).
type Context struct {
	Skill     string         `json:"skillId"`
	Script    string         `json:"scriptPath"`
	Args      []string       `json:"args,omitempty"`
	Error     *Failure       `json:"error"`
	Timestamp time.Time      `json:"timestamp,omitzero"`
	Summary   string         `json:"conversationSummary,omitempty"`
	Metadata  jsontext.Value `json:"metadata,omitempty"`

	Other map[string]jsontext.Value `json:",embed"` // keys that nobody knows
}

// Failure is how the script ended.
type Failure struct {
	Message  string `json:"message"`
	ExitCode *int   `json:"exitCode,omitempty"` // nil: not known
	Stdout   string `json:"stdout,omitempty"`
	Stderr   string `json:"stderr,omitempty"`

	Other map[string]jsontext.Value `json:",embed"`
}

// clean masks secrets, and bounds each text.
func (c Context) clean() Context {
	tidy := func(s string) string {
		return text.Middle(credential.Mask(strings.ToValidUTF8(s, "\uFFFD")), maxOutput)
	}
	c.Args = slices.Clone(c.Args)
	for i := range c.Args {
		c.Args[i] = tidy(c.Args[i])
	}
	c.Summary = tidy(c.Summary)
	if c.Error != nil {
		e := *c.Error
		e.Message, e.Stdout, e.Stderr = tidy(e.Message), tidy(e.Stdout), tidy(e.Stderr)
		c.Error = &e
	}
	return c
}

// Save writes the context into a folder of the project, as a file of its own that only the user can read, and returns the path of the file.
// The folder is relative to the project, and is not left by a link. Secrets are masked.
func (c Context) Save(project, folder string) (string, error) {
	raw, err := json.Marshal(c.clean(), json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return "", fmt.Errorf("save the context of a failure: %w", err)
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return "", fmt.Errorf("save the context of a failure: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read from
	if err := root.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("save the context of a failure: %w", err)
	}
	name := path.Join(folder, c.Timestamp.UTC().Format(fileTime))
	for file, data := range map[string][]byte{path.Join(folder, ".gitignore"): []byte("*\n"), name: append(raw, '\n')} {
		if err := write(root, file, data); err != nil {
			return "", fmt.Errorf("save the context of a failure: %w", err)
		}
	}
	prune(root, folder, path.Base(name), c.Timestamp)
	return filepath.Join(project, filepath.FromSlash(name)), nil
}

// prune removes the oldest contexts of a folder: all but the newest, and those that are too old. The one that was just written stays, and
// so does what has another name. What cannot be removed stays as well: it harms nobody.
func prune(root *os.Root, folder, written string, now time.Time) {
	list, err := fs.ReadDir(root.FS(), folder)
	if err != nil {
		return
	}
	var names []string
	for _, e := range list {
		if _, err := time.Parse(fileTime, e.Name()); err == nil && e.Type().IsRegular() && e.Name() != written {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names) // by time
	oldest := now.Add(-maxAge).UTC().Format(fileTime)
	for i, name := range names {
		if i < len(names)-(maxKept-1) || name < oldest {
			_ = root.Remove(path.Join(folder, name))
		}
	}
}

// write writes a whole file, or none.
func write(root *os.Root, name string, data []byte) error {
	part := name + ".part"
	f, err := root.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) { // of a program that was killed
		if err = root.Remove(part); err == nil {
			f, err = root.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = root.Rename(part, name)
	}
	if err != nil {
		_ = root.Remove(part)
	}
	return err
}

// Load reads a context, and returns the keys that nobody knows as well.
func Load(file string) (c Context, unknown []string, err error) {
	f, _, err := atomicfile.Open(file)
	if err != nil {
		return c, nil, text.Hinted(err, "myc workflow says where it keeps the context of a failure: in .mycelium/context")
	}
	defer f.Close() //nolint:errcheck // it was only read
	raw, err := io.ReadAll(io.LimitReader(f, maxContext+1))
	if err != nil {
		return c, nil, fmt.Errorf("read %s: %w", file, err)
	}
	if c, unknown, err = parse(raw); err != nil {
		return c, nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, unknown, nil
}

// shape is the hint of a file that is no context.
const shape = "a context has skillId, scriptPath and error; myc workflow writes it"

func parse(raw []byte) (c Context, unknown []string, err error) {
	if len(raw) > maxContext {
		return c, nil, fmt.Errorf("it has more than %d MiB", maxContext>>20)
	}
	if err := rawjson.Decode(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), &c); err != nil {
		return c, nil, text.Hinted(fmt.Errorf("it is not the context of a failure: %s", wrong(raw, err)), shape)
	}
	for _, k := range []struct {
		key    string
		absent bool
	}{{"skillId", c.Skill == ""}, {"scriptPath", c.Script == ""}, {"error", c.Error == nil}} {
		if k.absent {
			return c, nil, text.Hinted(errors.New("it has no "+k.key), shape)
		}
	}
	unknown = slices.Sorted(maps.Keys(c.Other))
	for _, key := range slices.Sorted(maps.Keys(c.Error.Other)) {
		unknown = append(unknown, "error."+key)
	}
	c.Other, c.Error.Other = nil, nil
	return c.clean(), unknown, nil
}

// wrong says in words of our own why a file cannot be read, and where.
func wrong(raw []byte, err error) string {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	key := func(p jsontext.Pointer) string {
		return text.OneLine(strings.Join(slices.Collect(p.Tokens()), "."))
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return "the key " + key(syntax.JSONPointer) + " is there twice"
	case errors.As(err, &syntax):
		at := min(max(syntax.ByteOffset, 0), int64(len(raw)))
		return fmt.Sprintf("it is no JSON from line %d on", 1+bytes.Count(raw[:at], []byte("\n")))
	case errors.As(err, &semantic) && semantic.JSONPointer != "":
		return key(semantic.JSONPointer) + " has a value of the wrong kind"
	case errors.As(err, &semantic):
		return "it is no JSON object"
	}
	return "it cannot be read"
}

// Task is what an agent is asked to do about the failure. What the file says is marked as data. said is what a person wants; "" is to find
// the cause.
func (c Context) Task(said string) (string, error) {
	raw, err := json.Marshal(c, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return "", fmt.Errorf("tell the context of a failure: %w", err)
	}
	if said == "" {
		said = "A script of a skill failed in a workflow. Find out why, and do what the workflow wanted if you can."
	}
	return said + "\n\n" + guard.Spotlight("a failure that a workflow saved", string(raw)), nil
}
