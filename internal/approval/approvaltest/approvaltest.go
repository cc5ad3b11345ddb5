// Package approvaltest makes requests for tests of packages that show requests.
package approvaltest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/credential/credentialtest"
	"mycelium/internal/policy"
)

// Asked returns a request that has a secret in each of its texts.
func Asked(t *testing.T, kind approval.Kind, tool string, f credentialtest.Sample) approval.Request {
	t.Helper()
	var r approval.Request
	text := "see " + f.Text + " there"
	credentialtest.Fill(&r, text)
	args, err := json.Marshal(map[string]any{"command": text, "file_path": text, "list": []any{f.Text, 1}})
	if err != nil {
		t.Fatal(err)
	}
	r.ID, r.Kind, r.Call, r.Session, r.Principal, r.Parent, r.Role, r.Surface = "", kind, "c", "s", "p", "q", "dev", "stdio"
	r.Tool, r.Args, r.Digest, r.Pane, r.Risk, r.State = tool, args, "", "", policy.High, ""
	r.Facts.Parts[0].Paths[0].Access = policy.Read
	r.Answer, r.Waiting, r.Deadline, r.Created = nil, 0, time.Time{}, time.Time{}
	return r
}

// Shown returns the request of Asked as the watchers of a queue get it.
func Shown(t *testing.T, kind approval.Kind, f credentialtest.Sample) approval.Request {
	t.Helper()
	q, err := approval.New(t.Context(), approval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _, _ = q.Ask(ctx, Asked(t, kind, "agent__Bash", f)) }()
	shown := make(chan approval.Request, 1)
	watch, stop := context.WithCancel(ctx)
	defer stop()
	go q.Watch(watch, func(r approval.Request) {
		if r.State == approval.Pending {
			select {
			case shown <- r:
			default:
			}
		}
	})
	return <-shown
}
