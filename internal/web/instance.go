package web

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/node/failure"
	"mycelium/internal/rawjson"
	"mycelium/internal/state"
	"mycelium/internal/web/device"
)

// ErrRuns means that another page server of this user runs.
var ErrRuns = errors.New("the pages of this user are served already")

func lockFile(root state.Root) string { return filepath.Join(root.Pages(), "server.lock") }
func addrFile(root state.Root) string { return filepath.Join(root.Pages(), "server.json") }

// claim makes this process the page server of the user, until the lock is given back. The error is ErrRuns if there is one.
func claim(root state.Root) (*atomicfile.Lock, error) {
	if err := os.MkdirAll(root.Pages(), 0o700); err != nil {
		return nil, fmt.Errorf("web: make the folder of the pages: %w", err)
	}
	lock, err := atomicfile.TryLock(lockFile(root))
	switch {
	case errors.Is(err, atomicfile.ErrLocked):
		return nil, ErrRuns
	case err != nil:
		return nil, fmt.Errorf("web: %w", err)
	}
	return lock, nil
}

// note writes where the server listens, for [Running].
func (s *Server) note() error {
	b, err := json.Marshal(map[string]string{"addr": s.addr})
	if err == nil {
		err = atomicfile.Write(addrFile(s.o.Root), append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("web: write where the pages are: %w", err)
	}
	return nil
}

// Running returns where the page server of a user listens; "" if none runs.
func Running(root state.Root) (addr string, err error) {
	held, err := atomicfile.Locked(lockFile(root))
	if err != nil || !held {
		return "", err
	}
	b, err := os.ReadFile(addrFile(root))
	if addr = rawjson.TextAt(b, "addr"); err != nil || addr == "" {
		return "", failure.Hint(errors.New("web: the pages are just beginning or ending"), "try again in a moment")
	}
	return addr, nil
}

// Link returns an address that signs one browser in to the page server at addr. It is good once, and for one minute.
func Link(root state.Root, addr string) (string, error) {
	secret, err := device.Open(root, nil).NewLink(addr)
	if err != nil {
		return "", err
	}
	return "http://" + addr + "/sign-in?link=" + secret, nil
}
