package text

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 records wait", 1: "1 record waits", 2: "2 records wait"} {
		if got := Count(n, "record") + " " + Plural(n, "waits", "wait"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
