package sandbox

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/registry"
	"mycelium/internal/registry/registrytest"
	"mycelium/internal/sandbox/proxy"
)

// outside serves an internet as the proxy of a command sees it.
func outside(t *testing.T, n *registrytest.Internet) proxy.Outside {
	t.Helper()
	cert, at := n.Serve(t, nil)
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return proxy.Outside{Roots: roots,
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(registrytest.Address)}, nil
		},
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", at.String())
		}}
}

// lockOf is a package-lock.json with some packages.
func lockOf(integrity map[string]string, names ...string) string {
	deps, locked := "", ""
	for i, name := range names {
		if i > 0 {
			deps += ","
		}
		deps += fmt.Sprintf("%q:\"1.0.0\"", name)
		locked += fmt.Sprintf(`,"node_modules/%s":{"version":"1.0.0","resolved":"https://registry.npmjs.org/%[1]s/-/%s-1.0.0.tgz","integrity":%q}`,
			name, filepath.Base(name), integrity[name])
	}
	return fmt.Sprintf(`{"name":"p","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"p","version":"1.0.0","dependencies":{%s}}%s}}`, deps, locked)
}

// fetching makes a project whose last commit has lock files of npm, PyPI and Go, and returns a command in it with all registries.
func fetching(t *testing.T, argv ...string) (*Command, *registrytest.Internet, *bytes.Buffer) {
	t.Helper()
	r := registrytest.New(t)
	c := projectCommand(t, argv...)
	for name, text := range map[string]string{
		"package.json":      `{"name":"p","version":"1.0.0","dependencies":{"left-pad":"1.0.0","@scope/pad":"1.0.0"}}`,
		"package-lock.json": lockOf(r.Integrity, "left-pad", "@scope/pad"),
		"requirements.txt":  "left_pad==1.0.0\n",
		"go.mod":            "module example.org/p\n\ngo 1.21\n\nrequire example.com/Pad v1.0.0\n",
		"go.sum":            r.Sum,
		"java/pom.xml":      registrytest.Pom("app", "<parent><groupId>org.example</groupId><artifactId>base</artifactId><version>1.0.0</version></parent>"),
		"main.go":           "package main\n\nimport _ \"example.com/Pad\"\n\nfunc main() {}\n",
		"more/package.json": `{"name":"p","version":"1.0.0","dependencies":{"left-pad":"1.0.0","right-pad":"1.0.0"}}`,
		"more/lock":         lockOf(r.Integrity, "left-pad", "right-pad"),
	} {
		path := filepath.Join(c.Project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", "."}, {"add", "-A"},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "one"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = c.Project
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, said)
		}
	}
	out := &bytes.Buffer{}
	c.Environ = []string{"PATH=/usr/bin:/bin:/usr/local/go/bin"}
	c.Env = []string{"NODE_NO_WARNINGS=1", "GOFLAGS=-modcacherw", "PIP_ROOT_USER_ACTION=ignore", "PIP_NO_INPUT=1", "MAVEN_OPTS=-Dgiven=yes"}
	c.Registries, c.outside, c.Out, c.Err, c.Asks = registry.Shipped(), outside(t, r), out, out, true
	return c, r, out
}

// moreLock replaces the lock file by one that has right-pad too, which is what an agent can do.
const moreLock = `cp more/package.json . && cp more/lock package-lock.json && `

// commitIt makes it the last commit.
const commitIt = `git -c user.name=t -c user.email=t@example.com commit -qam two && `

// TestRegistries runs the real package managers: they fetch what the lock files of the last commit have, and nothing else, whatever stands in
// the lock file now.
func TestRegistries(t *testing.T) {
	for name, row := range map[string]struct {
		line     string
		give     []string // packages
		fails    bool
		refused  string
		contains string
	}{
		"npm ci": {line: `npm ci && ls node_modules node_modules/@scope`, contains: "left-pad"},
		"npm ci, just written": {line: moreLock + `npm ci`, fails: true, refused: "npm:right-pad",
			contains: "right-pad of registry.npmjs.org is in no lock file at HEAD"},
		"npm ci, just committed":          {line: moreLock + commitIt + `npm ci`, fails: true, refused: "npm:right-pad"},
		"npm ci, given":                   {line: moreLock + `npm ci && ls node_modules`, give: []string{"npm:right-pad"}, contains: "right-pad"},
		"npm install, new":                {line: `npm install right-pad`, fails: true, refused: "npm:right-pad", contains: "Run the same command again"},
		"npm install, given":              {line: `npm install right-pad && ls node_modules`, give: []string{"npm:right-pad"}, contains: "right-pad"},
		"npm install, with what it needs": {line: `npm install frame && ls node_modules node_modules/@scope`, give: []string{"npm:frame"}, contains: "right-pad"},
		"pip, with what it needs":         {line: `pip3 install -q --target there frame && ls there`, give: []string{"pypi:frame"}, contains: "rightpad.py"},
		"go, with what it needs": {line: `rm go.sum main.go && printf 'module example.org/p\n\ngo 1.21\n' > go.mod && GONOSUMDB='*' go get example.com/frame && cat go.sum`,
			give: []string{"go:example.com/frame"}, contains: "example.com/other v1.0.0/go.mod"},
		"maven":         {line: `cd java && mvn -B -q validate && echo "valid $MAVEN_OPTS"`, contains: "valid -Dgiven=yes -Djavax"}, // base is named, and it needs top
		"maven, new":    {line: `cd java && sed -i s/base/other/ pom.xml && mvn -B -q validate`, fails: true, refused: "maven:org.example:other"},
		"npm ci, audit": {line: `npm ci --audit=true && echo done`, contains: "done"}, // the report is not sent, which is no failure
		"npm audit":     {line: `npm ci && npm audit`, fails: true, contains: "POST sends something"},
		"pip":           {line: `pip3 install -q --target there -r requirements.txt && ls there`, contains: "pad.py"},
		"pip, new":      {line: `pip3 install -q --target there right-pad`, fails: true, refused: "pypi:right-pad"},
		"go":            {line: `go mod download && go build -o /dev/null . && echo built`, contains: "built"},
		"go, new":       {line: `go get example.com/other@v1.0.0`, fails: true, refused: "go:example.com/other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("mvn"); err != nil && strings.HasPrefix(name, "maven") && os.Getenv("CI") == "" {
				t.Skip("no Maven here")
			}
			c, r, out := fetching(t, "sh", "-c", row.line)
			c.Packages = row.give
			result, err := Run(t.Context(), self(t), c)
			if err != nil {
				t.Fatal(err)
			}
			refused := map[string]bool{}
			for _, one := range result.Left.Refused {
				refused[one.Package] = one.Package != ""
			}
			if (result.ExitCode != 0) != row.fails || !strings.Contains(out.String(), row.contains) || row.refused != "" && !refused[row.refused] ||
				row.refused == "" && len(refused) > 1 {
				t.Errorf("exit code %d, refused %v: %s\n%s", result.ExitCode, result.Left.Refused, out, r.Seen())
			}
			if seen := r.Seen(); row.give == nil && (strings.Contains(seen, "right-pad") || strings.Contains(seen, "other")) {
				t.Errorf("what no lock file has was asked for:\n%s", seen)
			}
		})
	}
}
