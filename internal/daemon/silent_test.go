package daemon

import (
	"net"
	"testing"
)

// TestSilentConnectionsGiveWay: however many connections to the socket prove nothing, the next command gets in (T19).
func TestSilentConnectionsGiveWay(t *testing.T) {
	dir, p := project(t)
	c, pid := attach(t, dir, p)
	var silent []net.Conn
	for range 2*maxSilent + 1 {
		conn, err := net.Dial("unix", p.Socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		silent = append(silent, conn)
	}
	for _, conn := range silent[:maxSilent] {
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Fatal("a silent connection got an answer")
		}
	}
	other, err := Dial(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, client := range []*Client{c, other} { // one that was there before them, and one that came after them
		var got int
		if err := client.Call(t.Context(), "pid", nil, &got); err != nil || got != pid {
			t.Errorf("%d, %v", got, err)
		}
	}
}
