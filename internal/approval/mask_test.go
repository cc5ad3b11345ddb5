package approval

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"mycelium/internal/credential/credentialtest"
	"mycelium/internal/policy"
)

// asked returns a request that has a secret in each of its texts.
func asked(t *testing.T, kind Kind, tool string, f credentialtest.Sample) Request {
	t.Helper()
	var r Request
	text := "see " + f.Text + " there"
	credentialtest.Fill(&r, text)
	args, err := json.Marshal(map[string]any{"command": text, "file_path": text, "list": []any{f.Text, 1}})
	if err != nil {
		t.Fatal(err)
	}
	r.ID, r.Kind, r.Call, r.Session, r.Principal, r.Parent, r.Role, r.Surface = "", kind, "c", "s", "p", "q", "dev", "stdio"
	r.Tool, r.Args, r.Digest, r.Pane, r.Risk, r.State = tool, args, "", "", policy.High, ""
	r.Above = []string{"o"} // ids, as that of the session
	r.Facts.Parts[0].Paths[0].Access = policy.Read
	r.Answer, r.Waiting, r.Deadline, r.Created = nil, 0, time.Time{}, time.Time{}
	return r
}

// TestNoFormIsShown: secrets of every known form are masked in requests that the queue lists, stores, or gives to the model. The packages
// that show requests have a test of the same name.
func TestNoFormIsShown(t *testing.T) {
	db := openDB(t, t.TempDir()+"/db")
	var judged string
	judge := judges(func(_ context.Context, r Request) (Verdict, error) {
		b, err := json.Marshal(r)
		judged = string(b)
		return Verdict{}, err
	})
	for _, kind := range []Kind{Call, Stop, Question} {
		q := newQueue(t, Options{DB: db, Judge: judge})
		if kind != Call {
			q = newQueue(t, Options{Judge: judge}) // without a database, which waits for the disk
		}
		for _, f := range credentialtest.Samples() {
			judged = ""
			r := asked(t, kind, "agent__Bash", f)
			r.Session = string(kind) + " " + f.Form
			raw := r.Sum(r.Args)
			ctx, cancel := context.WithCancel(t.Context())
			answer := ask(ctx, q, r)
			shown := seen(t, q, "a request", func(w Request) bool { return w.State == Pending && w.Session == r.Session })
			list, err := json.Marshal(shown)
			if err != nil {
				t.Fatal(err)
			}
			var kept string
			if err := db.QueryRow(`SELECT request FROM approvals WHERE session = ?`, r.Session).Scan(&kept); err != nil && kind == Call {
				t.Fatal(err)
			}
			for where, text := range map[string]string{
				"list": string(list), "database": kept, "model": judged,
			} {
				if strings.Contains(text, f.Secret) {
					t.Errorf("%s: the %s of a %s has it: %s", f.Form, where, kind, text)
				}
			}
			if shown.Digest != raw {
				t.Errorf("%s: the digest is of what is shown, not of what was asked", f.Form)
			}
			if kind == Call && judged == "" {
				t.Errorf("%s: the model was not asked", f.Form)
			}
			if kind == Call && !shown.HoldsSecret() {
				t.Errorf("%s: the arguments are %s", f.Form, shown.Args)
			}
			cancel()
			<-answer
		}
	}
}

// TestNoFormInNotices: secrets are masked in notices and in questions to the model.
func TestNoFormInNotices(t *testing.T) {
	for _, f := range credentialtest.Samples() {
		var b Board
		ctx, cancel := context.WithCancel(t.Context())
		ready := make(chan struct{})
		told := make(chan Notice, 1)
		done := make(chan struct{})
		go func() {
			defer close(done)
			b.Watch(ctx, ready, func(n Notice) { told <- n })
		}()
		<-ready
		b.Post(Notice{Kind: Completed, Label: f.Text, Text: "said " + f.Text})
		n := <-told
		for _, text := range []string{n.Label, n.Text} {
			if strings.Contains(text, f.Secret) {
				t.Errorf("%s: %s", f.Form, text)
			}
		}
		cancel()
		<-done
	}
}

func TestMaskedArgs(t *testing.T) {
	key := "AK" + "IA" + "QX7RT2MWLB4KDYN5"
	for _, c := range []struct{ in, want string }{
		{`{"a" : [1.50, 12345678901234567890, "x"]}`, `{"a" : [1.50, 12345678901234567890, "x"]}`},
		{`{"n":1.50,"k":"` + key + `","u":"\u8aad"}`, `{"n":1.50,"k":"[REDACTED]","u":"読"}`},
		{`{"k":"\u0041` + key[1:] + `"}`, `{"k":"[REDACTED]"}`},
		{`{"` + key + `":1,"` + key + `":2}`, `{"[REDACTED]":1,"[REDACTED]":2}`},
		{`{"k":"` + key + `"`, `{"k":"[REDACTED]"`},
		{``, ``},
	} {
		if got := string(maskedArgs([]byte(c.in))); got != c.want {
			t.Errorf("%s became %s", c.in, got)
		}
	}
	r := Request{Facts: policy.Facts{Parts: []policy.Part{{Argv: []string{key}}}}}
	if r.masked(); r.Facts.Parts[0].Argv[0] != key {
		t.Error("the caller's own facts were changed")
	}
}
