package policy

import "cmp"

// The folders in which a call may change files where no rule decides: the project, and the folders for temporary files of Linux and macOS
// (requirements, C76). The shipped rules name the same. In erasable, the folders themselves are left out.
var (
	temporary = []string{"/tmp/**", "/private/tmp/**", "/var/folders/?*/?*/?*/**", "/private/var/folders/?*/?*/?*/**"}
	writable  = append([]string{"./**"}, temporary...)
	cleanable = []string{"/tmp/?*/**", "/private/tmp/?*/**", "/var/folders/?*/?*/?*/?*/**", "/private/var/folders/?*/?*/?*/?*/**"}
	erasable  = append([]string{"./?*/**"}, cleanable...)
)

// ceiling holds compiled patterns of paths, by what a call does to the path.
type ceiling struct{ written, erased, temporary, cleaned []pathMatcher }

func (pl places) ceiling() (c ceiling) {
	compile := func(globs []string) (list []pathMatcher) {
		for i := range globs {
			if m, err := pl.compile(Value{Glob: &globs[i]}, false); err == nil { // a pattern that is absent admits nothing
				list = append(list, m)
			}
		}
		return list
	}
	return ceiling{compile(writable), compile(erasable), compile(temporary), compile(cleanable)}
}

// outside returns the first path that a part changes outside the folders of the ceiling, or "". Access that is not known counts as a
// deletion.
func (p *Policy) outside(f *Facts, part *Part) string {
	pl := p.with(f)
	for i := range part.Paths {
		at := &part.Paths[i]
		allowed := p.ceiling.erased
		switch at.Access {
		case Read, Execute:
			continue
		case Write:
			allowed = p.ceiling.written
		case Delete:
		}
		within := false
		for j := range allowed {
			within = within || allowed[j].allForms(&pl, at)
		}
		if !within {
			return cmp.Or(at.Resolved, at.Clean, at.Raw, "a path without a name")
		}
	}
	return ""
}
