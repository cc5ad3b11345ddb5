package root

import (
	"context"
	"io"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
)

// completeWithin bounds how long a person waits for words behind the key Tab.
const completeWithin = time.Second

// view opens the accepted files of the project without a word about what is wrong with them.
func view(a *base.App) *project.View {
	quiet := a.Loader
	quiet.Err = io.Discard
	v, err := quiet.OpenView()
	if err != nil {
		return nil
	}
	return v
}

func roles(_ context.Context, a *base.App) []string {
	if v := view(a); v != nil {
		return v.Policy.Roles()
	}
	return nil
}

func skills(_ context.Context, a *base.App) (out []string) {
	if v := view(a); v != nil {
		for _, s := range v.Skills.All() {
			out = append(out, s.Name+"\t"+s.Description)
		}
	}
	return out
}

// skillChanges are the skills with the sign that activates them.
func skillChanges(ctx context.Context, a *base.App) (out []string) {
	for _, s := range skills(ctx, a) {
		out = append(out, "+"+s)
	}
	return out
}

// running asks the daemon, where one runs.
func running[R any](ctx context.Context, a *base.App, m api.Method[api.None, []R]) []R {
	c, err := a.Running(ctx)
	if err != nil || c == nil {
		return nil
	}
	defer c.Close()
	list, _ := base.Call(ctx, c, m, api.None{})
	return list
}

func sessions(ctx context.Context, a *base.App) (out []string) {
	for _, s := range running(ctx, a, api.SessionList) {
		out = append(out, s.ID+"\t"+s.Name+" "+s.Scope.Principal.Role)
	}
	return out
}

func requests(ctx context.Context, a *base.App) (out []string) {
	for _, r := range running(ctx, a, api.ApprovalsList) {
		out = append(out, r.ID+"\t"+r.Tool)
	}
	return out
}
