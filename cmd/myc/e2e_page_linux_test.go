package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/harness"
	"mycelium/internal/model/fake"
)

// TestClientsPage runs every sh block of docs/clients.md, in order, in one shell, with the real clients and without a network.
func TestClientsPage(t *testing.T) {
	bin := filepath.Dir(npmPart(t, ".bin/mcp-inspector"))
	nodeProgram(t)
	_, err := exec.LookPath("curl")
	needed(t, err, "curl")
	claude(t)
	if !withoutNetwork(t) {
		return
	}
	blocks := shellBlocks(t, "../../docs/clients.md")
	if len(blocks) < 7 {
		t.Fatalf("the page has %d sh blocks: is the reader wrong?", len(blocks))
	}
	p := newProject(t, map[string]string{}) // its home; the page makes a project of its own
	agent, _ := harness.Named("claude")
	environ, err := agent.Scripted(p.home, "", fake.Key)
	if err != nil {
		t.Fatal(err)
	}
	p.dir = filepath.Join(p.home, "shop")
	pinnedProgram(t, filepath.Join(p.home, "bin"), p.myc, p.home)
	script := "set -e\ncd \"$HOME\"\n"
	for _, b := range blocks {
		script += "echo \"--- $SECONDS s: '" + b.where + "'\"\n" + b.text
	}
	cmd := exec.CommandContext(p.ctx, "bash")
	cmd.Stdin = strings.NewReader(script)
	cmd.Env = slices.Concat(environ, []string{"XDG_RUNTIME_DIR=" + filepath.Join(p.home, "run"), noPages, "NO_COLOR=1",
		"GORACE=" + os.Getenv("GORACE"), "PATH=" + filepath.Join(p.home, "bin") + ":" + bin + ":" + os.Getenv("PATH")})
	out, err := cmd.CombinedOutput()
	text := string(out)
	t.Log(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Added stdio MCP server mycelium", `"The shop sells mushrooms.`, `"resultType":"complete"`,
		`"message":"Unknown tool: files__write_file"`, "created todo.md", "\n401\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing shows %q", want)
		}
	}
	if n := strings.Count(text, `"files__read_file"`); n < 3 {
		t.Errorf("files__read_file is listed %d times", n)
	}
	if p.read("todo.md") != "water the logs" || p.read("x") != "" {
		t.Errorf("todo.md holds %q, x %q", p.read("todo.md"), p.read("x"))
	}
}
