package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mycelium/internal/sandbox/jail"

	"github.com/go-json-experiment/json"
)

// runMain runs one command in the sandbox as the user that it runs as.
func runMain(arg string) int {
	var c Command
	if err := json.Unmarshal([]byte(arg), &c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	c.In, c.Out, c.Err = os.Stdin, os.Stdout, os.Stderr
	path, _ := os.Executable()
	result, err := Run(context.Background(), jail.Self{Argv: []string{path, jail.ChildName}}, &c)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return result.ExitCode
}

// runAs runs a command in the sandbox as a user, in an empty folder, and returns what it says.
func runAs(t *testing.T, uid int, c Command) (said string, err error) {
	t.Helper()
	dir := open(t, uid)
	program := copyOfSelf(t, dir)
	c.Dir, c.Project, c.Home = filepath.Join(dir, "project"), filepath.Join(dir, "project"), filepath.Join(dir, "home")
	c.Environ = []string{"PATH=/usr/bin:/bin"}
	arg, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "run", string(arg))
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if uid != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)} //nolint:gosec // an id
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestThreads: the limit of processes leaves interpreters their threads. In standard, node starts four others, of a dozen threads each; and
// processes without end are stopped there.
func TestThreads(t *testing.T) {
	const nodes = `const {spawn} = require("child_process")
let left = 4
for (let i = 0; i < 4; i++) spawn(process.execPath, ["-e", "process.stdin.resume()"], {stdio: ["pipe", "inherit", "inherit"]})
	.on("error", e => console.log(e.message)).on("spawn", function () { this.stdin.end() })
	.on("close", code => { if (code) console.log("exit code", code); if (--left == 0) console.log("all ended") })`
	profile, _ := Find("standard")
	for name, uid := range users() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, err := runAs(t, uid, Command{Argv: []string{"node", "-e", nodes}, Profile: profile})
			if err != nil || said != "all ended\n" {
				t.Errorf("node: %v: %s", err, said)
			}
			said, err = runAs(t, uid, Command{Profile: profile,
				Argv: []string{"sh", "-c", "i=0; while [ $i -lt 400 ]; do sleep 1000 & i=$((i+1)); done; echo too many"}})
			if err == nil || !strings.Contains(said, "fork") || strings.Contains(said, "too many") {
				t.Errorf("four hundred processes: %v: %s", err, said)
			}
		})
	}
}
