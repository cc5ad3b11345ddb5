package rpc

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestInterrupt(t *testing.T) {
	x, y := net.Pipe()
	defer y.Close()
	pr, pw := io.Pipe()
	defer pw.Close()
	for _, r := range []io.Reader{x, pr} {
		ended := make(chan error, 1)
		go func() { _, err := r.Read(make([]byte, 1)); ended <- err }()
		if !Interrupt(r) {
			t.Fatal("not interruptible")
		}
		select {
		case err := <-ended:
			if err == nil {
				t.Error("read returned without error")
			}
		case <-time.After(10 * time.Second):
			t.Fatal("read goes on")
		}
	}
	if Interrupt(strings.NewReader("x")) {
		t.Error("a plain reader cannot be interrupted")
	}
}
