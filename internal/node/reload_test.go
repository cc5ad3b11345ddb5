package node

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mycelium/internal/backend"
	"mycelium/internal/node/project"
)

// TestCatalogThatChangesEarly: a catalog that changes after a view was compiled, and before anybody waits for that, is taken into the
// policy.
func TestCatalogThatChangesEarly(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "shop")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l := &project.Loader{Dir: dir, Environ: []string{"HOME=" + home}}
	v, err := l.OpenView()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	late := backend.Server{Name: "late", Command: "/bin/true"}
	if err := v.Pool.Reconfigure(append(v.Project.Servers, late)); err != nil {
		t.Fatal(err)
	}
	if _, known := v.Catalog.Pending["late"]; known {
		t.Fatal("the view knows a server that came after it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only a lost change takes so long
	defer cancel()
	r := newReloader(l, v, slog.New(slog.DiscardHandler))
	r.changed = func(*project.View) { cancel() }
	if err := r.watchCatalog(ctx); err != nil {
		t.Fatal(err)
	}
	if _, known := r.View().Catalog.Pending["late"]; !known {
		t.Error("the change was lost: the policy does not know the server")
	}
}
