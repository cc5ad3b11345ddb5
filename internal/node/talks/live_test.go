package talks

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLive: what an agent says is read again when its file has grown; secrets in it are replaced; a path that is no such file is not read.
func TestLive(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	write := func(text string) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	secret := "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	write(`{"type":"user","message":{"role":"user","content":"use ` + secret + `"}}`)
	var l Live
	s, err := l.Read("claude", file)
	if err != nil || len(s.Messages) != 1 || s.Messages[0].Content == "use "+secret {
		t.Fatalf("%+v %v", s, err)
	}
	write(`{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`)
	write(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1",` +
		`"content":"` + secret + `","is_error":true}]}}`)
	s, err = l.Read("claude", file)
	if r := s.Results["t1"]; err != nil || len(s.Messages) < 2 || r.Name != "Bash" || !r.Failed || r.Output == "" || r.Output == secret {
		t.Errorf("%+v %v", s, err)
	}
	for _, path := range []string{"talk.jsonl", filepath.Dir(file), "/etc/passwd", file + "x"} {
		if _, err := l.Read("claude", path); err == nil {
			t.Errorf("%s is read", path)
		}
	}
}
