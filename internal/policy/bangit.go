package policy

import "strings"

// gitValues are the options of git that stand before its subcommand and have a value of their own (git(1), 2.47).
const gitValues = " -C -c --exec-path --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --list-cmds "

// bannedGit judges the operations of git that C75 names.
func bannedGit(argv []string) *ban {
	for i := 1; i < len(argv); i++ {
		if a := argv[i]; len(a) > 1 && a[0] == '-' {
			if strings.Contains(gitValues, " "+a+" ") && a != "--exec-path" {
				i++
			}
			continue
		}
		switch rest := argv[i:]; argv[i] {
		case "push":
			return onlyIf(forcesMain(rest), banForcedMain)
		case "reset":
			return onlyIf(long(rest, "hard", 1) && resetsToRemote(rest), banHardReset)
		case "clean":
			return onlyIf(cleansAll(rest), banCleanAll)
		}
		return nil
	}
	return nil
}

// forcesMain reports whether a push replaces main or master: by an option, or by a "+" before a branch.
func forcesMain(argv []string) bool {
	forced := letters(argv, 'f') || long(argv, "force", 2) || long(argv, "force-with-lease", 6)
	first, found := true, false
	eachOperand(argv, " -o --push-option --repo --receive-pack --exec ", func(ref string) bool {
		if first { // the repository
			first = false
			return true
		}
		plus := strings.HasPrefix(ref, "+")
		_, to, pair := strings.Cut(strings.TrimPrefix(ref, "+"), ":")
		if !pair {
			to = strings.TrimPrefix(ref, "+")
		}
		found = (forced || plus) && isMain(to)
		return !found
	})
	return found
}

func isMain(ref string) bool {
	return isIn(strings.TrimPrefix(strings.TrimPrefix(ref, "refs/"), "heads/"), "main", "master", "*")
}

// resetsToRemote reports whether the commit that is reset to is that of another repository.
func resetsToRemote(argv []string) bool {
	to := operand(argv, " --pathspec-from-file ")
	return to == "origin" || strings.HasPrefix(to, "origin/") || strings.HasPrefix(to, "refs/remotes/") || strings.HasPrefix(to, "remotes/") ||
		isIn(to, "@{u}", "@{upstream}", "FETCH_HEAD")
}

// cleansAll reports whether ignored files go too.
func cleansAll(argv []string) bool {
	if dry := letters(argv, 'n') || long(argv, "dry-run", 1); dry && !letters(argv, 'e') && !long(argv, "exclude", 1) {
		return false // with -e, what looks like -n may be its value
	}
	return (letters(argv, 'f') || long(argv, "force", 1)) && letters(argv, 'd') && (letters(argv, 'x') || letters(argv, 'X'))
}
