package audit

import (
	"os"
	"strings"
)

// bootID says which start of the machine this is; "" if it cannot be known.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id") // random(4)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
