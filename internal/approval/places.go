package approval

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"mycelium/internal/text"
)

// MaxPlaces bounds the folders among which a person chooses.
const MaxPlaces = 8

// Places returns the folders that a name can mean: those at that path below a search path, with links resolved and still below it. If
// there is none, it returns the folders directly below a search path whose names begin with the name. It refuses a name that could lead
// elsewhere: .., a leading / or ~, $, control characters.
func Places(search []string, name string) ([]string, error) {
	if err := checkPlace(name); err != nil {
		return nil, err
	}
	if len(search) == 0 {
		return nil, fmt.Errorf("no folder is open to new sessions: spawn.searchPaths in mycelium.yaml names none")
	}
	var exact, near []string
	for _, s := range search {
		root, err := filepath.EvalSymlinks(s)
		if err != nil || !filepath.IsAbs(root) {
			continue // the search path does not exist now
		}
		if dir, ok := placeIn(root, name); ok {
			exact = append(exact, dir)
		}
		if strings.ContainsRune(name, '/') {
			continue
		}
		entries, err := os.ReadDir(root)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") && len(e.Name()) > len(name) &&
				strings.HasPrefix(strings.ToLower(e.Name()), strings.ToLower(name)) {
				if dir, ok := placeIn(root, e.Name()); ok {
					near = append(near, dir)
				}
			}
		}
	}
	found := exact
	if len(found) == 0 {
		found = near
	}
	slices.Sort(found)
	found = slices.Compact(found)
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("no folder %q lies in spawn.searchPaths", name)
	case len(found) > MaxPlaces:
		return nil, fmt.Errorf("%q can mean %d folders: give more of the name", name, len(found))
	}
	return found, nil
}

// ExactPlace reports whether a folder that Places returned has exactly the name that was given, so that the person need not choose.
func ExactPlace(dir, name string) bool {
	return strings.HasSuffix(dir, string(filepath.Separator)+filepath.Clean(name))
}

// checkPlace refuses a name that is not a plain relative path.
func checkPlace(name string) error {
	bad := ""
	switch {
	case name == "" || strings.Trim(name, "./ ") == "":
		bad = "it names no folder"
	case len(name) > 255:
		bad = "it is too long"
	case name[0] == '/' || name[0] == '~' || name[0] == '-':
		bad = "it must not begin with " + name[:1]
	case strings.ContainsAny(name, "$\\`"):
		bad = "it must not hold $, \\ or `"
	case slices.Contains(strings.Split(name, "/"), ".."):
		bad = "it must not hold .."
	case strings.ContainsFunc(name, func(r rune) bool { return text.IsHidden(r) || unicode.IsControl(r) }):
		bad = "it holds invisible characters"
	}
	if bad != "" {
		return fmt.Errorf("folder %q: %s; name a folder below one of spawn.searchPaths, such as api or team/api", Short(name, 60), bad)
	}
	return nil
}

// placeIn resolves a name below a root that is absolute and without links. It reports whether that is a folder below the root.
func placeIn(root, name string) (string, bool) {
	dir, err := filepath.EvalSymlinks(filepath.Join(root, name))
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", false
	}
	st, err := os.Stat(dir)
	return dir, err == nil && st.IsDir()
}

// CheckPlace checks a folder that Places returned once more: its path must still be free of links and lie below a search path.
func CheckPlace(search []string, dir string) error {
	now, err := filepath.EvalSymlinks(dir)
	if err != nil || now != dir {
		return fmt.Errorf("the folder %s has been moved or replaced by a link; ask again", Short(dir, 200))
	}
	for _, s := range search {
		if root, err := filepath.EvalSymlinks(s); err == nil {
			if rel, err := filepath.Rel(root, dir); err == nil && rel != "." && filepath.IsLocal(rel) {
				return nil
			}
		}
	}
	return fmt.Errorf("the folder %s does not lie in spawn.searchPaths", Short(dir, 200))
}
