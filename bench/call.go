package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// way is one connection to the echo server to measure.
type way struct {
	name string
	base int // index of the way to compare with
	call func(ctx context.Context, l demand) error
	pids []int // the processes between client and backend
	made int   // number of calls
}

// demand is the load of a round: the number of callers, and the KB returned for each KB sent.
type demand struct{ callers, kb int }

// sample is the result of one round of one way.
type sample struct {
	p50, p99 time.Duration
	rate     float64       // calls per second
	cpu      time.Duration // of pids, per call
}

const (
	directPipe = iota
	directHTTP
)

// wants reports whether to measure a way.
func (o options) wants(w way) bool { return strings.Contains(w.name, o.way) }

// measureCalls calls echo with 1 KB in a closed loop, directly and through the gateway, in alternating rounds.
func measureCalls(ctx context.Context, b *bed, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	opened, err := openWays(ctx, b, o)
	defer opened.close()
	if err != nil {
		return err
	}
	demands := []demand{{1, 100}}
	for i, callers := range o.callers {
		demands = slices.Insert(demands, i, demand{callers, 1})
	}
	measured := ratios{}
	daemonCalls := 0
	for _, l := range demands {
		samples, err := rounds(ctx, opened.all, l, o)
		if err != nil {
			return err
		}
		printTable(opened.all, samples, l, measured)
	}
	for i := range opened.all {
		daemonCalls += opened.all[i].throughDaemon()
	}
	fmt.Println()
	for _, w := range opened.all {
		if w.name != "HTTP front" || !o.wants(w) {
			continue
		}
		for ; daemonCalls < o.calls; daemonCalls += batchOfCalls {
			if err := callBatch(ctx, w); err != nil {
				return err
			}
		}
		fmt.Printf("resident memory of the daemon after %d calls: %s\n", daemonCalls, resident(w.pids[0]))
	}
	return errors.Join(checkAudit(ctx, b, daemonCalls), check(o.check, measured))
}

// throughDaemon returns the number of calls of this way that the daemon handled.
func (w *way) throughDaemon() int {
	if w.name == "HTTP front" || w.name == "stdio front, daemon" {
		return w.made
	}
	return 0
}

// batchOfCalls is the number of calls of callBatch.
const batchOfCalls = 2000

// callBatch makes calls without measuring them.
func callBatch(ctx context.Context, w way) error {
	const callers = 16
	errs := make([]error, callers)
	var group sync.WaitGroup
	for c := range callers {
		group.Go(func() {
			for range batchOfCalls / callers {
				errs[c] = errors.Join(errs[c], w.call(ctx, demand{callers, 1}))
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// checkAudit returns an error unless the log is intact and has every call.
func checkAudit(ctx context.Context, b *bed, calls int) error {
	dir := b.dir + "/daemon"
	out, err := b.output(ctx, dir, "audit", "verify")
	fmt.Printf("audit verify: %s\n", strings.TrimSpace(string(out)))
	if err != nil {
		return err
	}
	if out, err = b.output(ctx, dir, "audit", "stats", "--json"); err != nil {
		return err
	}
	var stats struct {
		Total  int            `json:"total"`
		Result map[string]int `json:"byResult"`
	}
	if err := json.Unmarshal(out, &stats); err != nil {
		return err
	}
	fmt.Printf("calls made through the daemon: %d; in the audit: %d, by result %v\n", calls, stats.Total, stats.Result)
	if stats.Total != calls || stats.Result["ok"] != calls {
		return fmt.Errorf("the audit does not have every call: %d of %d, %d ok", stats.Total, calls, stats.Result["ok"])
	}
	return nil
}

// rounds measures all ways in alternating rounds.
func rounds(ctx context.Context, ways []way, l demand, o options) ([][]sample, error) {
	samples := make([][]sample, len(ways))
	for r := -1; r < o.rounds; r++ { // the first warms up
		for i := range ways {
			w := &ways[i]
			if !o.wants(*w) {
				continue
			}
			d := o.round
			if r < 0 {
				d /= 3
			}
			s, err := round(ctx, w, l, d)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			if r >= 0 {
				samples[i] = append(samples[i], s)
			}
		}
	}
	return samples, nil
}

// printTable prints the table for one number of callers: for each figure, the median over the rounds and the median of the ratios within
// a round.
func printTable(ways []way, samples [][]sample, l demand, measured ratios) {
	rows := [][]string{{fmt.Sprintf("%d callers, %d KB results", l.callers, l.kb), "p50", "ratio", "added", "p99", "ratio", "calls/s", "ratio",
		"gateway CPU a call"}}
	for i, w := range ways {
		if len(samples[i]) == 0 {
			continue
		}
		of := func(f func(sample) float64) float64 {
			var v []float64
			for _, s := range samples[i] {
				v = append(v, f(s))
			}
			return quantile(v, 0.5)
		}
		beside := func(f func(mine, base sample) float64) (float64, bool) {
			if w.base == i || len(samples[w.base]) == 0 {
				return 0, false
			}
			var v []float64
			for r, s := range samples[i] {
				v = append(v, f(s, samples[w.base][r]))
			}
			return quantile(v, 0.5), true
		}
		ratio := func(figure string, f func(sample) float64) string {
			v, ok := beside(func(mine, base sample) float64 { return f(mine) / f(base) })
			if !ok {
				return "–"
			}
			measured[point{w.name, l.callers, l.kb, figure}] = v
			return fmt.Sprintf("%.2f", v)
		}
		p50 := func(s sample) float64 { return float64(s.p50) / 1e3 }
		p99 := func(s sample) float64 { return float64(s.p99) / 1e6 }
		rate := func(s sample) float64 { return s.rate }
		used := "–"
		if len(w.pids) > 0 {
			used = fmt.Sprintf("%.0f µs", of(func(s sample) float64 { return float64(s.cpu) / 1e3 }))
		}
		added := "–"
		if v, ok := beside(func(mine, base sample) float64 { return p50(mine) - p50(base) }); ok {
			added = fmt.Sprintf("%.0f µs", v)
		}
		rows = append(rows, []string{w.name, fmt.Sprintf("%.0f µs", of(p50)), ratio("p50", p50), added, fmt.Sprintf("%.2f ms", of(p99)),
			ratio("p99", p99),
			fmt.Sprintf("%.0f", of(rate)), ratio("rate", rate), used})
	}
	fmt.Println()
	table(rows)
}

// round calls in a closed loop for a fixed time.
func round(ctx context.Context, w *way, l demand, d time.Duration) (sample, error) {
	callers := l.callers
	took := make([][]time.Duration, callers)
	errs := make([]error, callers)
	var group sync.WaitGroup
	used, began := cpu(w.pids...), time.Now()
	for c := range callers {
		group.Go(func() {
			for time.Since(began) < d && errs[c] == nil {
				start := time.Now()
				errs[c] = w.call(ctx, l)
				took[c] = append(took[c], time.Since(start))
			}
		})
	}
	group.Wait()
	lasted := time.Since(began)
	var all []time.Duration
	for _, t := range took {
		all = append(all, t...)
	}
	w.made += len(all)
	return sample{quantile(all, 0.5), quantile(all, 0.99), float64(len(all)) / lasted.Seconds(),
		(cpu(w.pids...) - used) / time.Duration(len(all))}, errors.Join(errs...)
}

var kilobyte = strings.Repeat("0123456789abcdef", 64)

func callParams(tool string, kb int) string {
	return fmt.Sprintf(`{"name":%q,"arguments":{"text":%q,"times":%d}}`, tool, kilobyte, kb)
}

// openedWays are the ways to the echo server, with the functions that end their processes.
type openedWays struct {
	bed     *bed
	all     []way
	closers []func()
}

// sessionFlags are the role and the skill that the calls need.
var sessionFlags = []string{"--role", "bench", "--skill", "bench"}

func (w *openedWays) close() {
	for _, end := range slices.Backward(w.closers) {
		end()
	}
}

// openWays starts all processes and opens every way to the echo server. The caller must close the result, also after an error.
func openWays(ctx context.Context, b *bed, o options) (*openedWays, error) {
	w := &openedWays{bed: b}
	if err := w.direct(ctx); err != nil {
		return w, err
	}
	if err := w.fronts(ctx); err != nil {
		return w, err
	}
	if o.old == "" {
		return w, nil
	}
	old := *b
	old.myc = o.old
	dir, err := old.project(ctx, "old", true)
	if err == nil {
		_, err = w.daemon(ctx, &old, dir, "HTTP front, old")
	}
	return w, err
}

// direct opens the ways without Mycelium: the echo server itself, and behind a proxy that has neither policy nor log.
func (w *openedWays) direct(ctx context.Context) error {
	if err := w.pipe(ctx, "direct, stdio", "echo", exec.CommandContext(ctx, w.bed.self, "echo")); err != nil {
		return err
	}
	url, end, err := startHTTP(exec.CommandContext(ctx, w.bed.self, "echo", "http"), func(line string) string { return line })
	w.closers = append(w.closers, end)
	if err != nil {
		return err
	}
	w.all = append(w.all, way{name: "direct, HTTP", base: directHTTP, call: post(url, "", "echo")})
	bare := exec.CommandContext(ctx, w.bed.self, "proxy")
	url, end, err = startHTTP(bare, func(line string) string { return line })
	w.closers = append(w.closers, end)
	if err != nil {
		return err
	}
	w.all = append(w.all, way{name: "bare proxy, HTTP", base: directHTTP, call: post(url, "", "echo"), pids: []int{bare.Process.Pid}})
	return nil
}

// fronts opens the ways through a daemon, and through a front without a daemon.
func (w *openedWays) fronts(ctx context.Context) error {
	dir, err := w.bed.project(ctx, "daemon", true)
	if err != nil {
		return err
	}
	serve, err := w.daemon(ctx, w.bed, dir, "HTTP front")
	if err != nil {
		return err
	}
	front := w.bed.command(ctx, dir, append([]string{"--state", string(w.bed.state()), "mcp"}, sessionFlags...)...)
	if err := w.pipe(ctx, "stdio front, daemon", "echo__echo", front, serve.Process.Pid); err != nil {
		return err
	}
	if dir, err = w.bed.project(ctx, "alone", true); err != nil {
		return err
	}
	alone := w.bed.command(ctx, dir, append([]string{"--state", string(w.bed.state()), "mcp", "--alone"}, sessionFlags...)...)
	return w.pipe(ctx, "stdio front, --alone", "echo__echo", alone)
}

// pipe starts a server that communicates over its standard streams. pids are other processes that work for it.
func (w *openedWays) pipe(ctx context.Context, name, tool string, cmd *exec.Cmd, pids ...int) error {
	p, err := connect(cmd)
	if err != nil {
		return err
	}
	w.closers = append(w.closers, func() { p.end() })
	if err := p.hello(ctx); err != nil {
		return err
	}
	if name != "direct, stdio" {
		pids = append(pids, cmd.Process.Pid)
	}
	small, large := []byte(callParams(tool, 1)), []byte(callParams(tool, 100))
	w.all = append(w.all, way{name: name, base: directPipe, pids: pids, call: func(ctx context.Context, l demand) error {
		params := small
		if l.kb > 1 {
			params = large
		}
		m, err := p.call(ctx, "tools/call", params)
		return checked(l, m.Result, m.Error, err)
	}})
	return nil
}

// daemon runs myc serve in the project and opens the way over HTTP with the token of a session.
func (w *openedWays) daemon(ctx context.Context, b *bed, dir, name string) (*exec.Cmd, error) {
	serve := b.command(ctx, dir, "serve", "--addr", "127.0.0.1:0")
	url, end, err := startHTTP(serve, func(line string) string {
		_, rest, _ := strings.Cut(line, "serving MCP at ")
		url, _, _ := strings.Cut(rest, " ")
		return url
	})
	w.closers = append(w.closers, end)
	if err != nil {
		return nil, err
	}
	out, err := b.output(ctx, dir, append([]string{"session", "new", "--json"}, sessionFlags...)...)
	if err != nil {
		return nil, err
	}
	var opened struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(out, &opened); err != nil {
		return nil, err
	}
	w.all = append(w.all, way{name: name, base: directHTTP, call: post(url, opened.Token, "echo__echo"), pids: []int{serve.Process.Pid}})
	return serve, nil
}

// startHTTP starts a server and returns its address, which find extracts from a line of output.
func startHTTP(cmd *exec.Cmd, find func(line string) string) (url string, end func(), err error) {
	end = func() {}
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		return "", end, err
	}
	end = func() {
		_ = cmd.Cancel()
		_ = cmd.Wait()
		_ = w.Close()
	}
	lines := bufio.NewScanner(r)
	for url == "" && lines.Scan() {
		url = find(lines.Text())
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	if !strings.HasPrefix(url, "http") {
		return "", end, fmt.Errorf("%s does not say where it serves", cmd)
	}
	return url, end, nil
}

// post calls over HTTP with persistent connections, in the newest revision, which has no protocol session.
func post(url, token, tool string) func(context.Context, demand) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	small, large := requestBody(tool, 1), requestBody(tool, 100)
	return func(ctx context.Context, l demand) error {
		body := small
		if l.kb > 1 {
			body = large
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		h := req.Header
		h.Set("Content-Type", "application/json")
		h.Set("Accept", "application/json, text/event-stream")
		h.Set("MCP-Protocol-Version", "2026-07-28")
		h.Set("Mcp-Method", "tools/call")
		h.Set("Mcp-Name", tool)
		if token != "" {
			h.Set("Authorization", "Bearer "+token)
		}
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			err = errors.Join(err, fmt.Errorf("%s", res.Status))
		}
		return checked(l, answer, nil, err)
	}
}

// requestBody returns a call in the form of the newest revision.
func requestBody(tool string, kb int) []byte {
	params := callParams(tool, kb)
	params = params[:len(params)-1] +
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}`
	return []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)
}

// checked returns an error unless the answer contains the whole echo.
func checked(l demand, answer, rpcErr []byte, err error) error {
	if err == nil && (!bytes.Contains(answer, []byte(kilobyte)) || len(answer) < l.kb*len(kilobyte)) {
		err = fmt.Errorf("not the echo: %.300s%.300s", answer, rpcErr)
	}
	return err
}
