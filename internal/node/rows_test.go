package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/op"
)

// open are the operations that an agent may do too: nothing that governs comes of them, or the session of the caller decides.
var open = []string{"status", "reload", "tools", "call", "learn", "environ/names", "environ/set", "session/told", "session/said", "hook/answer"}

// TestRows: each operation is one of a person unless it is listed above; one that is in the API has a summary, says what each of its
// parameters is, is in the manual of the pages, and is asked for by a test.
func TestRows(t *testing.T) {
	manual, err := os.ReadFile("../../docs/pages.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := ""
	files, err := filepath.Glob("../../cmd/myc/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tests += string(b)
	}
	agents := map[string]bool{}
	for _, name := range open {
		agents[name] = true
	}
	rows := (&Node{}).methods().Rows
	for name, row := range rows {
		if agents[name] != (row.Act == "") {
			t.Errorf("%s is for agents too: %v, and it is an act of a person: %q", name, agents[name], row.Act)
		}
		delete(agents, name)
		if row.Route == (op.Route{}) {
			continue
		}
		method, path, _ := strings.Cut(row.Route.Pattern, " ")
		if row.About == "" || row.Route.ID == "" || row.Route.Tag == "" {
			t.Errorf("%s is in the API, and says too little of itself: %+v", name, row)
		}
		shown := strings.NewReplacer("{project}", "PROJECT", "{id}", "ID").Replace(path)
		if !strings.Contains(string(manual), method+" "+shown) {
			t.Errorf("%s: docs/pages.md has no line with %s %s", name, method, shown)
		}
		if before, _, _ := strings.Cut(path, "/{id}"); !strings.Contains(tests, before) {
			t.Errorf("%s: no test of cmd/myc asks for %s", name, path)
		}
		for f := range op.Fields(row.Params) {
			if !op.By(f) && f.Tag.Get("about") == "" {
				t.Errorf("%s: nothing is said of its parameter %s", name, f.Name)
			}
		}
	}
	for name := range agents {
		t.Errorf("there is no operation %s", name)
	}
}
