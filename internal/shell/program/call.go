package program

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
)

// Shell is the interpreter to which a program hands back what it runs. Package shell implements it; the interface stands here because
// package shell imports the programs.
type Shell interface {
	// Run finds out what the first word of the call names, and walks that.
	Run(c *Call)
	// Script walks a text as a shell runs it, in the given state. It returns the states in which the text ends well and badly.
	Script(text string, s State, in Input) (ok, fail State)
	// Find returns the row of a program. nil means that nothing is known of the program.
	Find(name string) *Row
}

// Call is one simple command on its way to a part of the facts.
type Call struct {
	Shell Shell
	Walk  *Walk
	State State // where it runs
	Input Input
	Words []Word       // the program and its arguments
	Env   []Assignment // assigned for this command only
	Files *Files       // its redirections; nil once a part has them

	Row         *Row
	Options     []Option
	Operands    []Word
	Endless     bool // it writes a stream that has no end
	maybeOption bool // an unknown word among the operands may be an option

	Part     policy.Part // what was found so far; Finish adds it to the walk
	Does     effect.Set  // its effects
	OK, Fail State       // where the command ends well and badly
}

// Assignment is an assignment before a command.
type Assignment struct {
	Name  string
	Value Word
}

// Input is what a command reads from its standard input.
type Input struct {
	Output   func() (text Word, ok bool) // the text that the command before the pipe writes, if it is known; nil without a pipe
	Does     effect.Set                  // what the command before the pipe does
	Names    []Word                      // the files whose names the command before the pipe writes
	Document *Word                       // a here-document or a here-string
	File     *Word                       // a file
	Endless  bool                        // it has no end
}

// Files is what redirections do.
type Files struct {
	Paths   []policy.Path
	Hosts   []string
	Unclear []string
	Does    effect.Set
}

// Apply reads the arguments as the row says and makes the parts.
func (c *Call) Apply(row *Row, args []Word) {
	c.Row = row
	if len(args) == 1 && (args[0].Text == "--version" || args[0].Text == "--help") && !args[0].Unknown {
		c.Finish()
		return
	}
	c.Does |= row.Does
	if row.Parse != nil {
		row.Parse(c, args)
		return
	}
	c.Scan(args)
	if row.Shows != "" && c.onlyShows() {
		c.Does &^= row.Does
		c.Finish()
		return
	}
	if row.Subs != nil {
		c.subcommand()
		return
	}
	c.Spread()
	if row.Handle != nil {
		row.Handle(c)
	}
	c.Finish()
}

// onlyShows reports whether an option was given with which the program only shows something.
func (c *Call) onlyShows() bool {
	for name := range strings.FieldsSeq(c.Row.Shows) {
		if c.Has(name) {
			return true
		}
	}
	return false
}

// subcommand goes on with the subcommand that the first operand names.
func (c *Call) subcommand() {
	row := c.Row
	if row.Handle != nil {
		row.Handle(c)
	}
	if len(c.Operands) == 0 {
		if len(c.Options) == 0 {
			c.Does |= row.Alone
		}
		c.Finish()
		return
	}
	name := c.Operands[0]
	if name.Unknown || name.Pattern {
		c.Unclear("which subcommand runs is not known")
		c.Finish()
		return
	}
	for i := range row.Subs {
		if Named(row.Subs[i].Name, name.Text) {
			c.Apply(&row.Subs[i], c.Operands[1:])
			return
		}
	}
	if row.Other != nil {
		row.Other(c, c.Operands)
		return
	}
	if c.Does |= row.Rest; row.Rest == 0 {
		c.Does |= effect.Unknown
	}
	c.Guess(c.Operands[1:])
	c.Finish()
}

// Finish makes a part of what was found so far.
func (c *Call) Finish() {
	Expansions(c, c.Words)
	flows(c)
	loadModules(c)
	if n := len(c.Words); n > 0 && c.Words[n-1].Vanishes && Named("cp|mv|ln|rsync|scp|install", c.Part.Program) ||
		n > 2 && c.Words[2].Vanishes && c.Part.Program == "tar" {
		c.Unclear(perhapsNothing)
	}
	if c.Files != nil {
		c.Part.Paths = append(c.Part.Paths, c.Files.Paths...)
		c.Part.Hosts = append(c.Part.Hosts, c.Files.Hosts...)
		c.Part.Unclear = append(c.Part.Unclear, c.Files.Unclear...)
		c.Does |= c.Files.Does
		c.Files = nil
	}
	if len(c.Part.Hosts) > 0 && c.Does&effect.Network != 0 && knowsItsService(c.Part.Program) {
		c.Does |= effect.Upload // a machine that the command names receives what the command sends
	}
	if len(c.Part.Unclear) > 0 {
		c.Does |= effect.Unclear
	}
	c.Part.Argv = make([]string, len(c.Words))
	for i, w := range c.Words {
		if c.Part.Argv[i] = w.Text; w.Unknown {
			c.Part.Argv[i] = w.Raw
		}
	}
	for _, p := range c.Part.Paths {
		c.Does |= effect.Of(p.Access)
	}
	if c.Part.Program != "test" && c.Part.Program != "[" { // what receives a secret may show it or send it
		for i := range c.Words {
			c.Does |= c.Words[i].From & effect.Secrets
		}
	}
	if c.Part.Program == "git" && !c.State.only(c.Walk.Dir) {
		if c.Part.Dir = "*"; len(c.State.Dirs) == 1 && !c.State.Lost {
			c.Part.Dir = c.State.Dirs[0]
		}
	}
	c.Walk.BranchMoved = c.Walk.BranchMoved || c.movesBranch()
	c.Walk.Add(c.Part, c.Does)
	c.Part, c.Does = policy.Part{}, 0
}

// knowsItsService reports whether a program asks a service of the project without being told where it is.
func knowsItsService(name string) bool {
	switch name {
	case "git", "npm", "yarn", "pnpm", "bun", "go", "cargo", "pip", "pip3", "uv", "poetry", "bundle", "composer", "docker", "podman",
		"kubectl", "helm", "terraform", "tofu", "aws", "gcloud", "az", "gh", "glab":
		return true
	}
	return false
}

// FinishIfAny makes a part of a wrapper, if there is anything to say about it.
func (c *Call) FinishIfAny() {
	if c.Does != 0 || len(c.Part.Unclear) > 0 || len(c.Part.Paths) > 0 {
		c.Does |= effect.Execute
		c.Finish()
	}
}

// Unclear records what was not understood.
func (c *Call) Unclear(why string) {
	if !slices.Contains(c.Part.Unclear, why) {
		c.Part.Unclear = append(c.Part.Unclear, why)
	}
	c.Does |= effect.Unclear
}
