// Package observe has the sections of mycelium.yaml that say how the program is watched: telemetry and log.
package observe

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"mycelium/internal/config/servers"
	"mycelium/internal/config/source"
)

// Telemetry is the telemetry: section.
type Telemetry struct {
	Endpoint string            `yaml:"endpoint" json:"endpoint,omitempty" about:"base URL of an OTLP receiver (HTTP); empty: nothing is sent"`
	Headers  map[string]string `yaml:"headers" json:"headers,omitempty" about:"sent with each message; ${secret:NAME} is replaced"`
	Sample   *float64          `yaml:"sample" json:"sample,omitzero" about:"share of the traces that begin here, 0 to 1; absent: all"`
	Token    string            `yaml:"token" json:"token,omitempty" about:"a client with it may read /metrics with names, from anywhere; ${secret:NAME} is replaced"`
}

// Log is the log: section.
type Log struct {
	Format string `yaml:"format" json:"format,omitempty" of:"text,json" about:"absent: text"`
	Level  string `yaml:"level" json:"level,omitempty" about:"debug, info, warn (default) or error"`
}

var (
	logFormats = []string{"text", "json"}
	logLevels  = []string{"debug", "info", "warn", "error"}
)

// Check reports what is wrong with the section.
func (t *Telemetry) Check(bad source.Report) {
	if u, err := url.Parse(t.Endpoint); t.Endpoint != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		bad("telemetry.endpoint", "telemetry.endpoint is "+strconv.Quote(t.Endpoint),
			"write the base URL of an OTLP receiver over HTTP, such as http://127.0.0.1:4318; credentials go under headers")
	}
	if t.Sample != nil && !(*t.Sample >= 0 && *t.Sample <= 1) {
		bad("telemetry.sample", fmt.Sprintf("telemetry.sample is %v", *t.Sample), "write a share from 0 to 1")
	}
	for name, value := range t.Headers {
		if !servers.HeaderName.MatchString(name) || !printableLine(value) {
			bad("telemetry.headers", "telemetry.headers has "+strconv.Quote(name),
				"use the characters of an HTTP header's name, and one line for its value")
		}
	}
	if t.Endpoint == "" && (len(t.Headers) > 0 || t.Sample != nil) {
		bad("telemetry", "telemetry says how to send and not where", "write endpoint: http://127.0.0.1:4318")
	}
}

// Check reports what is wrong with the section.
func (g *Log) Check(bad source.Report) {
	if g.Format != "" && !slices.Contains(logFormats, g.Format) {
		bad("log.format", "log.format is "+strconv.Quote(g.Format), source.Suggest(g.Format, logFormats))
	}
	if g.Level != "" && !slices.Contains(logLevels, g.Level) {
		bad("log.level", "log.level is "+strconv.Quote(g.Level), source.Suggest(g.Level, logLevels))
	}
}

// printableLine reports whether a text is one line.
func printableLine(s string) bool {
	return !slices.ContainsFunc([]byte(s), func(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f })
}
