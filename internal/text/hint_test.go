package text

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestHints(t *testing.T) {
	inner := Hinted(fmt.Errorf("open: %w", fs.ErrNotExist), "name an existing file")
	outer := fmt.Errorf("read rules: %w", inner)
	if got := outer.Error(); got != "read rules: open: file does not exist" {
		t.Errorf("text: %q", got)
	}
	if HintOf(outer) != "name an existing file" || !errors.Is(outer, fs.ErrNotExist) {
		t.Errorf("hint: %q", HintOf(outer))
	}
	if got := Describe(outer); got != "read rules: open: file does not exist (hint: name an existing file)" {
		t.Errorf("described: %q", got)
	}
	if got := HintOf(Hinted(outer, "another")); got != "another" {
		t.Errorf("of two hints it is %q", got)
	}
	if got := HintOf(errors.Join(errors.New("a"), inner)); got != "name an existing file" {
		t.Errorf("joined: %q", got)
	}
	if HintOf(nil) != "" || HintOf(fs.ErrExist) != "" || Describe(fs.ErrExist) != fs.ErrExist.Error() {
		t.Error("an error without a hint has one")
	}
}
