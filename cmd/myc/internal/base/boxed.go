package base

import (
	"context"
	"fmt"
	"io"

	"mycelium/internal/config/scaffold"
	"mycelium/internal/node/project"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
)

// SandboxHolds reports whether the commands of coding agents can run in the sandbox here, which is then the default of a new project. Where a
// layer of it cannot be built, it names the layer, the way to mend it, and the consequence for commands.
func SandboxHolds(ctx context.Context, files project.Loader, out io.Writer) bool {
	why := NoSandbox(ctx, files)
	if why != "" {
		fmt.Fprintf(out, "myc: the sandbox does not hold here, so commands of agents run with your rights where a rule allows them: %s\n", why)
	}
	return why == ""
}

// WhereCommandsRun tells the person of a project where the commands of coding agents run on this machine. holds says that the sandbox does.
func WhereCommandsRun(files project.Loader, holds bool) string {
	if p, err := files.Load(); err == nil && p.Walled() && holds {
		return "Commands of Claude Code, and of Codex and Gemini CLI that myc starts, run in the sandbox, without a question except for those " +
			"that need your keys or lose work."
	}
	return "Commands of agents run with your rights: your keys, files and services are theirs where a rule allows the command."
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

// OfferWall prints how a project that has its files already gets the wall, if its mycelium.yaml does not name one. A person who wants none is
// told how to end the offer.
func OfferWall(out io.Writer, files project.Loader) {
	if p, err := files.Load(); err != nil || p.Walled() {
		return
	}
	fmt.Fprint(out, "note  commands of coding agents run with your rights here. To have them run in the sandbox, put this below policy: with\n"+
		"      myc edit config (wall: none ends this note), and say with place: outside in rules.yaml what needs your keys (docs/sandbox.md):\n\n"+
		scaffold.Wall)
}
