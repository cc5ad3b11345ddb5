package backend

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/credential"
	"mycelium/internal/credential/credentialtest"
)

// TestNoFormInErrors: no form of a secret comes into an error, a status, a log of a server or ours by what a server writes, and a half
// of one does not either, wherever the text is cut.
func TestNoFormInErrors(t *testing.T) {
	for some := range slices.Chunk(credentialtest.Samples(), 30) {
		var says []string
		for _, f := range some {
			says = append(says, "says "+f.Text)
		}
		var log strings.Builder
		texts := map[string]string{}
		t.Run("", func(t *testing.T) {
			logs := t.TempDir()
			s := play(t, "s", "play-fake", "confesses")
			s.Env = map[string]string{"SAYS": strings.Join(says, "\n")}
			p := newPool(t, Options{Logs: logs, Logger: slog.New(slog.NewTextHandler(&log, nil))}, s)
			_, err := ask(testContext(t), t, p, "s", nil)
			if err == nil {
				t.Fatal("an answer")
			}
			waitFor(t, func() bool { return p.Status()[0].State == StateFailed })
			kept, err2 := os.ReadFile(filepath.Join(logs, "server-s.log"))
			if err2 != nil {
				t.Fatal(err2)
			}
			texts["error"], texts["status"], texts["log of the server"] = err.Error(), p.Status()[0].Error, string(kept)
		})
		texts["log"] = log.String()
		for where, text := range texts {
			if !strings.Contains(text, credential.Redacted) {
				t.Errorf("nothing of it is in the %s: %s", where, text)
			}
			for _, f := range some {
				if strings.Contains(text, f.Secret) {
					t.Errorf("%s: the %s has it: %s", f.Form, where, text)
				}
			}
		}
	}
}

func TestNoFormInAnswersOfHTTP(t *testing.T) {
	for _, f := range credentialtest.Samples() {
		t.Run(f.Form, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusTeapot)
				_, _ = fmt.Fprint(w, strings.Repeat("x ", 140), f.Text) // cut in the middle of it
			}))
			t.Cleanup(srv.Close)
			p := newPool(t, Options{}, Server{Name: "s", URL: srv.URL})
			_, err := ask(testContext(t), t, p, "s", nil)
			if err == nil || !strings.Contains(err.Error(), "x x x") || strings.Contains(err.Error(), f.Secret[:6]) {
				t.Error(err)
			}
		})
	}
}
