package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/model/fake"
	"mycelium/internal/sandbox/light"
)

// wallAttempts is a script of the person's that tries to change what governs the agent, as a command outside of the sandbox. It prints the
// names of those that come to something, and undoes what later ones need.
const wallAttempts = `S=$HOME/.local/state/mycelium
t() { n=$1; shift; if sh -c "$*" >/dev/null 2>&1; then echo "open:$n"; fi; }
t state "touch $S/x"
t ticket "for d in $S/projects/*/run/*/tickets; do touch \$d/x || exit 1; done"
t accepted "for f in $S/projects/*/accepted/*; do touch \$f || exit 1; done"
t program "echo >> $S/bin/myc-hook"
t state-moved "mv $HOME/.local $HOME/x && mv $HOME/x $HOME/.local"
t user-settings "echo '{\"env\": {\"BASH_ENV\": \"/tmp/x\"}}' > $HOME/.claude/settings.json"
t user-settings-replaced "echo {} > $HOME/.claude/s && mv $HOME/.claude/s $HOME/.claude/settings.json"
t user-settings-moved "mv $HOME/.claude $HOME/x && mv $HOME/x $HOME/.claude"
t settings "echo {} > .claude/settings.json"
t hook-settings "echo {} > .claude/settings.local.json"
t settings-made "echo {} > .claude/made.json"
t settings-moved "mv .claude x && mv x .claude"
t rules "echo >> rules.yaml"
t rules-replaced "cp rules.yaml x && mv x rules.yaml"
t rules-removed "cp rules.yaml x && rm rules.yaml && mv x rules.yaml"
t skills "touch skills/x"
t roles "mv roles x && mv x roles"
t git-hook "touch .git/hooks/pre-commit"
t project-moved "mv $PWD $HOME/x && mv $HOME/x $PWD"
t umount "umount $PWD/rules.yaml"
t remount "mount -o remount,bind,rw $S"
t nested "unshare -Urm sh -c 'umount $PWD/rules.yaml || mount -o remount,bind,rw $S || { mount --rbind $S /mnt && touch /mnt/x; }'"
t outside "for p in /proc/[0-9]*; do touch \$p/root/$S/x && exit 0; done; exit 1"
`

// TestLightWall: the commands of a real Claude Code that run outside of the sandbox change nothing of what governs it, whatever they try,
// and the same attempts of a person come to something. Ordinary work goes on. A lost mount denies the next call.
func TestLightWall(t *testing.T) {
	door := agentDoors[1]
	_, err := door.find("../..", "claude")
	needed(t, err, "Claude Code, "+door.name)
	if !withoutNetwork(t) {
		return
	}
	files := world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: developer}\napproval: {mode: local}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash, " +
			"agent__Write]\n",
		"roles/developer.yaml": "id: developer\nallowedSkills: [hands]\n",
		"rules.yaml":           "version: 1\nrules:\n  - {name: all, action: allow, tool: Bash}\n",
		"try.sh":               wallAttempts, ".claude/settings.json": "{}\n",
		"work.sh": "set -e\necho x > made.txt\nmv made.txt moved.txt\nln moved.txt linked.txt\ngit add moved.txt\ngit commit -qm made\n" +
			"mkdir -p ~/.claude/projects/x\ntouch ~/.claude.json ~/.cache-x\ngit worktree add -q ../tree\n" +
			"$MYC_PROGRAM sandbox capabilities | grep 'The sandbox holds here'\necho worked\n",
	})
	prepare := func() *project {
		p := newProject(t, files)
		p.write("../.claude/settings.json", "{}\n")
		p.write("../.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.com\n")
		p.git("init", "-q")
		p.git("add", ".")
		p.git("commit", "-qm", "begin")
		p.must("hook", "install", "claude", "--unsafe-program")
		return p
	}

	p := prepare()
	p.write("work.sh", strings.ReplaceAll(files["work.sh"], "$MYC_PROGRAM", p.myc))
	governing := []string{"rules.yaml", "mycelium.yaml", ".claude/settings.json",
		".claude/settings.local.json", "../.claude/settings.json", "skills/hands/SKILL.yaml",
		"../.local/state/mycelium/bin/myc-hook"}
	before := map[string]string{}
	for _, name := range governing {
		if before[name] = p.read(name); before[name] == "" {
			t.Fatalf("there is no %s", name)
		}
	}
	run := func() string {
		found, err := filepath.Glob(p.state().Run("*") + "/light.json")
		if err != nil || len(found) != 1 {
			t.Errorf("the runs with a wall are %q %v", found, err)
			return ""
		}
		return filepath.Dir(found[0])
	}
	rules := filepath.Join(p.dir, "rules.yaml")
	told := p.shellRun(t, door,
		bashStep("sh try.sh; echo tried"),
		bashStep("sh work.sh"),
		fake.Step{Func: func(fake.Request) fake.Step { // a person's editor
			p.write("rules.yaml~", p.read("rules.yaml"))
			if err := os.Rename(rules+"~", rules); err != nil {
				t.Error(err)
			}
			dir := run()
			p.eventually("the new file is fixed", func() bool { lost, _ := light.Of(dir); return lost == "" })
			return bashStep("sh try.sh | grep rules; echo tried again")
		}},
		fake.Step{Func: func(fake.Request) fake.Step {
			if err := os.Rename(rules, rules+"~"); err != nil {
				t.Error(err)
			}
			return bashStep("echo not a word of this")
		}},
		fake.Step{Func: func(fake.Request) fake.Step {
			if err := os.Rename(rules+"~", rules); err != nil {
				t.Error(err)
			}
			dir := run()
			p.eventually("the file is fixed again", func() bool { lost, _ := light.Of(dir); return lost == "" })
			return bashStep("echo after")
		}},
	)
	for i, want := range []string{"tried", "worked", "tried again", "The wall around this agent has a hole, so nothing runs: " + rules, "after"} {
		if !strings.Contains(told[i], want) || strings.Contains(told[i], "open:") {
			t.Errorf("step %d: the model reads %q, want %q", i, told[i], want)
		}
	}
	for _, name := range governing {
		if got := p.read(name); got != before[name] {
			t.Errorf("%s has changed", name)
		}
	}

	p = prepare()
	told = p.agentRun(t, door, []fake.Step{bashStep("sh try.sh; echo tried")}, func(environ []string, _ string) (stdout, stderr string, code int) {
		return p.as(environ, "claude", "--wall", "no", "--unsafe-program", "-p", "--output-format", "json", "--permission-mode", "acceptEdits", "--",
			"Do what the script says.")
	})
	var open []string
	for line := range strings.Lines(told[0]) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "open:"); ok {
			open = append(open, name)
		}
	}
	for line := range strings.Lines(wallAttempts) {
		words := strings.Fields(line)
		name := ""
		if len(words) > 2 && words[0] == "t" {
			name = words[1]
		}
		if name != "" && !slices.Contains([]string{"umount", "remount", "nested", "outside"}, name) && !slices.Contains(open, name) {
			t.Errorf("without the wall the attempt %s comes to nothing, so it shows nothing", name)
		}
	}
}

// TestUnwalledFiles: where no wall stands, the hook denies every call once a file that governs the agent was changed by a command: a program,
// the hook's settings, what was accepted. It names the file. A person's own changes stop nobody, and myc trust has the agent go on.
func TestUnwalledFiles(t *testing.T) {
	door := agentDoors[1]
	_, err := door.find("../..", "claude")
	needed(t, err, "Claude Code, "+door.name)
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, world(map[string]string{
		"mycelium.yaml":           "session: {defaultRole: developer}\napproval: {mode: local}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash]\n",
		"roles/developer.yaml":    "id: developer\nallowedSkills: [hands]\n",
		"rules.yaml":              "version: 1\nrules:\n  - {name: all, action: allow, tool: Bash}\n",
	}))
	person := func(do func()) fake.Step {
		return fake.Step{Func: func(fake.Request) fake.Step {
			do()
			return bashStep("echo goes on")
		}}
	}
	trust := person(func() {
		doctor, changed := p.must("doctor"), " is not as it was when an agent without a wall was started"
		if !strings.Contains(doctor, "myc-hook"+changed) && !strings.Contains(doctor, ".claude/settings.json"+changed) {
			t.Errorf("doctor does not name the file:\n%s", doctor)
		}
		p.must("trust", "--yes")
		if doctor := p.must("doctor"); strings.Contains(doctor, changed) {
			t.Errorf("doctor names a file that a person took as it is:\n%s", doctor)
		}
	})
	command := func(name, text string) fake.Step { // in a script, which the fence does not read
		p.write(name, text)
		return bashStep("sh " + name)
	}
	state := "$HOME/.local/state/mycelium"
	steps := []fake.Step{
		bashStep("echo goes on"),
		command("program.sh", "echo >> "+state+"/bin/myc-hook"), bashStep("echo no"), trust,
		command("model.sh", `mkdir -p ~/.claude && echo '{"model": "opus"}' > ~/.claude/settings.json`), bashStep("echo goes on"), // not of the hook
		command("settings.sh", `echo '{"hooks": {"PreToolUse": []}, "env": {"BASH_ENV": "/tmp/x"}}' > ~/.claude/settings.json`), bashStep("echo no"), trust,
		command("accept.sh", "for f in "+state+"/projects/*/accepted/*/manifest.json; do cp $f ~/was; echo ' ' >> $f; done"), bashStep("echo no"),
		person(func() { // it is as it was, but for its times
			was, err := os.ReadFile(filepath.Join(p.home, "was"))
			if err == nil {
				err = os.WriteFile(globbed(t, p.state().Accepted()+"/*/manifest.json"), was, 0o600)
			}
			if err != nil {
				t.Error(err)
			}
		}),
		person(func() { // a person changes the policy
			p.write("rules.yaml", p.read("rules.yaml")+"  - {name: more, action: deny, tool: Write}\n")
			p.must("trust", "--yes")
		}),
		person(func() { p.must("hook", "install", "claude", "--unsafe-program") }),
	}
	told := p.agentRun(t, door, steps, func(environ []string, _ string) (stdout, stderr string, code int) {
		return p.as(environ, "claude", "--wall", "no", "--unsafe-program", "-p", "--output-format", "json", "--permission-mode", "acceptEdits", "--",
			"Do what the script says.")
	})
	denied := map[int]string{2: "bin/myc-hook was changed", 7: ".claude/settings.json was made or changed", 10: "manifest.json was changed"}
	for i, got := range told {
		want, no := denied[i]
		switch i {
		case 1, 4, 6, 9: // the change itself, which nothing keeps
			continue
		}
		if !no {
			want = "goes on"
		}
		if !strings.Contains(got, want) || no != strings.Contains(got, "is not as it was when the agent was started, and no wall keeps it") {
			t.Errorf("step %d: the model reads %q, want %q", i, got, want)
		}
	}
}

// globbed is the only file of a pattern.
func globbed(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("of %s there are %q %v", pattern, found, err)
	}
	return found[0]
}

// TestNoLightWall: where no wall can be built, myc claude says so and starts the agent, unless it was told to have one; doctor says it too.
func TestNoLightWall(t *testing.T) {
	t.Parallel()
	p := newProject(t, governedWorld())
	p.write("../bin/claude", "#!/bin/sh\n[ \"$1\" = --version ] || echo the agent ran\n")
	if err := os.Chmod(filepath.Join(p.home, "bin", "claude"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	// In one user namespace, because what runs in another one is not taken for this program.
	cmd := exec.CommandContext(p.ctx, "unshare", "-Ur", "sh", "-c", `echo 0 > /proc/sys/user/max_user_namespaces || exit
"$0" claude --wall yes --unsafe-program -p x; echo "code $?"
"$0" claude --unsafe-program -p x; echo "code $?"
"$0" doctor`, p.myc)
	cmd.Dir, cmd.Env = p.dir, append(slices.Clone(p.env), "PATH="+filepath.Join(p.home, "bin")+":"+os.Getenv("PATH"))
	said, _ := cmd.CombinedOutput() // doctor finds problems
	out := string(said)
	for _, want := range []string{"the light wall cannot be built here: make the namespaces", "code 1", "no light wall stands around this agent",
		"the agent ran", "code 0", "light wall: none: make the namespaces"} {
		_, rest, ok := strings.Cut(out, want)
		if !ok {
			t.Fatalf("it does not say %q, or not in its turn:\n%s", want, said)
		}
		out = rest
	}
	if strings.Count(string(said), "the agent ran") != 1 {
		t.Errorf("the agent ran without the wall that it was to have:\n%s", said)
	}
}

// belowAttempts are commands of an agent that was started in a folder below the project. They try to change the settings that Claude Code
// reads there.
const belowAttempts = `t() { n=$1; shift; if sh -c "$*" >/dev/null 2>&1; then echo "open:$n"; fi; }
t settings "echo '{\"env\": {\"BASH_ENV\": \"/tmp/x\"}}' > .claude/settings.json"
t made "echo '{\"env\": {\"BASH_ENV\": \"/tmp/x\"}}' > .claude/settings.local.json"
t moved "mv .claude x && mv x .claude"
t folder-moved "mv $PWD $PWD.x && mv $PWD.x $PWD"
t project-moved "mv $PWD/.. $HOME/x && mv $HOME/x $PWD/.."
`

// TestStartFolder: Claude Code reads the project's settings in the folder in which it is started, and in none below it. So these are fixed
// where an agent starts below the project, and without a wall the next hook finds that they were changed.
func TestStartFolder(t *testing.T) {
	door := agentDoors[1]
	_, err := door.find("../..", "claude")
	needed(t, err, "Claude Code, "+door.name)
	if !withoutNetwork(t) {
		return
	}
	for _, walled := range []bool{true, false} {
		p := newProject(t, world(map[string]string{
			"mycelium.yaml":                    "session: {defaultRole: developer}\napproval: {mode: local}\n",
			"skills/hands/SKILL.yaml":          "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash]\n",
			"roles/developer.yaml":             "id: developer\nallowedSkills: [hands]\n",
			"rules.yaml":                       "version: 1\nrules:\n  - {name: all, action: allow, tool: Bash}\n",
			"sub/try.sh":                       belowAttempts,
			"sub/.claude/settings.json":        `{"env": {"OF_START": "read"}}`,
			".claude/settings.json":            `{"env": {"OF_PROJECT": "read"}}`,
			"sub/deeper/.claude/settings.json": `{"env": {"OF_DEEPER": "read"}}`,
		}))
		const look = "echo start=$OF_START project=$OF_PROJECT deeper=$OF_DEEPER."
		told := p.agentRun(t, door, []fake.Step{bashStep(look), bashStep("cd deeper && " + look), bashStep("cd " + p.dir + "/sub && sh try.sh; echo tried"),
			bashStep("echo next")}, func(environ []string, _ string) (stdout, stderr string, code int) {
			args := []string{"claude", "--unsafe-program", "-p", "--output-format", "json", "--permission-mode", "acceptEdits", "--", "Do it."}
			if !walled {
				args = slices.Insert(args, 1, "--wall", "no")
			}
			below := *p
			below.dir = filepath.Join(p.dir, "sub")
			return below.as(environ, args...)
		})
		for i := range 2 {
			if !strings.Contains(told[i], "start=read project= deeper=.") {
				t.Errorf("walled %t, step %d: Claude Code has the settings of other folders than the one in which it was started: %q", walled, i, told[i])
			}
		}
		next := "next"
		if !walled {
			next = "sub/.claude/settings.json was changed"
		}
		if !strings.Contains(told[3], next) {
			t.Errorf("walled %t: the next call: %q", walled, told[3])
		}
		for line := range strings.Lines(belowAttempts) {
			call, ok := strings.CutPrefix(line, "t ")
			name, _, _ := strings.Cut(call, " ")
			if open := strings.Contains(told[2], "open:"+name+"\n"); ok && open == walled && name != "project-moved" {
				t.Errorf("walled %t: the attempt %s comes to something: %t", walled, name, open)
			}
		}
	}
}
