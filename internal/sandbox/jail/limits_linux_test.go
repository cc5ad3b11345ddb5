//go:build amd64 || arm64

package jail

import "testing"

// TestOwnNumbers: only a kernel whose process namespaces have a limit of their own is given one. On an older one it would be the machine's.
func TestOwnNumbers(t *testing.T) {
	t.Parallel()
	for release, want := range map[string]bool{
		"6.12.95+deb12-cloud-amd64": false, "6.13.9": false, "5.15.0-91-generic": false, "6.2.0": false, "6.9": false,
		"6.14.0-rc1": true, "6.14": true, "6.18.44-fc-v595": true, "7.0": true, "7.3.4+deb13-cloud-amd64": true, "10.1.2": true,
		"": false, "6": false, "6.": false, "linux": false, "6.x": false, ".14": false, "-6.14": false,
	} {
		if got := ownNumbers(release); got != want {
			t.Errorf("%q: %v", release, got)
		}
	}
}
