package backend

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/policy"
)

func names(c Catalog) (list []string) {
	for _, d := range c.Definitions {
		list = append(list, d.Item.String())
	}
	for _, d := range c.Templates {
		list = append(list, "template "+d.Item.String())
	}
	return list
}

var sdkNames = []string{"s__echo", "s__elicit", "s__elicit-secret", "s__elicit-url", "s__grow", "s__hang", "s__hung", "s__log", "s__progress", "s__roots",
	"s__sample", "s__subscribed", "s__touch", "s__file:///r", "s__greet", "template s__file:///{x}"}

func TestSDKServerOverStdio(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		t.Run("revision "+version, func(t *testing.T) {
			s := play(t, "s", "play-sdk")
			if version != "" {
				s.Args = append(s.Args, version)
			}
			p := newPool(t, Options{}, s)
			ctx := testContext(t)
			if err := p.Learn(ctx, "s"); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(sdkNames, names(p.Catalog())); d != "" {
				t.Error(d)
			}
			want := version
			if want == "" {
				want = mcpclient.ModernVersion
			}
			if got := p.entry("s").conn.Version(); got != want {
				t.Errorf("it speaks %s", got)
			}
			result, rpcErr, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"echo","arguments":{"n":12345678901234567890}}`),
				nil)
			if err != nil || rpcErr != nil {
				t.Fatal(err, string(rpcErr))
			}
			if !strings.Contains(string(result), "12345678901234567890") {
				t.Errorf("result %s", result)
			}
		})
	}
}

// Servers that are learned at once accept what they offer under one key.
func TestServersLearnedAtOnceShareTheirKey(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), Catalogs: t.TempDir(), Pins: t.TempDir()}
	var servers []Server
	var list []string
	for i := range 8 {
		s := play(t, fmt.Sprintf("s%d", i), "play-fake", "good")
		servers, list = append(servers, s), append(list, s.Name)
	}
	p := newPool(t, o, servers...)
	var all sync.WaitGroup
	for _, name := range list {
		all.Go(func() {
			if err := p.Learn(testContext(t), name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, s := range newPool(t, o, servers...).Status() { // another process
		if s.Tools != 1 || s.Held != 0 {
			t.Errorf("%+v", s)
		}
	}
}
