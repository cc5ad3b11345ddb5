package telemetry

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// The bounds and intervals of sending.
const (
	maxSpans    = 4096             // spans in the queue; further ones are dropped and counted
	maxBatch    = 512              // spans of one message
	sendSpans   = 5 * time.Second  // between messages
	sendMetrics = 60 * time.Second // between messages
	sendWithin  = 10 * time.Second // timeout of one message
)

// ExporterOptions are the options of an exporter.
type ExporterOptions struct {
	Endpoint string            // base URL of an OTLP receiver, such as http://127.0.0.1:4318
	Headers  map[string]string // sent with each message
	Service  string            // service.name; empty: mycelium
	Version  string            // service.version
	Meter    *Meter            // its metrics are sent; nil: only spans are sent
	Logger   *slog.Logger      // nil: discard
}

// Exporter sends spans and metrics by OTLP over HTTP in JSON.
type Exporter struct {
	options ExporterOptions
	client  *http.Client
	log     *slog.Logger

	mu    sync.Mutex
	spans []*Span
	full  chan struct{} // receives a value when a batch is full
}

// NewExporter returns an exporter. It sends nothing before Run.
func NewExporter(o ExporterOptions) *Exporter {
	if o.Service == "" {
		o.Service = "mycelium"
	}
	o.Endpoint = strings.TrimSuffix(o.Endpoint, "/")
	e := &Exporter{options: o, log: o.Logger, full: make(chan struct{}, 1)}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	// Do not follow redirects, because the headers may contain a credential.
	e.client = &http.Client{Timeout: sendWithin, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 1,
		IdleConnTimeout: 90 * time.Second}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return e
}

func (e *Exporter) add(s *Span) {
	e.mu.Lock()
	if len(e.spans) >= maxSpans {
		e.mu.Unlock()
		e.options.Meter.drop(1)
		return
	}
	e.spans = append(e.spans, s)
	full := len(e.spans) == maxBatch
	e.mu.Unlock()
	if full {
		select {
		case e.full <- struct{}{}:
		default:
		}
	}
}

// Run sends until ctx is done, and then sends the rest.
func (e *Exporter) Run(ctx context.Context) error {
	defer e.client.CloseIdleConnections()
	spans, metrics := time.NewTicker(sendSpans), time.NewTicker(sendMetrics)
	defer spans.Stop()
	defer metrics.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendWithin/2)
			defer cancel()
			e.sendSpans(last)
			e.sendMetrics(last)
			return nil
		case <-spans.C:
			e.sendSpans(ctx)
		case <-e.full:
			e.sendSpans(ctx)
		case <-metrics.C:
			e.sendMetrics(ctx)
		}
	}
}

// sendSpans sends the queue. Spans that cannot be sent are dropped; keeping them would fill the memory.
func (e *Exporter) sendSpans(ctx context.Context) {
	for {
		e.mu.Lock()
		n := min(len(e.spans), maxBatch)
		batch := e.spans[:n:n]
		if e.spans = e.spans[n:]; len(e.spans) == 0 {
			e.spans = nil
		}
		e.mu.Unlock()
		if n == 0 {
			return
		}
		list := make([]map[string]any, n)
		for i, s := range batch {
			list[i] = s.otlp()
		}
		if !e.post(ctx, "/v1/traces",
			map[string]any{"resourceSpans": []any{map[string]any{"resource": e.resource(),
				"scopeSpans": []any{map[string]any{"scope": e.scope(), "spans": list}}}}}) {
			e.options.Meter.drop(n)
		}
	}
}

func (e *Exporter) sendMetrics(ctx context.Context) {
	if e.options.Meter == nil {
		return
	}
	e.post(ctx, "/v1/metrics",
		map[string]any{"resourceMetrics": []any{map[string]any{"resource": e.resource(),
			"scopeMetrics": []any{map[string]any{"scope": e.scope(), "metrics": e.options.Meter.otlp()}}}}})
}

func (e *Exporter) post(ctx context.Context, path string, message any) bool {
	b, err := json.Marshal(message)
	if err == nil {
		err = e.send(ctx, path, b)
	}
	if err != nil && ctx.Err() == nil {
		e.log.Warn("telemetry was not sent", "to", e.options.Endpoint+path, "error", err)
	}
	return err == nil
}

func (e *Exporter) send(ctx context.Context, path string, b []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.options.Endpoint+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	for k, v := range e.options.Headers {
		r.Header.Set(k, v)
	}
	res, err := e.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("the receiver answers %s", res.Status)
	}
	return nil
}

func (e *Exporter) resource() map[string]any {
	return map[string]any{"attributes": attributes([]Label{{"service.name", e.options.Service}, {"service.version", e.options.Version}})}
}

func (e *Exporter) scope() map[string]any {
	return map[string]any{"name": "mycelium", "version": e.options.Version}
}

func attributes(labels []Label) []any {
	list := make([]any, 0, len(labels))
	for _, l := range labels {
		list = append(list, map[string]any{"key": l.Name, "value": map[string]any{"stringValue": strings.ToValidUTF8(l.Value, "\uFFFD")}})
	}
	return list
}

// nanos writes a time in the form of OTLP's JSON.
func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// otlp returns the span in the form of OTLP's JSON.
func (s *Span) otlp() map[string]any {
	m := map[string]any{
		"traceId": hex.EncodeToString(s.trace[:]), "spanId": hex.EncodeToString(s.id[:]), "name": s.name, "kind": s.kind,
		"startTimeUnixNano": nanos(s.start), "endTimeUnixNano": nanos(s.end), "attributes": attributes(s.attrs), "flags": 1,
	}
	if s.parent != [8]byte{} {
		m["parentSpanId"] = hex.EncodeToString(s.parent[:])
	}
	if s.state != "" {
		m["traceState"] = s.state
	}
	if s.failed != "" {
		m["status"] = map[string]any{"code": 2}
	}
	return m
}

// otlp returns the metrics in the form of OTLP's JSON, as sums since the start.
func (m *Meter) otlp() []any {
	now, start := nanos(time.Now()), nanos(m.start)
	var out []any
	for _, f := range m.read(true) {
		points := make([]any, 0, len(f.points))
		for _, p := range f.points {
			d := map[string]any{"attributes": attributes(p.labels), "timeUnixNano": now, "startTimeUnixNano": start}
			if f.kind == kindHistogram {
				var sum int64
				counts := make([]string, len(p.counts))
				for i, n := range p.counts {
					sum += n
					counts[i] = strconv.FormatInt(n, 10)
				}
				d["count"], d["sum"], d["bucketCounts"], d["explicitBounds"] = strconv.FormatInt(sum, 10), p.value, counts, bounds
			} else {
				d["asDouble"] = p.value
			}
			points = append(points, d)
		}
		data := map[string]any{"dataPoints": points}
		if f.kind != kindGauge {
			data["aggregationTemporality"] = 2 // cumulative
		}
		shape := map[string]string{kindGauge: "gauge", kindCounter: "sum", kindHistogram: "histogram"}[f.kind]
		if f.kind == kindCounter {
			data["isMonotonic"] = true
		}
		metric := map[string]any{"name": f.name, "description": f.help, shape: data}
		if f.unit != "" {
			metric["unit"] = f.unit
		}
		out = append(out, metric)
	}
	return out
}
