package held

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mycelium/internal/policy"
	"mycelium/internal/policy/secretfile"
)

// token is a made-up token, in two parts so that no scanner takes this file for a leak.
const token = "gh" + "p_q7Rk2TvLx9VbN4sMpZ8cYd3FhJ6gQa1eUo5i"

func key(kind string) string {
	return "-----BEGIN " + kind + "-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIB\n-----END " + kind + "-----\n"
}

func TestOf(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct {
		name, text string
		grade      secretfile.Grade
		want       policy.Content
	}{
		{"notes.txt", "use " + token, secretfile.None, policy.HoldsSecret},
		{"old.txt", key("PRIVATE KEY"), secretfile.None, policy.HoldsSecret},
		{"old.txt", "-----BEGIN PRIVATE KEY-----", secretfile.None, policy.HoldsNone},
		{"x_test.go", token, secretfile.None, policy.HoldsNone},
		{"testdata/x.txt", token, secretfile.None, policy.HoldsNone},
		{"node_modules/x.txt", token, secretfile.None, policy.HoldsNone},
		{"doc.md", "AKIA" + "IOSFODNN7EXAMPLE, postgres://user:password@localhost/db, Bearer abcdefghijklmnopqrstuvwxyz01234", secretfile.None,
			policy.HoldsNone},
		{"empty.txt", "", secretfile.None, policy.HoldsNone},
		{"large.txt", token + strings.Repeat("x\n", MaxSize), secretfile.None, ""},
		{"none.txt", "-", secretfile.None, policy.HoldsNone},

		{"a.pem", key("CERTIFICATE") + key("CERTIFICATE"), secretfile.Public, policy.HoldsNone},
		{"a.pem", key("CERTIFICATE") + key("RSA PRIVATE KEY"), secretfile.Public, policy.HoldsSecret},
		{"a.key", "\x30\x82\x04\x00", secretfile.Public, policy.HoldsSecret},
		{"a.pem", "", secretfile.Public, policy.HoldsSecret},
		{"a.pem", strings.Repeat(key("CERTIFICATE"), MaxSize/20), secretfile.Public, policy.HoldsSecret},

		{".npmrc", "registry=https://r.example.org/\nsave-exact=true\n", secretfile.Judged, policy.HoldsNone},
		{".npmrc", "//r.example.org/:_authToken=abcd-efgh", secretfile.Judged, policy.HoldsSecret},
		{".npmrc", "//r.example.org/:_authToken=${TOKEN}", secretfile.Judged, policy.HoldsNone},
		{".npmrc", "_auth = dXNlcjpwYXNz", secretfile.Judged, policy.HoldsSecret},
		{".npmrc", "# _authToken=abcd-efgh", secretfile.Judged, policy.HoldsNone},
		{".yarnrc.yml", "npmAuthToken: \"abcd-efgh\"", secretfile.Judged, policy.HoldsSecret},
		{".yarnrc.yml", "npmRegistryServer: \"https://r.example.org\"", secretfile.Judged, policy.HoldsNone},
		{"pip.conf", "index-url = https://u:hunter2@r.example.org/simple", secretfile.Judged, policy.HoldsSecret},
		{".envrc", "export API_KEY='abcd-efgh'", secretfile.Judged, policy.HoldsSecret},
		{".envrc", "use flake\nexport GOFLAGS=-trimpath", secretfile.Judged, policy.HoldsNone},
		{"auth.json", `{"github-oauth": {"github.com": "abcdefgh"}}`, secretfile.Judged, policy.HoldsSecret},
		{"auth.json", `{"password": "The password is wrong.", "throttle": "Too many."}`, secretfile.Judged, policy.HoldsNone},
		{"nuget.config", `<add key="ClearTextPassword" value="abcd-efgh" />`, secretfile.Judged, policy.HoldsSecret},
		{"app.env", "PORT=80\nMAX_TOKENS=4096\nDB_PASSWORD=\nAPI_TOKEN=changeme", secretfile.Judged, policy.HoldsNone},
	} {
		name := filepath.Join(dir, string(rune('a'+i)), c.name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (*Reader)(nil).Of(name, c.grade); got != c.want {
			t.Errorf("%s %.60q: %q, want %q", c.name, c.text, got, c.want)
		}
	}
	if got := (*Reader)(nil).Of(filepath.Join(dir, "gone"), secretfile.Judged); got != policy.Absent {
		t.Errorf("a file that is not there: %q", got)
	}
	if got := (*Reader)(nil).Of(dir, secretfile.Named); got != "" {
		t.Errorf("a folder: %q", got)
	}
}

// TestRemembered: a file is read again when it has changed, also if its size and its time say that it has not.
func TestRemembered(t *testing.T) {
	name := filepath.Join(t.TempDir(), "app.env")
	write := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	r := &Reader{}
	for range 3 {
		write("SECRET=abcd-efgh")
		if r.Of(name, secretfile.Judged) != policy.HoldsSecret {
			t.Fatal("the secret is not found")
		}
		write("SECRET=          ")
		if err := os.Truncate(name, int64(len("SECRET=abcd-efgh"))); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.kept) != 1 {
		t.Errorf("%d files are kept", len(r.kept))
	}
}

func BenchmarkOf(b *testing.B) {
	name := filepath.Join(b.TempDir(), "main.go")
	if err := os.WriteFile(name, []byte(strings.Repeat("func main() { fmt.Println(1) } // some text\n", 1000)), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			(*Reader)(nil).Of(name, secretfile.None)
		}
	})
	b.Run("again", func(b *testing.B) {
		r := &Reader{}
		for b.Loop() {
			r.Of(name, secretfile.None)
		}
	})
}
