package gate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"mycelium/internal/audit"
	"mycelium/internal/gate/facts"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/store"
)

// echo is a backend that costs nothing.
type echo struct{ result []byte }

func (echo) Subscribe(context.Context, string, string, func([]byte)) (stop func(), err error) {
	return nil, nil
}

func (e echo) Do(context.Context, policy.Scope, string, string, string, []byte, Peer) (result, rpcErr []byte, err error) {
	return e.result, nil, nil
}

func (e echo) Start(context.Context, []string) error { return nil }

// BenchmarkCall measures what the gate adds to a call with the real log: the decision, its record and the record of the outcome. The
// aim is about 20 µs in process.
func BenchmarkCall(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "src/deep/er"), 0o755); err != nil {
		b.Fatal(err)
	}
	log, err := audit.Open(audit.Options{Dir: filepath.Join(dir, "audit"), Lock: filepath.Join(dir, "lock"),
		KeyDir: filepath.Join(dir, "key")})
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	db, err := store.Open(b.Context(), "sqlite://"+filepath.Join(dir, "myc.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	g, err := New(Options{
		Backends: echo{[]byte(`{"content":[{"type":"text","text":"hello"}],"isError":false}`)},
		Log:      log, DB: db, World: three().world(b, dir), Dir: dir,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	s, err := g.Sessions.Open(b.Context(), session.Spec{Role: "developer"})
	if err != nil {
		b.Fatal(err)
	}
	requests := map[string]Request{
		"without-path": request("files__read_file", `{"note":"hello"}`),
		"one-path":     request("files__read_file", `{"path":"src/deep/er/file.go"}`),
		"denied":       request("files__delete_file", `{"path":"src/deep/er/file.go"}`),
	}
	once := func(b *testing.B, r Request) {
		if _, err := g.Call(b.Context(), s, r); (err == nil) != (r.Item.Name == "read_file") {
			b.Error(err)
		}
	}
	for _, name := range []string{"without-path", "one-path", "denied"} {
		b.Run("alone/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				once(b, requests[name])
			}
		})
	}
	ctx, stop := context.WithCancel(b.Context())
	var group sync.WaitGroup
	group.Go(func() { _ = log.Run(ctx, nil) })
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("daemon/%d-callers", callers), func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism((callers + 1) / 2)
			if callers == 1 {
				for b.Loop() {
					once(b, requests["one-path"])
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					once(b, requests["one-path"])
				}
			})
		})
	}
	stop()
	group.Wait()
	b.Run("facts", func(b *testing.B) {
		b.ReportAllocs()
		args, _ := policy.ParseArgs(requests["one-path"].Args)
		for b.Loop() {
			if _, err := facts.Of(requests["one-path"].Item, nil, args, facts.Place{Dir: dir, Home: ""}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.List(policy.Tool)
		}
	})
}
