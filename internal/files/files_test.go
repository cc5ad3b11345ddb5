package files

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
)

// serve opens a server over a new folder with files in it.
func serve(t testing.TB, content map[string]string) (*Server, string) {
	t.Helper()
	dir := t.TempDir()
	for name, c := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

// reply is a CallToolResult as a client reads it.
type reply struct {
	Content []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Resource struct {
			URI      string `json:"uri"`
			MIMEType string `json:"mimeType"`
			Blob     []byte `json:"blob"`
		} `json:"resource"`
	} `json:"content"`
	Structured jsontext.Value `json:"structuredContent"`
	IsError    bool           `json:"isError"`
}

func (r reply) text() string {
	var out []string
	for _, c := range r.Content {
		out = append(out, c.Text)
	}
	return strings.Join(out, "\n")
}

// raw calls a tool with raw arguments.
func raw(t testing.TB, s *Server, name, args string) reply {
	t.Helper()
	params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args)
	result, rpcErr, err := s.Do(context.Background(), policy.Scope{}, "tools/call", []byte(params), nil)
	if err != nil || rpcErr != nil {
		t.Fatalf("%s %s: %s %v", name, args, rpcErr, err)
	}
	var r reply
	if err := json.Unmarshal(result, &r, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s answered %s: %v", name, result, err)
	}
	if len(r.Content) == 0 || (r.IsError && r.Content[0].Text == "") {
		t.Fatalf("%s answered nothing: %s", name, result)
	}
	return r
}

type object = map[string]any

func call(t testing.TB, s *Server, name string, args object) reply {
	t.Helper()
	b, err := json.Marshal(args, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		t.Fatal(err)
	}
	return raw(t, s, name, string(b))
}

// good wants a call to work, and returns its text.
func good(t testing.TB, s *Server, name string, args object) string {
	t.Helper()
	r := call(t, s, name, args)
	if r.IsError {
		t.Fatalf("%s %v: %s", name, args, r.text())
	}
	return r.text()
}

// bad wants a call to fail with a text.
func bad(t testing.TB, s *Server, name string, args object, want string) {
	t.Helper()
	if r := call(t, s, name, args); !r.IsError || !strings.Contains(r.text(), want) {
		t.Errorf("%s %.200v: isError %v, %s; want an error with %q", name, args, r.IsError, r.text(), want)
	}
}

func onDisk(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDefinitions(t *testing.T) {
	s, _ := serve(t, nil)
	readOnly := []string{"list_directory", "read_file", "search_files", "stat_file"}
	var names []string
	for _, d := range s.Definitions() {
		names = append(names, d.Item.Name)
		var def struct {
			Name        string `json:"name"`
			Title       string `json:"title"`
			Description string `json:"description"`
			InputSchema struct {
				Type       string                    `json:"type"`
				Properties map[string]jsontext.Value `json:"properties"`
				Required   []string                  `json:"required"`
				Additional *bool                     `json:"additionalProperties"`
			} `json:"inputSchema"`
			Annotations jsontext.Value `json:"annotations"`
		}
		if err := json.Unmarshal(d.Raw, &def, json.RejectUnknownMembers(true)); err != nil {
			t.Fatal(err)
		}
		if d.Item.Server != "files" || def.Name != d.Item.Name || def.Title == "" || def.Description == "" || def.InputSchema.Type != "object" {
			t.Errorf("%+v: %+v", d.Item, def)
		}
		if a := def.InputSchema.Additional; a == nil || *a {
			t.Errorf("%s takes further arguments", def.Name)
		}
		for _, r := range def.InputSchema.Required {
			if _, ok := def.InputSchema.Properties[r]; !ok {
				t.Errorf("%s requires %s, which it does not have", def.Name, r)
			}
		}
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, ok := d.Annotations[hint]; !ok {
				t.Errorf("%s has no %s", def.Name, hint)
			}
		}
		if d.Annotations["readOnlyHint"] != slices.Contains(readOnly, def.Name) ||
			(d.Annotations["readOnlyHint"] && d.Annotations["destructiveHint"]) {
			t.Errorf("%s: %v", def.Name, d.Annotations)
		}
	}
	want := []string{"delete_file", "edit_file", "list_directory", "move_file", "read_file", "search_files", "stat_file", "write_file"}
	if !slices.Equal(names, want) {
		t.Errorf("tools %v", names)
	}
}

func TestProtocolErrors(t *testing.T) {
	s, _ := serve(t, nil)
	for _, c := range []struct{ method, params, want string }{
		{"tools/list", `{}`, `{"code":-32601,"message":"method not found: tools/list"}`},
		{"", ``, `{"code":-32601,"message":"method not found: "}`},
		{"tools/call", ``, `{"code":-32602,`},
		{"tools/call", `[]`, `{"code":-32602,`},
		{"tools/call", `{"name":7}`, `{"code":-32602,`},
		{"tools/call", `{"name":"read_file","name":"delete_file"}`, `{"code":-32602,`},
		{"tools/call", `{"name":"read_file","arguments":{"path":"a.txt","path":"b.txt"}}`,
			`{"code":-32602,"message":"params of tools/call must be an object with name and arguments: a key appears twice: /arguments/path"}`},
		{"tools/call", `{"Name":"read_file","arguments":{"path":"x"}}`, `{"code":-32602,"message":"unknown tool: "}`},
		{"tools/call", `{"name":"files__read_file"}`, `{"code":-32602,"message":"unknown tool: files__read_file"}`},
		{"tools/call", `{"name":"read_files"}`, `{"code":-32602,"message":"unknown tool: read_files"}`},
	} {
		result, rpcErr, err := s.Do(t.Context(), policy.Scope{}, c.method, []byte(c.params), nil)
		if result != nil || err != nil || !strings.HasPrefix(string(rpcErr), c.want) || !jsontext.Value(rpcErr).IsValid() {
			t.Errorf("%s %s: %s %s %v", c.method, c.params, result, rpcErr, err)
		}
	}
}

func TestArguments(t *testing.T) {
	s, dir := serve(t, map[string]string{"a.txt": "a", "secret.txt": "s"})
	for _, c := range []struct{ tool, args, want string }{
		{"read_file", `{}`, `argument "path" is required`},
		{"read_file", `null`, `must be a JSON object`},
		{"read_file", `"a.txt"`, `must be a JSON object`},
		{"read_file", `{"Path":"a.txt"}`, `unknown argument "Path": did you mean "path"?`},
		{"read_file", `{"path":"a.txt","Path":"secret.txt"}`, `unknown argument "Path": did you mean "path"?`},
		{"read_file", `{"path":"a.txt","ofset":1}`, `did you mean "offset"?`},
		{"read_file", `{"path":"a.txt","ｐａｔｈ":1}`, `unknown argument`},
		{"read_file", `{"path":["a.txt"]}`, `"path" must be a string`},
		{"read_file", `{"path":null}`, `"path" must be a string`},
		{"read_file", `{"path":"a.txt","offset":"1"}`, `"offset" must be a whole number`},
		{"read_file", `{"path":"a.txt","offset":-1}`, `not negative`},
		{"read_file", `{"path":"a.txt","offset":1.5}`, `"offset" must be a whole number`},
		{"read_file", `{"path":"a.txt","offset":1e400}`, `"offset" must be a whole number`},
		{"read_file", `{"path":"a.txt","limit":99999999999999999999}`, `"limit" must be a whole number`},
		{"write_file", `{"path":"n","content":"x","createOnly":"yes"}`, `must be true or false`},
		{"write_file", `{"path":"n","content":"x","encoding":"latin1"}`, `must be one of utf-8, base64`},
		{"write_file", `{"path":"n","content":"x","encoding":"base64"}`, `not valid base64`},
		{"write_file", `{"path":"n"}`, `argument "content" is required`},
		{"edit_file", `{"path":"a.txt","old_text":"a","newText":"b"}`, `did you mean "oldText"?`},
		{"edit_file", `{"path":"a.txt","oldText":"","newText":"b"}`, `oldText is empty`},
		{"edit_file", `{"path":"a.txt","oldText":"b","newText":"b"}`, `the same`},
		{"move_file", `{"source":"a.txt"}`, `argument "destination" is required`},
		{"search_files", `{}`, `give a pattern`},
		{"search_files", `{"pattern":"[a"}`, `not a valid glob`},
		{"search_files", `{"text":"(","regex":true}`, `not a valid regular expression`},
		{"search_files", `{"pattern":"*","regex":true}`, `regex needs a text`},
		{"search_files", `{"text":"` + strings.Repeat("x", 1001) + `"}`, `at most 1000 bytes`},
	} {
		if r := raw(t, s, c.tool, c.args); !r.IsError || !strings.Contains(r.text(), c.want) {
			t.Errorf("%s %.100s: isError %v, %s; want %q", c.tool, c.args, r.IsError, r.text(), c.want)
		}
	}
	if e, err := os.ReadDir(dir); err != nil || len(e) != 2 {
		t.Errorf("something was written: %v %v", e, err)
	}
	if onDisk(t, filepath.Join(dir, "a.txt")) != "a" {
		t.Error("a.txt was changed")
	}
}

func TestBinaryRoundTrip(t *testing.T) {
	s, dir := serve(t, nil)
	data := make([]byte, 70_000)
	for i := range data {
		data[i] = byte(i*7 + i>>8)
	}
	good(t, s, "write_file", object{"path": "絵/像.bin", "content": base64.StdEncoding.EncodeToString(data), "encoding": "base64"})
	if onDisk(t, filepath.Join(dir, "絵/像.bin")) != string(data) {
		t.Error("the file is another")
	}
	var got []byte
	for len(got) < len(data) {
		r := call(t, s, "read_file", object{"path": "絵/像.bin", "offset": len(got), "limit": 9999})
		res := r.Content[0].Resource
		if r.Content[0].Type != "resource" || res.MIMEType != "application/octet-stream" || res.URI != "file://"+dir+"/%E7%B5%B5/%E5%83%8F.bin" {
			t.Fatalf("%+v", r)
		}
		got = append(got, res.Blob...)
	}
	if !bytes.Equal(got, data) {
		t.Error("what was read is another")
	}
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	good(t, s, "write_file", object{"path": "a.png", "content": base64.StdEncoding.EncodeToString([]byte(png)), "encoding": "base64"})
	if r := call(t, s, "read_file", object{"path": "a.png"}); r.Content[0].Resource.MIMEType != "image/png" ||
		string(r.Content[0].Resource.Blob) != png {
		t.Errorf("%+v", r)
	}
	good(t, s, "write_file", object{"path": "empty", "content": ""})
	if got := good(t, s, "read_file", object{"path": "empty"}); got != "[the file is empty]" {
		t.Error(got)
	}
}

func TestTextPages(t *testing.T) {
	var b strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&b, "%d 行目の文章\n", i)
	}
	want := b.String()
	s, _ := serve(t, map[string]string{"大.txt": want, "one line": strings.Repeat("あ", 500_000), "sjis.txt": "\x93\xfa\x96{\x8c\xea"})
	pages := func(name string, limit int) string {
		var got strings.Builder
		for n := 0; ; n++ {
			args := object{"path": name, "offset": got.Len()}
			if limit > 0 {
				args["limit"] = limit
			}
			r := call(t, s, "read_file", args)
			if r.IsError || r.Content[0].Type != "text" || len(r.Content[0].Text) == 0 || len(r.Content[0].Text) > MaxRead {
				t.Fatalf("page %d of %s: %.300s", n, name, r.text())
			}
			got.WriteString(r.Content[0].Text)
			note := r.Content[len(r.Content)-1].Text
			if strings.Contains(note, "this is the end") || len(r.Content) == 1 {
				return got.String()
			}
			if want := fmt.Sprintf("read on with offset %d]", got.Len()); !strings.HasSuffix(note, want) {
				t.Fatalf("the note says %q, want %q", note, want)
			}
		}
	}
	if pages("大.txt", 0) != want {
		t.Error("the pages of the long file are not the file")
	}
	if got := pages("one line", 0); got != strings.Repeat("あ", 500_000) {
		t.Error("the pages of the long line are not the line")
	}
	if got := pages("one line", 400_000); got != strings.Repeat("あ", 500_000) {
		t.Error("short pages of the long line are not the line")
	}
	// An offset in the middle of a character is moved back to its beginning.
	if got := good(t, s, "read_file", object{"path": "one line", "offset": 4, "limit": 6}); !strings.HasPrefix(got, "ああ") ||
		!strings.Contains(got, "[bytes 3 to ") {
		t.Error(got)
	}
	bad(t, s, "read_file", object{"path": "大.txt", "offset": len(want)}, fmt.Sprintf("the file has %d bytes", len(want)))
	if r := call(t, s, "read_file", object{"path": "sjis.txt"}); string(r.Content[0].Resource.Blob) != "\x93\xfa\x96{\x8c\xea" {
		t.Errorf("Shift JIS is not UTF-8: %+v", r)
	}
}

func TestWriteKeepsTheMode(t *testing.T) {
	s, dir := serve(t, map[string]string{"run.sh": "old", "locked": "old"})
	path := filepath.Join(dir, "run.sh")
	if err := os.Chmod(path, 0o751); err != nil {
		t.Fatal(err)
	}
	good(t, s, "write_file", object{"path": "run.sh", "content": "new"})
	good(t, s, "edit_file", object{"path": "run.sh", "oldText": "new", "newText": "newer"})
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o751 || onDisk(t, path) != "newer" {
		t.Errorf("%v %v %s", info.Mode(), err, onDisk(t, path))
	}
	if err := os.Chmod(filepath.Join(dir, "locked"), 0o444); err != nil {
		t.Fatal(err)
	}
	bad(t, s, "write_file", object{"path": "locked", "content": "x"}, "read-only")
	bad(t, s, "edit_file", object{"path": "locked", "oldText": "old", "newText": "x"}, "read-only")
	bad(t, s, "write_file", object{"path": "run.sh", "content": "x", "createOnly": true}, "exists already")
	good(t, s, "write_file", object{"path": "new/deep/file", "content": "x", "createOnly": true})
	bad(t, s, "write_file", object{"path": "new/deep", "content": "x"}, "folder")
	bad(t, s, "write_file", object{"path": "run.sh/below", "content": "x"}, "not a folder")
	bad(t, s, "write_file", object{"path": "big", "content": strings.Repeat("x", MaxWrite+1)}, "more than the limit")
	noLeftovers(t, dir)
}

// noLeftovers wants no temporary file anywhere.
func noLeftovers(t *testing.T, dir string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(p string, _ os.DirEntry, _ error) error {
		if strings.Contains(p, ".myc-") {
			t.Errorf("%s was left behind", p)
		}
		return nil
	})
}

func TestEdit(t *testing.T) {
	s, dir := serve(t, map[string]string{"a": "one\ntwo\none\n", "crlf": "一\r\n二\r\n", "bin": "\x00\xffx\xff"})
	bad(t, s, "edit_file", object{"path": "a", "oldText": "three", "newText": "x"}, "not in the file")
	bad(t, s, "edit_file", object{"path": "a", "oldText": "one", "newText": "x"}, "appears 2 times in the file (lines 1, 3)")
	bad(t, s, "edit_file", object{"path": "crlf", "oldText": "一\n二", "newText": "x"}, "line endings")
	bad(t, s, "edit_file", object{"path": "none", "oldText": "x", "newText": "y"}, "no such file")
	bad(t, s, "edit_file", object{"path": ".", "oldText": "x", "newText": "y"}, "folder")
	if got := good(t, s, "edit_file", object{"path": "a", "oldText": "two\n", "newText": "二\n"}); got != "edited a at line 2" {
		t.Error(got)
	}
	if got := good(t, s, "edit_file", object{"path": "a", "oldText": "one", "newText": "", "replaceAll": true}); got != "edited a in 2 "+
		"places, at lines 1, 3" {
		t.Error(got)
	}
	if got := onDisk(t, filepath.Join(dir, "a")); got != "\n二\n\n" {
		t.Errorf("%q", got)
	}
	good(t, s, "edit_file", object{"path": "bin", "oldText": "x", "newText": "yy"})
	if got := onDisk(t, filepath.Join(dir, "bin")); got != "\x00\xffyy\xff" {
		t.Errorf("%q", got)
	}
	noLeftovers(t, dir)
}

func TestList(t *testing.T) {
	content := map[string]string{"b.txt": "12345", "日本/語": "x", "z": ""}
	for i := range 1200 {
		content[fmt.Sprintf("many/%04d", i)] = ""
	}
	s, dir := serve(t, content)
	if err := os.WriteFile(filepath.Join(dir, "two\nlines"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "\xff"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	want := "b.txt  5 bytes\nmany/\n\"two\\nlines\"  0 bytes\nz  0 bytes\n日本/\n\"\\xff\"  0 bytes"
	if got := good(t, s, "list_directory", object{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r := call(t, s, "list_directory", object{"path": "many"})
	var l listing
	if err := json.Unmarshal(r.Structured, &l); err != nil {
		t.Fatal(err)
	}
	if len(l.Entries) != MaxEntries || l.Total != 1200 || !l.Truncated || l.Entries[0].Name != "0000" || l.Entries[999].Name != "0999" ||
		!strings.Contains(r.text(), "the first 1000 of 1200") {
		t.Errorf("%d entries of %d: %s", len(l.Entries), l.Total, r.text()[len(r.text())-100:])
	}
	if got := good(t, s, "list_directory", object{"path": dir + "/日本/"}); got != "語  1 bytes" {
		t.Error(got)
	}
	bad(t, s, "list_directory", object{"path": "z"}, "not a folder")
	bad(t, s, "list_directory", object{"path": "nowhere"}, "no such file or folder")
}

func TestStat(t *testing.T) {
	s, dir := serve(t, map[string]string{"日本.txt": "12345"})
	for name, to := range map[string]string{"in": "日本.txt", "out": "/etc/passwd", "up": "../x", "dangling": "nowhere", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"日本.txt": "日本.txt: file, 5 bytes, mode 0644, modified 20", ".": ".: directory,", "in": "leads to: file",
		"out": "leads to: outside of the folder",
		"up":  "leads to: outside of the folder", "dangling": "leads to: cannot be followed", "loop": "leads to: cannot be followed",
	} {
		if got := good(t, s, "stat_file", object{"path": path}); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	bad(t, s, "stat_file", object{"path": "x"}, "no such file")
}

func TestMoveAndDelete(t *testing.T) {
	s, dir := serve(t, map[string]string{"a": "A", "b": "B", "d/x": "X"})
	bad(t, s, "move_file", object{"source": "a", "destination": "b"}, "exists already")
	bad(t, s, "move_file", object{"source": "a", "destination": "d"}, "exists already")
	bad(t, s, "move_file", object{"source": "none", "destination": "c"}, "no such file")
	bad(t, s, "move_file", object{"source": "d", "destination": "d/e"}, "into itself")
	bad(t, s, "move_file", object{"source": ".", "destination": "e"}, "cannot be moved")
	bad(t, s, "move_file", object{"source": "a", "destination": "."}, "exists already")
	good(t, s, "move_file", object{"source": "a", "destination": "新/しい/c"})
	good(t, s, "move_file", object{"source": "d", "destination": "e"})
	if onDisk(t, filepath.Join(dir, "新/しい/c")) != "A" || onDisk(t, filepath.Join(dir, "e/x")) != "X" ||
		onDisk(t, filepath.Join(dir, "b")) != "B" {
		t.Error("moved to elsewhere")
	}
	bad(t, s, "delete_file", object{"path": "e"}, "not empty")
	bad(t, s, "delete_file", object{"path": "."}, "cannot be deleted")
	bad(t, s, "delete_file", object{"path": "a"}, "no such file")
	good(t, s, "delete_file", object{"path": "e/x"})
	good(t, s, "delete_file", object{"path": "e"})
	if _, err := os.Stat(filepath.Join(dir, "e")); !os.IsNotExist(err) {
		t.Error(err)
	}
}
