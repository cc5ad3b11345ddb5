// Package browser shows the pages in a real Chromium, for tests: it visits, presses keys and buttons, waits, and looks at what stands there
// as a person and as a program for people who do not see would.
//
// What no page may do fails the test by itself: an error in the console, something that the content security policy forbids, a request to
// another host.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// chromium is the browser of a test binary. It runs while a test uses it.
var chromium struct {
	sync.Mutex
	users int
	ctx   context.Context
	end   func() error
}

// use starts Chromium unless it runs. It is ended when the last test that uses it has ended.
func use(t *testing.T) context.Context {
	t.Helper()
	program, err := exec.LookPath("chromium")
	Needed(t, err, "chromium")
	chromium.Lock()
	defer chromium.Unlock()
	if chromium.users == 0 {
		if chromium.ctx, chromium.end, err = start(program); err != nil {
			t.Fatalf("start %s: %v", program, err)
		}
	}
	chromium.users++
	t.Cleanup(func() {
		chromium.Lock()
		defer chromium.Unlock()
		if chromium.users--; chromium.users > 0 {
			return
		}
		if err := chromium.end(); err != nil {
			t.Errorf("end chromium: %v", err)
		}
	})
	return chromium.ctx
}

// start starts Chromium with a home and a profile of its own. The process is bound to this one: it ends with it.
func start(program string) (ctx context.Context, end func() error, err error) {
	home, err := os.MkdirTemp("", "chromium-home")
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("lang", "en-US"),
		chromedp.Env("HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "TZ=UTC"))
	allocator, kill := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(allocator) // chromedp.Cancel below waits for its end
	end = func() error {
		err := chromedp.Cancel(ctx)
		kill()
		return errors.Join(err, os.RemoveAll(home))
	}
	if err := chromedp.Do(ctx); err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return ctx, end, nil
}

// Needed skips a test whose part is missing; under CI=true it fails.
func Needed(t *testing.T, err error, part string) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("%s is missing: %v; run scripts/setup-test", part, err)
	default:
		t.Skipf("%s is missing: %v; run scripts/setup-test", part, err)
	}
}

// npmPart reads a file of what scripts/setup-test installs.
func npmPart(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			err = fmt.Errorf("no go.mod above the folder of the test")
		}
		dir = filepath.Dir(dir)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(filepath.Join(dir, ".cache", "npm", "node_modules", filepath.FromSlash(name)))
	}
	Needed(t, err, name)
	return string(text)
}
