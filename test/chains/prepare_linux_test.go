package chains

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	_ "embed"
)

// secret is what no step may show; secretName stands in the name of a file.
const (
	secret     = "MARKER-4242-SECRET"
	secretName = "MARKER-NAME-4242"
)

// prepareScript makes the scratch project as its person does, in the prepared home.
//
//go:embed testdata/prepare.sh
var prepareScript string

// prepare makes the home with the project and returns its tar file.
func (m *machine) prepare(walled bool) ([]byte, error) {
	if err := os.MkdirAll(projectDir, 0o755); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{
		projectDir + "/.env":                   "SHOP_TOKEN=" + secret + "\n",
		home + "/.ssh/id_ed25519":              secret + "\n",
		home + "/.aws/" + secretName + ".json": "{}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	environ := env("SANDBOX=no")
	if walled {
		environ = env("SANDBOX=yes")
	}
	o, err := m.start("", environ, "/bin/bash", "-euc", prepareScript)
	if err != nil || o.code != 0 {
		return nil, fmt.Errorf("prepare the project: %w, exit %d\n%s%s", err, o.code, o.stdout, o.stderr)
	}
	var out bytes.Buffer
	err = pack(&out)
	return out.Bytes(), err
}
