// Package telemetry records metrics, in the text format of Prometheus, and spans. Both are exported by OTLP only if that is configured.
//
// It does not use the libraries of OpenTelemetry and Prometheus, because they cost too much start-up time and memory
// (docs/decisions/0023-telemetry.md). A nil Meter and a nil Tracer record nothing and cost nothing.
package telemetry

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxSeries bounds the label sets of one metric. Further label sets are counted as "other".
const maxSeries = 2000

// Meter records metrics. It is safe for concurrent use, and its methods may be called on nil.
type Meter struct {
	start    time.Time
	server   vec[opKey, histogram]
	client   vec[opKey, histogram]
	calls    vec[callKey, atomic.Int64]
	denials  vec[string, atomic.Int64]
	limits   vec[string, atomic.Int64]
	switches vec[string, atomic.Int64]
	dropped  atomic.Int64

	mu     sync.Mutex
	gauges func(set func(name string, value float64, labels ...Label))
}

// opKey are the labels of a duration; where is the transport or the server.
type opKey struct{ method, failure, where string }

// callKey are the labels of a call.
type callKey struct{ server, tool, surface, effect, outcome string }

// NewMeter returns a meter.
func NewMeter() *Meter { return &Meter{start: time.Now()} }

// Observe sets the function that reports the gauges at every read.
func (m *Meter) Observe(gauges func(set func(name string, value float64, labels ...Label))) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gauges = gauges
}

// Call is a finished call. Server and Tool are empty if they are hidden from the caller or chosen by the caller, so that such a name does
// not become a label.
type Call struct {
	Method, Surface, Server, Tool string
	Effect                        string // allow, ask, deny or unknown
	Outcome                       string // ok, error or denied
	Failure                       string // error.type; empty: no error
	Duration                      time.Duration
}

// Called counts a call.
func (m *Meter) Called(c *Call) {
	if m == nil {
		return
	}
	m.calls.get(callKey{c.Server, c.Tool, c.Surface, c.Effect, c.Outcome}, callKey{other, other, c.Surface, c.Effect, c.Outcome}).Add(1)
	k := opKey{c.Method, c.Failure, transport(c.Surface)}
	m.server.get(k, k).observe(c.Duration)
}

// transport is the network.transport of a surface.
func transport(surface string) string {
	if surface == "mcp-http" {
		return "tcp"
	}
	return "pipe"
}

// Backend counts a request to a server.
func (m *Meter) Backend(server, method, failure string, d time.Duration) {
	if m == nil {
		return
	}
	m.client.get(opKey{method, failure, server}, opKey{method, failure, other}).observe(d)
}

// Denied counts a denial by the kind of its reason.
func (m *Meter) Denied(reason string) {
	if m != nil {
		m.denials.get(reason, other).Add(1)
	}
}

// LimitHit counts a call that a limit refused.
func (m *Meter) LimitHit(limit string) {
	if m != nil {
		m.limits.get(limit, other).Add(1)
	}
}

// Switched counts a role switch.
func (m *Meter) Switched(role string) {
	if m != nil {
		m.switches.get(role, other).Add(1)
	}
}

func (m *Meter) drop(n int) {
	if m != nil {
		m.dropped.Add(int64(n))
	}
}

// vec are the series of a metric by their labels.
type vec[K comparable, V any] struct {
	mu sync.RWMutex
	m  map[K]*V
}

// get returns the series of k, or the series of rest if there are too many. It allocates only for a new series.
func (v *vec[K, V]) get(k, rest K) *V {
	v.mu.RLock()
	s := v.m[k]
	v.mu.RUnlock()
	if s != nil {
		return s
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.m[k]; s != nil {
		return s
	}
	if len(v.m) >= maxSeries {
		k = rest
		if s := v.m[k]; s != nil {
			return s
		}
	}
	if v.m == nil {
		v.m = map[K]*V{}
	}
	s = new(V)
	v.m[k] = s
	return s
}

func (v *vec[K, V]) each(f func(K, *V)) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for k, s := range v.m {
		f(k, s)
	}
}

// histogram counts durations.
type histogram struct {
	counts [len(bounds) + 1]atomic.Int64
	nanos  atomic.Int64
}

func (h *histogram) observe(d time.Duration) {
	i, _ := slices.BinarySearch(bounds[:], d.Seconds())
	h.counts[i].Add(1)
	h.nanos.Add(int64(d))
}

// Label is a name and a value.
type Label struct{ Name, Value string }

// Server labels a gauge with a server.
func Server(name string) Label { return Label{attrServer, name} }

// State labels a gauge with the state of a server.
func State(s string) Label { return Label{attrState, s} }

// Role labels a gauge with a role.
func Role(id string) Label { return Label{attrRole, id} }

// point is one series at one time.
type point struct {
	labels []Label // sorted
	value  float64
	counts []int64 // of a histogram, by bucket; value is the sum then
}

// family is a metric at one time.
type family struct {
	instrument
	points []point
}

// read returns all metrics. Without names, it sums up the series of tools, servers and roles.
func (m *Meter) read(names bool) []family {
	byName := map[string]map[string]*point{}
	add := func(name string, value float64, counts []int64, labels ...Label) {
		labels = slices.DeleteFunc(labels, func(l Label) bool { return l.Value == "" || !names && slices.Contains(naming, l.Name) })
		slices.SortFunc(labels, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
		var key strings.Builder
		for _, l := range labels {
			key.WriteString(l.Name + "\x00" + l.Value + "\x00")
		}
		if byName[name] == nil {
			byName[name] = map[string]*point{}
		}
		p := byName[name][key.String()]
		if p == nil {
			p = &point{labels: labels, counts: make([]int64, len(counts))}
			byName[name][key.String()] = p
		}
		p.value += value
		for i, n := range counts {
			p.counts[i] += n
		}
	}
	m.collect(add)
	var out []family
	for _, in := range instruments {
		f := family{instrument: in}
		for _, p := range byName[in.name] {
			f.points = append(f.points, *p)
		}
		slices.SortFunc(f.points, func(a, b point) int {
			return slices.CompareFunc(a.labels, b.labels,
				func(x, y Label) int { return strings.Compare(x.Name+"\x00"+x.Value, y.Name+"\x00"+y.Value) })
		})
		if f.points != nil {
			out = append(out, f)
		}
	}
	return out
}

// collect calls add for every series.
func (m *Meter) collect(add func(name string, value float64, counts []int64, labels ...Label)) {
	durations := func(name, where string, v *vec[opKey, histogram]) {
		v.each(func(k opKey, h *histogram) {
			counts := make([]int64, len(h.counts))
			for i := range h.counts {
				counts[i] = h.counts[i].Load()
			}
			add(name, time.Duration(h.nanos.Load()).Seconds(), counts, Label{attrMethod, k.method}, Label{attrError, k.failure},
				Label{where, k.where})
		})
	}
	durations(metricServer, attrTransport, &m.server)
	durations(metricClient, attrServer, &m.client)
	m.calls.each(func(k callKey, n *atomic.Int64) {
		add(metricCalls, float64(n.Load()), nil, Label{attrServer, k.server}, Label{attrTool, k.tool}, Label{attrSurface, k.surface},
			Label{attrEffect, k.effect}, Label{attrOutcome, k.outcome})
	})
	for _, c := range []struct {
		name, label string
		v           *vec[string, atomic.Int64]
	}{{metricDenials, attrReason, &m.denials}, {metricLimits, attrLimit, &m.limits}, {metricSwitches, attrRole, &m.switches}} {
		c.v.each(func(k string, n *atomic.Int64) { add(c.name, float64(n.Load()), nil, Label{c.label, k}) })
	}
	add(metricDropped, float64(m.dropped.Load()), nil)
	m.mu.Lock()
	gauges := m.gauges
	m.mu.Unlock()
	if gauges != nil {
		gauges(func(name string, value float64, labels ...Label) { add(name, value, nil, labels...) })
	}
}
