package agentshell

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/harness"
	"mycelium/internal/worktree/git"
)

// A command that the policy has run outside of the wall has the person's keys and services. So it executes nothing that an agent could have
// written. Its shell reads no start-up file and no snapshot; programs are found in folders that no command inside can write; no variable
// makes a program load code; and git runs no hook, no file-system monitor, and no program of the project that its configuration names.

// loaders begin the names of variables that make a shell, the dynamic linker, an interpreter, git or ssh run code or read other settings:
// the manuals of bash, ld.so(8), node, python, ruby, perl and git name them.
var loaders = []string{"BASH_", "ENV=", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "IFS", "ZDOTDIR", "LD_", "DYLD_", "GCONV_PATH",
	"GIT_", "SSH_ASKPASS", "NODE_", "npm_config_", "NPM_CONFIG_", "PYTHON", "RUBYOPT", "RUBYLIB", "PERL5", "PERLLIB", "JAVA_TOOL_OPTIONS",
	"_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "GOFLAGS", "GOENV", "PAGER", "LESSOPEN", "LESSCLOSE", "EDITOR", "VISUAL", "BROWSER", "TMPDIR"}

// outside returns the words and the environment with which a command runs outside of the wall.
func (s *Shell) outside(n *Note, w harness.Wrapped, shell, dir string) (argv, environ []string, err error) {
	off, err := gitOff(dir, n.Folder, n.Project)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range s.environ() {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			v = "PATH=" + foreign(path, n.Folder, n.Project)
		}
		if !slices.ContainsFunc(loaders, func(p string) bool { return strings.HasPrefix(v, p) }) {
			environ = append(environ, v)
		}
	}
	environ = append(environ, off...)
	clean := []string{"--noprofile", "--norc"}
	if w.Shell == "zsh" {
		clean = []string{"-f"}
	}
	line := "eval " + harness.ShellWord(w.Command)
	if w.Folder != "" {
		line += " && pwd -P >| " + harness.ShellWord(w.Folder)
	}
	return slices.Concat([]string{shell}, clean, []string{"-c", line}), environ, nil
}

// foreign returns the folders of a PATH that no command of an agent can write: absolute ones outside of the trees and of the folders for
// temporary files.
func foreign(path string, trees ...string) string {
	var out []string
	for _, dir := range filepath.SplitList(path) {
		at, err := filepath.EvalSymlinks(dir)
		if err != nil || !filepath.IsAbs(dir) {
			continue
		}
		if !slices.ContainsFunc(append(trees, "/tmp", "/var/tmp"), func(t string) bool { return within(at, t) || within(dir, t) }) {
			out = append(out, dir)
		}
	}
	return strings.Join(out, string(filepath.ListSeparator))
}

// never are the settings of git with which it runs no hook, no monitor and no helper of an address.
var never = [][2]string{{"core.hooksPath", "/dev/null"}, {"core.fsmonitor", "false"}, {"protocol.ext.allow", "never"}}

// gitOff returns the variables that take from git what it would run of a project. An error names a setting that cannot be taken away.
func gitOff(dir string, trees ...string) ([]string, error) {
	off := slices.Clone(never)
	entries, err := (git.Git{Dir: dir}).List(context.Background(), "config", "--list", "--show-origin", "--includes", "-z")
	if err != nil && git.Code(err) < 0 {
		return nil, fmt.Errorf("read what git is configured to run: %w", err)
	}
	for i := 0; err == nil && i+1 < len(entries); i += 2 { // an origin, and KEY\nVALUE
		key, value, _ := strings.Cut(entries[i+1], "\n")
		file, fromFile := strings.CutPrefix(entries[i], "file:")
		if !fromFile { // of the command that asks
			continue
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		included := slices.ContainsFunc(trees, func(t string) bool { return within(file, t) && !within(file, filepath.Join(t, ".git")) })
		switch {
		case included:
			return nil, fmt.Errorf("the configuration of git includes %s, a file of the project, which an agent may have changed", file)
		case names(key, value, dir, trees):
			off = append(off, [2]string{key, ""})
		}
	}
	out := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(off))}
	for i, kv := range off {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, kv[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, kv[1]))
	}
	return out, nil
}

// runs are the keys of git whose values are commands, as git-config(1) names them: the last part of the key, in lower case.
var runs = []string{"clean", "smudge", "process", "helper", "sshcommand", "gitproxy", "askpass", "command", "textconv", "driver", "program",
	"editor", "pager", "proxycommand", "cmd", "path", "uploadpack", "receivepack", "vcs", "diffmerge", "interactive", "difffilter", "external"}

// names reports whether a setting of git names a program of one of the trees: a value that is an alias for a shell, or whose words lead there.
func names(key, value, dir string, trees []string) bool {
	last := strings.ToLower(key[strings.LastIndexByte(key, '.')+1:])
	alias := strings.HasPrefix(strings.ToLower(key), "alias.")
	if !alias && !slices.Contains(runs, last) {
		return false
	}
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\"';&|()$`=", r) }) {
		word = strings.TrimPrefix(word, "!")
		if !strings.Contains(word, "/") {
			continue
		}
		at := word
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
			if strings.HasPrefix(word, "~") {
				continue
			}
			return true // git runs it in the working tree
		}
		if slices.ContainsFunc(trees, func(t string) bool { return within(filepath.Clean(at), t) }) {
			return true
		}
	}
	return false
}
