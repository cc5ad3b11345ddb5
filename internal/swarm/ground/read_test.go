package ground

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFiles: the files of a commit are read from the commit, also where the project is a folder below the top. A link is none of them.
func TestFiles(t *testing.T) {
	top := repository(t)
	if err := os.Symlink("/etc/passwd", filepath.Join(top, "sub", "link")); err != nil {
		t.Fatal(err)
	}
	run(t, top, "add", ".")
	run(t, top, "commit", "-q", "-m", "second")
	write(t, "not committed", top, "sub", "b")
	for project, want := range map[string]string{top: ".gitignore:25 a:6 sub/b:2 日本/語.txt:4", filepath.Join(top, "sub"): "b:2"} {
		r := must[*Repo](t)(Open(t.Context(), Options{Project: project, State: filepath.Join(filepath.Dir(top), "state"), Session: "s"}))
		head, _, err := r.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range must[[]Blob](t)(r.Files(t.Context(), head)) {
			got = append(got, fmt.Sprintf("%s:%d", b.Path, b.Size))
			if strings.HasSuffix(b.Path, "b") {
				if s := must[string](t)(r.Read(t.Context(), b)); s != "b\n" {
					t.Errorf("%s holds %q", b.Path, s)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", project, got, want)
		}
	}
}
