package ground

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// BenchmarkGround measures the steps of the swarm on a repository of 5,000 files in 250 folders. The figures stand beside the
// functions.
func BenchmarkGround(b *testing.B) {
	top := repository(b)
	for i := range 5000 {
		write(b, fmt.Sprintf("package p%d\n\n// %d\nfunc f() {}\n", i/20, i), top, fmt.Sprintf("d%03d", i/20), fmt.Sprintf("f%d.go", i))
	}
	for i := range 3000 {
		write(b, "module.exports = 1\n", top, "node_modules", fmt.Sprintf("m%d", i/10), fmt.Sprintf("f%d.js", i))
	}
	run(b, top, "add", ".")
	run(b, top, "commit", "-q", "-m", "all")
	r := must[*Repo](b)(Open(b.Context(), Options{Project: top, State: filepath.Join(filepath.Dir(top), "state"), Session: "s",
		Share: []string{"node_modules"}}))
	base, _, _ := r.Head(b.Context())
	if err := r.Begin(b.Context(), base); err != nil {
		b.Fatal(err)
	}
	tree := must[*Tree](b)(r.Add(b.Context(), "w", base))
	queue := must[*Tree](b)(r.Queue(b.Context()))
	n := 0
	step := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			before := processor()
			for b.Loop() {
				n++
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processor()-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
	edit := func() {
		for i := range 20 {
			write(b, fmt.Sprint(n), tree.Dir, fmt.Sprintf("d%03d", i), fmt.Sprintf("f%d.go", i*20))
		}
		write(b, "x", tree.Dir, fmt.Sprint("new", n))
	}
	step("Add", func() error {
		t, err := r.Add(b.Context(), fmt.Sprint("add", n), base)
		if err == nil {
			err = t.Remove(b.Context())
		}
		return err
	})
	var snap Commit
	step("Snapshot", func() (err error) {
		edit()
		snap, err = tree.Snapshot(b.Context(), fmt.Sprint("s", n))
		return err
	})
	step("Undo", func() error {
		edit()
		_, err := tree.Undo(b.Context(), fmt.Sprint("u", n), snap)
		return err
	})
	step("Facts", func() error { _, err := tree.Facts(b.Context(), base); return err })
	work := commit(b, tree, map[string]string{"work": "x"})
	var m Merged
	step("Merge", func() (err error) {
		m, err = r.Merge(b.Context(), base, Candidate{ID: "x", Commit: work, Message: "x"}, nil)
		return err
	})
	step("Checkout", func() error {
		if n%2 == 0 {
			return queue.Checkout(b.Context(), base)
		}
		return queue.Checkout(b.Context(), m.Commit)
	})
}

// processor returns the time that we and the gits that have ended have computed: on a busy machine it tells more than the clock.
func processor() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		_ = syscall.Getrusage(who, &u)
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}
