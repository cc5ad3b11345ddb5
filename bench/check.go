package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// point is one figure of one way under one load. Its ratios compare it with the direct way, measured beside it.
type point struct {
	way     string
	callers int
	kb      int
	figure  string // p50, p99 or rate
}

type ratios map[point]float64

// limit bounds a ratio. Aim is the goal of issue 3. Limit is the present value with a margin for the noise of shared machines; a higher
// ratio must be explained.
type limit struct {
	Way     string  `json:"way"`
	Callers int     `json:"callers"`
	KB      int     `json:"kb"`
	Figure  string  `json:"figure"`
	Aim     float64 `json:"aim,omitempty"`
	Limit   float64 `json:"limit"`
}

// check compares the measurements with the limits in a file. A limit without a measurement is an error too.
func check(file string, measured ratios) error {
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var limits []limit
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(&limits); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	rows := [][]string{{"checked", "ratio", "aim", "limit", ""}}
	var errs []error
	for _, l := range limits {
		name := fmt.Sprintf("%s, %d callers, %d KB: %s", l.Way, l.Callers, l.KB, l.Figure)
		got, ok := measured[point{l.Way, l.Callers, l.KB, l.Figure}]
		word := "ok"
		over := func(bound float64) bool {
			return l.Figure != "rate" && got > bound || l.Figure == "rate" && got < bound
		}
		switch {
		case !ok:
			word = "not measured"
			errs = append(errs, fmt.Errorf("%s was not measured", name))
		case over(l.Limit):
			word = "WORSE"
			errs = append(errs, fmt.Errorf("%s is %.2f times that of the direct call; the limit is %.2f", name, got, l.Limit))
		case l.Aim > 0 && over(l.Aim):
			word = "short of the aim"
		}
		rows = append(rows, []string{name, fmt.Sprintf("%.2f", got), fmt.Sprintf("%.2f", l.Aim), fmt.Sprintf("%.2f", l.Limit), word})
	}
	fmt.Println()
	table(rows)
	return errors.Join(errs...)
}
