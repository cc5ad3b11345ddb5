package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"mycelium/cmd/myc/internal/root"
	"mycelium/internal/rpc"
)

// TestAddURL adds a server at an address: one that answers, and one that wants a login, of which only the entry is written.
func TestAddURL(t *testing.T) {
	answers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := rpc.Parse(body)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.Method == "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},`+
				`"serverInfo":{"name":"far","version":"1"}}}`, m.ID)
		case m.Method == "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"look","inputSchema":{"type":"object"},`+
				`"annotations":{"readOnlyHint":true}}]}}`, m.ID)
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		}
	}))
	defer answers.Close()
	wants := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer wants.Close()

	home := t.TempDir()
	t.Chdir(t.TempDir())
	run := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := root.Main(t.Context(), args, strings.NewReader(""), &out, &errs, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")})
		return code, out.String() + errs.String()
	}
	if code, said := run("init"); code != 0 {
		t.Fatal(said)
	}
	if code, said := run("server", "add", "far", answers.URL, "--role", "guest", "--yes"); code != 0 || !strings.Contains(said, "far__look") {
		t.Errorf("exit %d: %s", code, said)
	}
	if code, said := run("server", "add", "login", wants.URL, "--role", "guest", "--yes"); code != 0 ||
		!strings.Contains(said, "login wants a login, so its tools are not known yet") ||
		!strings.Contains(said, "myc mcp login login; and then make a skill of its tools: myc skill add login --from login --role guest") {
		t.Errorf("exit %d: %s", code, said)
	}
	if _, said := run("server", "list"); !strings.Contains(said, wants.URL) {
		t.Errorf("the server is not there: %s", said)
	}
	if _, err := os.Stat("skills/login"); err == nil {
		t.Error("a skill was written for tools that are not known")
	}
	if code, said := run("skill", "add", "login", "--from", "login", "--yes"); code != 1 || !strings.Contains(said, "myc mcp login login") {
		t.Errorf("exit %d: %s", code, said)
	}
}
