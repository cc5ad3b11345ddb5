package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"mycelium/internal/transcript"
)

// Fork copies a conversation, and returns the id of the copy. One that another program remembers too cannot be copied: both would go on
// with the same memory.
func Fork(dir, id string) (string, error) {
	t, err := Read(dir, id)
	switch {
	case err != nil:
		return "", err
	case t.AgentID != "":
		return "", fmt.Errorf("conversation %s is kept by the agent %s too, and cannot be copied", id, t.Engine)
	case len(t.Shown) == 0:
		return "", errors.New("nothing was said yet that could be copied")
	}
	raw, err := os.ReadFile(filepath.Join(dir, id+suffix))
	if err != nil {
		return "", fmt.Errorf("copy conversation %s: %w", id, err)
	}
	head, rest, _ := bytes.Cut(raw, []byte("\n"))
	var begin Line
	if err := json.Unmarshal(head, &begin); err != nil || begin.Head == nil {
		return "", errors.Join(fmt.Errorf("copy conversation %s: its file does not begin with it", id), err)
	}
	begin.Head.ID = transcript.NewID()
	if head, err = json.Marshal(begin, json.Deterministic(true)); err != nil {
		return "", err
	}
	f, err := os.OpenFile(filepath.Join(dir, begin.Head.ID+suffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("copy conversation %s: %w", id, err)
	}
	_, err = f.Write(append(append(head, '\n'), rest...))
	return begin.Head.ID, errors.Join(err, f.Close())
}
