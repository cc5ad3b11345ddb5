package state_test

import (
	"os"
	"path/filepath"
	"testing"

	"mycelium/internal/state"
)

// TestBots: a bot asks for the projects whose notes name it, the bot of the files goes before that of /new, and what is no project any more
// is left out.
func TestBots(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	root := state.Root(filepath.Join(home, "state"))
	project := func(name string) state.Paths {
		dir := filepath.Join(home, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		p := root.Of(dir)
		if err := p.WriteNote(state.Note{}); err != nil {
			t.Fatal(err)
		}
		return p
	}
	change := func(p state.Paths, f func(*state.Bot)) {
		t.Helper()
		if err := p.ChangeBot(f); err != nil {
			t.Fatal(err)
		}
	}
	asks := func(bot string, want ...state.Paths) {
		t.Helper()
		got, err := root.AskedBy(bot)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s asks for %v (%v), want %v", bot, got, err, want)
		}
		for _, p := range want {
			if _, ok := got[p]; !ok {
				t.Errorf("%s does not ask for %s", bot, p.Project)
			}
		}
	}
	asks("one")
	shop, web := project("shop"), project("web")
	change(shop, func(b *state.Bot) { b.Started = "one" })
	change(web, func(b *state.Bot) { b.Own, b.Terms = "one", "terms" })
	asks("one", shop, web)
	change(shop, func(b *state.Bot) { b.Own = "two" })
	asks("one", web)
	asks("two", shop)
	change(shop, func(b *state.Bot) { b.Own = "" })
	asks("one", shop, web)
	if b, err := web.ReadBot(); err != nil || !b.Admits("one", "terms") || b.Admits("one", "") || b.Admits("two", "terms") {
		t.Errorf("%+v, %v", b, err)
	}
	if (state.Bot{}).Admits("", "") || (state.Bot{Started: "one", Own: "two"}).Admits("one", "") {
		t.Error("a project is asked for by a bot that it does not name")
	}
	if err := os.RemoveAll(web.Folder()); err != nil {
		t.Fatal(err)
	}
	asks("one", shop)
	change(shop, func(b *state.Bot) { *b = state.Bot{} })
	asks("one")
	if b, err := shop.ReadBot(); err != nil || b != (state.Bot{}) {
		t.Errorf("%+v, %v", b, err)
	}
	if err := os.WriteFile(filepath.Join(root.Bots(), "broken.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := root.AskedBy("one"); err == nil {
		t.Error("a note that cannot be read is passed over")
	}
}
