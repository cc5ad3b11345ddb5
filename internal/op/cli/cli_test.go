package cli

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mycelium/internal/op"
	"mycelium/internal/op/failure"
)

type params struct {
	ID     string   `json:"id" arg:"ID"`
	Mode   string   `json:"mode" arg:"[MODE]" of:"auto,remote"`
	Kind   string   `json:"kind" flag:"" of:"red,blue" default:"red" about:"which kind"`
	Sure   bool     `json:"yes" flag:"sure" about:"you have read it"`
	Names  []string `json:"names" flag:""`
	Device string   `json:"device" by:""`
}

// TestCommand: a command of a row has its arguments and flags, and refuses unknown ones.
func TestCommand(t *testing.T) {
	run := func(args ...string) (got *params, err error) {
		root := &cobra.Command{Use: "myc", SilenceErrors: true, SilenceUsage: true}
		c := Command(op.Op[params, op.None]{Name: "things/do", About: "Do it"}, func(_ *cobra.Command, p params) error { got = &p; return nil })
		if c.Use != "do ID [MODE]" || c.Short != "Do it" || !reflect.DeepEqual(c.ValidArgs, []cobra.Completion(nil)) {
			t.Errorf("%q %q %q", c.Use, c.Short, c.ValidArgs)
		}
		root.AddCommand(c)
		root.SetArgs(append([]string{"do"}, args...))
		return got, root.Execute()
	}
	for line, want := range map[string]params{
		"x": {ID: "x", Kind: "red"},
		"x remote --kind blue --sure --names a,b": {ID: "x", Mode: "remote", Kind: "blue", Sure: true, Names: []string{"a", "b"}},
		"--names a x auto":                        {ID: "x", Mode: "auto", Kind: "red", Names: []string{"a"}},
	} {
		if got, err := run(strings.Fields(line)...); err != nil || got == nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v %v", line, got, err)
		}
	}
	for line, says := range map[string]string{"": "do: wants ID [MODE]", "x y": `"y" is not one of auto, remote`, "x auto z": "wants ID",
		"x --kind bleu": `"bleu" is not one of red, blue`, "x --device d": "unknown flag"} {
		if got, err := run(strings.Fields(line)...); got != nil || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v %v", line, got, err)
		}
	}
	if _, err := run(""); err == nil || failure.Of(err).Kind != failure.Usage {
		t.Errorf("an empty id: %v", err)
	}
}
