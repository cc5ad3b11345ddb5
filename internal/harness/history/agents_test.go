package history

import (
	"strings"
	"testing"
)

func TestUnknownAgent(t *testing.T) {
	t.Parallel()
	_, found := Places{}.Find("cluade", "/")
	_, read := Read("cluade", strings.NewReader(""))
	for _, err := range []error{found, read} {
		if err == nil || !strings.Contains(err.Error(), `cannot be read (did you mean "claude"?); those of claude,`) {
			t.Errorf("an agent with a slip in its name: %v", err)
		}
	}
	if _, err := (Places{}).Find("nobody", "/"); err == nil || strings.Contains(err.Error(), "did you mean") {
		t.Errorf("an agent that is near to none: %v", err)
	}
}
