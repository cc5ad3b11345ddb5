package secretfile

import (
	"strings"
	"testing"

	"mycelium/internal/policy/paths"
)

// TestRows: every row has its parts, stands once, and is found by a path of its form, by its name alone and by its globs.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Files {
		if f.What == "" || f.Grade == None || seen[f.Path] || f.Base != "" && (f.Grade != Named || strings.ContainsAny(f.Path, "*/~")) {
			t.Errorf("row %+v", f)
		}
		seen[f.Path] = true
		path := strings.ReplaceAll(f.Path, "*", "q")
		switch {
		case strings.HasPrefix(path, "~/"):
			path = "/home/u" + path[1:]
		case path[0] != '/':
			path = "/p/" + path
		}
		if strings.HasSuffix(path, "/") {
			path += "deep/x"
		}
		got, ok := Of(path, "/home/u")
		if !ok || got.Grade < f.Grade {
			t.Errorf("%s: %s is %+v", f.Path, path, got)
		}
		if upper, _ := Of(strings.ToUpper(path), ""); upper.Grade < f.Grade && !strings.HasPrefix(f.Path, "~") {
			t.Errorf("%s: case counts", f.Path)
		}
		if last := path[strings.LastIndexByte(path, '/')+1:]; !strings.HasSuffix(f.Path, "/") && !Known(paths.Fold(nil, last)) {
			t.Errorf("%s: %s is not known", f.Path, last)
		}
		if len(f.Globs("/home/u")) == 0 {
			t.Errorf("%s: no glob", f.Path)
		}
	}
}

func TestOf(t *testing.T) {
	for path, want := range map[string]Grade{
		"/p/.env": Named, "/p/.ENV": Named, "/p/sub/.env.vercel": Named, "/p/.env.bak": Named, ".env": Named, "~/.npmrc": Named,
		"/home/u/.npmrc": Named, "/home/other/.npmrc": Named, "/p/.npmrc": Judged, "/p/.envrc": Judged, "/p/.envrc.md": Judged, "/p/.env2": Named, "/p/x.pem": Public,
		"/p/.secrets/a/b": Named, "/p/.secrets": Named, "/proc/1/environ": Named, "/p/.docker/config.json": Named, "/p/id_ecdsa": Named,
		"/p/prod.auto.tfvars": Named, "/p/prod.tfvars": Judged, "/p/.config/gcloud/x": Named,

		"/p/.env.example": None, "/p/.env.example.bak": None, "/p/.env.local.sample": None, "/p/.ENV.EXAMPLE": None, "/p/.env/bin/python": None, "/p/env.md": None,
		"/p/config.json": None, "/p/kubeconfig.go.example": None, "/p/secrets.go": None, "/p/id_rsa.pub": None, "/p/monkey": None, "/": None,
		"": None, "/p/tokens.json": None, "/p/my.secrets/a": None,
	} {
		if row, _ := Of(path, "/home/u"); row.Grade != want {
			t.Errorf("%s: %+v, want grade %d", path, row, want)
		}
	}
}
