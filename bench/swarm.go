package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/schedule"
)

// taskGraph is a graph of internal/swarm/schedule/testdata.
type taskGraph struct {
	Graph int
	Tasks []struct {
		ID, Role     string
		Minutes      plan.Minutes
		Needs, Files []string
	}
}

// measureSwarm has the swarm work through task graphs with workers that sleep and commit. A minute of the plan takes o.minute. The starts
// of the workers, the verification of each landing in the sandbox and the merges are in the time, and not in the bound beside it.
func measureSwarm(ctx context.Context, b *bed, o options) error {
	var all []taskGraph
	for _, file := range []string{"task-graphs.json", "conflict-graphs.json"} {
		raw, err := os.ReadFile(filepath.Join("internal/swarm/schedule/testdata", file))
		var in struct{ Graphs []taskGraph }
		if err == nil {
			err = json.Unmarshal(raw, &in)
		}
		if err != nil {
			return err
		}
		all = append(all, in.Graphs...)
	}
	rows := [][]string{{"swarm, a minute takes " + o.minute.String(), "features", "workers", "list scheduling", "took", "over",
		"for each step", "one after another"}}
	for _, g := range all {
		if !slices.Contains(strings.Split(o.graphs, ","), strconv.Itoa(g.Graph)) {
			continue
		}
		for _, workers := range []int{3, 5} {
			row, err := measureGraph(ctx, b, g, workers, o.minute)
			if err != nil {
				return fmt.Errorf("graph %d: %w", g.Graph, err)
			}
			rows = append(rows, row)
		}
	}
	fmt.Println()
	table(rows)
	return nil
}

// measureGraph works through one graph.
func measureGraph(ctx context.Context, b *bed, g taskGraph, workers int, minute time.Duration) ([]string, error) {
	var features []plan.Feature
	scale := minute.Seconds()
	for _, k := range g.Tasks {
		file := k.ID + ".txt"
		features = append(features, plan.Feature{ID: k.ID, Description: "Task " + k.ID, DependsOn: k.Needs, Files: k.Files,
			Estimate: k.Minutes,
			Details:  fmt.Sprintf("stub: sleep %.3f; echo %s > %s; git add -A; git commit -qm 'feat: %[2]s'", float64(k.Minutes)*scale, k.ID, file)})
	}
	p, problems := plan.New(features)
	if len(problems) > 0 {
		return nil, fmt.Errorf("%v", problems)
	}
	line := schedule.New(p, schedule.Options{}).Simulate(workers)
	dir, err := swarmProject(ctx, b, fmt.Sprintf("swarm-%d-%d", g.Graph, workers), p, workers)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if _, err := b.output(ctx, dir, "swarm", "auto", "--unsafe-program"); err != nil {
		return nil, err
	}
	took := time.Since(began)
	scaled := func(d time.Duration) time.Duration { return time.Duration(d.Minutes() * float64(minute)) }
	bound := scaled(line.Makespan)
	return []string{"graph " + strconv.Itoa(g.Graph), strconv.Itoa(len(features)), strconv.Itoa(workers), seconds(bound), seconds(took),
		fmt.Sprintf("%.0f %%", 100*(took.Seconds()/bound.Seconds()-1)), seconds((took - bound) / time.Duration(len(line.Critical))),
		seconds(scaled(line.Total))}, nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// swarmProject is a project with a repository and a session of the swarm.
func swarmProject(ctx context.Context, b *bed, name string, p plan.Plan, workers int) (string, error) {
	dir, err := b.project(ctx, name, false)
	if err != nil {
		return "", err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "bench"},
		{"config", "user.email", "bench@localhost"},
		{"add", "-A"}, {"commit", "-qm", "init"}} {
		c := exec.CommandContext(ctx, "git", args...)
		c.Dir, c.Env = dir, b.env
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	raw, err := json.Marshal(struct {
		Features []plan.Feature `json:"features"`
	}{p.Features})
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.dir, name+".json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return "", err
	}
	_, err = b.output(ctx, dir, "swarm", "init", file, "--workers", strconv.Itoa(workers), "--runner", "command", "--no-reviews",
		"--command", `sh -c "sed -n 's/^ *stub: //p' | sh -e"`, "--verify", "git diff --quiet HEAD", "--allow-program", "git")
	return dir, err
}
