package failure

import (
	"errors"
	"fmt"
	"testing"

	"mycelium/internal/policy/sign"
	"mycelium/internal/text"
)

// TestKinds: every kind has all its codes, and a client finds kind, text and hint again.
func TestKinds(t *testing.T) {
	seen := map[int]Kind{}
	for k := Other; k <= Ending; k++ {
		c := codes[k]
		if c.exit == 0 || c.rpc == 0 || c.http < 400 {
			t.Errorf("kind %d has no codes: %+v", k, c)
		}
		if other, twice := seen[c.rpc]; twice {
			t.Errorf("the kinds %d and %d have one code, %d", other, k, c.rpc)
		}
		seen[c.rpc] = k
		sent := ToRPC(fmt.Errorf("open: %w", New(k, errors.New("closed"), "turn the key")))
		got := Of(FromRPC(sent))
		if got.Kind != k || got.Error() != "open: closed" || text.HintOf(got) != "turn the key" {
			t.Errorf("kind %d came back as %d %q %q", k, got.Kind, got, text.HintOf(got))
		}
	}
	if len(codes) != int(Ending)+1 {
		t.Errorf("%d kinds have codes", len(codes))
	}
	lacks := sign.OfCall().Check(sign.None)
	var missing *sign.MissingError
	if got := FromRPC(ToRPC(fmt.Errorf("answer: %w", lacks))); Of(got).Kind != Usage || !errors.As(got, &missing) ||
		missing.Missing != sign.Sure || text.HintOf(got) != missing.How || got.Error() != "answer: "+lacks.Error() {
		t.Errorf("what an answer lacked came back as %v: %+v", got, missing)
	}
	plain := errors.New("plain")
	if ToRPC(nil) != nil || FromRPC(plain) != plain || Of(plain).Kind != Other || text.HintOf(FromRPC(ToRPC(plain))) != "" {
		t.Error("an error of no kind")
	}
}
