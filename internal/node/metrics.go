package node

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/gateway"
	"mycelium/internal/node/fence"
	"mycelium/internal/node/heap"
	"mycelium/internal/op/failure"
	"mycelium/internal/telemetry"
)

// metrics is what a node measures, and where it sends it. Fields that are nil measure nothing.
type metrics struct {
	meter    *telemetry.Meter
	tracer   *telemetry.Tracer
	exporter *telemetry.Exporter
	token    [sha256.Size]byte // SHA-256 of the token that reads names at /metrics; zero: there is none
	node     *Node
}

// openMetrics prepares what a daemon measures, if it serves HTTP or sends metrics somewhere. It sends nothing unless mycelium.yaml names
// a receiver, or the environment of the person who serves does.
func openMetrics(n *Node) (*metrics, error) {
	m, o := &metrics{node: n}, n.options
	if !o.stays() {
		return m, nil
	}
	conf := n.View().Project.File.Telemetry
	endpoint, headers := conf.Endpoint, map[string]string{}
	for k, v := range conf.Headers {
		text, err := n.pool.Expand(v)
		if err != nil {
			n.logger.Warn("metrics are not exported, because a value under telemetry.headers cannot be read", "header", k, "error", err)
			endpoint = ""
		}
		headers[k] = text
	}
	if conf.Endpoint == "" && o.Kind == daemon.Served && !strings.EqualFold(o.Getenv("OTEL_SDK_DISABLED"), "true") && fence.AgentHere(o.Environ) == "" {
		endpoint, headers = o.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), otelHeaders(o.Getenv("OTEL_EXPORTER_OTLP_HEADERS"))
		if u, err := url.Parse(endpoint); endpoint != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			return nil, failure.New(failure.Config, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https address"),
				"set it to an OTLP receiver over HTTP, such as http://127.0.0.1:4318, or unset it")
		}
	}
	if o.Kind == daemon.Served || endpoint != "" {
		m.meter = telemetry.NewMeter()
		m.meter.Observe(m.gauges)
	}
	if endpoint != "" {
		sample := 1.0
		if conf.Sample != nil {
			sample = *conf.Sample
		}
		m.exporter = telemetry.NewExporter(telemetry.ExporterOptions{
			Endpoint: endpoint, Headers: headers, Service: o.Getenv("OTEL_SERVICE_NAME"), Version: o.Version, Meter: m.meter,
			Logger: n.logger,
		})
		m.tracer = telemetry.NewTracer(m.exporter, sample)
	}
	if conf.Token != "" {
		token, err := n.pool.Expand(conf.Token)
		if err != nil || token == "" {
			n.logger.Warn("no token reads metrics, because telemetry.token cannot be read", "error", err)
		} else {
			m.token = sha256.Sum256([]byte(token))
		}
	}
	return m, nil
}

// otelHeaders reads OTEL_EXPORTER_OTLP_HEADERS: name=value, separated by commas, values escaped as in a URL.
func otelHeaders(s string) map[string]string {
	out := map[string]string{}
	for pair := range strings.SplitSeq(s, ",") {
		k, v, ok := strings.Cut(pair, "=")
		if text, err := url.PathUnescape(strings.TrimSpace(v)); ok && err == nil {
			out[strings.TrimSpace(k)] = text
		}
	}
	return out
}

// export sends what is measured until ctx is done.
func (m *metrics) export(ctx context.Context) error {
	if m.exporter == nil {
		return nil
	}
	return m.exporter.Run(ctx)
}

// gauges reports the values of this moment.
func (m *metrics) gauges(set func(name string, value float64, labels ...telemetry.Label)) {
	n := m.node
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if infos, err := n.gate.Sessions.List(ctx); err == nil {
		set(telemetry.Sessions, float64(len(infos)))
	}
	for _, b := range n.pool.Status() {
		set(telemetry.BackendState, 1, telemetry.Server(b.Name), telemetry.State(b.State))
		set(telemetry.BackendRestarts, float64(b.Restarts), telemetry.Server(b.Name))
		set(telemetry.BackendActive, float64(b.Active), telemetry.Server(b.Name))
		set(telemetry.BackendWaiting, float64(b.Waiting), telemetry.Server(b.Name))
		set(telemetry.BackendRefused, float64(b.Refused), telemetry.Server(b.Name))
		set(telemetry.CatalogHeld, float64(b.Held), telemetry.Server(b.Name))
	}
	v := n.View()
	status := v.Status()
	set(telemetry.CatalogTools, float64(status.Tools.Catalog))
	if status.Role != "" {
		set(telemetry.Concealment, status.Tools.Concealment, telemetry.Role(status.Role))
	}
	if asks, err := n.keeping.Asks(ctx); err == nil {
		set(telemetry.AskRate, asks.PerHour)
	}
	set(telemetry.AuditOwed, float64(n.gate.Owed()))
	if lag, err := n.index.Lag(ctx); err == nil {
		set(telemetry.AuditIndexLag, float64(lag))
	}
	set(telemetry.Goroutines, float64(runtime.NumGoroutine()))
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	set(telemetry.HeapMemory, float64(mem.Sys-mem.HeapReleased))
	set(telemetry.HeapLive, float64(heap.Live()))
}

// handle adds the endpoints for monitoring.
func (m *metrics) handle(mux *http.ServeMux, g *gateway.Server) {
	for path, h := range map[string]http.HandlerFunc{"/metrics": m.serveMetrics, "/healthz": serveHealth, "/readyz": m.serveReady} {
		mux.Handle(path, g.Local(readOnly(h)))
	}
}

// readOnly refuses every method but GET and HEAD.
func readOnly(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "use GET", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		h(w, r)
	})
}

// serveMetrics shows everything to a client with the token. Other clients on this machine get the values that name no tool, server or
// role: an agent here must not learn what is hidden from it.
func (m *metrics) serveMetrics(w http.ResponseWriter, r *http.Request) {
	names := false
	switch header := r.Header.Get("Authorization"); {
	case header != "":
		scheme, token, _ := strings.Cut(header, " ")
		sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
		if m.token == [sha256.Size]byte{} || !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(sum[:], m.token[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="mycelium metrics", error="invalid_token"`)
			http.Error(w, "this token does not read metrics (telemetry.token)", http.StatusUnauthorized)
			return
		}
		names = true
	case !gateway.FromHere(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="mycelium metrics"`)
		http.Error(w, "a token is needed from other machines (telemetry.token)", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", telemetry.TextType)
	_, _ = w.Write(m.meter.Text(names))
}

// serveHealth says that the process answers.
func serveHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintln(w, "ok")
}

// serveReady says whether calls can run: the files load, the log takes records, and the project folder is where it was.
func (m *metrics) serveReady(w http.ResponseWriter, _ *http.Request) {
	why := ""
	switch {
	case m.node.gate.World().Broken != "":
		why = "policy"
	case m.node.gate.Owed() > 0, m.node.log.Problem() != nil:
		why = "audit"
	case m.node.place.Gone() != "":
		why = "project"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if why != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, "not ready:", why)
		return
	}
	_, _ = fmt.Fprintln(w, "ready")
}
