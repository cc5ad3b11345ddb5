package secret

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/zalando/go-keyring"
)

// ringWait bounds a request to the keyring, which may wait for a person to unlock it.
const ringWait = 20 * time.Second

// fromRing finds a secret in the keyring.
func (s *Store) fromRing(name string) (string, error) {
	if s.options.Service == "" {
		return "", &noSourceError{"the keyring is not asked (secrets.keyring: off)"}
	}
	value, err := s.options.Ring.Get(s.options.Service, name)
	if errors.Is(err, ErrAbsent) {
		return "", fmt.Errorf("the keyring has no secret of that name under %s: %w", s.options.Service, ErrAbsent)
	}
	return value, err
}

// system is the keyring of the operating system: Secret Service over D-Bus, Keychain, or Credential Manager.
type system struct{}

// Get implements [Ring].
func (system) Get(service, name string) (string, error) {
	// Without a session bus, the library would start one.
	if runtime.GOOS == "linux" && os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		bus := filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus")
		if _, err := os.Stat(bus); err != nil {
			return "", &noSourceError{"there is no keyring here (no D-Bus session: DBUS_SESSION_BUS_ADDRESS is not set, and there is no " + bus +
				")"}
		}
	}
	type answer struct {
		value string
		err   error
	}
	// The library cannot be cancelled. The goroutine ends when the keyring answers, and a late answer is dropped.
	done := make(chan answer, 1)
	go func() {
		value, err := keyring.Get(service, name)
		done <- answer{value, err}
	}()
	t := time.NewTimer(ringWait)
	defer t.Stop()
	select {
	case a := <-done:
		if errors.Is(a.err, keyring.ErrNotFound) {
			return "", ErrAbsent
		}
		if a.err != nil {
			return "", fmt.Errorf("the keyring does not answer: %w", a.err)
		}
		return a.value, nil
	case <-t.C:
		return "", fmt.Errorf("the keyring did not answer within %v: is it locked?", ringWait)
	}
}
