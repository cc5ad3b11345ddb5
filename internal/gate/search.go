package gate

import (
	"cmp"

	"mycelium/internal/gate/facts"
	"mycelium/internal/policy"
)

// filesServer is the built-in server, whose search asks the gate about every file that it would look into.
const filesServer = "files"

// MaySearch reports whether a search of the built-in files server may look into a file for this scope: where the scope sees read_file,
// if it could read the file with it; elsewhere, if no rule keeps search_files itself from the file.
func (g *Gate) MaySearch(scope policy.Scope, path string) bool {
	w := g.Sessions.Catalog()
	args := policy.Args{"path": path}
	for _, tool := range []string{"read_file", "search_files"} {
		it := policy.Item{Server: filesServer, Name: tool}
		f, err := facts.Of(it, w.Annotations(it), args, cmp.Or(w.Roots[filesServer], g.dir), g.home)
		if err != nil {
			return false
		}
		d := w.Policy.Decide(policy.Call{Scope: scope, Item: it, Args: args, Facts: f, Time: g.now()})
		if !d.Unknown {
			return d.Effect == policy.Allow
		}
	}
	return false
}
