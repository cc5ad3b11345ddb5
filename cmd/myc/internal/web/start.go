package web

import (
	"fmt"
	"os"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/served"
)

// commandLine is the command line of a page server that nobody watches.
func commandLine(root state.Root, more ...string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	return append([]string{self, "-C", root.Pages(), "--state", string(root), "web", "--auto"}, more...), nil
}

// Start has a daemon start the page server of its user, unless one runs, or ENABLE_DASHBOARD is false. It does not wait for it: a page
// server that cannot start says so in myc status, and the daemon goes on.
func Start(a *base.App) {
	if a.Getenv("ENABLE_DASHBOARD") == "false" {
		return
	}
	p, err := a.State()
	var argv []string
	if err == nil {
		argv, err = commandLine(p.Root)
	}
	if err == nil {
		err = served.Start(p.Root, argv, project.Kept(a.Environ))
	}
	if err != nil {
		a.Logger().Warn("the pages are not served", "err", err)
	}
}

// Where says where the pages of the user are served, in a line, or why they are not. It is "" if nothing has to be said: none serves them,
// and none has failed to.
func Where(root state.Root) (line string, n served.Note, problem bool) {
	n, runs, err := served.Look(root)
	switch {
	case err != nil:
		return text.Describe(err), n, false
	case runs && n.Phone != "":
		return n.Base + "/, elsewhere " + n.Phone + "/: myc web --print-url and --pair show links", n, false
	case runs:
		return n.Base + "/: myc web --print-url prints a link", n, false
	case n.Problem != "":
		return "not served: " + text.Flatten(n.Problem), n, true
	}
	return "", served.Note{}, false
}
