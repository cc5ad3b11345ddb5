package charts

import (
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit/index"
	"mycelium/internal/web/site"
	"mycelium/internal/web/webtest"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// TestInjections has a text of an agent in each place of the room that one could come to.
func TestInjections(t *testing.T) {
	t.Parallel()
	s := webtest.Site(t, Room())
	webtest.HoldsText(t, func(x string) map[string]string {
		shown := view{Projects: []site.Choice{{Value: x, Text: x}}, Key: x, Problem: x, Charts: []Chart{{Name: "calls", Title: x, Unit: x,
			Times: []int64{1}, Series: []Series{{Name: x, Values: []*float64{number(1)}}}}},
			Asks: index.Asks{ByRule: []index.Asked{{Name: x}}, ByAgent: []index.Asked{{Name: x}}}}
		return map[string]string{"charts": webtest.Show(s, "charts", x, shown)}
	})
}

// TestCharts: every series has a value at each time, a part without a call has no mean, and a table leaves out what is empty.
func TestCharts(t *testing.T) {
	t.Parallel()
	parts := []index.Slice{
		{Start: noon, Outcomes: map[string]int{"ok": 2, "denied": 1}, Deciders: map[string]int{"policy": 3}, Ended: 2,
			Took: 3 * time.Second, Longest: 2 * time.Second, Tokens: 7, Person: 2, Model: 1},
		{Start: noon.Add(time.Minute)},
	}
	all := append(callCharts(parts), waitChart(parts, map[int]approval.Wait{1: {Requests: 2, Total: time.Minute, Longest: 50 * time.Second}}))
	for _, c := range all {
		for _, s := range c.Series {
			if len(c.Times) != 2 || len(s.Values) != 2 {
				t.Errorf("%s %s: %d times, %d values", c.Name, s.Name, len(c.Times), len(s.Values))
			}
		}
	}
	if rows := all[0].Rows(); len(rows) != 1 || rows[0].Cells[0] != "2" || len(all[0].Series) != 2 {
		t.Errorf("asks: %+v", rows)
	}
	if rows := all[1].Rows(); len(rows) != 1 || rows[0].Cells[0] != "2" || rows[0].Cells[2] != "1" {
		t.Errorf("calls: %+v", rows)
	}
	if len(all[2].Series) != 1 || all[2].Series[0].Name != "policy" {
		t.Errorf("decisions: %+v", all[2].Series)
	}
	if v := all[3].Series[0].Values; *v[0] != 1500 || v[1] != nil {
		t.Errorf("mean: %v", v)
	}
	if rows := all[5].Rows(); len(rows) != 1 || rows[0].Cells[0] != "30" || rows[0].Cells[1] != "50" {
		t.Errorf("wait: %+v", rows)
	}
	if s := spanOf("yesterday"); s.name != "24h" {
		t.Errorf("another span: %+v", s)
	}
	if s := spanOf("1h"); s.name != "1h" {
		t.Errorf("an hour: %+v", s)
	}
}
