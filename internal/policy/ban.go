package policy

import "strings"

// ban is a base constraint on what runs: a program or an operation that no configuration, bundle, model or agent can open
// (requirements, C75). A program is banned by its exact name, an operation by its leading words and by what its options mean (C77),
// so that npm is not caught by rm, and `git -C x clean -x -d -f` is.
type ban struct{ rule baseRule }

func newBan(name, reason string) *ban {
	return &ban{baseRule{name: "base:" + name, reason: "base constraint " + name + ": " + reason}}
}

// The bans. What they have in common is that no task of an agent needs them; where one might, the constraint is narrow and rules
// decide on the rest.
var (
	banPrivilege   = newBan("privilege", "an agent does not act as another user")
	banDebugger    = newBan("debugger", "an agent does not look into other processes")
	banDisk        = newBan("disk", "an agent does not make or wipe file systems")
	banDestructive = newBan("destructive", "a disk, a database or the whole of something would be destroyed")
	banRemoteCode  = newBan("remote-code", "what comes from the network is not run by a shell")
	banOpenRights  = newBan("open-rights", "files are not opened to everybody")
	banRootOwner   = newBan("root-owner", "files are not given to root")
	banShellServer = newBan("shell-server", "a shell is not connected to the network")
	banForcedMain  = newBan("forced-main", "the main branch of another repository is not replaced")
	banHardReset   = newBan("reset-to-remote", "local work is not thrown away for what another repository has")
	banCleanAll    = newBan("clean-all", "ignored files (secrets, settings, caches) are not deleted wholesale")
	banPrivileged  = newBan("privileged-container", "a container does not get the rights of the machine")
	banCluster     = newBan("cluster-entry", "an agent does not enter the containers of a cluster")
	banOperator    = newBan("operator", "this is for the person who runs Mycelium, not for an agent")
)

// banned returns the constraint that refuses the part for what it runs, or nil.
func banned(part *Part) *baseRule {
	for _, e := range part.Effects {
		switch e {
		case EffectDestructive:
			return &banDestructive.rule
		case EffectOperator:
			return &banOperator.rule
		case EffectRemoteCode:
			if isShell(part.Program) {
				return &banRemoteCode.rule
			}
		}
	}
	for i := range part.Paths {
		if b := bannedPath(&part.Paths[i]); b != nil {
			return &b.rule
		}
	}
	if part.Program == "" {
		return nil
	}
	if b := bannedProgram(part); b != nil {
		return &b.rule
	}
	return nil
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

// bannedProgram judges one program and its arguments.
func bannedProgram(part *Part) *ban {
	switch program := strings.TrimSuffix(part.Program, ".exe"); program {
	case "sudo", "sudoedit", "su", "doas", "pkexec":
		return banPrivilege
	case "gdb", "strace", "ptrace":
		return banDebugger
	case "mkfs", "mke2fs", "mkswap", "format", "diskutil":
		return onlyIf(program != "diskutil" || hasWord(part.Argv, 1, "eraseDisk", "eraseVolume", "partitionDisk", "zeroDisk", "randomDisk", "secureErase"), banDisk)
	case "chmod":
		return onlyIf(opensToAll(part.Argv), banOpenRights)
	case "chown":
		return onlyIf(givesToRoot(part.Argv), banRootOwner)
	case "nc", "netcat", "ncat", "nc.traditional", "nc.openbsd":
		return onlyIf(runsOnConnect(part.Argv), banShellServer)
	case "git":
		return bannedGit(part.Argv)
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose":
		return onlyIf(privileged(part.Argv), banPrivileged)
	case "kubectl", "oc":
		return onlyIf(isIn(operand(part.Argv, kubectlValues), "exec", "cp", "rsh", "rsync"), banCluster)
	default:
		return onlyIf(strings.HasPrefix(program, "mkfs."), banDisk)
	}
}

func onlyIf(yes bool, b *ban) *ban {
	if yes {
		return b
	}
	return nil
}

func isIn(s string, words ...string) bool {
	for _, w := range words {
		if s == w {
			return true
		}
	}
	return false
}

// hasWord reports whether one of the words stands among the arguments from the given one on.
func hasWord(argv []string, from int, words ...string) bool {
	for i := from; i < len(argv); i++ {
		if isIn(argv[i], words...) {
			return true
		}
	}
	return false
}

// eachOperand yields the words of a command that are no options, from the second word on. values are the options (" -n --namespace ",
// with a blank on each side) whose value is the next word.
func eachOperand(argv []string, values string, yield func(string) bool) {
	for i := 1; i < len(argv); i++ {
		a := argv[i]
		switch {
		case a == "--":
			for _, rest := range argv[i+1:] {
				if !yield(rest) {
					return
				}
			}
			return
		case len(a) > 1 && a[0] == '-':
			if !strings.Contains(a, " ") && strings.Contains(values, " "+a+" ") {
				i++
			}
		case !yield(a):
			return
		}
	}
}

// operand is the first word that is no option: the subcommand.
func operand(argv []string, values string) (word string) {
	eachOperand(argv, values, func(s string) bool { word = s; return false })
	return word
}

// kubectlValues are the options of kubectl that stand before a subcommand and have a value (kubectl options, 1.30).
const kubectlValues = " -n --namespace --context --cluster --user --kubeconfig -s --server --token --as --as-group --as-uid --cache-dir --certificate-authority --client-certificate --client-key --request-timeout --tls-server-name -v --v "

// letters reports whether a short option of one letter is among the options, alone or together with others.
func letters(argv []string, letter byte) bool {
	for _, a := range argv[min(1, len(argv)):] {
		if a == "--" {
			return false
		}
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.IndexByte(a, letter) > 0 {
			return true
		}
	}
	return false
}

// long reports whether a long option is given, also shortened to as little as min letters, also with a value.
func long(argv []string, name string, least int) bool {
	for _, a := range argv[min(1, len(argv)):] {
		if a == "--" {
			return false
		}
		word, ok := strings.CutPrefix(a, "--")
		if word, _, _ = strings.Cut(word, "="); ok && len(word) >= least && strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}

// opensToAll reports whether a mode of chmod gives everybody every right.
func opensToAll(argv []string) bool {
	mode := operand(argv, " --reference ")
	if mode == "" {
		return false
	}
	if strings.Trim(mode, "01234567") == "" {
		return len(mode) >= 3 && strings.HasSuffix(mode, "777")
	}
	for clause := range strings.SplitSeq(mode, ",") {
		i := strings.IndexAny(clause, "+=")
		if i < 0 {
			continue
		}
		who, rights := clause[:i], clause[i+1:]
		all := who == "" || strings.Contains(who, "a") || strings.Contains(who, "u") && strings.Contains(who, "g") && strings.Contains(who, "o")
		if all && strings.Contains(rights, "r") && strings.Contains(rights, "w") && strings.ContainsAny(rights, "xX") {
			return true
		}
	}
	return false
}

// givesToRoot reports whether chown makes root the owner.
func givesToRoot(argv []string) bool {
	owner, _, _ := strings.Cut(operand(argv, " --from --reference "), ":")
	return isIn(strings.TrimSuffix(owner, "."), "root", "0", "+0") || strings.HasPrefix(owner, "root.")
}

// runsOnConnect reports whether netcat runs a program for whoever is connected.
func runsOnConnect(argv []string) bool {
	return letters(argv, 'e') || letters(argv, 'c') || long(argv, "exec", 1) || long(argv, "sh-exec", 2) || long(argv, "lua-exec", 2)
}

// privileged reports whether a container is given the rights of the machine.
func privileged(argv []string) bool {
	for _, a := range argv {
		if a == "--privileged" || strings.HasPrefix(a, "--privileged=") && a != "--privileged=false" {
			return true
		}
	}
	return false
}
