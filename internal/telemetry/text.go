package telemetry

import (
	"bytes"
	"strconv"
	"strings"
)

// TextType is the media type of [Meter.Text].
const TextType = "text/plain; version=0.0.4; charset=utf-8"

// Text returns all metrics in the text format of Prometheus. Without names, it sums up the series of tools, servers and roles.
func (m *Meter) Text(names bool) []byte {
	var b bytes.Buffer
	for _, f := range m.read(names) {
		name := promName(f.instrument)
		b.WriteString("# HELP " + name + " " + f.help + "\n# TYPE " + name + " " + f.kind + "\n")
		for _, p := range f.points {
			if f.kind != kindHistogram {
				b.WriteString(name)
				writeLabels(&b, p.labels, "")
				b.WriteString(" " + number(p.value) + "\n")
				continue
			}
			var sum int64
			for i, n := range p.counts {
				sum += n
				le := "+Inf"
				if i < len(bounds) {
					le = number(bounds[i])
				}
				b.WriteString(name + "_bucket")
				writeLabels(&b, p.labels, le)
				b.WriteString(" " + strconv.FormatInt(sum, 10) + "\n")
			}
			b.WriteString(name + "_sum")
			writeLabels(&b, p.labels, "")
			b.WriteString(" " + number(p.value) + "\n" + name + "_count")
			writeLabels(&b, p.labels, "")
			b.WriteString(" " + strconv.FormatInt(sum, 10) + "\n")
		}
	}
	return b.Bytes()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// promName returns the name of a metric for Prometheus.
func promName(in instrument) string {
	name := strings.ReplaceAll(in.name, ".", "_")
	switch in.unit {
	case "s":
		name += "_seconds"
	case "By":
		name += "_bytes"
	}
	if in.kind == kindCounter {
		name += "_total"
	}
	return name
}

// escapes escapes the values of labels.
var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func writeLabels(b *bytes.Buffer, labels []Label, le string) {
	if le != "" {
		labels = append(labels[:len(labels):len(labels)], Label{"le", le})
	}
	for i, l := range labels {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(strings.ReplaceAll(l.Name, ".", "_") + `="` + escapes.Replace(strings.ToValidUTF8(l.Value, "\uFFFD")) + `"`)
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
}
