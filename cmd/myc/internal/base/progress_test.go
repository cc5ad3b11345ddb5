package base

import (
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var out strings.Builder
	ticks := make(chan time.Time)
	stopped := false
	p := tell(&out, "reading the log", "record", ticks, func() { stopped = true })
	ticks <- time.Time{}
	p.Step()
	p.Step()
	ticks <- time.Time{}
	p.End()
	const wipe = "\r\x1b[K"
	got, last := out.String(), wipe+"reading the log … 2 records, 2 s"+wipe
	// The counts may be read after the first tick, so only the last line has a known one.
	if !strings.HasPrefix(got, wipe+"reading the log … ") || !strings.HasSuffix(got, last) || !stopped {
		t.Errorf("%q, stopped %v", got, stopped)
	}

	out.Reset()
	short := tell(&out, "reading the log", "record", ticks, func() {})
	short.End()
	if out.Len() > 0 {
		t.Errorf("a short step shows %q", out.String())
	}

	p = Tell(&out, "reading the log", "record")
	p.Step()
	p.End()
	if p != nil || out.Len() > 0 {
		t.Errorf("on a pipe: %v %q", p, out.String())
	}
}
