package facts

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell"
	"mycelium/internal/worktree"
)

// Bounds of what is read of git's settings. Settings beyond them count as unknown.
const (
	maxSettings     = 1 << 20 // bytes of a file
	maxSettingFiles = 20
)

// pushed completes the facts of a git command that pushes, also by an alias in git's settings. It replaces HEAD by the branch that is
// checked out, and adds "*", any branch, if git's settings send a push elsewhere or force it. A HEAD that cannot be read stays.
func (r resolver) pushed(part *policy.Part) {
	alias := part.Program == "git" && slices.Contains(part.Effects, policy.EffectUnknown)
	if !alias && !slices.Contains(part.Effects, policy.EffectForcePush) && !slices.Contains(part.Effects, policy.EffectPush) {
		return
	}
	s, own := r.settings(part)
	if alias && !s.expand(part, r.home) {
		return
	}
	forced := slices.Contains(part.Effects, policy.EffectForcePush)
	if s.forces && !forced {
		part.Effects = append(part.Effects, policy.EffectForcePush)
	}
	if s.forces || forced && s.redirects {
		part.Branches = append(part.Branches, "*")
	}
	for i, b := range part.Branches {
		if head := checkedOut(own); b == "HEAD" && head != "" {
			part.Branches[i] = head
		}
	}
}

// settings reads git's settings where a part runs. own is the folder of that working tree in the repository; "" if there is none.
func (r resolver) settings(part *policy.Part) (s *pushSettings, own string) {
	dir := cmp.Or(part.Dir, r.dir)
	own, common := worktree.Repository(dir)
	s = &pushSettings{home: r.home, redirects: part.Dir == "*", aliases: map[string]string{}}
	s.read("/etc/gitconfig")
	if r.home != "" {
		s.read(filepath.Join(r.home, ".config/git/config"))
		s.read(filepath.Join(r.home, ".gitconfig"))
	}
	if own != "" {
		s.read(filepath.Join(common, "config"))
		s.read(filepath.Join(own, "config.worktree"))
	}
	return s, own
}

// expand adds to a part what an alias pushes, if the part calls one, and reports whether it pushes. The rest stays as unknown as it was.
func (s *pushSettings) expand(part *policy.Part, home string) (pushes bool) {
	at := slices.IndexFunc(part.Argv, func(word string) bool { return s.aliases[strings.ToLower(word)] != "" })
	if at < 1 {
		return false
	}
	command, own := strings.CutPrefix(s.aliases[strings.ToLower(part.Argv[at])], "!")
	if !own {
		command = "git " + command
	}
	for _, word := range part.Argv[at+1:] {
		command += " '" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	for _, p := range shell.Facts(command, shell.Options{Home: home}).Parts {
		for _, e := range []string{policy.EffectPush, policy.EffectForcePush} {
			if slices.Contains(p.Effects, e) && !slices.Contains(part.Effects, e) {
				part.Effects = append(part.Effects, e)
				pushes = true
			}
		}
		part.Branches = append(part.Branches, p.Branches...)
	}
	return pushes
}

// checkedOut returns the branch that is checked out in a repository, or "" if that is not known.
func checkedOut(own string) string {
	if own == "" {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(own, "HEAD"))
	branch, found := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: ")
	if err != nil || !found || branch == "refs/heads/.invalid" { // what git writes there with another format of references
		return ""
	}
	return branch
}

// pushSettings is what git's settings say about pushes.
type pushSettings struct {
	home      string
	files     int
	forces    bool // a push may replace or delete branches that its command does not name
	redirects bool // a push may go to a branch of another name
	aliases   map[string]string
}

// read reads a file of settings, and the files that it includes, whatever the condition. A file that cannot be read counts as one that
// redirects pushes.
func (s *pushSettings) read(file string) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if s.files++; err != nil || info.Size() > maxSettings || s.files > maxSettingFiles {
		s.redirects = true
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		s.redirects = true
		return
	}
	for key, value := range worktree.Settings(text) {
		s.setting(key, value, file)
	}
}

// setting notes one setting. key is its section and its name, without the subsection between them.
func (s *pushSettings) setting(key, value, file string) {
	if name, found := strings.CutPrefix(key, "alias."); found {
		s.aliases[name] = value
	}
	switch key {
	case "push.default":
		s.redirects = s.redirects || value != "simple" && value != "current" && value != "nothing"
	case "remote.push":
		s.redirects = true
		s.forces = s.forces || strings.HasPrefix(value, "+")
	case "remote.mirror":
		s.forces = s.forces || !slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(value))
	case "include.path", "includeif.path":
		if rest, home := strings.CutPrefix(value, "~/"); home {
			value = filepath.Join(s.home, rest)
		} else if !filepath.IsAbs(value) {
			value = filepath.Join(filepath.Dir(file), value)
		}
		s.read(value)
	}
}
