package base

import (
	"context"
	"os/exec"
	"runtime"
)

// OpenBrowser opens an address if there is a browser. The address is printed in any case.
func (a *App) OpenBrowser(ctx context.Context, address string) {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	} else if a.Getenv("DISPLAY") == "" && a.Getenv("WAYLAND_DISPLAY") == "" {
		return
	}
	if path, err := exec.LookPath(program); err == nil {
		cmd := exec.CommandContext(ctx, path, address)
		if cmd.Start() == nil {
			_ = cmd.Process.Release()
		}
	}
}
