package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"mycelium/internal/sandbox/folder"
	"mycelium/internal/sandbox/jail"
)

// system are the folders of the machine's programs, which every command reads.
var system = systemOf(runtime.GOOS)

// systemOf lists them for a system, as Go names it. Of macOS's /System and /Library it names the parts with programs: the whole of the first
// leads to the home folders once more (/System/Volumes/Data), and the second has settings and keys of the machine.
func systemOf(goos string) []string {
	if goos == mac {
		return []string{"/usr", "/bin", "/sbin", "/opt", "/nix", "/etc", "/private/etc", "/private/var/select", "/private/var/db/timezone",
			"/private/var/db/dyld", "/private/var/db/xcode_select_link", "/System/Library", "/System/Cryptexes",
			"/System/Volumes/Preboot/Cryptexes", "/Library/Apple", "/Library/Developer", "/Library/Frameworks", "/Library/Java",
			"/Library/Perl", "/Library/Ruby", "/Applications/Xcode.app"}
	}
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/etc"}
}

// private are folders that are empty and the command's own.
var private = []string{"/tmp", "/var/tmp", "/run"}

// tools are the parts of a home folder that have programs and what programs have downloaded. A command reads them.
var tools = []string{"go/bin", ".cargo/bin", ".cargo/registry", ".cargo/git", ".rustup", ".nvm", ".fnm", ".volta", ".bun/bin",
	".deno/bin", ".pyenv", ".rbenv", ".asdf", ".sdkman", ".m2/repository", ".gradle/wrapper", ".local/bin", ".local/lib",
	".local/pipx", ".local/share/mise", ".local/share/pnpm", ".local/share/uv"}

// gitConfig is where the command finds Command.GitConfig.
const gitConfig = inside + "/gitconfig"

// root lists the parts of the command's root, and what is covered in it. A later part covers an earlier one.
func (c *Command) root(w *work) (binds []jail.Bind, masks []string) {
	for _, dir := range system {
		binds = append(binds, part(dir)...)
	}
	for _, dir := range private {
		binds = append(binds, jail.Bind{Kind: jail.Temp, Target: dir})
	}
	if c.Temp != "" {
		binds = append(binds, jail.Bind{Kind: jail.Tree, Source: c.Temp, Target: temp, Write: true})
	}
	if c.GitConfig != "" {
		binds = append(binds, jail.Bind{Kind: jail.Tree, Source: c.GitConfig, Target: gitConfig})
	}
	if c.Home != "" {
		binds = append(binds, jail.Bind{Kind: jail.Temp, Target: c.Home})
		for _, t := range tools {
			binds = append(binds, tree(filepath.Join(c.Home, t), false))
		}
		if c.Caches != "" {
			binds = append(binds, jail.Bind{Kind: jail.Tree, Source: c.Caches, Target: filepath.Join(c.Home, ".cache"), Write: true})
			binds = append(binds, c.warmParts()...)
		}
	}
	if c.Project != "" {
		binds = append(binds, tree(c.Project, c.Profile.Project))
	}
	for _, p := range c.Read {
		binds = append(binds, tree(p, false))
	}
	for _, p := range c.Write {
		binds = append(binds, tree(p, true))
	}
	if c.Worktree != nil {
		binds = append(binds, tree(c.Worktree.Common, c.Profile.Project))
	}
	fixed := slices.Concat(c.Protect, w.guarded.Fixed, w.guarded.Targets)
	// A covered file alone would go with its folder, and another one come in its place.
	linked := slices.Concat(w.guarded.Hidden, w.guarded.Secrets, w.guarded.Covered, w.objects.paths())
	for _, own := range w.copies {
		linked = append(linked, own.original)
	}
	binds = append(binds, protected(binds, fixed, linked)...)
	if c.Worktree != nil {
		binds = append(binds, c.Worktree.own(c.Profile.Project)...)
	}
	binds, masks = append(binds, w.objects.binds...), slices.Concat(w.guarded.Hidden, w.guarded.Secrets, w.guarded.Sockets, w.objects.masks, c.Hide)
	for i, path := range w.guarded.Covered {
		if i < len(w.covers) {
			binds = append(binds, jail.Bind{Kind: jail.Tree, Source: w.covers[i], Target: path, Strict: true})
		} else { // the project is read-only, so that nothing can be committed
			masks = append(masks, path)
		}
	}
	return append(binds, w.binds()...), masks
}

// own shows the worktree's own part of the repository, without those of others. What says where it belongs stays.
func (w *Worktree) own(write bool) []jail.Bind {
	out := []jail.Bind{tree(w.Own, write)}
	for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
		out = append(out, tree(filepath.Join(w.Own, name), false))
	}
	return out
}

// part is a folder of the system: a link stays one.
func part(path string) []jail.Bind {
	st, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil
	case st.Mode()&os.ModeSymlink != 0:
		to, err := os.Readlink(path)
		if err != nil {
			return nil
		}
		return []jail.Bind{{Kind: jail.Link, Source: to, Target: path}}
	}
	return []jail.Bind{tree(path, false)}
}

// tree is a path that is inside where it is outside.
func tree(path string, write bool) jail.Bind {
	return jail.Bind{Kind: jail.Tree, Source: path, Target: path, Write: write}
}

// protected makes what must not change read-only. A mount alone does not hold a file: whoever renames a folder above it takes the mount
// away with the folder, and makes a new one. A mount point cannot be renamed or removed, so every folder between the writable part and the
// file becomes one.
// The folders above a path that is linked elsewhere are kept in the same way.
func protected(binds []jail.Bind, paths, linked []string) []jail.Bind {
	var above, fixed []string
	for i, p := range slices.Concat(paths, linked) {
		top := writable(binds, p)
		if _, err := os.Lstat(p); top == "" || err != nil {
			continue
		}
		for dir := filepath.Dir(p); len(dir) > len(top); dir = filepath.Dir(dir) {
			above = append(above, dir)
		}
		if i < len(paths) {
			fixed = append(fixed, p)
		}
	}
	slices.Sort(above) // a folder comes before what is in it
	slices.Sort(fixed)
	var out []jail.Bind
	for _, dir := range slices.Compact(above) {
		if !slices.Contains(fixed, dir) {
			out = append(out, jail.Bind{Kind: jail.Tree, Source: dir, Target: dir, Write: true, Strict: true})
		}
	}
	for _, p := range slices.Compact(fixed) {
		out = append(out, jail.Bind{Kind: jail.Tree, Source: p, Target: p, Strict: true})
	}
	return out
}

// Shows reports whether a command finds a path, if it is there outside and is not hidden.
func (c *Command) Shows(path string) bool {
	shown := false
	binds, _ := c.root(&work{guarded: &Guarded{}})
	for _, b := range binds {
		if path == b.Target || strings.HasPrefix(path, b.Target+"/") {
			shown = b.Kind != jail.Temp
		}
	}
	return shown
}

// writable returns the folder that may be written and has the path below it; "" if there is none.
func writable(binds []jail.Bind, path string) string {
	top := ""
	for _, b := range binds {
		if b.Kind == jail.Tree && (path == b.Target || strings.HasPrefix(path, b.Target+"/")) {
			top = ""
			if b.Write {
				top = b.Target
			}
		}
	}
	return top
}

// settingsFolder is the folder of the machine's settings.
const settingsFolder = "/etc"

// hidden lists the files of /etc that only their owner reads, if this is root: an ordinary user cannot read them anyway. It looks at all of
// them each time: a file that is closed shows nowhere else.
func hidden() []string {
	if os.Getuid() != 0 {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Lstat(settingsFolder, &st); err != nil || !others(&st) {
		return []string{settingsFolder}
	}
	fd, err := unix.Open(settingsFolder, folderFlags, 0)
	if err != nil {
		return nil // what cannot be read is not shown either
	}
	var h closedFiles
	h.folder(fd, settingsFolder)
	return h.found
}

const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// others reports whether others than the owner and the group may read a file.
func others(st *unix.Stat_t) bool { return st.Mode&unix.S_IROTH != 0 }

// closedFiles are the files that hidden found.
type closedFiles struct {
	reader folder.Reader
	found  []string
}

// folder looks at what a folder has, and closes its descriptor.
func (h *closedFiles) folder(fd int, path string) {
	defer func() { _ = unix.Close(fd) }()
	var folders []string
	_ = h.reader.List(fd, func(name string, mode fs.FileMode) error {
		var st unix.Stat_t
		if mode&fs.ModeSymlink != 0 || unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			return nil //nolint:nilerr // as above
		}
		switch {
		case !others(&st):
			h.found = append(h.found, path+"/"+name)
		case mode.IsDir():
			folders = append(folders, name)
		}
		return nil
	})
	for _, name := range folders {
		if sub, err := unix.Openat(fd, name, folderFlags, 0); err == nil {
			h.folder(sub, path+"/"+name)
		}
	}
}
