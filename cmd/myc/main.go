// Command myc is Mycelium: one door between AI agents and everything that they may touch.
//
// This package is the composition root, the only place that wires rooms together: one file per subcommand, and node.go for the
// process that owns a project. testdata/script holds the command line's tests, which are its manual too.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"mycelium/internal/config"
)

func main() { os.Exit(run()) }

// run is main for the tests, in which the test binary plays the command.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ()}
	if code, ok := a.quickHook(ctx, os.Args[1:]); ok {
		return code
	}
	return a.main(ctx, os.Args[1:])
}

// Exit codes of every command (cli.md).
const (
	exitFailed = 1
	exitUsage  = 2
	exitDenied = 3
	exitConfig = 4
)

// app is one run of the program: its streams and the global flags.
type app struct {
	in       io.Reader
	out, err io.Writer
	environ  []string

	dir     string // -C
	config  string // --config
	json    bool
	verbose bool
	noColor bool

	daemon bool       // this is the daemon
	serves bool       // which a person has started
	logs   config.Log // what the files say of logs
}

// failure is an error with an exit code and, where one helps, a hint.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func usageError(format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

func configError(err error, hint string) error {
	return &failure{code: exitConfig, err: err, hint: hint}
}

func deniedError(err error, hint string) error {
	return &failure{code: exitDenied, err: err, hint: hint}
}

func hinted(err error, hint string) error { return &failure{code: exitFailed, err: err, hint: hint} }

func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetContext(ctx)
	err := root.Execute()
	if err == nil {
		return 0
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{code: exitFailed, err: err}
	}
	if f.err != nil && f.Error() != "" {
		fmt.Fprintf(a.err, "myc: %s\n", visibleText(f.Error()))
	}
	if f.hint != "" {
		fmt.Fprintf(a.err, "hint: %s\n", visibleText(f.hint))
	}
	return f.code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "myc",
		Short: "One door between AI agents and everything they may touch",
		Long: "Mycelium stands between AI agents and their tools. Skills declare what an agent may see; everything else does not\n" +
			"exist for it. Every call passes one policy and is recorded.",
		Example:       "  myc demo                    # the main job in ten seconds\n  myc init && myc tools --role guest",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	pf := root.PersistentFlags()
	pf.StringVarP(&a.dir, "dir", "C", ".", "project folder")
	pf.StringVar(&a.config, "config", "", "configuration file (default: mycelium.yaml in the project folder)")
	pf.BoolVar(&a.json, "json", false, "print JSON")
	pf.BoolVarP(&a.verbose, "verbose", "v", false, "log more")
	pf.BoolVar(&a.noColor, "no-color", false, "no colours (NO_COLOR does the same)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &failure{code: exitUsage, err: fmt.Errorf("%s%w", commandName(c), err), hint: "see " + c.CommandPath() + " --help"}
	})
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(a.demoCmd(), a.initCmd(), a.trustCmd(), a.serveCmd(), a.statusCmd(), a.stopCmd(), a.mcpCmd(), a.claudeCmd(), a.toolsCmd(),
		a.callCmd(), a.hookCmd(), a.rolesCmd(), a.skillCmd(), a.watchCmd(), a.policyCmd(), a.sessionCmd(), a.approvalsCmd(), a.auditCmd(),
		a.configCmd(), a.doctorCmd(), a.versionCmd(), a.completionCmd(), a.keeperCmd())
	strictNames(root)
	return root
}

// commandName is how an error names a command: its path without the program, which every error begins with.
func commandName(c *cobra.Command) string {
	if !c.HasParent() {
		return ""
	}
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ") + ": "
}

// noArgs refuses arguments, and says which command the word may have meant.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see " + c.CommandPath() + " --help"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return &failure{code: exitUsage, err: fmt.Errorf("%sunknown command %q", commandName(c), args[0]), hint: hint}
}

// argRange accepts min to max arguments; usage names them.
func argRange(lo, hi int, usage string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < lo || len(args) > hi {
			return &failure{code: exitUsage, err: fmt.Errorf("%swants %s", commandName(c), usage), hint: "see " + c.CommandPath() + " --help"}
		}
		return nil
	}
}
