package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"mycelium/internal/config/pages"
	"mycelium/internal/state"
	"mycelium/internal/web/site"
	"mycelium/internal/web/webtest"
)

// TestInjections has a text of an agent on the pages of no room. The shell has none.
func TestInjections(t *testing.T) {
	t.Parallel()
	s := webtest.Site(t, rooms()...)
	webtest.HoldsText(t, func(x string) map[string]string {
		w := httptest.NewRecorder()
		s.Fail(w, http.StatusNotFound, errors.New(x))
		return map[string]string{"problem": w.Body.String()}
	})
}

// testServer is a server that listens at a port of its own, with an empty state.
func testServer(t *testing.T) *Server {
	t.Helper()
	s, err := Open(t.Context(), pages.Section{Addr: "127.0.0.1:0"}, site.Options{Root: state.Root(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
