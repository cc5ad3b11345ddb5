package sandboxed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/warm"
	"mycelium/internal/state"
)

// toolchain is what decides which compiled packages a project can use.
type toolchain struct {
	GOVERSION, GOOS, GOARCH, GOROOT, GOFLAGS string
	CGO_ENABLED                              string //nolint:revive,staticcheck // the name that go gives it
}

// String says it for people.
func (t toolchain) String() string {
	out := fmt.Sprintf("%s for %s/%s, CGO_ENABLED=%s", t.GOVERSION, t.GOOS, t.GOARCH, t.CGO_ENABLED)
	if t.GOFLAGS != "" {
		out += ", " + t.GOFLAGS
	}
	return out
}

// Seed says what became of a seed.
type Seed struct {
	Of   string `json:"of"`   // the toolchain and its settings; empty: the project finds no program go in the sandbox
	Made bool   `json:"made"` // by this call; otherwise it was there
}

// Take takes what the lock files of a project name from the person's caches, before a command has to wait for it.
func Take(ctx context.Context, folder string, paths state.Paths, home string, environ []string) (warm.Refused, error) {
	c, err := Command(folder, paths, home, environ)
	if err != nil {
		return nil, err
	}
	return c.Take(ctx)
}

// MakeSeed makes the seed of Go's build cache that the project can use, if there is none. It takes a minute or more. It runs in a sandbox
// without the project, so nothing that an agent wrote takes part; the project only decides, by its go.mod, which toolchain it is.
// gentle: it takes the time of the processors that nobody else wants.
func MakeSeed(ctx context.Context, folder string, paths state.Paths, home string, environ []string, gentle bool) (Seed, error) {
	c, err := Command(folder, paths, home, environ)
	if err != nil {
		return Seed{}, err
	}
	of, err := toolchainOf(ctx, c)
	var absent *jail.StartError
	if errors.As(err, &absent) {
		return Seed{}, nil
	}
	if err != nil {
		return Seed{}, err
	}
	data, err := json.Marshal(of)
	if err != nil {
		return Seed{}, err
	}
	sum := sha256.Sum256(data)
	made, err := warm.Seeds(paths.Seeds()).Make(ctx, hex.EncodeToString(sum[:6]), func(work string) (string, error) {
		return compile(ctx, work, c.Home, of, environ, gentle)
	})
	return Seed{of.String(), made}, err
}

// toolchainOf asks the toolchain that the project has.
func toolchainOf(ctx context.Context, project sandbox.Command) (t toolchain, err error) {
	c := sandbox.Command{Project: project.Project, Dir: project.Project, Read: project.Read, Hide: project.Hide, Home: project.Home,
		Environ: plain(project.Environ), Env: settings(project.Environ)}
	out, err := runGo(ctx, c, "env", "-json", "GOVERSION", "GOOS", "GOARCH", "GOROOT", "GOFLAGS", "CGO_ENABLED")
	if err == nil {
		err = json.Unmarshal(out, &t)
	}
	if err != nil {
		return t, fmt.Errorf("find out which toolchain of Go the project has: %w", err)
	}
	return t, nil
}

// plain is what a seed takes from the environment: where the programs are. Other variables can name programs (GOFLAGS=-toolexec, CC), and a
// seed is for every project.
func plain(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool { return !strings.HasPrefix(v, "PATH=") })
}

// settings are the variables of an environment that a seed knows, with the values that it knows.
func settings(environ []string) (out []string) {
	for _, v := range environ {
		switch name, value, _ := strings.Cut(v, "="); {
		case name == "CGO_ENABLED" && (value == "0" || value == "1"):
			out = append(out, v)
		case name == "GOFLAGS" && slices.Contains(strings.Fields(value), "-trimpath"):
			out = append(out, "GOFLAGS=-trimpath")
		}
	}
	return out
}

// compile fills a build cache in an empty folder with the standard library, and what `go test` and `go vet` know of it.
func compile(ctx context.Context, work, home string, of toolchain, environ []string, gentle bool) (cache string, err error) {
	module, caches := filepath.Join(work, "module"), filepath.Join(work, "cache")
	if err := errors.Join(os.Mkdir(module, 0o700), os.Mkdir(caches, 0o700)); err != nil {
		return "", err
	}
	project, _ := sandbox.Find("project")
	c := sandbox.Command{Project: module, Dir: module, Profile: project, Home: home, Caches: caches, Environ: plain(environ),
		Env: []string{"GOFLAGS=" + of.GOFLAGS, "CGO_ENABLED=" + of.CGO_ENABLED, "GOTOOLCHAIN=" + of.GOVERSION, "GOPROXY=off", "GOWORK=off"}}
	if gentle {
		c.Argv = []string{"nice", "-n", "19"}
	}
	out, err := runGo(ctx, c, "list", "std")
	if err != nil {
		return "", err
	}
	var source strings.Builder
	source.WriteString("package seed\n")
	for name := range strings.FieldsSeq(string(out)) {
		parts := strings.Split(name, "/")
		if name != "builtin" && !slices.Contains(parts, "internal") && !slices.Contains(parts, "vendor") {
			fmt.Fprintf(&source, "import _ %q\n", name)
		}
	}
	err = errors.Join(os.WriteFile(filepath.Join(module, "go.mod"), []byte("module seed\n"), 0o600),
		os.WriteFile(filepath.Join(module, "seed_test.go"), []byte(source.String()), 0o600))
	for _, args := range [][]string{{"test", "."}, {"vet", "."}} { // they know different things of the packages
		if err == nil {
			_, err = runGo(ctx, c, args...)
		}
	}
	return filepath.Join(caches, "go-build"), err
}

// runGo runs go in a sandbox, by the program and arguments that the command has, and returns what it printed.
func runGo(ctx context.Context, c sandbox.Command, args ...string) ([]byte, error) {
	self, err := Self()
	if err != nil {
		return nil, err
	}
	if c.Profile.Name == "" {
		c.Profile, _ = sandbox.Find("project")
		c.Profile.Project = false
	}
	var out, said bytes.Buffer
	c.Argv, c.Out, c.Err = slices.Concat(c.Argv, []string{"go"}, args), &out, io.Writer(&said)
	result, err := sandbox.Run(ctx, self, &c)
	if err != nil {
		return nil, err
	}
	if result.ExitCode != 0 {
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("go %s: exit code %d: %s", strings.Join(args, " "), result.ExitCode, line)
	}
	return out.Bytes(), nil
}
