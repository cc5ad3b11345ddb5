package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// Unfit says why a profile may not name a path, in words; "" if it may. A path is absolute, in ~, or in the project. What no agent may open
// cannot be named, nor a folder above it; what no agent may change cannot be named for writing.
func Unfit(path string, write bool) string {
	rest, home := strings.CutPrefix(path, "~/")
	switch {
	case path == "" || strings.ContainsAny(path, "*?[$"):
		return "it is not the name of one file or folder"
	case path == "~" || path == "/":
		return "it has everything in it, and with it what no agent may open"
	case filepath.Clean(path) != path || home && !filepath.IsLocal(rest):
		return "it is not in its shortest form"
	case home, filepath.IsAbs(path):
	case !filepath.IsLocal(path):
		return "it leads out of the project"
	case path != ".":
		path = "./" + path
	}
	return refusal(path, write)
}

// refusal says why a path is not to be shown: it is absolute, or begins with ~/ or ./.
func refusal(path string, write bool) string {
	for _, b := range policy.BasePaths() {
		if b.ChangeOnly && !write {
			continue
		}
		name, anywhere := strings.CutPrefix(b.Path, "**/")
		above := !strings.HasPrefix(path, ".") && below(b.Path, path) // in the project, Guard looks for it
		if below(path, b.Path) || above || anywhere && strings.Contains(path+"/", "/"+name+"/") {
			if b.ChangeOnly {
				return "an agent may not change " + b.Path
			}
			return "an agent may not open " + b.Path
		}
	}
	return ""
}

// named adds the paths that the profile names to those of the command. What is not there is left out. A path of the project whose links
// lead out of it is refused: the command could have set them.
func (c *Command) named() (*Command, error) {
	out := *c
	out.Read, out.Write = slices.Clone(c.Read), slices.Clone(c.Write)
	for _, list := range []struct {
		to    *[]string
		from  []string
		write bool
	}{{&out.Read, c.Profile.Read, false}, {&out.Write, c.Profile.Write, true}} {
		for _, name := range list.from {
			path, err := c.resolve(name, list.write)
			if err != nil {
				return nil, fmt.Errorf("profile %s: %w", c.Profile.Name, err)
			}
			if path != "" {
				*list.to = append(*list.to, path)
			}
		}
	}
	return &out, out.reached()
}

// resolve returns the path that a profile's name stands for, without links; "" if it is not there.
func (c *Command) resolve(name string, write bool) (string, error) {
	path := name
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		path = filepath.Join(c.Home, rest)
	}
	inProject := !filepath.IsAbs(path)
	if inProject {
		path = filepath.Join(c.Project, path)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	why := ""
	if inProject && !below(resolved, c.Project) {
		why = "it leads out of the project"
	} else if resolved != c.Project {
		why = c.refusal(resolved, write)
	}
	if why != "" {
		return "", fmt.Errorf("%s is %s: %s", name, resolved, why)
	}
	return resolved, nil
}

// refusal says why an absolute path is not to be shown; "" if it may be.
func (c *Command) refusal(path string, write bool) string {
	if rest, ok := strings.CutPrefix(path, c.Project+"/"); ok && c.Project != "" {
		return refusal("./"+rest, write)
	}
	if rest, ok := strings.CutPrefix(path, c.Home+"/"); ok && c.Home != "" {
		return refusal("~/"+rest, write)
	}
	return refusal(path, write)
}
