package main

import (
	"regexp"
	"slices"
	"strings"
)

// tool is a program of projects whose subcommands are asked for their options: the words behind the subcommand that ask, and the
// subcommands. An empty subcommand is the program itself.
type tool struct{ name, ask, subs string }

// tools are the programs of projects and languages that answer so.
var tools = [...]tool{
	{"cargo", "-h", "_ build check test run bench clippy doc clean fmt metadata tree fetch update vendor remove new init package publish " +
		"install add owner search info generate-lockfile locate-project pkgid verify-project fix"},
	{"rustc", "--help -v", "_"}, {"rustfmt", "--help", "_"},
	{"pip", "--help", "_ install download wheel uninstall list show freeze check index inspect hash debug config cache"},
	{"golangci-lint", "--help", "run fmt linters config cache migrate"},
	{"python3", "--help", "_"}, {"node", "--help", "_"}, {"perl", "-h", "_"}, {"pytest", "--help", "_"}, {"shellcheck", "--help", "_"},
	{"mvn", "--help", "_"}, {"java", "--help", "_"}, {"javac", "--help", "_"},
	{"pnpm", "--help", "_ install add remove update run test exec dlx list outdated why audit pack publish store rebuild prune import fetch"},
	{"yarn", "--help", "_ install add remove upgrade run list outdated why audit pack"},
	{"bun", "--help", "_ install add remove update run test x pm outdated audit build"},
	{"tsc", "--all", "_"}, {"eslint", "--help", "_"}, {"prettier", "--help", "_"}, {"jest", "--help", "_"}, {"vitest", "--help", "_"},
	{"mocha", "--help", "_"}, {"biome", "--help", "check format lint ci"}, {"stylelint", "--help", "_"}, {"oxlint", "--help", "_"},
	{"tsx", "--help", "_"}, {"ts-node", "--help", "_"},
}

// gitTools are subcommands of git beside those of gitCommands.
const gitTools = "archive cat-file check-attr check-ignore cherry count-objects diff-files diff-index diff-tree fsck gc merge-base " +
	"merge-tree name-rev patch-id range-diff rev-list send-pack verify-commit verify-tag whatchanged"

// gitDeep are subcommands of subcommands of git.
const gitDeep = "bundle:create bundle:verify bundle:list-heads bundle:unbundle reflog:expire reflog:delete remote:add remote:rename " +
	"remote:remove remote:set-head remote:show remote:prune remote:update remote:set-branches remote:get-url remote:set-url stash:push " +
	"stash:save stash:pop stash:apply stash:branch stash:store stash:drop stash:show sparse-checkout:init sparse-checkout:set " +
	"sparse-checkout:add worktree:add worktree:list worktree:lock worktree:move worktree:prune worktree:remove worktree:repair"

// goCommands are the commands of go, and the topics in which options of several stand.
const goCommands = "build:build run:run,build test:test,testflag,build vet:vet,build list:list,build fmt:fmt fix:fix,build doc:doc " +
	"generate:generate,build env:env install:install,build get:get,build clean:clean,build version:version mod.tidy:mod.tidy " +
	"mod.download:mod.download mod.verify:mod.verify mod.vendor:mod.vendor mod.graph:mod.graph mod.why:mod.why mod.edit:mod.edit " +
	"work.sync:work.sync work.use:work.use work.edit:work.edit"

// writeTools writes the lines of the programs of projects.
func writeTools() {
	for name := range strings.FieldsSeq(gitTools) {
		writeLine("git "+name, ofGit(name))
	}
	for name := range strings.FieldsSeq(gitDeep) {
		command, sub, _ := strings.Cut(name, ":")
		writeLine("git "+command+" "+sub, marked(output("git", command, sub, "-h")))
	}
	for _, t := range tools {
		for sub := range strings.FieldsSeq(t.subs) {
			args, name := strings.Fields(t.ask), t.name
			if sub != "_" {
				args, name = append([]string{sub}, args...), t.name+" "+sub
			}
			writeLine(name, marked(output(t.name, args...)))
		}
	}
	for entry := range strings.FieldsSeq(goCommands) {
		name, topics, _ := strings.Cut(entry, ":")
		var list []string
		for topic := range strings.SplitSeq(topics, ",") {
			list = append(list, ofGo(output("go", append([]string{"help"}, strings.Split(topic, ".")...)...))...)
		}
		writeLine("go "+strings.ReplaceAll(name, ".", " "), list)
	}
	writeNpm()
}

// npmList makes node print the options that npm defines.
const npmList = "const d = require(process.argv[1] + '/node_modules/@npmcli/config/lib/definitions');" +
	"for (const [k, v] of Object.entries(d.definitions)) { const t = [].concat(v.type);" +
	"const m = t.every(x => x === Boolean || x === null || x === true || x === false) ? '' : t.includes(Boolean) ? '[=' : '=';" +
	"console.log('  --' + k + m); for (const s of [].concat(v.short || [])) console.log('  -' + s + m) }"

// writeNpm writes the options of npm, all of which each subcommand takes.
func writeNpm() {
	root := strings.TrimSpace(output("npm", "root", "-g"))
	list := strings.Fields(output("node", "-e", npmList, root+"/npm"))
	for _, sub := range [...]string{"", " install", " run"} {
		writeLine("npm"+sub, slices.Clone(list))
	}
}

// goOption is a line of the help of go that describes an option.
var goOption = regexp.MustCompile(`(?m)^(?:\t| {4})(-[a-zA-Z][\w]*)(=| \S.*)?$`)

// ofGo reads the options in the help of a command of go.
func ofGo(text string) (list []string) {
	for _, m := range goOption.FindAllStringSubmatch(text, -1) {
		value := ""
		if m[2] != "" {
			value = "="
		}
		list = append(list, m[1]+value)
	}
	return list
}

// value is a name of an option with the sign of a value behind it, as tools of projects write it.
var value = regexp.MustCompile(`(?:^|[\s,|/(])(--?[A-Za-z0-9@][A-Za-z0-9._+-]*)` +
	`(\[=|=| ?\[<?[A-Za-z.]| ?<| [A-Z][A-Z_]*\b| [A-Z][a-z]+$| [a-z][a-zA-Z]+$| [\w.|]+::| \{)?`)

// typed is how yargs says, behind the description, that an option has a value.
var typed = regexp.MustCompile(`\[(string|number|array|choices)`)

// marked is ofHelp for programs that write a value in other ways: --name [<VALUE>], --name value.
func marked(text string) (list []string) {
	for one := range strings.Lines(text) {
		m := line.FindStringSubmatch(strings.TrimRight(one, "\r\n"))
		if m == nil {
			continue
		}
		sign := ""
		if typed.MatchString(m[2]) {
			sign = "="
		}
		found := value.FindAllStringSubmatch(m[1], -1)
		for _, o := range found {
			switch mark := strings.TrimSpace(o[2]); {
			case strings.HasPrefix(mark, "["):
				sign = "[="
			case mark != "" && sign == "":
				sign = "="
			}
		}
		for _, o := range found {
			list = append(list, o[1]+sign)
		}
	}
	return list
}
