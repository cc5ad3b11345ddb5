//go:build !linux

package port

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
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

// parseFields reads what lsof -F pc prints: one field a line, p for the pid and c for the program.
func parseFields(out string) (h holder, ok bool) {
	for line := range strings.SplitSeq(out, "\n") {
		switch {
		case len(line) < 2:
		case line[0] == 'p' && h.pid != 0:
			return h, h.program != ""
		case line[0] == 'p':
			h.pid, _ = strconv.Atoi(line[1:])
		case line[0] == 'c' && h.program == "":
			h.program = line[1:]
		}
	}
	return h, h.pid != 0 && h.program != ""
}
