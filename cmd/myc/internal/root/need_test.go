package root

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/harness"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/shell"
)

// forAgents are the commands that an agent may run: what they tell or do is decided by the policy, or is no secret.
var forAgents = []string{"", "call", "claude", "completion", "demo", "help", "hook", "hook status", "keeper", "man", "mcp", "mcp start",
	"sandbox", "sandbox capabilities", "sandbox profiles",
	"skill templates", "skill validate", "sub-agent", "swarm", "swarm mcp", "tools", "tools list", "version", "audit", "policy", "config",
	"config mcp", "config schema", "config validate", "serve"}

// TestCommandsForAgents classes every command of the tree: what is not for agents refuses one, whatever it would do, with the exit code of
// a denial.
func TestCommandsForAgents(t *testing.T) {
	home := t.TempDir()
	t.Chdir(t.TempDir())
	run := func(args []string, more ...string) (int, string) {
		var out, errs bytes.Buffer
		code := Main(t.Context(), args, strings.NewReader(""), &out, &errs, append(more, "HOME="+home, "PATH="+os.Getenv("PATH")))
		return code, out.String() + errs.String()
	}
	if code, said := run([]string{"init"}); code != 0 {
		t.Fatal(said)
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if !c.Runnable() || slices.Contains(forAgents, path(c)) {
			return
		}
		args := example(c)
		if code, said := run(args, "CLAUDECODE=1"); code != 3 || !strings.Contains(said, "only a person may do this") {
			t.Errorf("myc %s: exit %d\n%s", strings.Join(args, " "), code, said)
		}
	}
	walk(command(&base.App{}))
}

// example returns arguments with which a command runs.
func example(c *cobra.Command) []string {
	args := strings.Fields(path(c))
	for _, word := range strings.Fields(c.Use)[1:] {
		if word == "|" || word[0] == '[' {
			break
		}
		args = append(args, strings.Split(strings.ToLower(word), "|")[0])
	}
	return args
}

// TestOutsideOfAProject runs every command that is about a project in a folder that is none: it says so, exits with 2, and leaves neither
// the folder nor the home otherwise than they were. A new command is among them unless needOf names it.
func TestOutsideOfAProject(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	ran := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if !c.Runnable() || path(c) == "hook" || slices.Contains(harness.Names(), path(c)) || needOf(c, nil) != project.NeedsProject {
			return
		}
		ran++
		args := example(c)
		var out, errs bytes.Buffer
		code := Main(t.Context(), args, strings.NewReader(""), &out, &errs, []string{"HOME=" + home})
		if code != 2 || !strings.Contains(errs.String(), "is not a Mycelium project") || out.Len() > 0 {
			t.Errorf("myc %s: exit %d\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
		}
		for _, folder := range []string{dir, home} {
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Fatalf("myc %s left %v, %v", strings.Join(args, " "), left, err)
			}
		}
	}
	walk(command(&base.App{}))
	if ran < 40 {
		t.Errorf("only %d commands are about a project", ran)
	}
}

// TestCommandsThatMayBeTold: what a skill can give to an agent are commands of the tree that tell, and that the hook takes for such.
func TestCommandsThatMayBeTold(t *testing.T) {
	told := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if !c.Runnable() || !mayBeTold(path(c)) {
			return
		}
		told++
		if !tells(path(c)) {
			t.Errorf("myc %s tells everybody", path(c))
		}
		for _, part := range shell.Facts("myc "+path(c), shell.Options{Dir: "/p"}).Parts {
			if slices.Contains(part.Effects, policy.EffectOperator) {
				t.Errorf("the hook refuses myc %s", path(c))
			}
		}
	}
	walk(command(&base.App{}))
	if told < 20 {
		t.Errorf("only %d commands may be told", told)
	}
}

// TestQuestionsAreForPersons: an agent's shell may not start our own agent, whatever the question looks like.
func TestQuestionsAreForPersons(t *testing.T) {
	for _, line := range []string{`myc "what is here?"`, "myc -- status", "myc -C . -- status", "myc -c", "echo hi | myc",
		"myc --resume c-1 -- tools"} {
		if !slices.ContainsFunc(shell.Facts(line, shell.Options{Dir: "/p"}).Parts, func(p policy.Part) bool {
			return slices.Contains(p.Effects, policy.EffectOperator)
		}) {
			t.Errorf("the hook lets an agent run %s", line)
		}
	}
}
