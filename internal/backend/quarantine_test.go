package backend

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/backend/pin"
	"mycelium/internal/policy"
)

// TestRugPull: a server that changes a definition while it runs. The call in between is refused too, whoever still knows the name.
func TestRugPull(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-fake", "rug"))
	ctx := testContext(t)
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	changed := p.Changed()
	for name, want := range map[string]bool{"t": true, "flip": true} {
		if has := slices.ContainsFunc(p.Catalog().Definitions, func(d policy.Definition) bool { return d.Item.Name == name }); has != want {
			t.Errorf("%s: %v", name, has)
		}
	}
	if _, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"flip"}`), nil); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	case <-ctx.Done():
		t.Fatal("the catalog did not change")
	}
	held := p.Catalog().Held
	if len(held) != 1 || held[0].Cause != pin.CauseChanged || held[0].Name() != "s__t" {
		t.Fatalf("%+v", held)
	}
	_, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t"}`), nil)
	var absent interface{ Absent() bool }
	if !errors.As(err, &absent) || !absent.Absent() {
		t.Fatalf("called: %v", err)
	}
	if err := p.Accept([]Acceptance{{"s__t", strings.Repeat("0", 64)}}); err == nil || !strings.Contains(err.Error(), "changed again") {
		t.Errorf("accepted what was not seen: %v", err)
	}
	if err := p.Accept([]Acceptance{{"s__t", held[0].Digest}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t"}`), nil); err != nil {
		t.Errorf("accepted, and refused: %v", err)
	}
}
