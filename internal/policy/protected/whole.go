package protected

import (
	"bytes"

	"mycelium/internal/policy/paths"
)

// Who removes the whole of something is refused for that, and not for the first protected file in it.
var (
	wholeSystem  = Constraint{Name: "system", ChangeOnly: true, Reason: "the whole of this machine's files"}
	wholeHome    = Constraint{Name: "home", ChangeOnly: true, Reason: "the whole home of a user, with the keys and settings in it,"}
	wholeProject = Constraint{Name: "project", ChangeOnly: true, Reason: "the whole project, with what governs this agent in it,"}
)

// Whole returns the constraint on removing a folder that is, or has in it, the home or the project, or nil. All paths are folded.
func Whole(folded []byte, home, project string) *Constraint {
	holds := func(folder string) bool {
		return folder != "" && (string(bytes.TrimRight(folded, "/")) == folder || paths.Above(folded, folder))
	}
	switch {
	case len(folded) > 0 && len(bytes.Trim(folded, "/")) == 0:
		return &wholeSystem
	case holds(home), string(folded) == "~/":
		return &wholeHome
	case holds(project):
		return &wholeProject
	}
	return nil
}

// Under reports whether a path is protected because it lies in a protected folder. Both are relative to the same folder. Of roles, only the
// files that are read as roles are ours: other programs, such as ansible, have folders in a folder of that name.
func Under(s []byte, folder string) bool {
	if !paths.Under(s, folder) {
		return false
	}
	if folder != "roles" || len(s) <= len(folder)+1 {
		return true
	}
	name := bytes.TrimLeft(s[len(folder):], "/")
	return bytes.IndexByte(name, '/') < 0 && (bytes.HasSuffix(name, []byte(".yaml")) || bytes.HasSuffix(name, []byte(".yml")))
}
