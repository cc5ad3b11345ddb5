package sign

import (
	"errors"
	"testing"
)

func TestCheck(t *testing.T) {
	grave := Demand{"This call is critical", "what it would do"}
	for s, taken := range map[Sign]bool{None: false, "yes": false, Sure: true, PIN: true, Of(true): true, Of(false): false} {
		if err := (Demand{}).Check(s); err != nil {
			t.Errorf("no demand, %q: %v", s, err)
		}
		err := grave.Check(s)
		var missing *MissingError
		if (err == nil) != taken {
			t.Errorf("%q: %v", s, err)
		}
		if !taken && (!errors.As(err, &missing) || missing.Missing != Sure || missing.Why == "" || missing.Read == "" || missing.Hint() == "") {
			t.Errorf("%q: the fields of %+v", s, err)
		}
	}
	if (Demand{}).Any() || !grave.Any() {
		t.Error("Any")
	}
}
