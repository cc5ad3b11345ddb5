package node

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"mycelium/internal/gateway"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/fence"
	"mycelium/internal/telemetry"
)

// measuring is what a node measures with. The zero value measures nothing.
type measuring struct {
	meter    *telemetry.Meter
	tracer   *telemetry.Tracer
	exporter *telemetry.Exporter
	token    [sha256.Size]byte // of who reads names at /metrics; zero: nobody
}

// openTelemetry prepares what is measured: where HTTP is served, or where something is to be sent. Nothing is sent unless
// mycelium.yaml names a receiver, or the environment of a person who serves.
func (n *Node) openTelemetry() error {
	if !n.Daemon {
		return nil
	}
	conf := n.view.Project.File.Telemetry
	endpoint, headers := conf.Endpoint, map[string]string{}
	for k, v := range conf.Headers {
		text, err := n.pool.Expand(v)
		if err != nil {
			n.logger.Warn("nothing is exported: a value under telemetry.headers is not to be had", "header", k, "error", err)
			endpoint = ""
		}
		headers[k] = text
	}
	if conf.Endpoint == "" && n.Serves && !strings.EqualFold(n.Getenv("OTEL_SDK_DISABLED"), "true") && fence.AgentHere(n.Environ) == "" {
		endpoint, headers = n.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), otelHeaders(n.Getenv("OTEL_EXPORTER_OTLP_HEADERS"))
		if u, err := url.Parse(endpoint); endpoint != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			return failure.Config(fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT is no http or https address"), "set it to an OTLP receiver over HTTP, such as http://127.0.0.1:4318, or unset it")
		}
	}
	if n.Serves || endpoint != "" {
		n.meter = telemetry.NewMeter()
		n.meter.Observe(n.gauges)
	}
	if endpoint != "" {
		sample := 1.0
		if conf.Sample != nil {
			sample = *conf.Sample
		}
		n.exporter = telemetry.NewExporter(telemetry.ExporterOptions{
			Endpoint: endpoint, Headers: headers, Service: n.Getenv("OTEL_SERVICE_NAME"), Version: n.Version, Meter: n.meter, Logger: n.logger,
		})
		n.tracer = telemetry.NewTracer(n.exporter, sample)
	}
	if conf.Token != "" {
		token, err := n.pool.Expand(conf.Token)
		if err != nil || token == "" {
			n.logger.Warn("nobody can read metrics with a token: telemetry.token is not to be had", "error", err)
		} else {
			n.token = sha256.Sum256([]byte(token))
		}
	}
	return nil
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

// export sends what is measured.
func (n *Node) export(ctx context.Context) error {
	if n.exporter == nil {
		return nil
	}
	return n.exporter.Run(ctx)
}

// gauges are what is true now.
func (n *Node) gauges(set func(name string, value float64, labels ...telemetry.Label)) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if infos, err := n.gate.Sessions(ctx); err == nil {
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
	set(telemetry.AuditOwed, float64(n.gate.Owed()))
	if lag, err := n.index.Lag(ctx); err == nil {
		set(telemetry.AuditIndexLag, float64(lag))
	}
	set(telemetry.Goroutines, float64(runtime.NumGoroutine()))
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	set(telemetry.HeapMemory, float64(m.Sys-m.HeapReleased))
}

// watchHandlers are the endpoints for those who watch over the daemon.
func (n *Node) watchHandlers(mux *http.ServeMux) {
	for path, h := range map[string]http.HandlerFunc{"/metrics": n.serveMetrics, "/healthz": serveHealth, "/readyz": n.serveReady} {
		mux.Handle(path, n.gateway.Local(readOnly(h)))
	}
}

// readOnly lets nothing but reading through.
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

// serveMetrics shows everything to who brings the token, and to callers on this machine what names no tool, server or role: an agent on
// this machine must not learn here what is hidden from it.
func (n *Node) serveMetrics(w http.ResponseWriter, r *http.Request) {
	names := false
	switch header := r.Header.Get("Authorization"); {
	case header != "":
		scheme, token, _ := strings.Cut(header, " ")
		sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
		if n.token == [sha256.Size]byte{} || !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(sum[:], n.token[:]) != 1 {
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
	_, _ = w.Write(n.meter.Text(names))
}

// serveHealth says that the process answers.
func serveHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintln(w, "ok")
}

// serveReady says whether calls can run: the policy is what people wrote, and the log takes records.
func (n *Node) serveReady(w http.ResponseWriter, _ *http.Request) {
	why := ""
	switch {
	case n.gate.World().Broken != "":
		why = "policy"
	case n.gate.Owed() > 0:
		why = "audit"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if why != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, "not ready:", why)
		return
	}
	_, _ = fmt.Fprintln(w, "ready")
}
