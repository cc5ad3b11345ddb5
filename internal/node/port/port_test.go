package port

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A port that is taken names who holds it, whether the holder listens on one host or on all.
func TestAPortInUseNamesItsHolder(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "[::1]"} {
		held, err := Listen(t.Context(), host+":0")
		if err != nil {
			t.Logf("%s: %v", host, err) // a machine may have no IPv6
			continue
		}
		defer held.Close()
		_, err = Listen(t.Context(), held.Addr().String())
		want := fmt.Sprintf(": %s (pid %d) holds it", filepath.Base(program), os.Getpid())
		if err == nil || !strings.Contains(err.Error(), "listen on "+held.Addr().String()) {
			t.Fatalf("error %v", err)
		}
		if runtime.GOOS == "linux" && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Another error names nobody.
func TestAnAddressThatIsNotOurs(t *testing.T) {
	t.Parallel()
	if _, err := Listen(t.Context(), "192.0.2.1:1"); err == nil || strings.Contains(err.Error(), "pid") {
		t.Errorf("error %v", err)
	}
}

func TestHoldersCollide(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]bool{
		{"127.0.0.1:1", "127.0.0.1:1"}:          true,
		{"127.0.0.1:1", "127.0.0.1:2"}:          false,
		{"127.0.0.1:1", "127.0.0.2:1"}:          false,
		{"0.0.0.0:1", "127.0.0.1:1"}:            true,
		{"[::]:1", "127.0.0.1:1"}:               true,
		{"[::ffff:127.0.0.1]:1", "127.0.0.1:1"}: true,
		{"[::1]:1", "127.0.0.1:1"}:              false,
	} {
		if got := collides(netip.MustParseAddrPort(pair[0]), netip.MustParseAddrPort(pair[1])); got != want {
			t.Errorf("%v: %v", pair, got)
		}
	}
	if !collides(netip.MustParseAddrPort("127.0.0.1:7"), (&net.TCPAddr{Port: 7}).AddrPort()) {
		t.Error("every host does not collide")
	}
}
