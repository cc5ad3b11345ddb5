package question

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// Args accepts one question: words with a space between them, or anything after -- or with --continue or --resume. One word may be a
// misspelt command.
func Args(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0, c.ArgsLenAtDash() == 0, len(args) == 1 && (c.Flags().Changed("continue") || c.Flags().Changed("resume")),
		len(args) == 1 && isQuestion(args[0]), len(args) == 2 && isQuestion(args[0]) && args[1] == "-":
		return nil
	case len(args) == 1 && !c.HasSubCommands():
		return oneWord(c, args[0])
	case len(args) == 1:
		return unknown(c, args[0], "a question of one word comes after --: "+c.CommandPath()+" -- "+args[0])
	case isQuestion(args[0]):
		return failure.New(failure.Usage, fmt.Errorf("unknown argument %q after the question", args[1]),
			`put the whole question into quotes`)
	case !c.HasSubCommands():
		return failure.New(failure.Usage, fmt.Errorf("%sa task stands in quotes", base.CommandName(c)),
			c.CommandPath()+` "`+strings.Join(args, " ")+`"`)
	}
	return unknown(c, args[0], `a question stands in quotes: `+c.CommandPath()+` "`+strings.Join(args, " ")+`"`)
}

// unknown is the error of a word that is no command, with the command that may have been meant, or else with how a question is asked.
func unknown(c *cobra.Command, word, question string) error {
	err := base.NoArgs(c, []string{word})
	hint := text.HintOf(err)
	if !strings.HasPrefix(hint, "did you mean") {
		hint += "; " + question
	}
	return failure.New(failure.Usage, err, hint)
}

// oneWord is the error of a task of one word, which may be a flag without its dashes: an agent costs money.
func oneWord(c *cobra.Command, word string) error {
	hint := "a task of one word comes after --: " + c.CommandPath() + " -- " + word
	if c.Flags().Lookup(word) != nil {
		hint = "did you mean --" + word + "?"
	}
	return failure.New(failure.Usage, fmt.Errorf("%s%q is one word; a task is a sentence in quotes", base.CommandName(c), word), hint)
}

// isQuestion reports whether a word of the command line is a question and no command: it has a space or ends with a question mark, or is
// a sentence in a script that writes no spaces.
func isQuestion(word string) bool {
	return strings.HasSuffix(word, "?") || strings.ContainsFunc(strings.TrimSpace(word), func(r rune) bool {
		return r == ' ' || r == '\n' ||
			r == '\t' || r > 0x2e7f
	})
}
