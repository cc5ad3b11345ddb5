package fake

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Key is the API key that agents are given. It opens nothing.
const Key = "sk-dummy-test-0123456789abcdef"

// Find returns the program to test with: the one that MYCELIUM_TEST_NAME names (MYCELIUM_TEST_CODEX …), else the one that `make test`
// installs in the repository.
func Find(repository, name string) (string, error) {
	variable := "MYCELIUM_TEST_" + strings.ToUpper(name)
	path := os.Getenv(variable)
	if path == "" {
		path = filepath.Join(repository, ".cache", "npm", "node_modules", ".bin", name)
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path) //nolint:gosec // the variable is there to name a program
	}
	if err != nil {
		return "", fmt.Errorf("find %s: %w; scripts/setup-test installs it, or set %s", name, err, variable)
	}
	return path, nil
}
