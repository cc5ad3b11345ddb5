package harness

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

// Called is a call of a tool in a transcript, or its result.
type Called struct {
	ID      string // the agent's own id of the call
	Session string // the agent's own
	Tool    string // by the agent's name; "" in a result
	Time    time.Time
	Result  bool
	Ran     bool // of a result: it shows that the tool ran
}

// maxID bounds an id or a name in a transcript, in bytes. Those of Claude Code have less than 70.
const maxID = 200

// ParseCalls returns the calls and the results in a line of a transcript.
//
// Claude Code 2.1.197 and 2.1.330 ask their hooks before every tool, and after they have checked its arguments: a call that is not well
// formed, or of a tool that the session does not have, asks nobody and ends with an error in <tool_use_error>. Of the errors, only that of
// a command that failed shows that the tool ran: a person, a hook or a rule may have refused it.
func ParseCalls(line []byte) []Called {
	if !bytes.Contains(line, []byte(`"tool_use`)) {
		return nil
	}
	var l struct {
		Type    string `json:"type"`
		Time    string `json:"timestamp"`
		Session string `json:"sessionId"`
		Message struct {
			Content []struct {
				Type    string         `json:"type"`
				ID      string         `json:"id"`
				Name    string         `json:"name"`
				ToolUse string         `json:"tool_use_id"`
				Error   bool           `json:"is_error"`
				Content jsontext.Value `json:"content"`
			} `json:"content"`
		} `json:"message"`
	}
	if rawjson.Decode(line, &l) != nil || len(l.Session) > maxID {
		return nil
	}
	at, err := time.Parse(time.RFC3339, l.Time)
	if err != nil {
		return nil
	}
	var out []Called
	for _, p := range l.Message.Content {
		c := Called{Session: l.Session, Time: at}
		switch {
		case l.Type == "assistant" && p.Type == "tool_use":
			c.ID, c.Tool = p.ID, p.Name
		case l.Type == "user" && p.Type == "tool_result":
			c.ID, c.Result = p.ToolUse, true
			c.Ran = !p.Error || strings.HasPrefix(stringOf(p.Content), "Exit code ")
		default:
			continue
		}
		if c.ID != "" && len(c.ID) <= maxID && len(c.Tool) <= maxID {
			out = append(out, c)
		}
	}
	return out
}

// The bounds on the transcripts of a project. Real ones are far below.
const (
	maxFolders     = 20_000 // entries of the folder with the transcripts of every project
	maxTranscripts = 5_000  // entries of a folder of transcripts
)

// MaxHead is how much of its beginning is read to find the folder of a transcript, in bytes.
const MaxHead = 256 << 10

// maxEncoded is the length at which Claude Code cuts the name of a folder of transcripts, in characters.
const maxEncoded = 200

// Transcribes reports whether the agent keeps transcripts that this package reads.
func (a Agent) Transcribes() bool { return a.transcribes }

// Transcripts calls f for every file that may be a transcript of a session in a folder or below it. Which it is, its Dir tells: several
// folders can share a name.
func (a Agent) Transcripts(dir string, environ []string, f func(path string, info os.FileInfo)) error {
	own, err := a.own(environ)
	if err != nil || !a.transcribes {
		return err
	}
	all, encoded := filepath.Join(own, "projects"), encodePath(dir)
	for _, project := range listed(all, maxFolders) {
		if name := project.Name(); project.IsDir() && (name == encoded || strings.HasPrefix(name, encoded+"-") || len(encoded) == maxEncoded &&
			strings.HasPrefix(name, encoded)) {
			transcriptsIn(filepath.Join(all, name), 0, f)
		}
	}
	return nil
}

// transcriptsIn calls f for the transcripts in a folder, and for those of subagents, which lie in SESSION/subagents.
func transcriptsIn(folder string, depth int, f func(path string, info os.FileInfo)) {
	for _, e := range listed(folder, maxTranscripts) {
		path := filepath.Join(folder, e.Name())
		switch {
		case e.IsDir() && (depth == 0 || depth == 1 && e.Name() == "subagents"):
			transcriptsIn(path, depth+1, f)
		case depth != 1 && e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".jsonl"):
			if info, err := e.Info(); err == nil {
				f(path, info)
			}
		}
	}
}

// listed returns at most so many entries of a folder; nil if it cannot be read.
func listed(folder string, most int) []os.DirEntry {
	f, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	entries, _ := f.ReadDir(most)
	return entries
}

// encodePath returns the name that Claude Code gives to the folder with the transcripts of a folder.
func encodePath(dir string) string {
	out := []byte(dir)
	for i, c := range out {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			out[i] = '-'
		}
	}
	return string(out[:min(len(out), maxEncoded)])
}

// Dir returns the folder in which the session of a transcript began; "" if its beginning does not say so.
func (path Transcript) Dir() string {
	f, _, err := openPlain(string(path))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, MaxHead))
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(raw) {
		var l struct {
			Dir string `json:"cwd"`
		}
		if rawjson.Decode(line, &l) == nil && filepath.IsAbs(l.Dir) {
			return filepath.Clean(l.Dir)
		}
	}
	return ""
}
