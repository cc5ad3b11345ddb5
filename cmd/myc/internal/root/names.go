package root

import (
	"context"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/harness"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/op"
	"mycelium/internal/policy"
)

// completeWithin bounds how long a person waits for words behind the key Tab.
const completeWithin = time.Second

// seen calls f with the accepted files of the project.
func seen(a *base.App, f func(*project.View)) {
	if v, err := a.OpenView(); err == nil {
		defer v.Close()
		f(v)
	}
}

func roles(_ context.Context, a *base.App) (out []string) {
	seen(a, func(v *project.View) { out = v.Policy.Roles() })
	return out
}

func skills(_ context.Context, a *base.App) (out []string) {
	seen(a, func(v *project.View) {
		for _, s := range v.Skills.All() {
			out = append(out, s.Name+"\t"+s.Description)
		}
	})
	return out
}

func toolNames(_ context.Context, a *base.App) (out []string) {
	seen(a, func(v *project.View) {
		for i := range v.Catalog.Definitions {
			if it := v.Catalog.Definitions[i].Item; it.Kind == policy.Tool && it.Server != policy.AgentServer {
				out = append(out, it.String())
			}
		}
	})
	return out
}

// servers are those of the configuration that a person can start.
func servers(_ context.Context, a *base.App) (out []string) {
	seen(a, func(v *project.View) {
		for _, s := range v.Project.Servers {
			if s.Builtin == "" {
				out = append(out, s.Name)
			}
		}
	})
	return out
}

func agentNames(context.Context, *base.App) []string { return harness.Names() }

// skillChanges are the skills with the sign that activates them.
func skillChanges(ctx context.Context, a *base.App) (out []string) {
	for _, s := range skills(ctx, a) {
		out = append(out, "+"+s)
	}
	return out
}

// running asks the daemon, where one runs.
func running[R any](ctx context.Context, a *base.App, m op.Op[op.None, []R]) []R {
	c, err := a.Running(ctx)
	if err != nil || c == nil {
		return nil
	}
	defer c.Close()
	list, _ := base.Call(ctx, c, m, op.None{})
	return list
}

func sessions(ctx context.Context, a *base.App) (out []string) {
	for _, s := range running(ctx, a, api.SessionList) {
		out = append(out, s.ID+"\t"+s.Name+" "+s.Role)
	}
	return out
}

func requests(ctx context.Context, a *base.App) (out []string) {
	for _, r := range running(ctx, a, api.ApprovalsList) {
		out = append(out, r.ID+"\t"+r.Tool)
	}
	return out
}
