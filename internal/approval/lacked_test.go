package approval

import (
	"mycelium/internal/policy/sign"
	"strings"
	"testing"

	"mycelium/internal/policy/box"
)

// lacking is a push that lacked things in the sandbox.
func lacking(command string, things ...Lack) Request {
	r := pushing(command)
	r.Sandbox, r.Lacked = box.Of("project"), Lacked{Profile: "project", ExitCode: 128, Things: things}
	return r
}

// TestLackedBinds: an answer is bound to what the command gets in the sandbox; who only shows it differently asks the same.
func TestLackedBinds(t *testing.T) {
	host := Lack{Need: NeedHost, Name: "a.example:443"}
	r := lacking("git push origin main", host)
	noted := host
	noted.Note = "is not on this machine"
	for name, tc := range map[string]struct {
		o    Request
		same bool
	}{
		"nothing": {pushing("git push origin main"), false},
		"other":   {lacking("git push origin main", Lack{Need: NeedHost, Name: "b.example:443"}), false},
		"need":    {lacking("git push origin main", Lack{Need: NeedRead, Name: "a.example:443"}), false},
		"more":    {lacking("git push origin main", host, Lack{Need: NeedRead, Name: "/x"}), false},
		"note":    {lacking("git push origin main", noted), true},
	} {
		r.Digest, tc.o.Digest = r.Sum(r.Args), tc.o.Sum(tc.o.Args)
		if got := r.Bound() == tc.o.Bound(); got != tc.same {
			t.Errorf("%s: bound alike: %t", name, got)
		}
		if got := r.Digest == tc.o.Digest; got != tc.same {
			t.Errorf("%s: shown alike: %t", name, got)
		}
	}
}

// TestLackedTerms: people are told what an approval gives, and what of it is the command's own word.
func TestLackedTerms(t *testing.T) {
	r := lacking("git push origin main", Lack{Need: NeedHost, Name: "a.example:443"},
		Lack{Need: NeedRead, Name: "/data\n/x", Said: true, Note: "is not on this machine"})
	lines, _ := ShowTerms(r)
	got := strings.Join(lines, "\n")
	for _, want := range []string{"in the sandbox project: host a.example:443, read ", "exit code 128", "refused, a.example:443",
		"That it needs read /data", "own word", "is not on this machine"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	if len(lines) != 5 {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	if lines, _ := ShowTerms(pushing("git push origin main")); len(lines) > 0 {
		t.Errorf("without it: %q", lines)
	}
}

// TestLackedForTheSession: an approval for the session, also as a program, holds for calls that get no more than it gave.
func TestLackedForTheSession(t *testing.T) {
	q, err := New(t.Context(), Options{Deadline: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	host, other := Lack{Need: NeedHost, Name: "a.example:443"}, Lack{Need: NeedHost, Name: "b.example:443"}
	asked, done := make(chan Request, 1), make(chan Answer, 1)
	go func() {
		a, _ := q.AskTelling(t.Context(), lacking("git push origin main", host), func(r Request) { asked <- r })
		done <- a
	}()
	r := <-asked
	if _, err := q.Settle(t.Context(), r.ID, Answer{Allow: true, For: Session, As: ThisProgram, By: "p"}, sign.None); err != nil {
		t.Fatal(err)
	}
	<-done
	for name, tc := range map[string]struct {
		r     Request
		known bool
	}{
		"the same":     {lacking("git push origin main", host), true},
		"other words":  {lacking("git push origin topic", host), true},
		"nothing":      {lacking("git push origin topic"), true},
		"another host": {lacking("git push origin topic", other), false},
		"and another":  {lacking("git push origin main", host, other), false},
	} {
		tc.r.complete()
		if _, known := q.Consult(t.Context(), tc.r); known != tc.known {
			t.Errorf("%s: answered: %t", name, known)
		}
	}
}
