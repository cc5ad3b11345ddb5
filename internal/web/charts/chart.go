package charts

import (
	"math"
	"slices"
	"time"
)

func newChart(name, title, unit string) *Chart { return &Chart{Name: name, Title: title, Unit: unit} }

// add adds a value to a series at a time. The times come in their order, and every series has a value at each.
func (c *Chart) add(at time.Time, name string, value *float64) {
	if n := len(c.Times); n == 0 || c.Times[n-1] != at.Unix() {
		c.Times = append(c.Times, at.Unix())
	}
	i := slices.IndexFunc(c.Series, func(s Series) bool { return s.Name == name })
	if i < 0 {
		i = len(c.Series)
		c.Series = append(c.Series, Series{Name: name})
	}
	c.Series[i].Values = append(c.Series[i].Values, value)
}

// drop removes the series that have nothing, but for the first.
func (c *Chart) drop() {
	first := true
	c.Series = slices.DeleteFunc(c.Series, func(s Series) bool {
		empty := !slices.ContainsFunc(s.Values, func(v *float64) bool { return v != nil && *v != 0 })
		keep := first
		first = false
		return empty && !keep
	})
}

func number(v float64) *float64 { return &v }

// rounded is a number with as many places as a person reads.
func rounded(v, places float64) *float64 { return number(math.Round(v*places) / places) }

func millis(d time.Duration) *float64 { return rounded(float64(d)/float64(time.Millisecond), 10) }

func seconds(d time.Duration) *float64 { return rounded(d.Seconds(), 10) }
