package backend

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/keeper"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

// Ten servers that misbehave, each in its own way, and a healthy one, called at once in this process, with the race detector where the
// suite has it: no wrong answer, every call ends within its bound, and no goroutine, descriptor or process is left. The whole program has
// the same test in cmd/myc.
func TestPoolUnderChaos(t *testing.T) {
	hostile := filepath.Join(t.TempDir(), "hostile")
	build := exec.Command("go", "build", "-o", hostile, "mycelium/test/hostile")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // compiled already, for vet
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var servers []Server
	for _, mode := range []string{"healthy", "hang", "stdout", "stderr", "dies", "nonsense", "late", "leaks", "huge", "slow", "storm"} {
		s := Server{Name: mode, Command: hostile, Args: []string{mode}, Env: map[string]string{"LATE": "700ms"},
			Timeout: Duration(500 * time.Millisecond), Stop: Duration(300 * time.Millisecond), Concurrency: 4, Queue: 4}
		if mode == "healthy" {
			s.Timeout, s.Queue = 0, 64
		}
		servers = append(servers, s)
	}
	goroutines, fds := runtime.NumGoroutine(), descriptors(t)
	p, err := New(servers, Options{Dir: t.TempDir(), Keeper: keeperOf(t), Logs: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				mode := "healthy"
				if n%2 == 0 {
					mode = servers[rand.IntN(len(servers))].Name
				}
				if err := callHostile(p, mode, fmt.Sprintf("%d-%d", i, n)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	keeperID := keeperPID(os.Getpid())
	if len(keeper.Descendants(keeperID)) < len(servers)/2 {
		t.Error("where are the servers?")
	}
	endPool(t, p)
	if left := keeper.Descendants(os.Getpid()); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	waitFor(t, func() bool { return runtime.NumGoroutine() <= goroutines && descriptors(t) <= fds })
}

// callHostile calls echo of a server. Healthy ones have to answer; the others may fail, but not lie.
func callHostile(p *Pool, mode, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	result, rpcErr, err := p.Do(ctx, policy.Scope{}, "", mode, "tools/call", []byte(`{"name":"echo","arguments":{"text":"`+text+`"}}`), nil)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: no answer within %v", mode, limit)
	}
	if err != nil || rpcErr != nil {
		if mode == "healthy" {
			return fmt.Errorf("the healthy server: %w%s", err, rpcErr)
		}
		return nil
	}
	content, _ := rawjson.List(rawjson.Member(result, "content"))
	if len(content) != 1 {
		return fmt.Errorf("%s: %.200s", mode, result)
	}
	if said := rawjson.TextAt(content[0], "text"); said != text && (mode != "huge" || !strings.HasPrefix(said, text+"xxxx")) {
		return fmt.Errorf("%s: asked for %q, was answered %.200q", mode, text, said)
	}
	return nil
}

// descriptors counts the open files of this process.
func descriptors(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
