package harness

// Protected is a path that no agent may touch, as in the policy's table: /x is absolute, ~/x is in the home, **/x is anywhere, ./x is in
// the project. It includes everything below the path.
type Protected struct {
	Path       string
	ChangeOnly bool // reading is allowed
}

// Place is where an installation applies: in one project folder, or in every folder.
type Place struct {
	Scope Scope
	Dir   string // the project folder, absolute
	Home  string
}

// DenyRules returns the agent's own deny entries for protected paths. They also apply to accesses without a hook, such as a file that a
// person mentions with @.
func (a Agent) DenyRules(protected []Protected, at Place) []string {
	if a.Hooks.denyRules == nil {
		return nil
	}
	return a.Hooks.denyRules(protected, at)
}
