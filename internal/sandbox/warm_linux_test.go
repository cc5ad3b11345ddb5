package sandbox

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/warm"
)

// seeded is a command with a seed of one file, and the file's name in the cache.
func seeded(t *testing.T, script string) (c *Command, name string) {
	t.Helper()
	c = projectCommand(t, "sh", "-c", script)
	c.Seeds = warm.Seeds(filepath.Join(filepath.Dir(c.Caches), "seeds"))
	name = "go-build/00/" + strings.Repeat("0", 64) + "-d"
	_, err := c.Seeds.Make(t.Context(), "0123456789ab", func(work string) (string, error) {
		file := filepath.Join(work, name)
		return filepath.Join(work, "go-build"), errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("seed"), 0o600))
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, name
}

// TestSeed: a command finds the files of a seed in its cache, in every back end, and changes its own cache only.
func TestSeed(t *testing.T) {
	t.Parallel()
	const attack = `f=$HOME/.cache/NAME
cat $f; echo
echo poison > $f; echo poison >> $f; chmod 666 $f; echo poison > $f; truncate -s 0 $f; touch $f
s=$(readlink $f); d=$(dirname $s); ln $s $HOME/.cache/hard; ln $s $d/hard; rm -f $s; mv $s $d/other; echo poison > $d/more; mv $d $HOME/.cache/
mount -o remount,rw $d; umount $d; mount -o remount,bind,rw /run/mycelium/seeds; umount -l /run/mycelium/seeds
cat $s; echo
rm $f && echo poison > $f; cat $f`
	for _, backend := range []jail.Backend{jail.Own, jail.Bubblewrap, jail.Container} {
		t.Run(string(backend), func(t *testing.T) {
			t.Parallel()
			c, name := seeded(t, "")
			c.Argv[2] = strings.ReplaceAll(attack, "NAME", name)
			c.Profile.Backend = backend
			var out bytes.Buffer
			c.Out = &out
			if _, err := Run(t.Context(), self(t), c); err != nil || out.String() != "seed\nseed\npoison\n" {
				t.Errorf("%v: %q", err, out.String())
			}
			if data, err := os.ReadFile(filepath.Join(c.Seeds.Folder(), "0123456789ab", "0")); err != nil || string(data) != "seed" {
				t.Errorf("the seed is %q: %v", data, err)
			}
			// Another project has the same seed, and not what this one wrote.
			other := *c
			other.Caches = filepath.Join(filepath.Dir(c.Caches), "other")
			if err := os.Mkdir(other.Caches, 0o700); err != nil {
				t.Fatal(err)
			}
			out.Reset()
			other.Argv = []string{"sh", "-c", "cat $HOME/.cache/" + name + "; ls $HOME/.cache"}
			if _, err := Run(t.Context(), self(t), &other); err != nil || out.String() != "seedgo-build\n" {
				t.Errorf("%v: %q", err, out.String())
			}
		})
	}
}

// modules has the module cache of a person: example.com/dep, example.com/bad and example.com/other, each with a file that says its name, as the
// go command fills it from a proxy. The project's go.sum names the first two.
func modules(t *testing.T, c *Command) (cache string) {
	t.Helper()
	dir := filepath.Dir(c.Home)
	cache = filepath.Join(c.Home, "go/pkg/mod")
	for _, name := range []string{"dep", "bad", "other"} {
		from, at := filepath.Join(dir, "source", name), filepath.Join(dir, "proxy/example.com", name, "@v")
		mod := "module example.com/" + name + "\n"
		err := errors.Join(os.MkdirAll(from, 0o700), os.MkdirAll(at, 0o700))
		for file, data := range map[string]string{from + "/go.mod": mod, from + "/x.go": "package x // genuine " + name + "\n",
			at + "/v1.0.0.mod": mod, at + "/v1.0.0.info": `{"Version":"v1.0.0"}`} {
			err = errors.Join(err, os.WriteFile(file, []byte(data), 0o600))
		}
		f, createErr := os.Create(at + "/v1.0.0.zip")
		if err := errors.Join(err, createErr); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(zip.CreateFromDir(f, module.Version{Path: "example.com/" + name, Version: "v1.0.0"}, from), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	fetch := func(project string, names ...string) {
		mod := "module p\n"
		for _, name := range names {
			mod += "require example.com/" + name + " v1.0.0\n"
		}
		if err := os.WriteFile(filepath.Join(project, "go.mod"), []byte(mod), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "all")
		cmd.Dir, cmd.Env = project, append(os.Environ(), "GOMODCACHE="+cache, "GOPROXY=file://"+filepath.Join(dir, "proxy"), "GOSUMDB=off",
			"GOFLAGS=-mod=mod -modcacherw")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	fetch(c.Project, "dep", "bad")
	other := filepath.Join(dir, "of-another")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	fetch(other, "other")
	return cache
}

// TestModules: a command finds the modules that go.sum names, as they were when go.sum was written, whatever became of the person's cache
// since; no other module; and it changes the cache of its own project only.
func TestModules(t *testing.T) {
	t.Parallel()
	for _, backend := range []jail.Backend{jail.Own, jail.Bubblewrap, jail.Container} {
		t.Run(string(backend), func(t *testing.T) {
			t.Parallel()
			const source = `for m in dep bad other; do go mod download example.com/$m 2>/dev/null; cat $HOME/go/pkg/mod/example.com/$m@v1.0.0/x.go; done 2>/dev/null`
			c := projectCommand(t, "sh", "-c", source+"; cd / && find . -xdev -name '*other*' 2>/dev/null")
			c.Taken = warm.Taken(filepath.Join(filepath.Dir(c.Caches), "taken"))
			c.Environ = []string{"PATH=" + os.Getenv("PATH"), "GOPRIVATE=example.com"}
			c.Profile.Backend = backend
			cache := modules(t, c)
			poison := func(file string) {
				t.Helper()
				path := filepath.Join(cache, file)
				if _, err := os.Stat(path); err != nil {
					t.Fatal(err) // the go command has it under another name
				}
				if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("package x // poison\n"), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			run := func(c *Command, want string) {
				t.Helper()
				var out, errs bytes.Buffer
				c.Out, c.Err = &out, &errs
				if _, err := Run(t.Context(), self(t), c); err != nil || out.String() != want {
					t.Errorf("%v: %q, want %q\n%s", err, out.String(), want, errs.String())
				}
			}
			poison("example.com/dep@v1.0.0/x.go")
			poison("cache/download/example.com/dep/@v/v1.0.0.ziphash")
			poison("cache/download/example.com/bad/@v/v1.0.0.zip")
			run(c, "package x // genuine dep\n")
			// It poisons its own cache, and what it took from is not there to be written.
			c.Argv[2] = `cd $HOME/go/pkg/mod && chmod u+w example.com/dep@v1.0.0/x.go && echo poison > example.com/dep@v1.0.0/x.go 
				echo poison > /run/mycelium/modules/example.com/dep/@v/v1.0.0.zip; rm -r /run/mycelium/modules; cat example.com/dep@v1.0.0/x.go`
			run(c, "poison\n")
			other := *c
			other.Argv = []string{"sh", "-c", source}
			other.Caches = filepath.Join(filepath.Dir(c.Caches), "other")
			if err := os.Mkdir(other.Caches, 0o700); err != nil {
				t.Fatal(err)
			}
			poison("cache/download/example.com/dep/@v/v1.0.0.zip") // after it was compared
			run(&other, "package x // genuine dep\n")
		})
	}
}

// TestToolchains: a toolchain that the go command fetched for the person is found by the one of the machine.
func TestToolchains(t *testing.T) {
	t.Parallel()
	c := projectCommand(t, "sh", "-c", "go version; go1.999.1 here")
	c.Taken = warm.Taken(filepath.Join(filepath.Dir(c.Caches), "taken"))
	c.Environ = []string{"PATH=" + os.Getenv("PATH"), "GOTOOLCHAIN=auto"}
	bin := filepath.Join(c.Home, "go/pkg/mod/golang.org/toolchain@v0.0.1-go1.999.1.linux-amd64/bin")
	err := errors.Join(os.MkdirAll(bin, 0o700), os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho toolchain $*\n"), 0o700),
		os.WriteFile(filepath.Join(c.Project, "go.mod"), []byte("module p\n\ngo 1.999.1\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	c.Out, c.Err = &out, &errs
	if _, err := Run(t.Context(), self(t), c); err != nil || out.String() != "toolchain version\ntoolchain here\n" {
		t.Errorf("%v: %q\n%s", err, out.String(), errs.String())
	}
}
