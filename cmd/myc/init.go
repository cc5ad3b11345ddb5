package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/internal/config"
)

func (a *app) initCmd() *cobra.Command {
	var minimal bool
	var template string
	c := &cobra.Command{
		Use: "init [DIR]", Short: "Write mycelium.yaml, skills/, roles/ and rules.yaml; existing files are kept",
		Example: "  myc init my-project\n  myc init --minimal", Args: argRange(0, 1, "at most one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.dir = args[0]
			}
			return a.init(minimal, template)
		},
	}
	c.Flags().BoolVar(&minimal, "minimal", false, "only mycelium.yaml, rules.yaml and empty folders")
	c.Flags().StringVar(&template, "template", "", "add a skill from this template besides (myc skill templates)")
	return c
}

func (a *app) init(minimal bool, template string) error {
	if err := a.needPerson("set up a project"); err != nil {
		return err
	}
	if err := os.MkdirAll(a.dir, 0o755); err != nil { //nolint:gosec // a person's own folder
		return fmt.Errorf("init: %w", err)
	}
	dir, err := a.projectDir()
	if err != nil {
		return err
	}
	before, err := a.load() // what was there before, .mcp.json of a clone included
	if err != nil {
		return err
	}
	done, err := config.Init(dir, minimal, template)
	if err != nil {
		return err
	}
	for _, f := range done.Written {
		fmt.Fprintf(a.out, "wrote %s\n", f)
	}
	for _, f := range done.Kept {
		fmt.Fprintf(a.out, "kept  %s\n", f)
	}
	// What we wrote ourselves needs no trust but ours; what was there before is the owner's to judge.
	if len(done.Kept)+len(before.Untrusted) == 0 {
		err = config.Trust(dir)
	} else {
		err = a.askTrust(dir)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\nNext: myc -C %[1]s tools --role guest, or connect a client: myc -C %[1]s mcp\n", a.dir)
	if !minimal { // which grants nothing
		fmt.Fprintf(a.out, "Claude Code, its own tools included: myc -C %[1]s claude --role developer. The hook in your agents: myc -C %[1]s hook install claude (or codex, gemini, crush)\n", a.dir)
	}
	return nil
}

// askTrust asks a person at a terminal; elsewhere it says what to run.
func (a *app) askTrust(dir string) error {
	if trusted, err := config.Trusted(dir); err != nil || trusted {
		return err
	}
	if !stdinIsTerminal(a.in) || a.agentHere() != "" {
		fmt.Fprintf(a.err, "myc: %s is not trusted: its own servers, skills and rules do not take effect\nhint: read them, then run: myc -C %s trust\n", dir, a.dir)
		return nil
	}
	fmt.Fprintf(a.err, "Let the servers, skills and rules of %s take effect? [y/N] ", dir)
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil || !strings.EqualFold(strings.TrimSpace(line), "y") {
		return nil //nolint:nilerr // no answer is a no
	}
	return config.Trust(dir)
}

// firstUse asks for trust, or says that it is missing, before a folder's own files are worked with. It never stands in the way:
// without trust the user's own files and the built-in server are what there is.
func (a *app) firstUse() error {
	dir, err := a.projectDir()
	if err != nil {
		return err
	}
	if trusted, err := config.Trusted(dir); err != nil || trusted {
		return nil //nolint:nilerr // a list that cannot be read trusts nothing, and loading says so
	}
	p, err := a.load()
	if err != nil || len(p.Untrusted) == 0 {
		return err
	}
	return a.askTrust(dir)
}

func (a *app) trustCmd() *cobra.Command {
	var revoke bool
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "Let a folder's own servers, skills and rules take effect",
		Long: "A folder that you cloned may bring its own servers, skills, roles and rules. Nothing of it starts or grants\n" +
			"anything until you trust the folder.",
		Example: "  myc trust\n  myc trust --revoke", Args: argRange(0, 1, "at most one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.dir = args[0]
			}
			return a.trust(revoke)
		},
	}
	c.Flags().BoolVar(&revoke, "revoke", false, "take the trust back")
	return c
}

func (a *app) trust(revoke bool) error {
	if err := a.needPerson("trust a folder"); err != nil {
		return err
	}
	dir, err := a.projectDir()
	if err != nil {
		return err
	}
	if revoke {
		was, err := config.Revoke(dir)
		if err != nil {
			return err
		}
		if !was {
			fmt.Fprintf(a.out, "%s was not trusted\n", dir)
			return nil
		}
		fmt.Fprintf(a.out, "%s is no longer trusted: nothing of it takes effect\n", dir)
		return nil
	}
	p, err := a.load()
	if err != nil {
		return err
	}
	if err := config.Trust(dir); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s is trusted\n", dir)
	for _, f := range p.Untrusted {
		if rel, err := filepath.Rel(dir, f); err == nil {
			f = rel
		}
		fmt.Fprintf(a.out, "  takes effect: %s\n", f)
	}
	return nil
}
