package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// startLimit is the limit of the issue from the start of the process to the answer of the first tools/list.
const startLimit = 60 * time.Millisecond

// starts are the samples of one way to start.
type starts struct {
	name       string
	wall, used []time.Duration // until the first list, and CPU time of all processes started for it
}

// The ways to start, in the order of the table.
const (
	daemonRuns = iota
	daemonStarts
	alone
	newProject // daemonStarts, and the database, the log and its key are created
	noMCP      // the time of a start without any work
)

// measureStarts starts myc mcp in a project of myc init, in every way by turns.
func measureStarts(ctx context.Context, b *bed, o options) error {
	dir, err := b.project(ctx, "start", false)
	if err != nil {
		return err
	}
	all := []*starts{{name: "daemon runs"}, {name: "daemon must be started"}, {name: "--alone"}, {name: "daemon must be started, project new"},
		{name: "(myc version)"}}
	for n := range o.starts {
		for way, s := range all {
			at := dir
			if way == newProject {
				if at, err = b.project(ctx, fmt.Sprintf("new%d", n), false); err != nil {
					return err
				}
			}
			if err := b.startOnce(ctx, at, way, s); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	rows := [][]string{{"myc mcp, to its first tools/list", "least", "median", "of the limit", "CPU least", "CPU median"}}
	for _, s := range all {
		median := quantile(s.wall, 0.5)
		rows = append(rows, []string{s.name, ms(quantile(s.wall, 0)), ms(median), fmt.Sprintf("%.0f %%", 100*float64(median)/float64(startLimit)),
			ms(quantile(s.used, 0)), ms(quantile(s.used, 0.5))})
	}
	fmt.Println()
	table(rows)
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }

// startOnce measures one start. No daemon of the project runs before or after it.
func (b *bed) startOnce(ctx context.Context, dir string, way int, s *starts) error {
	args := []string{"--state", string(b.state()), "mcp"}
	switch way {
	case daemonRuns:
		if _, err := b.output(ctx, dir, "serve", "--background", "--addr", "127.0.0.1:0"); err != nil {
			return err
		}
	case alone:
		args = append(args, "--alone")
	case noMCP:
		began := time.Now()
		c := b.command(ctx, dir, "version")
		err := c.Run()
		s.wall = append(s.wall, time.Since(began))
		s.used = append(s.used, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
		return err
	}
	before, err := b.daemonCPU(ctx, dir, way == daemonRuns)
	if err != nil {
		return err
	}
	began := time.Now()
	p, err := connect(b.command(ctx, dir, args...))
	if err != nil {
		return err
	}
	if err := p.hello(ctx); err != nil {
		return err
	}
	if err := p.ask(ctx, "tools/list", `{}`); err != nil {
		return err
	}
	s.wall = append(s.wall, time.Since(began))
	after, err := b.daemonCPU(ctx, dir, way != alone)
	if err != nil {
		return err
	}
	own := p.end()
	s.used = append(s.used, own+after-before)
	if way != alone {
		_, err = b.output(ctx, dir, "stop")
	}
	return err
}

// daemonCPU returns the CPU time of the project's daemon, or 0 without one.
func (b *bed) daemonCPU(ctx context.Context, dir string, runs bool) (time.Duration, error) {
	if !runs {
		return 0, nil
	}
	out, err := b.output(ctx, dir, "status", "--json")
	if err != nil {
		return 0, err
	}
	var status struct {
		Daemon struct {
			PID int `json:"pid"`
		} `json:"daemon"`
	}
	if err := json.Unmarshal(out, &status); err != nil || status.Daemon.PID == 0 {
		return 0, fmt.Errorf("status says of no daemon: %s", out)
	}
	return cpu(status.Daemon.PID), nil
}
