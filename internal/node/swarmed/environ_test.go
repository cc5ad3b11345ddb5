package swarmed

import (
	"mycelium/internal/swarm/runner"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A worker has what its model needs and no other secret. With a subscription it has no key whose use costs money.
func TestWorkerEnviron(t *testing.T) {
	home, signedIn := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(signedIn, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(signedIn, ".claude", ".credentials.json"), []byte(`{"claudeAiOauth":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const key = "ANTHROPIC_API_KEY=k"
	for name, c := range map[string]struct {
		environ []string
		has     bool
		account string
	}{
		"a key alone":                      {[]string{"HOME=" + home}, true, byKey},
		"signed in":                        {[]string{"HOME=" + signedIn}, false, bySubscription},
		"signed in elsewhere":              {[]string{"HOME=" + home, "CLAUDE_CONFIG_DIR=" + signedIn + "/.claude"}, false, bySubscription},
		"a token of a subscription":        {[]string{"HOME=" + home, "CLAUDE_CODE_OAUTH_TOKEN=t"}, false, bySubscription},
		"signed in, and a service of ours": {[]string{"HOME=" + signedIn, "ANTHROPIC_BASE_URL=http://127.0.0.1:1"}, true, byService},
	} {
		if got := accountOf(append(c.environ, key)); got != c.account || AccountLine(got) == "" {
			t.Errorf("%s: the account is %s", name, got)
		}
		// The runner api has nothing but the key: who chose it means that.
		if got := WorkerEnviron(append(c.environ, key), runner.API); !slices.Contains(got, key) ||
			AccountFor(runner.API, append(c.environ, key)) == bySubscription {
			t.Errorf("%s: api has %q", name, got)
		}
		got := WorkerEnviron(append(c.environ, key, "GITHUB_TOKEN=secret"), runner.Claude)
		if slices.Contains(got, key) != c.has || slices.Contains(got, "GITHUB_TOKEN=secret") || !slices.Contains(got, c.environ[0]) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
