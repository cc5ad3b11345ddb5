// Package faketest finds the real agents for tests with the scripted model, and keeps them off the network.
package faketest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Find returns the program of an agent: the one in MYCELIUM_TEST_NAME (MYCELIUM_TEST_CODEX …), else the one that `make test` installs in
// the repository.
func Find(repository, name string) (string, error) {
	variable := "MYCELIUM_TEST_" + strings.ToUpper(name)
	path := os.Getenv(variable)
	if path == "" {
		path = filepath.Join(repository, ".cache", "npm", "node_modules", ".bin", name)
	}
	return present(path, name, variable)
}

// FindNewest returns the newest version of an agent: the one in MYCELIUM_TEST_NAME_NEWEST, else the one that `make test` installs in the
// repository.
func FindNewest(repository, name string) (string, error) {
	variable := "MYCELIUM_TEST_" + strings.ToUpper(name) + "_NEWEST"
	path := os.Getenv(variable)
	if path == "" {
		path = filepath.Join(repository, ".cache", "npm", "newest", "node_modules", ".bin", name)
	}
	return present(path, name, variable)
}

// present returns the absolute path of an existing program.
func present(path, name, variable string) (string, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path) //nolint:gosec // the variable is there to name a program
	}
	if err != nil {
		return "", fmt.Errorf("find %s: %w; scripts/setup-test installs it, or set %s", name, err, variable)
	}
	return path, nil
}
