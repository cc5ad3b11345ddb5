package code

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mycelium/internal/shell"
)

// tree writes files into a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	return dir
}

func TestOf(t *testing.T) {
	dir := tree(t, map[string]string{
		"home/bin/tool": "\x7fELF\x00", "home/.nvm/node": "\x00", "p/x.sh": "bash y.sh", "p/y.sh": "bash x.sh # a circle",
		"p/main.go": "package main", "p/cmd/x/a.go": "package main", "p/cmd/x/b.go": "package main", "p/go.mod": "module x",
		"p/pkg/__init__.py": "", "p/pkg/mod.py": "from .deep import thing", "p/pkg/deep.py": "", "p/t.py": "from pkg import mod\n",
		"p/node_modules/left/index.js": "", "p/a.js": "import left from 'left'", "p/b.js": "require('node:fs')",
		"p/sub/package.json": `{"scripts":{"build":"node b.js"}}`, "p/sub/b.js": "", "p/sub/deeper/z": "",
		"p/Gemfile": "", "p/Gemfile.lock": "", "p/Justfile": "", "p/q.rb": "require_relative 'r'", "p/r.rb": "",
		"p/requirements.txt": "x==1", "p/big.py": "#" + strings.Repeat("x", maxText), "p/many.sh": "", "p/zero": "echo no first line",
		"p/src.sh": "source y.sh", "p/far.sh": ". /etc/hostname.d/none",
	})
	many := ""
	for i := range maxFiles + 1 {
		name := "many/" + strings.Repeat("i", i+1) + ".sh"
		many += "bash " + name + "\n"
		tree := filepath.Join(dir, "p", name)
		_ = os.MkdirAll(filepath.Dir(tree), 0o700)
		if err := os.WriteFile(tree, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	project, home := filepath.Join(dir, "p"), filepath.Join(dir, "home")
	if err := os.WriteFile(filepath.Join(project, "many.sh"), []byte(many), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(project, "fifo.sh"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, files, notRead string }{
		{"bash x.sh", "x.sh y.sh", ""},
		{"cd sub/.. && bash ./src.sh", "src.sh y.sh x.sh", ""},
		{"./zero", "zero", ""},
		{"tool --go", "../home/bin/tool", ""},
		{"ls -l", "", ""},
		{"go run ./cmd/x", "cmd/x/a.go cmd/x/b.go go.mod", "."},
		{"go run main.go", "main.go go.mod", "."},
		{"go test ./...", "go.mod", "."},
		{"python3 t.py", "t.py pkg/__init__.py pkg/mod.py pkg/deep.py", ""},
		{"node a.js", "a.js ../home/.nvm/node", "."},
		{"node b.js", "b.js ../home/.nvm/node", ""},
		{"cd sub/deeper && npm run build", "sub/package.json sub/b.js ../home/.nvm/node", ""},
		{"bundle install", "Gemfile Gemfile.lock", "."},
		{"just deploy", "Justfile", "."},
		{"ruby q.rb", "q.rb r.rb", ""},
		{"pip install -r requirements.txt", "requirements.txt", "."},
		{"python3 big.py", "big.py", ": what big.py runs in turn: it is longer than 1024 KiB."},
		{"bash fifo.sh", "", ": fifo.sh cannot be read."},
		{"bash many.sh", "*", "more than 64 files"},
		{"bash far.sh", "far.sh", ""},
		{"bash *.nothing", "", ": bash: which script runs is not known; which files *.nothing names is not known."},
	} {
		f := shell.Facts(c.command, shell.Options{Dir: project, Home: home})
		path := filepath.Join(home, "bin") + ":" + filepath.Join(home, ".nvm") + ":/usr/bin"
		got := Of(&f, Where{Project: project, Home: home, Path: path})
		want := map[string]bool{}
		for _, name := range strings.Fields(c.files) {
			want[filepath.Join(project, name)] = true
		}
		for _, file := range got.Present() {
			if !want[file.Path] && c.files != "*" {
				t.Errorf("%s: %s too", c.command, file.Path)
			}
			delete(want, file.Path)
		}
		if len(want) > 0 && c.files != "*" {
			t.Errorf("%s: not %v", c.command, want)
		}
		if told := got.NotRead(); (told == "") != (c.notRead == "") || !strings.Contains(told, c.notRead) {
			t.Errorf("%s: %q, want %q", c.command, told, c.notRead)
		}
	}
}

// FuzzFollow: whatever stands in a file, looking in it ends, within the bounds.
func FuzzFollow(f *testing.F) {
	for l := shellScript; l <= unknownCode; l++ {
		f.Add(byte(l), "import a, b.c as d\nfrom ..x import y\n#!/bin/sh\nbash y.sh\nrequire('./a')\ninclude z.mk\n\t$(CC) $$x\n")
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, l byte, text string) {
		r := newReader(Where{}, dir, bounds{maxFiles, maxListed, maxBytes})
		r.follow(source{filepath.Join(dir, "file"), language(l % byte(unknownCode+1)), text, ""})
		languageIn("x", []byte(text))
		if len(r.out.Files) > maxListed {
			t.Errorf("%d files", len(r.out.Files))
		}
	})
}
