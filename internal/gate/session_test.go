package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/audit"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
)

func TestTokens(t *testing.T) {
	h := build(t, three())
	s, token, err := h.Sessions.Mint(t.Context(), session.Spec{Name: "ci", Role: "guest", Roles: []string{"developer"}})
	if err != nil {
		t.Fatal(err)
	}
	if !session.OurToken(token) || len(token) != 47 {
		t.Errorf("token %q", token)
	}
	if got, err := h.Sessions.Authenticate(t.Context(), token); err != nil || got != s {
		t.Errorf("its own token: %v, %v", got, err)
	}
	other, second, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "guest"})
	if err != nil || second == token || other.ID == s.ID {
		t.Fatalf("a second session: %v", err)
	}
	last := token[len(token)-1]
	for _, bad := range []string{
		"", "myc_", token[4:], token + "A", token[:46], "MYC_" + token[4:], " " + token, token + "\n", strings.ToUpper(token),
		token[:46] + "=",
		"myc_" + strings.Repeat("A", 43), token[:46] + string(last+1), "myc_" + strings.Repeat("é", 22), s.ID, "Bearer " + token,
	} {
		if got, err := h.Sessions.Authenticate(t.Context(), bad); !errors.Is(err, session.ErrNoSession) {
			t.Errorf("%q is the token of %v (%v)", bad, got, err)
		}
	}
	var rows int
	if err := h.db.QueryRow(`SELECT count(*) FROM sessions WHERE hex(token_hash) LIKE '%' || hex(?) || '%' OR name LIKE '%' || ? || '%'`,
		token, token).Scan(&rows); err != nil || rows != 0 {
		t.Errorf("the token is in the database (%d, %v)", rows, err)
	}
	for _, m := range h.lines() {
		if strings.Contains(fmt.Sprint(m), token[4:]) {
			t.Errorf("the token is in the log: %v", m)
		}
	}
}

func TestMintRefusesWhatDoesNotExist(t *testing.T) {
	h := build(t, three())
	for _, spec := range []session.Spec{
		{Role: "superadmin"},
		{Role: "admin; DROP TABLE users"},
		{Role: "../../../etc/passwd"},
		{Role: "<script>"},
		{Role: "admin\x00guest"},
		{Role: "Guest"},
		{Role: "guest", Roles: []string{"developer", "root"}},
		{Role: "guest", Roles: []string{""}},
		{Role: "guest", Skills: []string{"no-such"}},
		{Role: "guest", Skills: []string{"editor"}},
		{Skills: []string{"reader"}},
		{Role: "guest", TTL: -time.Second},
	} {
		if s, token, err := h.Sessions.Mint(t.Context(), spec); err == nil || s != nil || token != "" {
			t.Errorf("%+v was minted", spec)
		}
		if s, err := h.Sessions.Open(t.Context(), spec); err == nil || s != nil {
			t.Errorf("%+v was opened", spec)
		}
	}
	if infos, err := h.Sessions.List(t.Context()); err != nil || len(infos) != 0 {
		t.Errorf("sessions %v, %v", infos, err)
	}
	if _, _, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "superadmin"}); err == nil || !strings.Contains(err.Error(), "guest") {
		t.Errorf("the error does not say which roles there are: %v", err)
	}
}

// TestNoRole: decision 4.
func TestNoRole(t *testing.T) {
	h := build(t, three())
	s := h.enter("")
	if got := h.sees(s); len(got) > 0 {
		t.Errorf("sees %v", got)
	}
	if len(s.List(policy.Tool)) == 0 {
		t.Error("sees no control tools")
	}
	answer, _ := h.ask(s, "mycelium-router__get_context", `{}`)
	if answer["role"] != "" || len(answer["activeSkills"].([]any)) != 0 {
		t.Errorf("context %v", answer)
	}
	for _, bad := range []string{"superadmin", "admin; DROP TABLE users", "../../../etc/passwd", "<script>alert(1)</script>",
		"admin\x00guest", "", "guest"} {
		if _, err := h.Sessions.SetRole(t.Context(), s, bad, session.ByAgent); err == nil || err.Error() != "Unknown role: "+bad {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestRestartKeepsSessions(t *testing.T) {
	h := build(t, three())
	ctx := t.Context()
	s, token, err := h.Sessions.Mint(ctx,
		session.Spec{Name: "ci", Principal: "bot", Role: "guest", Roles: []string{"developer"}, Skills: []string{"reader"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Sessions.SetRole(ctx, s, "developer", session.ByAgent); err != nil {
		t.Fatal(err)
	}
	if err := h.Sessions.SetSkills(ctx, s, []string{"editor"}, nil, session.ByAgent); err != nil {
		t.Fatal(err)
	}
	want, scope := s.Summary(), s.Scope()
	opened := h.enter("guest")
	h.restart(three())
	if !closed(opened.Done()) {
		t.Error("an opened session outlived its process")
	}
	again, err := h.Sessions.Authenticate(ctx, token)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(scope, again.Scope()); diff != "" {
		t.Error(diff)
	}
	infos, err := h.Sessions.List(ctx)
	if err != nil || len(infos) != 1 {
		t.Fatalf("%v, %v", infos, err)
	}
	if diff := cmp.Diff(want, infos[0]); diff != "" {
		t.Error(diff)
	}
	if byID, err := h.Sessions.Find(ctx, s.ID); err != nil || byID != again {
		t.Errorf("two of one session: %v", err)
	}
}

func TestEnd(t *testing.T) {
	h := build(t, three())
	ctx := t.Context()
	s, token, err := h.Sessions.Mint(ctx, session.Spec{Role: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	changed := s.Changed()
	if err := h.Sessions.End(ctx, s.ID); err != nil {
		t.Fatal(err)
	}
	if !closed(s.Done()) || !closed(changed) {
		t.Error("its links were not told")
	}
	if _, err := h.Sessions.Authenticate(ctx, token); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("its token: %v", err)
	}
	if _, err := h.Call(ctx, s, request("files__read_file", `{}`)); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("a call: %v", err)
	}
	if _, err := h.Sessions.SetRole(ctx, s, "guest", session.ByOperator); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("a switch: %v", err)
	}
	if err := h.Sessions.End(ctx, s.ID); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("a second end: %v", err)
	}
	h.restart(three())
	if _, err := h.Sessions.Authenticate(ctx, token); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("its token after a restart: %v", err)
	}
	// One that is only in the database.
	s, token, err = h.Sessions.Mint(ctx, session.Spec{Role: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	h.restart(three())
	if err := h.Sessions.End(ctx, s.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Sessions.Authenticate(ctx, token); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("its token: %v", err)
	}
}

// TestEndWithoutDatabase: a session ends even when the end cannot be kept, and its token does not come back.
func TestEndWithoutDatabase(t *testing.T) {
	h := build(t, three())
	s, token, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Sessions.End(t.Context(), s.ID); err == nil {
		t.Error("no error")
	}
	if _, err := h.Sessions.Authenticate(t.Context(), token); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("its token: %v", err)
	}
	if _, err := h.Sessions.SetRole(t.Context(), s, "guest", session.ByOperator); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("a switch: %v", err)
	}
}

// TestSwitchThatCannotBeKept: record first, then database, then memory.
func TestSwitchThatCannotBeKept(t *testing.T) {
	h := build(t, three())
	s, _, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "guest", Roles: []string{"developer"}})
	if err != nil {
		t.Fatal(err)
	}
	changed := s.Changed()
	if err := h.db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Sessions.SetRole(t.Context(), s, "developer", session.ByAgent); err == nil || errors.As(err, new(session.Refusal)) {
		t.Errorf("error %v", err)
	}
	if s.Scope().Principal.Role != "guest" || closed(changed) {
		t.Errorf("it happened: %+v", s.Scope())
	}
	if note := h.last(audit.Session)["note"]; !strings.Contains(note.(string), "taken back") {
		t.Errorf("last record %v", note)
	}
	if _, failed := h.ask(s, "mycelium-router__set_role", `{"role_id":"developer"}`); failed == "" || strings.Contains(failed, "sql") {
		t.Errorf("the agent is told %q", failed)
	}
}

func TestExpiry(t *testing.T) {
	h := build(t, three())
	synctest.Test(t, func(t *testing.T) {
		// The log and the database belong to the world outside; only time is ours.
		ctx := context.Background()
		short, err := h.Sessions.Open(ctx, session.Spec{Role: "guest", TTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		forever, err := h.Sessions.Open(ctx, session.Spec{Role: "guest"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		synctest.Wait()
		if closed(short.Done()) {
			t.Error("it ended early")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !closed(short.Done()) {
			t.Error("it did not end")
		}
		if closed(forever.Done()) {
			t.Error("another one ended")
		}
		if _, err := h.Sessions.Find(ctx, short.ID); !errors.Is(err, session.ErrNoSession) {
			t.Errorf("it is still there: %v", err)
		}
		if _, err := h.Call(ctx, short, request("files__read_file", `{}`)); !errors.Is(err, session.ErrNoSession) {
			t.Errorf("a call: %v", err)
		}
		h.Close()
	})
	if note := h.last(audit.Session)["note"]; note != "session expired (time)" {
		t.Errorf("last record %v", note)
	}
}

// TestExpiryIsCheckedEachTime: a clock that jumps is believed at once.
func TestExpiryIsCheckedEachTime(t *testing.T) {
	h := build(t, three())
	ctx := t.Context()
	s, token, err := h.Sessions.Mint(ctx, session.Spec{Role: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Summary(); got.Expires.Sub(got.Created) != session.DefaultTTL || !got.Live {
		t.Errorf("%+v", got)
	}
	jump := time.Duration(0)
	h.time = func() time.Time { return time.Now().Add(jump) }
	if _, err := h.Sessions.Authenticate(ctx, token); err != nil {
		t.Error(err)
	}
	jump = session.DefaultTTL
	if _, err := h.Sessions.Authenticate(ctx, token); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("its token: %v", err)
	}
	if !closed(s.Done()) {
		t.Error("its links were not told")
	}
	if infos, err := h.Sessions.List(ctx); err != nil || len(infos) > 0 {
		t.Errorf("%v, %v", infos, err)
	}
}

func TestSessionsAreListedOldestFirst(t *testing.T) {
	h := build(t, three())
	ctx := t.Context()
	var want []string
	for i, role := range []string{"guest", "developer", "admin"} {
		h.time = func() time.Time { return time.Now().Add(time.Duration(i) * time.Second) }
		s, _, err := h.Sessions.Mint(ctx, session.Spec{Name: role, Role: role})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, s.ID)
	}
	h.restart(three())
	opened := h.enter("guest")
	if _, err := h.Sessions.Find(ctx, want[1]); err != nil { // one is in memory, too
		t.Fatal(err)
	}
	h.time = func() time.Time { return time.Now().Add(time.Minute) }
	infos, err := h.Sessions.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range infos {
		if i.ID == opened.ID {
			if !i.Expires.IsZero() {
				t.Errorf("an opened session expires: %+v", i)
			}
			continue
		}
		got = append(got, i.ID)
		if !i.Live || i.Principal != i.ID || i.Role != i.Name {
			t.Errorf("%+v", i)
		}
	}
	if len(infos) != 4 || !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	if _, err := h.Sessions.Find(ctx, "nosuch"); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("error %v", err)
	}
	if err := h.Sessions.End(ctx, "nosuch"); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("error %v", err)
	}
	h.Close()
	if !closed(opened.Done()) {
		t.Error("it outlived the gate")
	}
}
