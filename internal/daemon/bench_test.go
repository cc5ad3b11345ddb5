package daemon

import (
	"context"
	"os"
	"testing"
	"time"
)

// BenchmarkDial is the cost for a hook to reach a running daemon and ask one question.
func BenchmarkDial(b *testing.B) {
	run, err := os.MkdirTemp("/tmp", "mycrun")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(run)
	b.Setenv("XDG_RUNTIME_DIR", run)
	p := known(b, b.TempDir())
	o, err := Own(b.Context(), p, Claim{Kind: Automatic})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- o.Serve(ctx, testServer(cancel)) }()
	for b.Loop() {
		c, err := Dial(ctx, p)
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Call(ctx, "pid", nil, nil); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
	cancel()
	<-done
	o.Close()
}

// BenchmarkAttach starts a daemon, waits for its first answer, and ends it.
func BenchmarkAttach(b *testing.B) {
	run, err := os.MkdirTemp("/tmp", "mycrun")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(run)
	b.Setenv("XDG_RUNTIME_DIR", run)
	dir := b.TempDir()
	p := known(b, dir)
	environ := append(os.Environ(), "MYC_TEST_PLAY=daemon", "MYC_TEST_DIR="+dir)
	for b.Loop() {
		c, err := Attach(b.Context(), p, []string{os.Args[0]}, environ)
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Call(b.Context(), "stop", nil, nil); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}

// BenchmarkAsk is the cost for a hook to ask a running daemon one question.
func BenchmarkAsk(b *testing.B) {
	run, err := os.MkdirTemp("/tmp", "mycrun")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(run)
	b.Setenv("XDG_RUNTIME_DIR", run)
	p := known(b, b.TempDir())
	o, err := Own(b.Context(), p, Claim{Kind: Automatic})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- o.Serve(ctx, testServer(cancel)) }()
	for b.Loop() {
		if _, err := Ask(p, time.Minute, "pid", []byte("{}"), func() {}); err != nil {
			b.Fatal(err)
		}
	}
	cancel()
	<-done
	o.Close()
}
