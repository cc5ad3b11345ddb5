package main

import (
	"strings"
	"testing"
	"time"
)

func TestReport(t *testing.T) {
	const stream = `{"Time":"2026-11-25T22:00:00Z","Action":"start","Package":"m/a"}
{"Time":"2026-11-25T22:00:02Z","Action":"start","Package":"m/b"}
{"Action":"run","Package":"m/a","Test":"TestGood"}
{"Action":"output","Package":"m/a","Test":"TestGood","Output":"a good log\n"}
{"Action":"pass","Package":"m/a","Test":"TestGood","Elapsed":1}
{"Action":"run","Package":"m/a","Test":"TestBad"}
{"Action":"output","Package":"m/a","Test":"TestBad","Output":"    a_test.go:3: it broke\n"}
{"Action":"fail","Package":"m/a","Test":"TestBad","Elapsed":3}
{"Action":"run","Package":"m/a","Test":"TestSkipped"}
{"Action":"output","Package":"m/a","Test":"TestSkipped","Output":"    a_test.go:9: tmux is missing\n"}
{"Action":"output","Package":"m/a","Test":"TestSkipped","Output":"--- SKIP: TestSkipped (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"TestSkipped","Elapsed":0}
{"Action":"fail","Package":"m/a","Elapsed":2.5}
{"Action":"run","Package":"m/b","Test":"TestHangs"}
{"Action":"output","Package":"m/b","Test":"TestHangs","Output":"it waits\n"}
{"Action":"output","Package":"m/b","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"m/b","Elapsed":3}
{"ImportPath":"m/c","Action":"build-output","Output":"c.go:1: does not compile\n"}
not JSON
{"Action":"run","Package":"m/d","Test":"TestLong"}
{"Action":"run","Package":"m/d","Test":"TestWaits"}
{"Action":"pause","Package":"m/d","Test":"TestWaits"}
{"Action":"pass","Package":"m/d2","Elapsed":0.1}
`
	var out strings.Builder
	r := newReport(&out)
	if err := r.read(strings.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
	r.progress(r.running[test{"m/d", "TestLong"}].Add(16 * time.Second))
	r.end()
	const want = `--- FAIL: m/a TestBad
    a_test.go:3: it broke
FAIL m/a 2.5s
panic: test timed out
FAIL m/b 3.0s
--- did not end: m/b TestHangs
it waits
c.go:1: does not compile
not JSON
ok   m/d2 0.1s
...  5 tests ended; running: d TestLong (16s)
slowest: a TestBad (3s), a TestGood (1s), a TestSkipped (0s)
longest packages: m/a (0s to 2s), m/d2 (0s to 0s), m/b (2s to 5s)
skipped: 1 because tmux is missing
1 passed, 3 failed, 1 skipped
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
