package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/credential/credentialtest"
	"mycelium/internal/policy"
)

// TestNoFormInResults: no form of a secret passes a guard that redacts, wherever in an answer or an error it stands.
func TestNoFormInResults(t *testing.T) {
	h := build(t, guardedBy(policy.Guard{Redact: true}))
	s := h.enter("guest")
	for _, f := range credentialtest.Samples() {
		text := "see " + f.Text + " there"
		inside, err := json.Marshal(map[string]any{"a": []string{text}})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := json.Marshal(map[string]any{
			"content":           []map[string]string{{"type": "text", "text": text}, {"type": "text", "text": string(inside)}},
			"structuredContent": map[string]any{"note": text, "list": []string{f.Text}},
		})
		if err != nil {
			t.Fatal(err)
		}
		h.answers(string(answer))
		if got := h.result(s); strings.Contains(got, f.Secret) || !strings.Contains(got, credential.Redacted) {
			t.Errorf("%s: %s", f.Form, got)
		}
		fault, err := json.Marshal(map[string]any{"code": -32000, "message": text, "data": map[string]string{"detail": text}})
		if err != nil {
			t.Fatal(err)
		}
		h.back.answer = func(context.Context, policy.Scope, string, string, []byte) ([]byte, []byte, error) {
			return nil, fault, nil
		}
		reply, err := h.Call(t.Context(), s, request("files__read_file", `{}`))
		if err != nil || bytes.Contains(reply.Error, []byte(f.Secret)) {
			t.Errorf("%s: %s %v", f.Form, reply.Error, err)
		}
	}
}

// TestNoFormInRefusals: no form of a secret comes back in a refusal, stands in what a client is asked, or is in the log.
func TestNoFormInRefusals(t *testing.T) {
	h := buildAsking(t, writesAsk(), approval.Options{Deadline: time.Minute})
	w := h.World()
	w.AskClient = true
	h.Swap(w)
	s := h.enter("developer")
	for _, f := range credentialtest.Samples() {
		text := "see " + f.Text + " there"
		args, err := json.Marshal(map[string]string{"path": "a.txt", "content": text})
		if err != nil {
			t.Fatal(err)
		}
		asked := ""
		write := request("files__write_file", string(args))
		write.Peer = client{`{"elicitation":{}}`, func(_ context.Context, params string) (string, error) {
			asked = params
			return `{"action":"decline"}`, nil
		}}
		unknown := request("files__nothing", string(args))
		unknown.Asked = text
		broken := request("files__write_file", `{"path":`+text)
		invalid := request("files__write_file", string(args))
		invalid.Invalid = "it is not valid: " + text
		for _, r := range []Request{write, unknown, broken, invalid} {
			_, err := h.Call(t.Context(), s, r)
			if got := denied(t, err).Error(); strings.Contains(got, f.Secret) {
				t.Errorf("%s: refused with %s", f.Form, got)
			}
		}
		if asked == "" || strings.Contains(asked, f.Secret) {
			t.Errorf("%s: the client is asked %s", f.Form, asked)
		}
		h.back.answer = func(context.Context, policy.Scope, string, string, []byte) ([]byte, []byte, error) {
			return nil, nil, errors.New(text)
		}
		_, _ = h.Call(t.Context(), s, request("files__read_file", string(args)))
	}
	segments, err := filepath.Glob(filepath.Join(h.logs.Dir, "*.jsonl"))
	if err != nil || len(segments) == 0 {
		t.Fatal(segments, err)
	}
	for _, name := range segments {
		log, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range credentialtest.Samples() {
			if bytes.Contains(log, []byte(f.Secret)) {
				t.Errorf("%s: the log has it", f.Form)
			}
		}
	}
}
