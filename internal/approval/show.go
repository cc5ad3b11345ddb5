package approval

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/text"
)

// ShowArgs returns the full arguments of a request for people: a command as it is, an edit as a diff, other arguments as indented JSON in
// their own order. Invisible characters are shown; see [text.Visible]. diff reports whether the text is a diff.
func ShowArgs(r Request) (text string, diff bool) {
	switch r.Tool {
	case "agent__Bash":
		if text, ok := showBash(r.Args); ok {
			return text, false
		}
	case "agent__Edit", "agent__MultiEdit", "agent__Write":
		if text, ok := showEdit(r.Args); ok {
			return text, true
		}
	case "files__edit_file":
		if text, ok := showFilesEdit(r.Args); ok {
			return text, true
		}
	}
	return showJSON(r.Args), false
}

// showBash shows the command first and then the other arguments.
func showBash(args []byte) (string, bool) {
	var a struct {
		Command string                    `json:"command"`
		Rest    map[string]jsontext.Value `json:",inline"`
	}
	if json.Unmarshal(args, &a) != nil || a.Command == "" {
		return "", false
	}
	delete(a.Rest, "description") // the agent wrote it; it does not run
	shown := text.Visible(a.Command)
	if len(a.Rest) > 0 {
		b, err := json.Marshal(a.Rest, json.Deterministic(true))
		if err != nil {
			return "", false
		}
		shown += "\n" + showJSON(b)
	}
	return shown, true
}

type change struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// showEdit shows one edit or several of one file, or a file's new content.
func showEdit(args []byte) (string, bool) {
	var a struct {
		Path    string  `json:"file_path"`
		Content *string `json:"content"`
		change  `json:",inline"`
		Edits   []change                  `json:"edits"`
		Rest    map[string]jsontext.Value `json:",inline"`
	}
	if json.Unmarshal(args, &a) != nil || a.Path == "" || len(a.Rest) > 0 {
		return "", false
	}
	var b strings.Builder
	if a.Content != nil {
		fmt.Fprintf(&b, "write %s\n", text.OneLine(a.Path))
		b.WriteString(text.Diff("", *a.Content))
	}
	if a.Old != "" || a.New != "" {
		a.Edits = append(a.Edits, a.change)
	}
	for _, e := range a.Edits {
		b.WriteString(shownChange(a.Path, e))
	}
	return strings.TrimSuffix(b.String(), "\n"), b.Len() > 0
}

// showFilesEdit shows an edit by the server files. Arguments that it does not know are shown as they are.
func showFilesEdit(args []byte) (string, bool) {
	var a struct {
		Path string                    `json:"path"`
		Old  *string                   `json:"oldText"`
		New  *string                   `json:"newText"`
		All  bool                      `json:"replaceAll"`
		Rest map[string]jsontext.Value `json:",inline"`
	}
	if json.Unmarshal(args, &a) != nil || a.Path == "" || a.Old == nil || a.New == nil || len(a.Rest) > 0 {
		return "", false
	}
	return strings.TrimSuffix(shownChange(a.Path, change{*a.Old, *a.New, a.All}), "\n"), true
}

// shownChange shows a change of a file.
func shownChange(path string, c change) string {
	verb := "edit"
	if c.All {
		verb = "edit everywhere in"
	}
	return fmt.Sprintf("%s %s\n", verb, text.OneLine(path)) + text.Diff(c.Old, c.New)
}

// showJSON indents a value and unescapes the characters in its strings that are visible.
func showJSON(args []byte) string {
	if len(args) == 0 {
		return ""
	}
	b, err := jsontext.AppendFormat(nil, args, jsontext.WithIndent("  "), jsontext.PreserveRawStrings(false), jsontext.EscapeForHTML(false),
		jsontext.SpaceAfterColon(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return text.Visible(string(args))
	}
	return text.Visible(string(b))
}

// Short returns a text on one line, with invisible characters shown, cut to n characters.
func Short(s string, n int) string {
	return text.TruncateRunes(text.OneLine(strings.Join(strings.Fields(s), " ")), n)
}

// Name returns what people call the session of a request, cut to n characters: its label, else its folder, else its id.
func (r *Request) Name(n int) string {
	return Short(cmp.Or(r.Label, r.Dir[strings.LastIndexByte(r.Dir, '/')+1:], r.Session), n)
}
