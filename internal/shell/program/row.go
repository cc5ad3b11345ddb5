// Package program says what one simple command does. A Row describes one program: its options, what they and its operands mean, and its
// effects. A Call is one command on its way to a part of the facts: Apply reads its words as the row says. What options and operands
// cannot say, a handler of the row says; a program that runs another hands it back to the Shell. The rows stand in the packages below
// this one, one package a family of programs, and package table looks them up.
package program

import "mycelium/internal/shell/effect"

// Row is what is known of one program, or of one subcommand.
//
// A role is one letter. It says what a program does with a word:
//
//	v  nothing: the word is text
//	r  reads it    w  writes it    d  deletes it    x  executes it    b  reads and writes it    m  reads and deletes it (moves it away)
//	f  formats it: reads and writes it, and of the whole working directory each file
//	h  connects to it: a host or an address     c  runs it: a command line for a shell     k  works there: a folder
//	u  reads it: a path or an address     g  reads and writes it if it looks like a path
//	?  nothing: an option whose value, a text, can only be attached to it. ?w and the like: likewise, and the value has that role
//	i  runs it: code in the interpreter's own language     s  runs it: a statement for a database
//	2  nothing: two words that are text     3  reads the second word: a text, and a file
//	l  looks at it: its name, kind, rights, size and times, and not what is in it
//	t  makes it, empty, or sets its times
//	o  writes files into it whose names the command does not say: a folder
//	n  reads it: a list of the files on which it works, so that those are not known     e  executes what lies in it: a folder
//
// An option of a row with Plain that stands neither in Options nor in Plain makes the command unclear. Where Plain is empty, such an option
// is taken for one that does nothing.
//
// Roles in Operands are one for each operand, with a star after one that repeats: "vr*" is a text and then any number of files that are
// read; "r*w" is files that are read and at the end one that is written.
type Row struct {
	Name     string // the name; of a subcommand all its names, as in "install|i"
	Same     string // the row of which this name is another name; nothing else is set
	Options  string // as in "f|force r|R|recursive o|output=w": names, the first of which Has and Value take, and the role of a value
	Plain    string // as Options: all other options that its manual has, which read, write, run and send nothing; # is a number
	Operands string // the roles of the words that are no options
	Instead  string // as in "e r* f r*": the roles of the operands if the option e, or f, is given
	Here     string // the roles of the working directory if no operand names a path or a host
	Style    Style
	Does     effect.Set
	Listed   bool   // @file among its arguments stands for the arguments in the file
	Shows    string // as in "l version": with one of these options the program only shows something, and Does does not hold
	Modules  string // as in ".js|/index.js": the ends of the files that it may execute in the place of a name without an extension

	// Handle adds what the options and operands cannot say. They have been read.
	Handle func(*Call)
	// Parse reads the arguments itself and makes the parts.
	Parse func(*Call, []Word)

	Subs  []Row               // subcommands
	Alone effect.Set          // effects without a subcommand
	Rest  effect.Set          // effects of a subcommand that is not in Subs; without any and without Other, such a subcommand is Unknown
	Other func(*Call, []Word) // makes the parts of a subcommand that is not in Subs

	KeepsBranch bool // of git: afterwards the same branch is checked out, and git has the same settings

	Agent bool // it is another agent
	Ours  bool // it is our own command
}

// Style says how a program writes its options.
type Style uint8

// The styles of options.
const (
	GNU         Style = iota // -rf, --force, --output=x, --outp x; operands may stand between options
	First                    // the same, but the first operand ends the options
	Single                   // -name value: one hyphen and a whole word
	SingleFirst              // the same, but the first operand ends the options
)
