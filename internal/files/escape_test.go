package files

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
)

// outside makes a folder beside the served one, with something to steal and nothing to find changed afterwards.
func outside(t *testing.T) (s *Server, dir, out string) {
	t.Helper()
	base := t.TempDir()
	dir, out = filepath.Join(base, "root"), filepath.Join(base, "root2")
	for path, content := range map[string]string{dir + "/in.txt": "inside", dir + "/sub/x": "x", out + "/secret": "SECRET"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"abs": out, "rel": "../root2", "file": out + "/secret", "sub/up": "../../root2",
		"hole": out + "/nothing", "self": dir} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		entries, err := os.ReadDir(out)
		if err != nil || len(entries) != 1 || onDisk(t, out+"/secret") != "SECRET" {
			t.Errorf("something outside was changed: %v %v", entries, err)
		}
	})
	return s, dir, out
}

// calls are one call of every tool with a path.
func calls(path string) map[string]object {
	return map[string]object{
		"read_file": {"path": path}, "write_file": {"path": path, "content": "x"}, "edit_file": {"path": path, "oldText": "S", "newText": "x"},
		"list_directory": {"path": path}, "search_files": {"path": path, "text": "S"}, "stat_file": {"path": path}, "delete_file": {"path": path},
		"move_file": {"source": path, "destination": "moved"}, "move_file to": {"source": "in.txt", "destination": path},
	}
}

func TestNothingLeadsOut(t *testing.T) {
	s, dir, out := outside(t)
	const refused = "outside of the folder that this server serves"
	paths := []string{
		"..", "../root2/secret", "../root2/nothing", "sub/../../root2/secret", "./../root2/secret", "../root/../root2/secret",
		"../../../../../../etc/passwd",
		out, out + "/secret", out + "/nothing", "/etc/passwd", "/nonexistent", "/", dir + "/../root2/secret", dir + "2/secret", "//etc/passwd",
		"abs/secret", "rel/secret", "sub/up/secret", "abs/nothing", "rel/nothing", "self/in.txt",
	}
	for _, path := range paths {
		for tool, args := range calls(path) {
			r := call(t, s, strings.TrimSuffix(tool, " to"), args)
			if !r.IsError || !strings.HasSuffix(r.text(), errOutside.Error()) {
				t.Errorf("%s %q: isError %v, %s", tool, path, r.IsError, r.text())
			}
			if strings.Contains(r.text(), "SECRET") {
				t.Errorf("%s %q told the secret", tool, path)
			}
		}
	}
	// The links themselves are inside: they can be looked at, moved and deleted, never followed.
	for _, path := range []string{"abs", "rel", "file", "hole", "sub/up"} {
		for _, tool := range []string{"read_file", "write_file", "edit_file", "list_directory", "search_files"} {
			bad(t, s, tool, calls(path)[tool], refused)
		}
		good(t, s, "stat_file", object{"path": path})
		good(t, s, "move_file", object{"source": path, "destination": "sub/moved"})
		good(t, s, "delete_file", object{"path": "sub/moved"})
	}
	if got := good(t, s, "search_files", object{"text": "SECRET"}); got != "[nothing found]" {
		t.Error(got)
	}
	if onDisk(t, dir+"/in.txt") != "inside" {
		t.Error("in.txt was changed")
	}
}

func TestOddPaths(t *testing.T) {
	s, dir, _ := outside(t)
	for path, want := range map[string]string{
		"":                             "empty",
		"in.txt\x00.png":               "NUL",
		"\x00":                         "NUL",
		"sub/../in.txt":                `write it without, as "in.txt"`,
		strings.Repeat("長", 300):       "too long",
		strings.Repeat("d/", 3000):     "longer than 4096",
		dir + "/" + "sub/../sub":       "write it without",
		"in.txt/x":                     "",
		"IN.TXT":                       "",
		"in.txt\t":                     "",
		"in．txt":                       "",
		strings.Repeat("d/", 500) + "": "",
	} {
		for _, tool := range []string{"read_file", "stat_file", "edit_file", "delete_file"} {
			bad(t, s, tool, calls(path)[tool], want)
		}
	}
	for _, path := range []string{"in.txt", "./in.txt", ".//in.txt", dir + "/in.txt", dir + "//in.txt", dir + "/./in.txt"} {
		if got := good(t, s, "read_file", object{"path": path}); got != "inside" {
			t.Errorf("%s: %s", path, got)
		}
	}
	for _, path := range []string{dir, dir + "/", "."} {
		good(t, s, "list_directory", object{"path": path})
	}
}

// A root that is itself reached by a link is known by both names.
func TestRootByLink(t *testing.T) {
	_, dir, _ := outside(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	s, err := New(link, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, path := range []string{link + "/in.txt", dir + "/in.txt", "in.txt"} {
		if got := good(t, s, "read_file", object{"path": path}); got != "inside" {
			t.Errorf("%s: %s", path, got)
		}
	}
	if _, err := New(filepath.Join(dir, "nowhere"), nil); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a root that does not exist: %v", err)
	}
	if _, err := New(filepath.Join(dir, "in.txt"), nil); err == nil {
		t.Error("a root that is a file")
	}
}

// Links inside the folder are followed: an edit through one changes the file, and the link stays a link.
func TestLinksInside(t *testing.T) {
	s, dir, _ := outside(t)
	for name, to := range map[string]string{"l1": "l2", "sub/l": "../l1", "l2": "sub/../in.txt", "d": "sub", "new": "sub/made"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for i, path := range []string{"l1", "sub/l", "d/l"} {
		if got := good(t, s, "read_file", object{"path": path}); !strings.HasPrefix(got, "inside") {
			t.Error(got)
		}
		good(t, s, "edit_file", object{"path": path, "oldText": "inside", "newText": fmt.Sprint("inside", i)})
	}
	if got := onDisk(t, dir+"/in.txt"); got != "inside210" {
		t.Error(got)
	}
	good(t, s, "write_file", object{"path": "l1", "content": "whole"})
	good(t, s, "write_file", object{"path": "new", "content": "made"})
	if onDisk(t, dir+"/in.txt") != "whole" || onDisk(t, dir+"/sub/made") != "made" {
		t.Error("written elsewhere")
	}
	if info, err := os.Lstat(dir + "/l1"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is no link any more")
	}
}

// Somebody swaps a folder for a link that leads out while the tools work on it.
func TestSwappedLink(t *testing.T) {
	s, dir, out := outside(t)
	if err := os.Mkdir(dir+"/swap", 0o755); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(dir+"/swap", dir+"/kept")
			_ = os.Symlink(out, dir+"/swap")
			_ = os.Remove(dir + "/swap")
			_ = os.Rename(dir+"/kept", dir+"/swap")
		}
	})
	for range 60 {
		for tool, args := range calls("swap/secret") {
			if r := call(t, s, strings.TrimSuffix(tool, " to"), args); strings.Contains(r.text(), "SECRET") {
				t.Fatalf("%s told the secret", tool)
			}
		}
		_ = os.Rename(dir+"/moved", dir+"/in.txt") // if move_file was the one
	}
	close(stop)
	wg.Wait()
}

func TestNoOrdinaryFiles(t *testing.T) {
	s, dir := serve(t, map[string]string{"x": "x"})
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{"fifo": "pipe"}
	if os.Getuid() == 0 && syscall.Mknod(filepath.Join(dir, "zero"), syscall.S_IFCHR|0o666, 1<<8|5) == nil {
		kinds["zero"] = "device"
	}
	for name, kind := range kinds {
		for _, tool := range []string{"read_file", "write_file", "edit_file"} {
			bad(t, s, tool, calls(name)[tool], "not a regular file but a "+kind)
		}
		bad(t, s, "list_directory", object{"path": name}, "not a folder but a "+kind)
		if got := good(t, s, "stat_file", object{"path": name}); !strings.Contains(got, kind) {
			t.Error(got)
		}
		if got := good(t, s, "search_files", object{"path": name, "text": "x"}); got != "[nothing found]" {
			t.Error(got)
		}
	}
	if got := good(t, s, "search_files", object{"text": "x"}); got != "x:1: x" {
		t.Error(got)
	}
	if got := good(t, s, "list_directory", object{}); !strings.Contains(got, "fifo  (pipe)") {
		t.Error(got)
	}
}

// Every edit of many at once is in the file afterwards, and a reader never sees half of one.
func TestConcurrentEdits(t *testing.T) {
	const n = 40
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<%d>\n", i)
	}
	s, dir := serve(t, map[string]string{"f": b.String()})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			good(t, s, "edit_file", object{"path": "f", "oldText": fmt.Sprintf("<%d>", i), "newText": fmt.Sprintf("[%d編集]", i)})
			if got := good(t, s, "read_file", object{"path": "f"}); strings.Count(got, "\n") != n {
				t.Errorf("half a file: %d lines", strings.Count(got, "\n"))
			}
			r := call(t, s, "write_file", object{"path": "once", "content": fmt.Sprint(i), "createOnly": true})
			if !r.IsError {
				good(t, s, "write_file", object{"path": fmt.Sprint("winner", i), "content": "x"})
			}
		})
	}
	wg.Wait()
	got := onDisk(t, filepath.Join(dir, "f"))
	if strings.Count(got, "編集]") != n || strings.Contains(got, "<") {
		t.Errorf("an edit was lost:\n%s", got)
	}
	if won, _ := filepath.Glob(filepath.Join(dir, "winner*")); len(won) != 1 {
		t.Errorf("%d created the same file", len(won))
	}
	noLeftovers(t, dir)
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"path":"in.txt"}`, `{"path":"../x","content":"x"}`,
		`{"path":"日本","content":"eA==","encoding":"base64","createOnly":true}`,
		`{"path":"in.txt","oldText":"a","newText":"","replaceAll":true}`, `{"source":"in.txt","destination":"a/b"}`,
		`{"pattern":"**/*","text":"a.c","regex":true,"ignoreCase":true}`,
		`{"path":"in.txt","offset":3,"limit":2}`, `{"Path":"x"}`, `{"path":"\u0000"}`, `[1]`, `null`, `{"path":"link/../../x"}`,
		`{"path":"in.txt","path":"b"}`} {
		f.Add(uint8(0), seed)
		f.Add(uint8(5), seed)
	}
	base := f.TempDir()
	dir := filepath.Join(base, "root")
	if err := os.Mkdir(dir, 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(base+"/x", []byte("OUT"), 0o444); err != nil {
		f.Fatal(err)
	}
	s, err := New(dir, nil)
	if err != nil {
		f.Fatal(err)
	}
	defs := s.Definitions()
	f.Fuzz(func(t *testing.T, n uint8, args string) {
		_ = os.WriteFile(dir+"/in.txt", []byte("abc\nあいう\n"), 0o644)
		_ = os.Symlink("..", dir+"/link")
		params := append([]byte(`{"name":"`+defs[int(n)%len(defs)].Item.Name+`","arguments":`), args...)
		result, rpcErr, err := s.Do(t.Context(), policy.Scope{}, "tools/call", append(params, '}'), nil)
		if err != nil || (result == nil) == (rpcErr == nil) {
			t.Fatalf("%s %s %v", result, rpcErr, err)
		}
		if out := slices.Concat(result, rpcErr); !jsontext.Value(out).IsValid() || len(out) > 4<<20 || strings.Contains(string(out), "OUT") {
			t.Fatalf("%.500s", out)
		}
		if result != nil {
			var r reply
			if err := json.Unmarshal(result, &r, json.RejectUnknownMembers(true)); err != nil {
				t.Fatal(err)
			}
		}
		if entries, err := os.ReadDir(base); err != nil || len(entries) != 2 || onDisk(t, base+"/x") != "OUT" {
			t.Fatalf("something outside was changed: %v", entries)
		}
	})
}
