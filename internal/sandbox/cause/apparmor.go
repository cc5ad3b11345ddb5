package cause

import (
	"fmt"
	"path/filepath"
)

// AppArmor is a profile of AppArmor with which a program may make user namespaces, and is not confined otherwise. The small program
// beside it, which may play the sandbox's child, has the same right.
func AppArmor(program string) string {
	return fmt.Sprintf(`# Put this into /etc/apparmor.d/myc, and load it: apparmor_parser -r /etc/apparmor.d/myc
abi <abi/4.0>,
include <tunables/global>
profile myc "%s/{%s,myc-hook}" flags=(unconfined) {
  userns,
}
`, filepath.Dir(program), filepath.Base(program))
}
