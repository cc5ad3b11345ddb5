//go:build !linux

package port

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"time"
)

// holderOf asks lsof, if it is there.
func holderOf(ctx context.Context, ours netip.AddrPort) (holder, bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "lsof", "-nP", fmt.Sprintf("-iTCP:%d", ours.Port()), "-sTCP:LISTEN", "-Fpc").Output()
	if err != nil {
		return holder{}, false
	}
	return parseFields(string(out))
}
