package node

import (
	"fmt"
	"os"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/node/api"
)

func (n *Node) WriteInfo() error {
	b, err := json.Marshal(api.Info{PID: os.Getpid(), Addr: n.addr, Since: n.since.UTC()})
	if err == nil {
		err = atomicfile.Note(n.paths.Info, append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("leave a note about this daemon: %w", err)
	}
	n.onClose(func() { _ = os.Remove(n.paths.Info) })
	return nil
}
