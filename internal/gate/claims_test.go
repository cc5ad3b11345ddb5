package gate

import (
	"errors"
	"slices"
	"testing"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/gate/session"
)

// bearer are claims of one holder.
func bearer(t *testing.T, issued time.Time, roles ...string) *session.Bearer {
	t.Helper()
	return holder(t, session.Claims{Issuer: "https://id.example", Subject: "alice", Client: "app", Principal: "oauth:id.example#alice",
		Issued: issued, Roles: roles})
}

func holder(t *testing.T, c session.Claims) *session.Bearer {
	t.Helper()
	b, err := session.NewBearer(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (h *house) join(b *session.Bearer) *session.Session {
	h.t.Helper()
	s, err := h.Sessions.Join(h.t.Context(), b)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// TestClaimsKeepTheSession: a refreshed token finds the session of the one before it, as long as the claims allow its role, also
// after a restart.
func TestClaimsKeepTheSession(t *testing.T) {
	h := build(t, three())
	ctx, t0 := t.Context(), time.Now().Truncate(time.Second)
	s := h.join(bearer(t, t0, "guest", "developer"))
	if got := s.Scope().Principal; got.ID != "oauth:id.example#alice" || got.Role != "guest" || !slices.Equal(got.Roles,
		[]string{"developer", "guest"}) {
		t.Fatalf("%+v", got)
	}
	start := h.last(audit.Session)
	if start["note"] != "session verified (issuer); escalate reader" || start["principal"] != "oauth:id.example#alice" {
		t.Errorf("recorded %v", start)
	}
	if _, err := h.Sessions.SetRole(ctx, s, "developer", session.ByAgent); err != nil {
		t.Fatal(err)
	}
	if err := h.Sessions.SetSkills(ctx, s, nil, []string{"editor"}, session.ByOperator); err != nil {
		t.Fatal(err)
	}
	if h.join(bearer(t, t0.Add(time.Minute), "guest", "developer")) != s || h.join(bearer(t, t0, "guest", "developer")) != s {
		t.Error("another token of the same holder has another session")
	}
	if h.join(bearer(t, t0.Add(2*time.Minute),
		"developer")) != s || s.Scope().Principal.Role != "developer" || !slices.Equal(s.Scope().Skills, []string{"reader"}) {
		t.Errorf("a role that is still allowed is not kept: %+v", s.Scope())
	}
	if _, err := h.Sessions.SetRole(ctx, s, "guest", session.ByAgent); err == nil || err.Error() != "Unknown role: guest" {
		t.Errorf("a role that is no longer allowed: %v", err)
	}
	id := s.ID
	h.restart(three())
	again := h.join(bearer(t, t0.Add(2*time.Minute), "developer"))
	if again.ID != id || again.Scope().Principal.Role != "developer" || !slices.Equal(again.Scope().Skills, []string{"reader"}) {
		t.Errorf("after a restart %s has %+v", again.ID, again.Scope())
	}
	if _, err := h.Sessions.Join(ctx, bearer(t, t0, "guest", "developer")); !errors.Is(err, session.ErrSuperseded) {
		t.Errorf("after a restart an older token with other claims: %v", err)
	}
}

// TestClaimsTakeTheRoleAway: the session follows the newest token at once, and is told.
func TestClaimsTakeTheRoleAway(t *testing.T) {
	h := build(t, three())
	ctx, t0 := t.Context(), time.Now().Truncate(time.Second)
	s := h.join(bearer(t, t0, "admin", "guest"))
	changed := s.Changed()
	if h.join(bearer(t, t0.Add(time.Second), "guest")) != s || s.Scope().Principal.Role != "guest" {
		t.Errorf("%+v", s.Scope())
	}
	if !closed(changed) {
		t.Error("its links were not told")
	}
	if note := h.last(audit.Session)["note"]; note != "session claims (issuer); deescalate keeper; deescalate editor" &&
		note != "session claims (issuer); deescalate editor; deescalate keeper" {
		t.Errorf("recorded %v", note)
	}
	if _, err := h.Sessions.Join(ctx, bearer(t, t0, "admin", "guest")); !errors.Is(err, session.ErrSuperseded) {
		t.Errorf("the older token brings the role back: %v", err)
	}
	if _, err := h.Sessions.Join(ctx, bearer(t, t0.Add(time.Second), "admin")); !errors.Is(err, session.ErrSuperseded) {
		t.Errorf("a token of the same second brings the role back: %v", err)
	}
	if h.join(bearer(t, t0.Add(2*time.Second))).Scope().Principal.Role != "" {
		t.Error("no claim, and still a role")
	}
	if got := h.sees(s); len(got) > 0 {
		t.Errorf("without a role it sees %v", got)
	}
	// An unknown role is none, and what comes back comes back.
	if h.join(bearer(t, t0.Add(3*time.Second), "nobody")).Scope().Principal.Role != "" {
		t.Error("a role that does not exist was taken")
	}
	if h.join(bearer(t, t0.Add(4*time.Second), "nobody", "guest")).Scope().Principal.Role != "guest" {
		t.Errorf("%+v", s.Scope())
	}
	// A refreshed token that says the same is the newest all the same.
	h.join(bearer(t, t0.Add(9*time.Second), "nobody", "guest"))
	if _, err := h.Sessions.Join(ctx, bearer(t, t0.Add(8*time.Second), "admin")); !errors.Is(err, session.ErrSuperseded) {
		t.Errorf("an older token: %v", err)
	}
}

// TestHoldersDoNotMeet: whoever differs in issuer, subject, client or principal has a session of his own, however the parts are cut.
func TestHoldersDoNotMeet(t *testing.T) {
	h := build(t, three())
	at := time.Now()
	seen := map[*session.Session]session.Claims{}
	for _, c := range []session.Claims{
		{Issuer: "i", Subject: "s", Client: "c", Principal: "p"}, {Issuer: "i2", Subject: "s", Client: "c", Principal: "p"},
		{Issuer: "i", Subject: "s2", Client: "c", Principal: "p"}, {Issuer: "i", Subject: "s", Client: "c2", Principal: "p"},
		{Issuer: "i", Subject: "s", Client: "c", Principal: "p2"}, {Issuer: "i", Subject: "s", Principal: "p"},
		{Issuer: `i","s`, Subject: "s", Client: "c", Principal: "p"}, {Issuer: "i", Subject: `s","c`, Principal: "p"},
		{Issuer: "i", Subject: "sc", Principal: "p"},
	} {
		c.Issued, c.Roles = at, []string{"guest"}
		s := h.join(holder(t, c))
		if other, taken := seen[s]; taken {
			t.Errorf("%+v and %+v share a session", c, other)
		}
		seen[s] = c
	}
	for _, c := range []session.Claims{{}, {Issuer: "i", Subject: "s", Principal: "p"}, {Subject: "s", Principal: "p", Issued: at},
		{Issuer: "i", Principal: "p", Issued: at}, {Issuer: "\xff", Subject: "s", Principal: "p", Issued: at}} {
		if _, err := session.NewBearer(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

// TestEndOfAHolder: what an operator ended stays ended for every token that was issued before, also after a restart; a newer one
// begins anew.
func TestEndOfAHolder(t *testing.T) {
	h := build(t, three())
	ctx, t0 := t.Context(), time.Now().Truncate(time.Second)
	s := h.join(bearer(t, t0, "guest"))
	if err := h.Sessions.End(ctx, s.ID); err != nil {
		t.Fatal(err)
	}
	if !closed(s.Done()) {
		t.Error("its links were not told")
	}
	if _, err := h.Sessions.Join(ctx, bearer(t, t0, "guest")); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("the token joins again: %v", err)
	}
	h.restart(three())
	if _, err := h.Sessions.Join(ctx, bearer(t, t0, "guest")); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("after a restart the token joins again: %v", err)
	}
	next := h.join(bearer(t, time.Now().Add(time.Second), "guest"))
	if next.ID == s.ID {
		t.Error("an ended session came back")
	}
	if err := h.Sessions.End(ctx, next.ID); err != nil {
		t.Fatal(err)
	}
	third := h.join(bearer(t, time.Now().Add(time.Hour), "guest"))
	if _, err := h.Sessions.Join(ctx, bearer(t, t0, "guest")); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("a token from before the end joins the session of a later one: %v", err)
	}
	if infos, err := h.Sessions.List(ctx); err != nil || len(infos) != 1 || infos[0].ID != third.ID || infos[0].Name != "app" {
		t.Errorf("%+v, %v", infos, err)
	}
}

// TestAHolderOutlivesHisSession: when its time has passed the same token begins a new one.
func TestAHolderOutlivesHisSession(t *testing.T) {
	h := build(t, three())
	jump := time.Duration(0)
	h.time = func() time.Time { return time.Now().Add(jump) }
	b := bearer(t, time.Now(), "guest")
	s := h.join(b)
	jump = session.DefaultTTL
	next := h.join(b)
	if next == s || !closed(s.Done()) {
		t.Error("a session outlived its time")
	}
	if h.join(b) != next {
		t.Error("a third session")
	}
}

// TestOperatorsAndClaims: an operator chooses among the roles that the token allows, no other.
func TestOperatorsAndClaims(t *testing.T) {
	h := build(t, three())
	ctx := t.Context()
	b := bearer(t, time.Now(), "guest", "developer")
	s := h.join(b)
	if _, err := h.Sessions.SetRole(ctx, s, "admin", session.ByOperator); err == nil {
		t.Error("a role beyond the token's")
	}
	if _, err := h.Sessions.SetRole(ctx, s, "developer", session.ByOperator); err != nil {
		t.Error(err)
	}
	if h.join(b); s.Scope().Principal.Role != "developer" {
		t.Error("what the operator chose did not last")
	}
}
