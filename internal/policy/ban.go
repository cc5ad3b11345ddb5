package policy

import "strings"

// ban is a base constraint on what runs. No configuration, bundle, model or agent can lift it (requirements, C75). Bans judge facts: the
// effects of a part, its paths and branches, and the exact name of its program (C77). Package shell says what the arguments of a program
// mean.
type ban struct{ rule baseRule }

func newBan(name, reason string) *ban {
	return &ban{baseRule{name: "base:" + name, reason: "base constraint " + name + ": " + reason}}
}

// The bans. No task of an agent needs what they refuse. Where a similar act is sometimes needed, the ban is narrow, and rules decide the
// rest.
var (
	banPrivilege   = newBan("privilege", "an agent does not act as another user")
	banDebugger    = newBan("debugger", "an agent does not look into other processes")
	banDisk        = newBan("disk", "an agent does not make or wipe file systems")
	banDestructive = newBan("destructive", "a disk, a database or the whole of something would be destroyed")
	banRemoteCode  = newBan("remote-code", "a shell does not run what comes from the network")
	banOpenRights  = newBan("open-rights", "an agent does not give everybody every right to a file")
	banRootOwner   = newBan("root-owner", "an agent does not give files to root")
	banShellServer = newBan("shell-server", "an agent does not connect a shell to the network")
	banForcedMain  = newBan("forced-main", "an agent does not replace or delete the main branch of another repository; "+
		"name the branch that you mean")
	banHardReset  = newBan("reset-to-remote", "an agent does not throw local work away for what another repository has")
	banCleanAll   = newBan("clean-all", "an agent does not delete all ignored files (secrets, settings, caches)")
	banPrivileged = newBan("privileged-container", "a container does not get the rights of the machine")
	banCluster    = newBan("cluster-entry", "an agent does not enter the containers of a cluster")
	banOperator   = newBan("operator", "this is for the person who runs Mycelium, not for an agent")
)

// banned returns the constraint that refuses the part for what it does, or nil.
func banned(part *Part) *baseRule {
	for _, e := range part.Effects {
		if b := bannedEffect(e, part); b != nil {
			return &b.rule
		}
	}
	for i := range part.Paths {
		if b := bannedPath(&part.Paths[i]); b != nil {
			return &b.rule
		}
	}
	if b := bannedProgram(part.Program); b != nil {
		return &b.rule
	}
	return nil
}

// bannedEffect judges one effect of a part.
func bannedEffect(effect string, part *Part) *ban {
	switch effect {
	case EffectDestructive:
		return banDestructive
	case EffectOperator:
		return banOperator
	case EffectRemoteCode:
		if isShell(part.Program) {
			return banRemoteCode
		}
	case EffectForcePush:
		if replacesMain(part.Branches) {
			return banForcedMain
		}
	case EffectOpenRights:
		return banOpenRights
	case EffectGiveRoot:
		return banRootOwner
	case EffectServeShell:
		return banShellServer
	case EffectResetRemote:
		return banHardReset
	case EffectCleanIgnored:
		return banCleanAll
	case EffectHostRights:
		return banPrivileged
	case EffectEnterCluster:
		return banCluster
	}
	return nil
}

// replacesMain reports whether a main branch may be among the branches that a push replaces or deletes. Where the facts name no branch,
// it may be.
func replacesMain(branches []string) bool {
	for _, b := range branches {
		name := strings.TrimPrefix(strings.TrimPrefix(b, "refs/"), "heads/")
		pattern := strings.Split(name, "*")
		if name == "HEAD" || name == "@" || matchStars(pattern, "main") || matchStars(pattern, "master") ||
			matchStars(strings.Split(b, "*"), "refs/heads/main") {
			return true
		}
	}
	return len(branches) == 0
}

// bannedPath judges what is done to disks and to the folders of the system.
func bannedPath(p *Path) *ban {
	if p.Access == Read || p.Access == Execute {
		return nil
	}
	for _, form := range [...]string{p.Clean, p.Resolved} {
		switch {
		case isDisk(form):
			return banDisk
		case p.Access != Write && strings.HasPrefix(form, "/") && strings.LastIndexByte(form, '/') == 0 && form != "/tmp":
			return banDestructive // "/", or a folder right below it
		}
	}
	return nil
}

// isDisk reports whether a path is the device of a disk, of Linux or macOS.
func isDisk(s string) bool {
	name, ok := strings.CutPrefix(s, "/dev/")
	if !ok {
		return false
	}
	for _, kind := range [...]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "dm-", "md", "loop", "nbd"} {
		if strings.HasPrefix(name, kind) {
			return true
		}
	}
	return false
}

// isShell reports whether a program runs text as a shell does.
func isShell(program string) bool {
	switch program {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "busybox", "eval", "source", ".":
		return true
	}
	return false
}

// bannedProgram judges a program by its name.
func bannedProgram(program string) *ban {
	switch program = strings.TrimSuffix(program, ".exe"); program {
	case "sudo", "sudoedit", "su", "doas", "pkexec":
		return banPrivilege
	case "gdb", "strace", "ptrace":
		return banDebugger
	case "mkfs", "mke2fs", "mkswap", "format":
		return banDisk
	}
	if strings.HasPrefix(program, "mkfs.") {
		return banDisk
	}
	return nil
}
