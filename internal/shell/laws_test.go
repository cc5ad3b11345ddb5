package shell_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/policy"
	"mycelium/internal/shell"
)

var inHome = shell.Options{Dir: "/home/u/p", Home: "/home/u"}

// around are ways to run any command at all.
var around = []struct{ before, after string }{
	{"( ", "\n)"}, {"{ ", "\n}"}, {"if true; then\n", "\nfi"}, {"while :; do\n", "\nbreak; done"}, {"true && {\n", "\n}"},
	{"echo \"$(", "\n)\""}, {"x=$(", "\n)"}, {"f() {\n", "\n}; f"},
	{"case a in *)\n", "\n;; esac"}, {"cat <(", "\n)"}, {"! {\n", "\n}"}, {"for i in 1 2; do\n", "\ndone"}, {"true || {\n", "\n}"},
	{"{\n", "\n} > /tmp/out"}, {"{\n", "\n} &"}, {"set -e; {\n", "\n}"}, {"exit 0; {\n", "\n}"},
	{"trap '' INT; {\n", "\n}"}, {"[ -n x ] && (", "\n)"},
}

// before are programs that run the words behind them.
var before = []string{
	"sudo ", "sudo -u root ", "env ", "env A=1 ", "env -i PATH=/bin ", "nohup ", "timeout 5 ", "timeout -s KILL 5 ", "nice ",
	"nice -n 5 ", "ionice -c 3 ", "stdbuf -oL ", "command ", "exec ", "setsid ", "time ", "/usr/bin/time -v ", "doas ",
	"A=1 ", "sudo env A=1 timeout 5 nice ", "xargs -n1 ", "find . -exec ", "watch -n1 -x ", "busybox ", "command exec ",
}

// effectsOf are all effects, and paths with their accesses, of a command.
func effectsOf(command string) (effects map[string]bool, paths map[string]bool) {
	effects, paths = map[string]bool{}, map[string]bool{}
	for _, p := range shell.Facts(command, inHome).Parts {
		for _, e := range p.Effects {
			effects[e] = true
		}
		for _, at := range p.Paths {
			paths[string(at.Access)+" "+at.Clean] = true
		}
		for _, h := range p.Hosts {
			paths["host "+h] = true
		}
	}
	return effects, paths
}

// noLess fails if the wrapped command does less than what it wraps.
func noLess(t interface{ Errorf(string, ...any) }, inner, outer string) {
	effects, paths := effectsOf(inner)
	more, morePaths := effectsOf(outer)
	if more[policy.EffectUnclear] {
		return // it is not understood, and that is said
	}
	for e := range effects {
		if e == policy.EffectExecute && !runs(inner) {
			continue // it stands for a command of which nothing else is to be said: A=1
		}
		if !more[e] && e != policy.EffectUnclear { // of a wrapper more may be known: the words behind bash -c
			t.Errorf("%q has the effect %s, %q has not: %v", inner, e, outer, more)
		}
	}
	for p := range paths {
		if !morePaths[p] {
			t.Errorf("%q does %s, %q does not: %v", inner, p, outer, morePaths)
		}
	}
}

// runs reports whether a command runs a program.
func runs(command string) bool {
	return slices.ContainsFunc(shell.Facts(command, inHome).Parts, func(p policy.Part) bool { return p.Program != "" })
}

// simple reports whether a command is one simple command, without anything that the shell itself does.
func simple(command string) bool {
	first, _, _ := strings.Cut(command, " ")
	return !strings.ContainsAny(command, ";&|<>(){}$`\n#=~") && !strings.ContainsAny(first, "'\"\\*") &&
		!slices.Contains([]string{"cd", ".", "source", "eval", "exec", "export", "set", "time", "if", "for", "while", "case", "exit",
			"return", "declare", "local", "read", "trap", "unset", "alias", "history", "!", "pushd", "popd", "printf", "bash", "sh",
			"python3", "python", "node", "ssh", "xargs", "readonly", "typeset", "command", "builtin", "shift", "sudo"}, first)
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// TestLawWrappers: a command in a wrapper never does less than itself, for the whole corpus.
func TestLawWrappers(t *testing.T) {
	for i, l := range readCorpus(t, corpusDir) {
		w := around[i%len(around)]
		if !strings.Contains(l.command, "<<") && !strings.HasSuffix(l.command, "\\") {
			if !strings.HasPrefix(w.before, "set -e") || !strings.ContainsAny(l.command, ";\n") { // there it ends where the command goes on
				noLess(t, l.command, w.before+l.command+w.after)
			}
			noLess(t, l.command, "bash -c "+quoted(l.command))
			noLess(t, l.command, "eval "+quoted(l.command))
			noLess(t, l.command, "sh -lc "+quoted("bash -c "+quoted(l.command)))
		}
		if !simple(l.command) {
			continue
		}
		p := before[i%len(before)]
		outer := p + l.command
		if strings.HasPrefix(p, "find") {
			outer += " \\;"
		}
		noLess(t, l.command, outer)
	}
}

// TestLawAnyWrappers is the same for wrappers in wrappers, chosen at random.
func TestLawAnyWrappers(t *testing.T) {
	var commands []string
	for _, l := range readCorpus(t, corpusDir) {
		if simple(l.command) {
			commands = append(commands, l.command)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.SampledFrom(commands).Draw(t, "command")
		outer := command
		for range rapid.IntRange(1, 4).Draw(t, "depth") {
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				w := rapid.SampledFrom(around).Draw(t, "around")
				outer = w.before + outer + w.after
			case 1:
				outer = "bash -c " + quoted(outer)
			default:
				outer = rapid.SampledFrom(before[:18]).Draw(t, "before") + "sh -c " + quoted(outer)
			}
		}
		noLess(t, command, outer)
	})
}

// TestLawChains: what a chain does is at least what each of its members does.
func TestLawChains(t *testing.T) {
	var commands []string
	for _, l := range readCorpus(t, corpusDir) {
		if simple(l.command) {
			commands = append(commands, l.command)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SampledFrom(commands).Draw(t, "a"), rapid.SampledFrom(commands).Draw(t, "b")
		outer := a + rapid.SampledFrom([]string{"; ", " && ", " || ", "\n", " & "}).Draw(t, "between") + b
		noLess(t, a, outer)
		noLess(t, b, outer)
	})
}
