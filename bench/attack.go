package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// attackDescriptors is how many descriptors the attacked daemon may open: fewer than an attack has connections.
const attackDescriptors = 4096

// reopenAfter is how long the hostile client leaves a connection closed that gave way. The attack is of connections that are held, not a
// flood of new ones.
const reopenAfter = 10 * time.Second

// attack is what one hostile client does until ctx ends. It goes to our own daemon on this machine, and to nothing else.
type attack struct {
	name string
	run  func(ctx context.Context, f *front, token string, group *sync.WaitGroup)
}

// attacks returns the attacks of threat T19. Each is as large as the one that was measured from outside (issue 10).
func attacks() []attack {
	return []attack{
		{"1,200 bodies of 4 MiB that do not come", func(ctx context.Context, f *front, token string, group *sync.WaitGroup) {
			text := f.header(token, "Content-Length: 4194304\r\n") + strings.Repeat("x", 200)
			f.hold(ctx, group, 1200, func(int) string { return text })
		}},
		{"4,200 silent connections", func(ctx context.Context, f *front, _ string, group *sync.WaitGroup) {
			kinds := []string{"", "POST /mcp HTT", f.header("nobody", "Content-Length: 1000\r\n") + "half"}
			f.hold(ctx, group, 4200, func(i int) string { return kinds[i%len(kinds)] })
		}},
		{"handshakes without end", func(ctx context.Context, f *front, token string, group *sync.WaitGroup) {
			f.storms(ctx, group, 4, func() { f.tell(fmt.Sprint("handshake: ", f.handshake(ctx, token))) })
		}},
		{"100 answers of 15 MiB at once", func(ctx context.Context, f *front, token string, group *sync.WaitGroup) {
			arguments := `{"times":1000,"text":"` + strings.Repeat("x", 15<<10) + `"}`
			f.storms(ctx, group, 100, func() { f.waste(ctx, token, "big__echo", arguments) })
		}},
		{"8 callers with answers of 4 MiB", func(ctx context.Context, f *front, token string, group *sync.WaitGroup) {
			arguments := `{"times":400,"text":"` + strings.Repeat("x", 10<<10) + `"}`
			f.storms(ctx, group, 8, func() { f.waste(ctx, token, "echo__echo", arguments) })
		}},
		{"1,500 slow calls at once", func(ctx context.Context, f *front, token string, group *sync.WaitGroup) {
			f.storms(ctx, group, 1500, func() { f.waste(ctx, token, "echo__echo", `{"wait":2000,"text":"x"}`) })
		}},
	}
}

// attacked are the figures of one attack.
type attacked struct {
	quiet, wild    []time.Duration // of the others' calls
	ratios         []float64       // of their p99, round by round
	failed         int64           // of the others' calls during the attack
	calls          int64
	peak           float64 // MiB
	status, stop   time.Duration
	unstatus       int64 // `myc status` that failed
	firstComplaint atomic.Pointer[error]
	hostile        map[string]int // what the hostile client got
}

// measureAttacks measures what others notice of each attack. Rounds with it and without it take turns; `myc status` runs in both.
func measureAttacks(ctx context.Context, b *bed, o options) error {
	big, endBig, err := startHTTP(exec.CommandContext(ctx, b.self, "echo", "http"), func(line string) string { return line })
	defer endBig()
	if err != nil {
		return err
	}
	dir, err := b.with(ctx, "attack", fmt.Sprintf("  echo: {command: %q, args: [echo]}\n  big: {type: http, url: %q}\n", b.self, big),
		"echo__echo, big__echo")
	if err != nil {
		return err
	}
	rows := [][]string{{"", "quiet p50", "p99", "attacked p50", "p99", "p99 ratio", "failed", "of", "peak MiB", "status", "stop"}}
	for _, a := range attacks() {
		if o.way != "" && !strings.Contains(a.name, o.way) {
			continue
		}
		r, err := b.measureAttack(ctx, dir, a, o)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		status := fmt.Sprintf("%.2f s", r.status.Seconds())
		if r.unstatus > 0 {
			status += fmt.Sprintf(", %d failed", r.unstatus)
		}
		rows = append(rows, []string{a.name, spell(quantile(r.quiet, 0.5)), spell(quantile(r.quiet, 0.99)), spell(quantile(r.wild, 0.5)),
			spell(quantile(r.wild, 0.99)), fmt.Sprintf("%.2f", quantile(r.ratios, 0.5)), fmt.Sprint(r.failed), fmt.Sprint(r.calls),
			fmt.Sprintf("%.0f", r.peak), status, fmt.Sprintf("%.2f s", r.stop.Seconds())})
		fmt.Printf("%s: the hostile client got %v\n", a.name, r.hostile)
		if complaint := r.firstComplaint.Load(); complaint != nil {
			fmt.Printf("%s: the first failure of the others: %v\n", a.name, *complaint)
		}
	}
	fmt.Println()
	table(rows)
	return nil
}

// measureAttack measures one attack on a daemon of its own.
func (b *bed) measureAttack(ctx context.Context, dir string, a attack, o options) (*attacked, error) {
	f, end, err := openFrontWith(ctx, b, dir, attackDescriptors)
	defer end()
	if err != nil {
		return nil, err
	}
	hostile, err := f.mint(ctx, b, dir)
	if err != nil {
		return nil, err
	}
	r := &attacked{}
	if _, err := f.others(ctx, r, o.chaos/4); err != nil { // warm up
		return nil, err
	}
	watch, stopWatch := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { r.watch(watch, b, dir, f.pid) })
	defer watching.Wait()
	defer stopWatch()
	for range o.rounds {
		quiet, err := f.others(ctx, r, o.chaos)
		if err != nil {
			return nil, err
		}
		stop := begin(ctx, f, hostile, a)
		wild, err := f.others(ctx, r, o.chaos)
		stop()
		if err != nil {
			return nil, err
		}
		r.ratios = append(r.ratios, float64(quantile(wild, 0.99))/float64(quantile(quiet, 0.99)))
		r.quiet, r.wild = append(r.quiet, quiet...), append(r.wild, wild...)
		pause(ctx, time.Second) // what the attack left is over
	}
	stopWatch()
	watching.Wait()
	r.hostile = f.told
	stop := begin(ctx, f, hostile, a)
	defer stop()
	began := time.Now()
	_, err = b.output(ctx, dir, "stop")
	r.stop = time.Since(began)
	return r, err
}

// begin starts an attack and returns when it is under way.
func begin(ctx context.Context, f *front, token string, a attack) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	a.run(ctx, f, token, &group)
	pause(ctx, time.Second)
	return func() { cancel(); group.Wait() }
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// others are four callers in a closed loop. Each of them begins a round with a new connection and a handshake. A failed call counts with
// the time that it took.
func (f *front) others(ctx context.Context, r *attacked, d time.Duration) ([]time.Duration, error) {
	const callers = 4
	fresh := &front{url: f.url, token: f.token, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}}
	defer fresh.http.CloseIdleConnections()
	limited, cancel := context.WithTimeout(ctx, d+10*time.Second)
	defer cancel()
	until := time.Now().Add(d)
	took := make([][]time.Duration, callers)
	var group sync.WaitGroup
	for c := range callers {
		group.Go(func() {
			one := func(do func() error) {
				start := time.Now()
				err := do()
				took[c] = append(took[c], time.Since(start))
				atomic.AddInt64(&r.calls, 1)
				if err != nil {
					atomic.AddInt64(&r.failed, 1)
					r.firstComplaint.CompareAndSwap(nil, &err)
				}
			}
			one(func() error { return fresh.handshake(limited, f.token) })
			for time.Now().Before(until) {
				one(func() error {
					answer, err := fresh.post(limited, f.token, "tools/call", "echo__echo", `"name":"echo__echo","arguments":{"text":"`+kilobyte+`"}`)
					return checked(demand{1, 1}, answer, nil, err)
				})
			}
		})
	}
	group.Wait()
	var all []time.Duration
	for _, t := range took {
		all = append(all, t...)
	}
	return all, ctx.Err()
}

// watch runs `myc status` and reads the daemon's memory until ctx ends.
func (r *attacked) watch(ctx context.Context, b *bed, dir string, pid int) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() {
		for ctx.Err() == nil {
			raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, rest, _ := strings.Cut(string(raw), "VmRSS:")
			kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			n, _ := strconv.Atoi(kb)
			r.peak = max(r.peak, float64(n)/1024)
			pause(ctx, 20*time.Millisecond)
		}
	})
	for ctx.Err() == nil {
		began := time.Now()
		_, err := b.output(ctx, dir, "status")
		if ctx.Err() == nil {
			r.status = max(r.status, time.Since(began))
			if err != nil {
				r.unstatus++
				r.firstComplaint.CompareAndSwap(nil, &err)
			}
		}
		pause(ctx, 500*time.Millisecond)
	}
}

// header returns the header of a POST of a caller.
func (f *front) header(token, more string) string {
	return "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + token + "\r\n" +
		more + "\r\n"
}

// hold keeps n connections open that say only a text. One that is closed is opened again after reopenAfter.
func (f *front) hold(ctx context.Context, group *sync.WaitGroup, n int, text func(i int) string) {
	at, err := url.Parse(f.url)
	if err != nil {
		return
	}
	for i := range n {
		group.Go(func() {
			pause(ctx, time.Duration(i)*time.Second/time.Duration(n)) // not all at the same moment, in each second
			for ctx.Err() == nil {
				c, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.Host)
				if err == nil {
					stop := context.AfterFunc(ctx, func() { _ = c.Close() })
					if _, err := io.WriteString(c, text(i)); err == nil {
						_, _ = io.Copy(io.Discard, c)
					}
					stop()
					_ = c.Close()
				}
				pause(ctx, reopenAfter)
			}
		})
	}
}

// storms has n callers do something again and again.
func (f *front) storms(ctx context.Context, group *sync.WaitGroup, n int, do func()) {
	for range n {
		group.Go(func() {
			for ctx.Err() == nil {
				do()
			}
		})
	}
}

// waste makes a call whose answer nobody reads for long.
func (f *front) waste(ctx context.Context, token, tool, arguments string) {
	res, err := f.send(ctx, token, "tools/call", tool, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+
		`","arguments":`+arguments+`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if err != nil {
		return
	}
	n, _ := io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	f.tell(fmt.Sprintf("%s, %s", res.Status, size(n)))
}

// size is about how many bytes an answer has.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return "under 1 KiB"
	case n < 1<<20:
		return "under 1 MiB"
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// tell counts what the hostile client got.
func (f *front) tell(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told == nil {
		f.told = map[string]int{}
	}
	f.told[what]++
}

// handshake opens a link of the revision 2025-06-18 and leaves it.
func (f *front) handshake(ctx context.Context, token string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+initialize+`}`))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := f.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err == nil && res.Header.Get("Mcp-Session-Id") == "" {
		err = errors.New("handshake: " + res.Status + ": " + string(said))
	}
	return err
}
