package serverlog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mycelium/internal/backend/redact"
)

func TestLogOfStderrIsBounded(t *testing.T) {
	dir := t.TempDir()
	l := New(dir, "s", nil, time.Now)
	w := l.Writer(redact.Redactor{})
	line := []byte(strings.Repeat("noise ", 100) + "\n")
	for range 10 * logSize / len(line) {
		_, _ = w.Write(line)
	}
	_, _ = w.Write([]byte("\x1b[2Jno end of line" + strings.Repeat("x", 1<<20)))
	_, _ = w.Write([]byte("…\nlast"))
	_ = w.Close()
	l.Close()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() > logSize {
			t.Error(f, info.Size(), err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "server-s.log"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	cut := lines[len(lines)-2]
	if !strings.Contains(cut, " [2Jno end of line") || !strings.HasSuffix(cut, "x […]") || len(cut) > lineSize+100 ||
		!strings.HasSuffix(lines[len(lines)-1], " last") {
		t.Errorf("the last lines are %.200q", lines[len(lines)-2:])
	}
}
