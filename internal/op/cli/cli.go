// Package cli is the face of operations on the command line: it makes a command of a row, with an argument or a flag for the fields of its
// parameters.
package cli

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// Command returns the command of an operation: its name is the last part of the row's, and its short help the row's About. A field of P with
// the tag arg is an argument, which the tag names in the help: in brackets, it may be left out. A field with the tag flag is a flag of that
// name, or of its name in JSON if the tag is empty. The tag about is the help of both, a tag of lists the values that a text may have, and a
// tag default says the value of a flag that is not given. do gets the parameters.
func Command[P, R any](o op.Op[P, R], do func(c *cobra.Command, p P) error) *cobra.Command {
	p := new(P)
	v := reflect.ValueOf(p).Elem()
	c := &cobra.Command{Use: path.Base(o.Name), Short: o.About}
	var args []reflect.StructField
	least := 0
	for f := range op.Fields(v.Type()) {
		if name, is := f.Tag.Lookup("arg"); is {
			c.Use += " " + name
			if args = append(args, f); !strings.HasPrefix(name, "[") {
				least = len(args)
			}
		}
		if name, is := f.Tag.Lookup("flag"); is {
			if name == "" {
				name, _ = op.Member(f, "json")
			}
			addFlag(c.Flags(), name, f, v.FieldByIndex(f.Index))
		}
	}
	c.Args = func(c *cobra.Command, given []string) error {
		if len(given) < least || len(given) > len(args) {
			return failure.New(failure.Usage, fmt.Errorf("%swants %s", name(c), wants(args)), "see "+c.CommandPath()+" --help")
		}
		return nil
	}
	if len(args) > 0 {
		c.ValidArgs = values(args[0])
	}
	c.RunE = func(c *cobra.Command, given []string) error {
		for i, text := range given {
			f := args[i]
			if text == "" {
				return failure.Usagef("%s%s is empty", name(c), f.Tag.Get("arg"))
			}
			if err := known(f, text); err != nil {
				return failure.Usagef("%s%w", name(c), err)
			}
			v.FieldByIndex(f.Index).SetString(text)
		}
		return do(c, *p)
	}
	return c
}

// name is the beginning of an error: the path of a command without the program.
func name(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ") + ": "
}

// wants says which arguments a command takes.
func wants(args []reflect.StructField) string {
	var all []string
	for _, f := range args {
		all = append(all, f.Tag.Get("arg"))
	}
	if all == nil {
		return "no argument"
	}
	return strings.Join(all, " ")
}

// addFlag adds the flag of a field.
func addFlag(flags *pflag.FlagSet, name string, f reflect.StructField, at reflect.Value) {
	about, usual := f.Tag.Get("about"), f.Tag.Get("default")
	if at.Kind() == reflect.String {
		if at.SetString(usual); len(values(f)) > 0 {
			about += " (" + strings.Join(values(f), ", ") + ")"
		}
		flags.Var(&textFlag{at, f}, name, about)
		return
	}
	switch p := at.Addr().Interface().(type) {
	case *bool:
		flags.BoolVar(p, name, false, about)
	case *[]string:
		flags.StringSliceVar(p, name, nil, about)
	case *time.Duration:
		d, _ := time.ParseDuration(usual) // "" is none
		flags.DurationVar(p, name, d, about)
	default:
		panic(fmt.Sprintf("the flag --%s is of the type %v", name, at.Type())) // a row of ours: its test finds it
	}
}

// textFlag is a flag of a text, of which only some values may be known.
type textFlag struct {
	at reflect.Value
	f  reflect.StructField
}

func (t *textFlag) String() string {
	if !t.at.IsValid() {
		return ""
	}
	return t.at.String()
}

func (t *textFlag) Type() string { return "string" }

func (t *textFlag) Set(s string) error {
	if err := known(t.f, s); err != nil {
		return err
	}
	t.at.SetString(s)
	return nil
}

// values are the values that a field may have; none: any.
func values(f reflect.StructField) []string {
	of := f.Tag.Get("of")
	if of == "" {
		return nil
	}
	return strings.Split(of, ",")
}

// known is an error for a value that a field may not have.
func known(f reflect.StructField, value string) error {
	all := values(f)
	if all == nil || slices.Contains(all, value) {
		return nil
	}
	err := fmt.Errorf("%q is not one of %s", value, strings.Join(all, ", "))
	if near := text.Nearest(value, all); near != "" {
		return text.Hinted(err, "did you mean "+near+"?")
	}
	return err
}
