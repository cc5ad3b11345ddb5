// Package charts is the room of figures over time: calls and decisions, how long they took, tokens, cost, and how long requests waited.
package charts

import (
	"cmp"
	"context"
	"embed"
	"net/http"
	"slices"
	"strconv"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit/index"
	"mycelium/internal/op/rest"
	"mycelium/internal/run"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

//go:embed pages/*.html
var pages embed.FS

// Room is the charts.
func Room() site.Room {
	return site.Room{Pages: pages, Nav: []site.Link{{Href: "/charts", Text: "Charts"}}, Routes: func(s *site.Site) []site.Route {
		at := room{s}
		return []site.Route{{Pattern: "GET /charts", Serve: at.page}, site.Operation(
			rest.Get("/api/charts", "charts", "log", "What a project recorded over time"), at.api), site.Operation(
			rest.Get("/api/asks", "asks", "log", "How often people were asked, by active hour, by rule and by agent"), at.asksAPI)}
	}}
}

// room is the charts of a site.
type room struct{ *site.Site }

// span is a time that charts show.
type span struct {
	name, text string
	long, step time.Duration
}

// spans are the times that can be chosen.
func spans() []span {
	const day = 24 * time.Hour
	return []span{{"1h", "one hour", time.Hour, time.Minute}, {"24h", "one day", day, 30 * time.Minute},
		{"7d", "a week", 7 * day, 3 * time.Hour}, {"30d", "30 days", 30 * day, day}}
}

// spanOf returns the time with a name, else a day.
func spanOf(name string) span {
	all := spans()
	i := slices.IndexFunc(all, func(s span) bool { return s.name == name })
	if i < 0 {
		i = 1
	}
	return all[i]
}

// Chart is one chart. Each series has a value for each time, or null where there is none.
type Chart struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	Unit   string   `json:"unit"`
	Times  []int64  `json:"times"` // unix seconds
	Series []Series `json:"series"`
}

// Series is one line of a chart.
type Series struct {
	Name   string     `json:"name"`
	Values []*float64 `json:"values"`
}

// view is the page.
type view struct {
	Projects, Spans []site.Choice
	Key             string
	Charts          []Chart
	Asks            index.Asks // within the span
	Problem         string
}

// RuleName is the name of a rule that asked, for the page.
func (v view) RuleName(name string) string { return text.OneLine(index.RuleName(name)) }

// AgentName is the name of an agent likewise.
func (v view) AgentName(name string) string { return text.OneLine(cmp.Or(name, "–")) }

// Row is one line of the table of a chart.
type Row struct {
	Time  time.Time
	Cells []string
}

// Rows are the times of a chart at which there was something, the newest first, for its table.
func (c Chart) Rows() (out []Row) {
	for i, at := range slices.Backward(c.Times) {
		row := Row{Time: time.Unix(at, 0)}
		some := false
		for _, s := range c.Series {
			cell := "–"
			if v := s.Values[i]; v != nil {
				cell = strconv.FormatFloat(*v, 'f', -1, 64)
				some = some || *v != 0
			}
			row.Cells = append(row.Cells, cell)
		}
		if some {
			out = append(out, row)
		}
	}
	return out
}

func (s room) page(w http.ResponseWriter, r *http.Request, d device.Device) {
	list, problem := s.Projects()
	shown := view{Problem: problem}
	form := r.URL.Query()
	over := spanOf(form.Get("span"))
	for _, one := range spans() {
		shown.Spans = append(shown.Spans, site.Choice{Value: one.name, Text: one.text, Chosen: one == over})
	}
	if len(list) > 0 {
		i := max(0, slices.IndexFunc(list, func(p state.Paths) bool { return site.Key(p) == form.Get("project") }))
		shown.Key = site.Key(list[i])
		for n, p := range list {
			name := site.Name(p) + " · " + text.OneLine(p.Project)
			shown.Projects = append(shown.Projects, site.Choice{Value: site.Key(p), Text: name, Chosen: n == i})
		}
		var err error
		if shown.Charts, err = s.charts(r.Context(), list[i], over); err == nil {
			shown.Asks, err = s.asks(r.Context(), list[i], over)
		}
		if err != nil {
			shown.Problem = text.Visible(text.Describe(err))
		}
	}
	s.Show(w, r, http.StatusOK, "charts", d, site.Page{Title: "Charts", Here: "/charts", Live: "sse:resync",
		Files: []string{"uplot.css", "charts.css", "uplot.js", "charts.js"}, Body: shown})
}

// asked are the parameters of the API.
type asked struct {
	site.OfProject
	Span string `query:"span" about:"how long a time, as on the page"`
}

// api counts what the charts of a project show, for programs and for the page itself.
func (s room) api(r *http.Request, _ device.Device, p asked) ([]Chart, error) {
	at, err := s.Named(p.Project)
	if err != nil {
		return nil, err
	}
	return s.charts(r.Context(), at, spanOf(p.Span))
}

func (s room) asksAPI(r *http.Request, _ device.Device, p asked) (index.Asks, error) {
	at, err := s.Named(p.Project)
	if err != nil {
		return index.Asks{}, err
	}
	return s.asks(r.Context(), at, spanOf(p.Span))
}

// asks counts how often people of a project were asked within a time that ends now.
func (s room) asks(ctx context.Context, p state.Paths, over span) (a index.Asks, err error) {
	err = s.WithIndex(ctx, p, func(x *index.Index) error {
		a, err = x.Asks(ctx, s.Now().Add(-over.long), time.Time{})
		return err
	})
	return a, err
}

// charts counts what a project recorded within a time that ends now.
func (s room) charts(ctx context.Context, p state.Paths, over span) (out []Chart, err error) {
	until := s.Now().Truncate(over.step).Add(over.step)
	since := until.Add(-over.long)
	err = s.WithIndex(ctx, p, func(x *index.Index) error {
		parts, err := x.Slices(ctx, since, until, over.step)
		if err != nil {
			return err
		}
		waits, err := approval.Waited(ctx, x.DB(), since, until, over.step)
		out = append(callCharts(parts), waitChart(parts, waits))
		return err
	})
	if err != nil {
		return nil, err
	}
	cost, err := costChart(p.Costs(), s.Now(), max(7, int(over.long/(24*time.Hour))))
	return append(out, cost), err
}

// callCharts are the charts of what the log has.
func callCharts(parts []index.Slice) []Chart {
	calls, decisions := newChart("calls", "Calls by how they ended", "calls"), newChart("decisions", "Decisions by who made them", "calls")
	asks := newChart("asks", "Questions about calls of agents", "calls")
	took, tokens := newChart("latency", "How long calls took", "ms"), newChart("tokens", "Tokens of reasoning", "tokens")
	for _, p := range parts {
		for _, name := range index.Outcomes() {
			calls.add(p.Start, name, number(float64(p.Outcomes[name])))
		}
		for _, name := range index.Deciders() {
			decisions.add(p.Start, name, number(float64(p.Deciders[name])))
		}
		asks.add(p.Start, "a person was asked", number(float64(p.Person)))
		asks.add(p.Start, "a model settled", number(float64(p.Model)))
		var mean, longest *float64
		if p.Ended > 0 {
			mean, longest = millis(p.Took/time.Duration(p.Ended)), millis(p.Longest)
		}
		took.add(p.Start, "mean", mean)
		took.add(p.Start, "longest", longest)
		tokens.add(p.Start, "tokens", number(float64(p.Tokens)))
	}
	decisions.drop()
	asks.drop()
	return []Chart{*asks, *calls, *decisions, *took, *tokens}
}

// waitChart is how long requests waited for an answer.
func waitChart(parts []index.Slice, waits map[int]approval.Wait) Chart {
	c := newChart("wait", "How long requests waited for an answer", "s")
	for i, p := range parts {
		var mean, longest *float64
		if w := waits[i]; w.Requests > 0 {
			mean, longest = seconds(w.Total/time.Duration(w.Requests)), seconds(w.Longest)
		}
		c.add(p.Start, "mean", mean)
		c.add(p.Start, "longest", longest)
	}
	return *c
}

// costChart is what agents cost on the last days.
func costChart(dir string, now time.Time, days int) (Chart, error) {
	c := newChart("cost", "Cost of agents by day", "US dollars")
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	for i := range days {
		day := today.AddDate(0, 0, i+1-days)
		usd, err := run.CostOn(dir, day)
		if err != nil {
			return *c, err
		}
		c.add(day, "cost", rounded(usd, 100))
	}
	return *c, nil
}
