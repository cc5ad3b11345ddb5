package facts

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mycelium/internal/policy"
)

// reads is what a command reads and executes in a folder of a session that wrote the given files.
func reads(t *testing.T, dir, command string, wrote ...string) (paths []string) {
	t.Helper()
	p := shipped(t, dir)
	at := At(p, dir, "/home/u", nil)
	w := NewWritten("", "s", dir)
	for i := range wrote {
		wrote[i] = filepath.Join(dir, wrote[i])
	}
	w.add(wrote)
	at.Wrote = w.Paths
	f, err := Of(bashTool, nil, policy.Args{"command": command}, at)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Parts {
		for _, p := range f.Parts[i].Paths {
			paths = append(paths, string(p.Access)+" "+p.Resolved)
		}
		if slices.Contains(f.Parts[i].Effects, policy.EffectOperator) {
			paths = append(paths, "operator")
		}
	}
	return paths
}

// TestWhatSourcesOfTheSessionName: what a Go source embeds or includes, a list of requirements names, or a script of package.json does
// counts as the command's, if the session wrote the file that says so (W11).
func TestWhatSourcesOfTheSessionName(t *testing.T) {
	dir := projectWith(t, ".env", "assets/.env", "assets/a.txt", "p/setup.py", "a.txt")
	for name, text := range map[string]string{
		"embed.go":         "package a\n\n//go:embed .env\nvar s string\n",
		"star.go":          "package a\n\n//go:embed a.txt *\nvar s string\n",
		"all.go":           "package a\n\n//go:embed \"all:assets\"\nvar s string\n",
		"cgo.go":           "package a\n\n// #include \"./.env\"\nimport \"C\"\n",
		"block.go":         "package a\n\n/*\n#include \"./.env\"\n*/\nimport \"C\"\n",
		"plain.go":         "package a\n\n//go:embed a.txt assets\nvar s string // .env\n",
		"r.txt":            "requests==2\n -r .env\n",
		"c.txt":            "--constraint=./.env # x\n",
		"deep.txt":         "-r r.txt\n",
		"local.txt":        "flask\n-e ./p\n",
		"bare.txt":         "p\n",
		"good.txt":         "requests==2\nflask[async]>=1 ; python_version > '3'\n",
		"package.json":     `{"scripts": {"test": "cat .env", "build": "node b.js", "preship": "npm run test", "ship": "true"}}`,
		"sub/package.json": `{"scripts": {"test": "myc trust --yes", "build": "cp x ../mycelium.yaml", "prepare": "cat ../.env"}}`,
	} {
		writeFile(t, text, dir, name)
	}
	env := "read " + filepath.Join(dir, ".env")
	for _, c := range []struct{ command, wrote, want string }{
		{"go build -o /tmp/x .", "embed.go", env}, {"go vet ./...", "star.go", env}, {"go test ./...", "all.go", "read " + dir + "/assets/.env"},
		{"go build ./...", "cgo.go", env}, {"go build ./...", "block.go", env},
		{"printf 'package a\\n//go:embed .env\\nvar s string\\n' > x.go; go build .", "", env},
		{"pip install -r r.txt", "", env}, {"pip3 download -c c.txt x", "", env}, {"python3 -m pip install -r deep.txt", "", env},
		{"pip install -r local.txt", "", "execute " + dir + "/p/setup.py"}, {"pip install -r bare.txt", "", "execute " + dir + "/p/setup.py"},
		{"npm test", "package.json", env}, {"npm run ship", "package.json", env}, {"npm --prefix sub test", "sub/package.json", "operator"},
		{"npm run build --prefix=sub", "sub/package.json", "write " + dir + "/mycelium.yaml"}, {"cd sub && npm ci", "sub/package.json", env},
	} {
		if got := reads(t, dir, c.command, c.wrote); !slices.Contains(got, c.want) {
			t.Errorf("%s: %q, want %s", c.command, got, c.want)
		}
	}
	for command, wrote := range map[string]string{"go build ./...": "plain.go", "go vet .": "a.txt", "pip install -r good.txt": "",
		"npm run build": "package.json", "npm test": "plain.go"} {
		if got := reads(t, dir, command, wrote); slices.Contains(got, env) || slices.Contains(got, "execute "+dir+"/p/setup.py") {
			t.Errorf("%s: %q", command, got)
		}
	}
}

// TestWrittenBelowAFolder: a program that takes whatever lies in a folder runs what the session wrote there.
func TestWrittenBelowAFolder(t *testing.T) {
	dir := projectWith(t)
	w := NewWritten("", "s", dir)
	w.add([]string{dir + "/t/hooks/post-checkout", dir + "/b/as", dir + "/lib/strict.pm", dir + "/j/bin/java", dir + "/argparse.py",
		dir + "/k/kustomization.yaml", dir + "/tf/main.tf"})
	for command, want := range map[string]bool{
		"git clone --template=t . /tmp/r": true, "git init --template b x": true, "gcc -Bb -c a.c": true, "gcc -B b -c a.c": true,
		"PERL5LIB=lib shasum a": true, "export PERL5LIB=lib; shasum a": true, "JAVA_HOME=j mvn -v": true, "python3 -m json.tool a": true,
		"python3 -m zipfile -l a.zip": true, "kubectl kustomize k": true, "terraform -chdir=tf plan": true,
		"git clone --template=u . /tmp/r": false, "gcc -Bc -c a.c": false, "PERL5LIB=libs shasum a": false,
		"cd t && python3 -m json.tool a":  false,
		"JAVA_HOME=/usr/lib/jvm/x mvn -v": false, "python3 -m unittest": false, "PYTHONPATH=lib python3 -m unittest": false,
		"terraform validate": false, "git clone . /tmp/r": false,
	} {
		if got := runsWritten(t, w, dir, command); got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}

// TestBroadGlobsOfASearch: Grep shows lines of files, so that a broad glob is looked up on the disk, if it may match what is protected.
func TestBroadGlobsOfASearch(t *testing.T) {
	dir := projectWith(t, "a.go", "sub/.env", "node_modules/x/.env")
	p := shipped(t, dir)
	who := policy.Scope{Principal: policy.Principal{ID: "x", Role: "developer"}, Skills: []string{"coding-agent"}}
	decide := func(globs ...any) policy.Effect {
		args := policy.Args{"pattern": "x", globPaths: globs}
		f, err := Of(grepTool, nil, args, At(p, dir, "/home/u", nil))
		if err != nil {
			t.Fatal(err)
		}
		return p.Decide(policy.Call{Scope: who, Item: grepTool, Args: args, Facts: f}).Effect
	}
	for _, glob := range []string{"**/*", "./**/*env", "./**/?env", "sub/*"} {
		if got := decide(glob); got == policy.Allow {
			t.Errorf("%s is allowed", glob)
		}
	}
	for _, glob := range []string{"**/*.go", "./**/*.{ts,tsx}", "*", "*.md"} {
		if got := decide(glob); got != policy.Allow {
			t.Errorf("%s: %v", glob, got)
		}
	}
	if err := os.Remove(filepath.Join(dir, "sub/.env")); err != nil {
		t.Fatal(err)
	}
	if got := decide("**/*"); got != policy.Allow {
		t.Errorf("**/* without a protected file: %v", got)
	}
}
