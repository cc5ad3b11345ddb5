package approval

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/policy/sign"
)

// TestKeep: a person keeps an approval that was given once, when the call has run, also after a restart: the act is recorded before the rule
// is written, and the request has its name from then on. It is kept once, and what cannot be recorded, what the person has not seen and what
// lacks its second sign is not kept.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var did []string
	o := Options{DB: openDB(t, path), WriteRule: func(_ context.Context, r Request, a Answer) (string, error) {
		did = append(did, "write "+string(a.As)+" by "+a.By)
		return "approved-" + r.ID, nil
	}}
	record := func(Request, Answer) error {
		did = append(did, "record")
		return nil
	}
	q := newQueue(t, o)
	from := question(makeIt)
	from.Risk = policy.Critical
	r, err := q.Entered(t.Context(), from, Answer{Allow: true, By: "the person at the terminal", Via: "its dialog"})
	if err != nil || len(r.ID) != idLength || r.State != Allowed || r.Answer.For != Once {
		t.Fatalf("%+v, %v", r, err)
	}
	if list, err := q.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("it waits: %v, %v", list, err)
	}
	if list, err := q.Answered(t.Context(), 5); err != nil || len(list) != 1 || list[0].ID != r.ID {
		t.Errorf("it is not among the answers: %v, %v", list, err)
	}
	q.Close()
	q = newQueue(t, o) // the next process

	keep := func(a Answer, s sign.Sign, record func(Request, Answer) error) error {
		a.By = "kim"
		_, err := q.Keep(t.Context(), r.ID, a, s, record)
		return err
	}
	var missing *sign.MissingError
	if err := keep(Answer{}, sign.None, record); !errors.As(err, &missing) {
		t.Errorf("without the second sign: %v", err)
	}
	if err := keep(Answer{Digest: "another"}, sign.Sure, record); !errors.Is(err, ErrDigest) {
		t.Errorf("another request: %v", err)
	}
	if err := keep(Answer{As: ThisHost}, sign.Sure, record); !IsBadAnswer(err) {
		t.Errorf("as what it cannot be: %v", err)
	}
	full := errors.New("the disk is full")
	if err := keep(Answer{}, sign.Sure, func(Request, Answer) error { return full }); !errors.Is(err, full) || did != nil {
		t.Errorf("not recorded: %v %v", err, did)
	}
	if err := keep(Answer{Digest: r.Digest}, sign.Sure, record); err != nil || !slices.Equal(did, []string{"record", "write call by kim"}) {
		t.Errorf("%v %v", err, did)
	}
	for range 2 {
		if err := keep(Answer{}, sign.Sure, record); !IsBadAnswer(err) || !strings.Contains(err.Error(), "kept already") {
			t.Errorf("twice: %v", err)
		}
		q.Close()
		q = newQueue(t, o)
	}
	if now, err := q.Find(t.Context(), r.ID[:4]); err != nil || now.Answer.Rule != "approved-"+r.ID || now.Answer.By != "the person at the terminal" {
		t.Errorf("%+v, %v", now.Answer, err)
	}
}

// TestWhatIsNotKept says why for each request that is no approval of a person.
func TestWhatIsNotKept(t *testing.T) {
	done := Request{ID: "k3m9", Kind: Call, State: Allowed, Tool: "agent__Bash", Answer: &Answer{Allow: true, By: "kim"}}
	if why := done.Keepable(); why != "" {
		t.Error(why)
	}
	for want, change := range map[string]func(*Request){
		"it is no call":          func(r *Request) { r.Kind = Stop },
		"it still waits":         func(r *Request) { r.State, r.Answer = Pending, nil },
		"nobody approved it":     func(r *Request) { r.State = Denied },
		"a model approved it":    func(r *Request) { r.Answer = &Answer{Via: "model"} },
		"kept already, by the r": func(r *Request) { r.Answer = &Answer{Rule: "x"} },
		"only once: it runs code of the project": func(r *Request) {
			r.Facts.Parts = []policy.Part{{Effects: []string{policy.EffectProjectCode}}}
		},
	} {
		r := done
		change(&r)
		if why := r.Keepable(); !strings.Contains(why, want) {
			t.Errorf("%s: %q", want, why)
		}
	}
}

// TestKeepAs: the call itself is kept, and of a tool that is no shell its hosts, because its other arguments differ each time.
func TestKeepAs(t *testing.T) {
	fetch := Request{Kind: Call, Tool: "agent__WebFetch", Args: []byte(`{"url":"https://pkg.go.dev/os","prompt":"x"}`),
		Facts: policy.Facts{Parts: []policy.Part{{Hosts: []string{"pkg.go.dev"}, Effects: []string{policy.EffectNetwork}}}}}
	curl := fetch
	curl.Tool, curl.Args = "agent__Bash", []byte(`{"command":"curl https://pkg.go.dev/os"}`)
	curl.Facts.Parts = []policy.Part{{Program: "curl", Hosts: []string{"pkg.go.dev"}, Effects: []string{policy.EffectNetwork}}}
	if a, b := fetch.KeepAs(), curl.KeepAs(); a != ThisHost || b != ThisCall {
		t.Error(a, b)
	}
}

// TestFindByFirstLetters: few letters name nothing, and letters with which several ids begin name all of those.
func TestFindByFirstLetters(t *testing.T) {
	q := newQueue(t, Options{DB: openDB(t, filepath.Join(t.TempDir(), "x.db"))})
	var ids []string
	for range 3 {
		r, err := q.Entered(t.Context(), question(makeIt), yes("kim"))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	if r, err := q.Find(t.Context(), ids[1][:6]); err != nil || r.ID != ids[1] {
		t.Errorf("%+v, %v", r, err)
	}
	for _, none := range []string{"", ids[0][:2], "zzzz0"} {
		if _, err := q.Find(t.Context(), none); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", none, err)
		}
	}
	if err := q.o.DB.Tx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE approvals SET request = replace(request, ?, ?)", `"id":"`+ids[2], `"id":"`+ids[1][:8])
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var several *AmbiguousError
	if _, err := q.Find(t.Context(), ids[1][:5]); !errors.As(err, &several) || len(several.IDs) != 2 {
		t.Errorf("%v", err)
	}
}
