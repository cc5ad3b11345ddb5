package sandboxed

import (
	"fmt"
	"os/exec"
	"strings"

	"mycelium/internal/atomicfile"
)

// Identify writes a configuration of git with the name and address of the person. Without them git makes no commit, and the person's own
// configuration, which can name programs, is not in the sandbox. If there is no git, or no name, there is none inside either.
func Identify(git, file string, environ []string) {
	get := exec.Command(git, "config", "--global", "-z", "--get-regexp", //nolint:noctx // it reads one file
		`^(user\.name|user\.email|init\.defaultbranch)$`)
	get.Env = environ
	out, err := get.Output()
	if err != nil {
		return
	}
	var b strings.Builder
	for entry := range strings.SplitSeq(string(out), "\x00") { // of a name that is there twice, the last one counts for git as well
		key, value, ok := strings.Cut(entry, "\n")
		if section, name, dotted := strings.Cut(key, "."); ok && dotted {
			fmt.Fprintf(&b, "[%s]\n\t%s = \"%s\"\n", section, name, inQuotes(value))
		}
	}
	_ = atomicfile.Note(file, []byte(b.String()), 0o600)
}

// inQuotes writes a value between the quotes of a configuration of git (git-config, Syntax).
func inQuotes(value string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(value)
}
