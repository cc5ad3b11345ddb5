package jail

// Around is a program that works with the person's hands, and everything of it is as it is outside except the mounts of Points: the light
// wall. It is no sandbox. The parent sends it to the child of [AroundName] as JSON.
type Around struct {
	Build  string   // of the parent, as in [Spec]
	Points []Point  // parents first
	Argv   []string // an absolute program and its arguments
	Env    []string // all of the environment
	Dir    string   // the working directory
}

// Point is a path that is a mount point inside, so that nobody inside renames or removes it.
type Point struct {
	Path  string `json:"path"`
	Fixed bool   `json:"fixed,omitzero"` // it is read-only, with all below it that is no point of its own
}

// AroundName is the argument with which a program that can be the child becomes the one of the light wall.
const AroundName = "sandbox-around"

// IsAround reports whether the arguments of a program are those of the child of the light wall.
func IsAround(args []string) bool { return len(args) == 1 && args[0] == AroundName }
