package notify

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"mycelium/internal/approval"
	"mycelium/internal/policy"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestNotify: ntfy and Slack get requests and notices, without arguments. A failure is retried, and no address is logged.
func TestNotify(t *testing.T) {
	got := make(chan string, 10)
	fails := 1
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fails > 0 {
			fails--
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		b, _ := io.ReadAll(r.Body)
		got <- r.URL.Path + " " + r.Header.Get("Authorization") + " " + string(b)
	}))
	defer srv.Close()
	q, err := approval.New(t.Context(), approval.Options{Deadline: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	log := &lockedBuffer{}
	n, err := New(Options{
		Config: approval.NotifyConfig{Ntfy: &approval.WebhookConfig{URL: srv.URL + "/topic", Token: "tk"}}, Queue: q,
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = n.Run(ctx)
	}()
	go func() { _, _ = q.Ask(ctx, bash("secret command")) }()
	select {
	case s := <-got:
		if !strings.HasPrefix(s, "/ Bearer tk ") || !strings.Contains(s, `"topic":"topic"`) ||
			!strings.Contains(s, "api waits for approval: agent__Bash") || strings.Contains(s, "secret") {
			t.Errorf("%s", s)
		}
	case <-time.After(time.Minute):
		t.Errorf("nothing was sent: %s", log)
	}
	if q.Watched() {
		t.Error("who is only told counts as somebody who answers")
	}
	cancel()
	<-done
	if got := slackText().Replace("<!channel> & <http://x|y>"); strings.ContainsAny(got, "<>") {
		t.Error(got)
	}
}

// TestScreenCommand: the text is an argument and not a part of a script.
func TestScreenCommand(t *testing.T) {
	evil := `"; do shell script "touch pwned" --`
	for _, system := range []string{"darwin", "linux"} {
		argv := screenCommand(system, evil, "-e evil")
		at := slices.Index(argv, "--")
		if at < 0 || len(argv) != at+3 || argv[at+1] != evil || argv[at+2] != "-e evil" ||
			slices.ContainsFunc(argv[:at], func(s string) bool { return strings.Contains(s, "pwned") }) {
			t.Errorf("%s: %q", system, argv)
		}
	}
}

// TestHasDesktop: without a key in the files, notices are shown only where somebody can see them.
func TestHasDesktop(t *testing.T) {
	bus, screen, wayland := "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/bus", "DISPLAY=:0", "WAYLAND_DISPLAY=wayland-0"
	for _, c := range []struct {
		system    string
		environ   []string
		installed bool
		want      bool
	}{
		{"linux", []string{bus, screen}, true, true},
		{"linux", []string{bus, wayland}, true, true},
		{"linux", []string{bus}, true, false}, // a login over ssh
		{"linux", []string{screen}, true, false},
		{"linux", []string{bus, screen}, false, false},
		{"darwin", nil, true, true},
		{"darwin", nil, false, false},
	} {
		getenv := func(name string) string {
			for _, kv := range c.environ {
				if value, ok := strings.CutPrefix(kv, name+"="); ok {
					return value
				}
			}
			return ""
		}
		look := func(program string) (string, error) {
			if !c.installed {
				return "", fmt.Errorf("%s: not found", program)
			}
			return program, nil
		}
		if got := hasDesktop(c.system, getenv, look); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func bash(command string) approval.Request {
	return approval.Request{
		Session: "s1", Principal: "dev", Role: "developer", Agent: "claude", Label: "api", Dir: "/work/api", Surface: "hook", Tool: "agent__Bash",
		Risk: policy.High, Category: policy.CategoryShell,
		Args: []byte(fmt.Sprintf(`{"command":%q}`, command)), Reason: "not known to be harmless",
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
