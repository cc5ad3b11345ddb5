package policy

// BasePath is a path that a base constraint protects, in the forms of the table: /x absolute, ~/x in the home, **/x of that name
// anywhere, ./x in the project, c:/x on Windows; each stands for everything below it too.
type BasePath struct {
	Constraint string
	Path       string
	ChangeOnly bool // it may be read
}

// BasePaths are all protected paths, in the order of the table: for whoever has to tell them to another program.
func BasePaths() []BasePath {
	var out []BasePath
	for _, c := range baseConstraints {
		for _, p := range c.paths {
			out = append(out, BasePath{Constraint: c.name, Path: p, ChangeOnly: c.access == changes})
		}
	}
	return out
}
