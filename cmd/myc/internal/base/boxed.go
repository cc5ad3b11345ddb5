package base

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mycelium/internal/config/scaffold"
	"mycelium/internal/node/project"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
)

// OfferSandbox asks a person whether code of the project shall run in the sandbox, and reports whether it shall. The default is yes. Where
// a wall cannot be built, it says which one and how that is mended, and asks nothing.
func OfferSandbox(ctx context.Context, files project.Loader, out io.Writer, ask func(question string) (answer string, ok bool)) bool {
	if why := NoSandbox(ctx, files); why != "" {
		fmt.Fprintf(out, "myc: code of the project is not offered the sandbox, which does not hold here: %s\n", why)
		return false
	}
	for {
		answer, ok := ask("Run code of the project (tests, builds, scripts) in the sandbox? " +
			"In Claude Code it then runs without a question; in other agents it asks. [Y/n] ")
		switch strings.ToLower(answer) {
		case "", "y", "yes":
			return ok
		case "n", "no":
			return false
		}
		if !ok {
			return false
		}
	}
}

// NoSandbox says why the sandbox does not hold on this machine and how that is mended, on one line; "" if it holds. Every wall is built
// once to find out, by the back end of the user's own file.
func NoSandbox(ctx context.Context, files project.Loader) string {
	argv, err := sandboxed.Self()
	if err != nil {
		return err.Error()
	}
	found := sandbox.Probe(ctx, argv, ownBackend(files))
	if found.Holds {
		return ""
	}
	failed, bad := found.Failed()
	if !bad {
		return "no program can be run in it; myc sandbox capabilities shows every layer"
	}
	why := fmt.Sprintf("layer %s: %s: %s", failed.Layer, failed.Doing, failed.Cause)
	if failed.Mend != "" {
		why += ". " + failed.Mend
	}
	return why
}

// ownBackend is the back end of the user's own file, which is what counts in every project; where it cannot be read, that of ours.
func ownBackend(files project.Loader) jail.Backend {
	files.Dir, files.Outside, files.Snapshot = "", true, true // the folder of a new project may not be there yet
	p, err := files.Load()                                    // files is a copy
	if err != nil || p.Broken.All != "" {
		return jail.Own
	}
	return p.File.Sandbox.Backend
}

// TellBoxedRule prints the rule that runs code of the project in the sandbox, for a project whose rules are there already and lack it.
func TellBoxedRule(out io.Writer, file string) error {
	rule, err := scaffold.BoxedRule()
	if err != nil {
		return err
	}
	if has, err := os.ReadFile(filepath.Clean(file)); err != nil || bytes.Contains(has, []byte(scaffold.BoxedRuleName)) {
		return err
	}
	fmt.Fprintf(out, "note  %s was kept. To run code of the project in the sandbox, put this rule above those that allow a shell\n"+
		"      command, with myc edit rules:\n\n%s", filepath.Base(file), rule)
	return nil
}
