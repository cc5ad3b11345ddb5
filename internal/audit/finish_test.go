package audit

import (
	"fmt"
	"sync"
	"testing"
)

func TestFinish(t *testing.T) {
	o := options(t)
	o.Rotate = 4 << 10 // so that it is looked for in the segment before, too
	l := openLog(t, o)
	called := func(id, session, toolUse string) Record {
		r := decision(id)
		r.Session, r.ToolUse = session, toolUse
		return r
	}
	add(t, l, called("c1", "s1", "t1"), called("c2", "s1", "t2"), called("c3", "s2", "t1"), called("c4", "s1", `t"1`))
	for i := range 20 {
		add(t, l, decision(fmt.Sprint("other", i)))
	}
	end := func(d Record) []Record {
		d.Kind, d.Args, d.Outcome = Outcome, nil, "ok"
		return []Record{d}
	}
	finish := func(session, toolUse string, end func(Record) []Record) bool {
		t.Helper()
		done, err := l.Finish(session, toolUse, end)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	if finish("s1", "t1", func(d Record) []Record {
		if d.ID != "c1" || d.Effect != "allow" || d.Principal != "p1" {
			t.Errorf("found %+v", d)
		}
		return nil
	}) {
		t.Error("an outcome that nobody made")
	}
	for _, c := range []struct {
		session, toolUse string
		want             bool
	}{{"s1", "t1", true}, {"s1", "t1", false}, {"s2", "t1", true}, {"s1", `t"1`, true}, {"s3", "t1", false}, {"s1", "t9", false},
		{"", "t2", false}, {"s1", "", false}, {"s1", "t\xff", false}} {
		if got := finish(c.session, c.toolUse, end); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	add(t, l, called("c5", "s1", "t1")) // the agent tries the same call again
	if !finish("s1", "t1", func(d Record) []Record { return end(d) }) {
		t.Error("the call of today has no outcome")
	}
	other := openLog(t, o) // another process
	var work sync.WaitGroup
	results := make([]bool, 16)
	for i := range results {
		work.Go(func() {
			var err error
			if results[i], err = map[bool]*Log{true: l, false: other}[i%2 == 0].Finish("s1", "t2", end); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	n := 0
	for _, done := range results {
		if done {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d outcomes of one call", n)
	}
	if r := verify(t, o); !r.OK {
		t.Errorf("%+v", r)
	}
}

// TestFinishLooksNoFurther: what is too far from the end is not looked for.
func TestFinishLooksNoFurther(t *testing.T) {
	l := openLog(t, options(t))
	r := decision("c1")
	r.Session, r.ToolUse = "s1", "t1"
	add(t, l, r)
	big := decision("c2")
	big.Thinking = &Thinking{Thinking: string(make([]byte, maxThinking))}
	for range searchBytes/maxThinking + 1 {
		add(t, l, big)
	}
	if done, err := l.Finish("s1", "t1", func(d Record) []Record { return []Record{d} }); done || err != nil {
		t.Errorf("%v %v", done, err)
	}
}
