// Package approvaltest makes requests for tests of packages that show requests.
package approvaltest

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/credential/credentialtest"
	"mycelium/internal/policy"
)

// fill sets every string in a value to a text, and gives every list one element.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), text)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), text)
		}
	default: // numbers, times and the answer stay empty
	}
}

// Asked returns a request that has a secret in each of its texts.
func Asked(t *testing.T, kind approval.Kind, tool string, f credentialtest.Sample) approval.Request {
	t.Helper()
	var r approval.Request
	text := "see " + f.Text + " there"
	fill(reflect.ValueOf(&r).Elem(), text)
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
