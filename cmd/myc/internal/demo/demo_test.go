package demo

import (
	"bytes"
	"mycelium/cmd/myc/internal/base"
	"strings"
	"testing"
)

// TestDemoFailsWhenAFactIsFalse: the demo is no slide show.
func TestDemoFailsWhenAFactIsFalse(t *testing.T) {
	var out bytes.Buffer
	d := &demo{app: &app{&base.App{Out: &out}}}
	d.check(true, "this happened")
	if err := d.verdict(); err != nil {
		t.Error(err)
	}
	d.check(false, "this did not")
	if err := d.verdict(); err == nil || !strings.Contains(err.Error(), "this did not") || strings.Contains(err.Error(), "this happened") {
		t.Errorf("verdict %v", err)
	}
	if got := out.String(); !strings.Contains(got, "✓ this happened") || !strings.Contains(got, "✗ this did not") {
		t.Errorf("shown:\n%s", got)
	}
}
