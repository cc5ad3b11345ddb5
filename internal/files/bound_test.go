package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/policy"
)

// TestInAnotherFolder: a caller that is bound to a folder reads and changes that folder, and neither the one that the server serves nor
// any other; a caller that is bound to none does not reach it. A folder that is gone has no files.
func TestInAnotherFolder(t *testing.T) {
	_, dir, out := outside(t)
	s, err := New(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	var asked string
	s.readable = func(scope policy.Scope, path string) bool { asked = scope.Folder + " " + path; return true }
	do := func(folder, tool string, args object) reply {
		t.Helper()
		b, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		result, _, err := s.Do(t.Context(), policy.Scope{Folder: folder}, "tools/call", fmt.Appendf(nil, `{"name":%q,"arguments":%s}`, tool, b),
			nil)
		if err != nil {
			return reply{IsError: true}
		}
		var r reply
		if err := json.Unmarshal(result, &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for tool, args := range map[string]object{
		"write_file": {"path": "new.txt", "content": "S1"}, "read_file": {"path": dir + "/in.txt"}, "list_directory": {"path": "."},
		"search_files": {"path": ".", "text": "inside"}, "stat_file": {"path": "in.txt"},
	} {
		if r := do(dir, tool, args); r.IsError {
			t.Errorf("%s: %s", tool, r.text())
		}
	}
	if got := onDisk(t, dir+"/new.txt"); got != "S1" || !strings.HasPrefix(asked, dir+" "+dir+"/") {
		t.Errorf("it wrote %q, and its search asked about %s", got, asked)
	}
	for _, path := range []string{"../root2/secret", out + "/secret", "abs/secret", "rel/secret", "sub/up/secret"} {
		for tool, args := range calls(path) {
			if r := do(dir, strings.TrimSuffix(tool, " to"), args); !r.IsError {
				t.Errorf("%s %q: %s", tool, path, r.text())
			}
		}
	}
	if r := do(dir, "read_file", object{"path": "file"}); !r.IsError {
		t.Errorf("by a link: %s", r.text())
	}
	for _, path := range []string{"in.txt", dir + "/in.txt", "../root/in.txt"} {
		if r := do("", "read_file", object{"path": path}); !r.IsError {
			t.Errorf("a caller that is bound to no folder reads %s: %s", path, r.text())
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if r := do(dir, "read_file", object{"path": "secret"}); !r.IsError {
		t.Errorf("without its folder: %s", r.text())
	}
}
