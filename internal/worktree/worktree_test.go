package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// git runs git in a folder, with no settings of this machine.
func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main",
		"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func temp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// repository makes a repository with a folder sub, and a linked working tree beside it.
func repository(t testing.TB, options ...string) (main, tree string) {
	t.Helper()
	top := temp(t)
	main, tree = filepath.Join(top, "main"), filepath.Join(top, "tree")
	write(t, filepath.Join(main, "sub", "a"), "a\n")
	git(t, main, "init", "-q")
	git(t, main, "add", ".")
	git(t, main, "commit", "-q", "-m", "a")
	git(t, main, append(options, "worktree", "add", "-q", "-b", "x", tree)...)
	return main, tree
}

func TestOf(t *testing.T) {
	main, tree := repository(t)
	git(t, main, "worktree", "add", "-q", "-b", "y", filepath.Join(main, ".claude", "worktrees", "y"))
	inner := filepath.Join(main, ".claude", "worktrees", "y")
	mkdir(t, filepath.Join(tree, "new"))
	for dir, want := range map[string]string{
		tree:                          main,
		filepath.Join(tree, "sub"):    main + "/sub",
		filepath.Join(tree, "new"):    main,
		inner:                         main,
		filepath.Join(inner, "sub"):   main + "/sub",
		main:                          main,
		filepath.Join(main, "sub"):    main + "/sub",
		filepath.Dir(main):            filepath.Dir(main),
		filepath.Join(main, "absent"): main + "/absent",
		"/":                           "/",
	} {
		if got := Main(dir, ""); got != want {
			t.Errorf("%s stands for %s, want %s", dir, got, want)
		}
	}
	if got, ok := Of(filepath.Join(tree, "sub"), ""); !ok || got != (Tree{tree, main, ""}) {
		t.Errorf("%+v, %v", got, ok)
	}
	linked := Linked(filepath.Join(main, "sub"), "")
	slices.Sort(linked)
	if want := []string{inner + "/sub", tree + "/sub"}; !slices.Equal(linked, want) {
		t.Errorf("linked to %s/sub: %q, want %q", main, linked, want)
	}
	if got := Linked(tree, ""); got != nil {
		t.Errorf("linked to a linked one: %q", got)
	}
	git(t, main, "worktree", "move", tree, tree+"2")
	git(t, main, "worktree", "remove", inner)
	if got := Linked(main, ""); !slices.Equal(got, []string{tree + "2"}) {
		t.Errorf("after move and remove: %q", got)
	}
}

// TestLinksOfOtherKinds: what git calls a repository without being a linked working tree with a main one.
func TestLinksOfOtherKinds(t *testing.T) {
	t.Run("relative", func(t *testing.T) {
		main, tree := repository(t)
		own := filepath.Join(main, ".git/worktrees/tree") // as git 2.48 writes them
		write(t, filepath.Join(tree, ".git"), "gitdir: ../main/.git/worktrees/tree\n")
		write(t, filepath.Join(own, "gitdir"), "../../../../tree/.git\n")
		if got, ok := Of(tree, ""); !ok || got.Main != main || !slices.Equal(Linked(main, ""), []string{tree}) {
			t.Errorf("%+v, %v; linked: %q", got, ok, Linked(main, ""))
		}
	})
	t.Run("submodule", func(t *testing.T) {
		main, _ := repository(t)
		git(t, main, "submodule", "add", "-q", main, "lib")
		alone(t, filepath.Join(main, "lib"))
	})
	for _, bare := range []string{"x.git", ".git"} {
		t.Run("bare "+bare, func(t *testing.T) {
			main, _ := repository(t)
			top := temp(t)
			git(t, top, "clone", "-q", "--bare", main, filepath.Join(top, bare))
			git(t, filepath.Join(top, bare), "worktree", "add", "-q", filepath.Join(top, "a"), "main")
			alone(t, filepath.Join(top, "a"))
			if got := Linked(top, ""); got != nil {
				t.Errorf("linked: %q", got)
			}
		})
	}
	t.Run("working tree elsewhere", func(t *testing.T) {
		main, tree := repository(t)
		git(t, main, "config", "core.worktree", temp(t))
		alone(t, tree)
	})
}

func alone(t *testing.T, dir string) {
	t.Helper()
	if got, ok := Of(dir, ""); ok || Main(dir, "") != dir {
		t.Errorf("%s: %+v, %v, stands for %s", dir, got, ok, Main(dir, ""))
	}
}

// TestForged: a link that only one end names does not count, whichever end an agent has written.
func TestForged(t *testing.T) {
	fake := func(t *testing.T) (main, dir string) {
		main, _ = repository(t)
		dir = temp(t)
		return main, dir
	}
	for name, forge := range map[string]func(t *testing.T, main, dir string){
		"only the folder names the repository": func(t *testing.T, main, dir string) {
			write(t, filepath.Join(dir, ".git"), "gitdir: "+main+"/.git/worktrees/tree\n")
		},
		"only the repository names the folder": func(t *testing.T, main, dir string) {
			write(t, filepath.Join(main, ".git/worktrees/tree/gitdir"), dir+"/.git\n")
		},
		"a repository of its own in between": func(t *testing.T, main, dir string) {
			own := filepath.Join(dir, "own")
			write(t, filepath.Join(dir, ".git"), "gitdir: "+own+"\n")
			write(t, filepath.Join(own, "gitdir"), dir+"/.git\n")
			write(t, filepath.Join(own, "commondir"), main+"/.git\n")
		},
		"below the folder of working trees": func(t *testing.T, main, dir string) {
			own := filepath.Join(main, ".git/worktrees/tree/deep")
			write(t, filepath.Join(dir, ".git"), "gitdir: "+own+"\n")
			write(t, filepath.Join(own, "gitdir"), dir+"/.git\n")
			write(t, filepath.Join(own, "commondir"), "../../..\n")
		},
		"the name of the repository is another": func(t *testing.T, main, dir string) {
			common := filepath.Join(main, "other")
			own := filepath.Join(common, "worktrees/x")
			write(t, filepath.Join(dir, ".git"), "gitdir: "+own+"\n")
			write(t, filepath.Join(own, "gitdir"), dir+"/.git\n")
			write(t, filepath.Join(own, "commondir"), "../..\n")
		},
		"the link is a symbolic link": func(t *testing.T, main, dir string) {
			if err := os.Symlink(filepath.Join(filepath.Dir(main), "tree/.git"), filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
		},
		"the folder names another one in its turn": func(t *testing.T, main, dir string) {
			own := filepath.Join(main, ".git/worktrees/tree")
			write(t, filepath.Join(dir, ".git"), "gitdir: "+own+"\n")
			write(t, filepath.Join(own, "gitdir"), dir+"/sub/../.git2\n")
		},
		"more than one line": func(t *testing.T, main, dir string) {
			own := filepath.Join(main, ".git/worktrees/tree")
			write(t, filepath.Join(dir, ".git"), "gitdir: "+own+"\n")
			write(t, filepath.Join(own, "gitdir"), dir+"/.git\n"+filepath.Dir(main)+"/tree/.git\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			main, dir := fake(t)
			forge(t, main, dir)
			alone(t, dir)
			if slices.Contains(Linked(main, ""), dir) {
				t.Error("it is listed")
			}
		})
	}
}

// TestLinkInTheMainTree: a link in the place of a folder does not lead to another project.
func TestLinkInTheMainTree(t *testing.T) {
	main, tree := repository(t)
	mkdir(t, filepath.Join(tree, "out", "deep"))
	if err := os.Symlink(temp(t), filepath.Join(main, "out")); err != nil {
		t.Fatal(err)
	}
	if got := Main(filepath.Join(tree, "out", "deep"), ""); got != main {
		t.Errorf("it stands for %s", got)
	}
}

// TestOddFiles: pipes, folders and large files in the place of git's neither block nor count.
func TestOddFiles(t *testing.T) {
	odd := map[string]func(file string) error{
		"pipe":   func(file string) error { return syscall.Mkfifo(file, 0o600) },
		"folder": func(file string) error { return os.Mkdir(file, 0o700) },
		"large":  func(file string) error { return os.WriteFile(file, []byte(strings.Repeat("x", maxSettings+1)), 0o600) },
		"empty":  func(file string) error { return os.WriteFile(file, nil, 0o600) },
		"binary": func(file string) error { return os.WriteFile(file, []byte("gitdir: /a\x00b\n"), 0o600) },
	}
	for kind, make := range odd {
		for _, name := range []string{"tree/.git", "main/.git/worktrees/tree/gitdir", "main/.git/worktrees/tree/commondir", "main/.git/config"} {
			if name == "main/.git/config" && (kind == "empty" || kind == "binary") {
				continue // it says nothing of a bare repository
			}
			t.Run(kind+" "+name, func(t *testing.T) {
				main, tree := repository(t)
				file := filepath.Join(filepath.Dir(main), name)
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
				if err := make(file); err != nil {
					t.Fatal(err)
				}
				alone(t, tree)
				if got := Linked(main, ""); got != nil {
					t.Errorf("linked: %q", got)
				}
				Repository(tree)
			})
		}
	}
}

// FuzzLinks: whatever stands in the files, a folder belongs to a main working tree only if that names the folder, and every tree that is
// listed says the same of itself.
func FuzzLinks(f *testing.F) {
	f.Add("gitdir: MAIN/.git/worktrees/x\n", "TREE/.git\n", "../..\n", "[core]\n\tbare = false\n")
	f.Add("gitdir: ../main/.git/worktrees/x", "../../../../tree/.git", "../..", "")
	f.Add("gitdir: MAIN/.git/worktrees/../worktrees/x\r\n", "/", ".", "[core] bare")
	f.Add("gitdir: MAIN/.git", "TREE", "/", "[core \"x\"]\nworktree = /")
	top := temp(f)
	main, tree := filepath.Join(top, "main"), filepath.Join(top, "tree")
	own := filepath.Join(main, ".git/worktrees/x")
	f.Fuzz(func(t *testing.T, link, back, common, config string) {
		place := strings.NewReplacer("MAIN", main, "TREE", tree).Replace
		write(t, filepath.Join(tree, ".git"), place(link))
		write(t, filepath.Join(own, "gitdir"), place(back))
		write(t, filepath.Join(own, "commondir"), place(common))
		write(t, filepath.Join(main, ".git/config"), config)
		got, ok := Of(tree, "")
		if ok && got != (Tree{tree, main, ""}) {
			t.Errorf("%+v", got)
		}
		if ok != slices.Equal(Linked(main, ""), []string{tree}) {
			t.Errorf("of: %v, linked: %q", ok, Linked(main, ""))
		}
		if ok && !strings.HasPrefix(place(link), "gitdir: ") {
			t.Errorf("link %q", link)
		}
		Repository(tree)
	})
}

// TestCache: a cache that has settled sees every change of what the working trees are, and looks at nothing else while there is none.
func TestCache(t *testing.T) {
	main, tree := repository(t)
	var c Cache
	check := func(what string, want ...string) {
		t.Helper()
		got := slices.Sorted(slices.Values(c.Linked(main)))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
		if fresh := slices.Sorted(slices.Values(Linked(main, ""))); !slices.Equal(fresh, want) {
			t.Errorf("%s, looked at anew: %q, want %q", what, fresh, want)
		}
		c.look() // as if all that is long ago
	}
	check("one", tree)
	if got := c.Linked(main); !slices.Equal(got, []string{tree, tree}) { // look adds to what was found
		t.Errorf("it looked again: %q", got)
	}
	c = Cache{}
	git(t, main, "worktree", "add", "-q", "--detach", tree+"2")
	check("two", tree, tree+"2")
	git(t, main, "worktree", "move", tree+"2", tree+"3")
	check("moved", tree, tree+"3")
	if err := os.Remove(filepath.Join(tree, ".git")); err != nil {
		t.Fatal(err)
	}
	check("unlinked", tree+"3")
	git(t, main, "config", "core.bare", "true")
	check("bare")
	git(t, main, "config", "core.bare", "false")
	git(t, main, "worktree", "remove", tree+"3")
	check("removed")

	top := temp(t)
	check = func(what string, want ...string) {
		t.Helper()
		if got := c.Linked(filepath.Join(top, "a", "sub")); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
		c.looked = nil
		c.look()
	}
	write(t, filepath.Join(top, "a", "sub", "f"), "")
	check("no repository")
	git(t, filepath.Join(top, "a"), "init", "-q")
	git(t, filepath.Join(top, "a"), "commit", "-q", "--allow-empty", "-m", "x")
	git(t, filepath.Join(top, "a"), "worktree", "add", "-q", "--detach", filepath.Join(top, "b"))
	check("a new repository above", filepath.Join(top, "b", "sub"))
}

func BenchmarkLinked(b *testing.B) {
	for _, n := range []int{0, 1, 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			main := filepath.Join(temp(b), "main")
			write(b, filepath.Join(main, "a"), "a\n")
			git(b, main, "init", "-q")
			git(b, main, "add", ".")
			git(b, main, "commit", "-q", "-m", "a")
			for i := range n {
				git(b, main, "worktree", "add", "-q", "--detach", fmt.Sprint(main, i))
			}
			b.Run("anew", func(b *testing.B) {
				for b.Loop() {
					Linked(main, "")
				}
			})
			b.Run("again", func(b *testing.B) {
				c := Cache{dir: main}
				c.look() // as if all that is long ago
				for b.Loop() {
					c.Linked(main)
				}
			})
		})
	}
}
