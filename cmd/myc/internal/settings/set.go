package settings

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/change"
	"mycelium/internal/config"
	"mycelium/internal/config/meaning"
	"mycelium/internal/config/settings"
	"mycelium/internal/config/source"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/yamlfile"
)

// types are the types that --type names.
var types = [...]string{"string", "number", "boolean", "json"}

// setting is what `myc config set` is asked to do.
type setting struct {
	act, key string
	value    string // YAML of one line; empty: the key goes
	user     bool
}

func (a *app) setCmd() *cobra.Command {
	var kind string
	var user, remove bool
	c := &cobra.Command{Use: "set KEY [VALUE]", Short: "Set one key in mycelium.yaml, and put it in force",
		Long: "Sets a key in mycelium.yaml, shows what that means, and puts it in force. The comments and the order of the file stay. A value\n" +
			"that does not load changes nothing. VALUE is read as in the file: a word, a number, true or false, [a, b] or {k: v}.",
		Example: "  myc config set session.promotion confirm\n  myc config set audit.redact '[ssn, iban]'\n  myc config set server.addr --clear",
		Args:    base.ArgRange(1, 2, "a key, and a value or --clear"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.NeedPerson("change the configuration"); err != nil {
				return err
			}
			s := setting{act: "config set", key: args[0], user: user}
			if remove == (len(args) == 2) {
				return failure.Usagef("config set: it takes a value, or --clear")
			}
			if !remove {
				var err error
				if s.value, err = valueOf(args[1], kind); err != nil {
					return failure.Usagef("config set: %w", err)
				}
			}
			return a.set(c.Context(), s)
		}}
	c.Flags().StringVarP(&kind, "type", "t", "", "read VALUE as string, number, boolean or json (default: as in the file)")
	c.Flags().BoolVar(&remove, "clear", false, "take the key away, so that the default counts")
	c.Flags().BoolVar(&user, "user", false, "in your own file, for every project")
	return c
}

// valueOf is an argument as the file has it, in one line.
func valueOf(arg, kind string) (string, error) {
	switch kind {
	case "string":
		return yamlfile.Text(arg), nil
	case "number":
		if _, err := strconv.ParseFloat(arg, 64); err != nil {
			return "", fmt.Errorf("%q is no number", arg)
		}
		return arg, nil
	case "boolean":
		if arg != "true" && arg != "false" {
			return "", fmt.Errorf("%q is neither true nor false", arg)
		}
		return arg, nil
	case "json":
		v := jsontext.Value(arg)
		if err := v.Compact(); err != nil {
			return "", fmt.Errorf("%q is not JSON", arg)
		}
		return string(v), nil
	case "":
	default:
		return "", fmt.Errorf("--type: %q is none of %s", kind, strings.Join(types[:], ", "))
	}
	var as map[string]any
	if strings.Contains(arg, "\n") || len(yamlfile.Decode("", []byte("v: "+arg), &as)) > 0 {
		return yamlfile.Text(arg), nil
	}
	switch v := as["v"].(type) {
	case nil:
		return yamlfile.Text(arg), nil
	case string:
		if strings.HasPrefix(arg, `"`) || strings.HasPrefix(arg, "'") {
			return yamlfile.Text(v), nil
		}
		return yamlfile.Text(arg), nil // what looks like a comment belongs to it
	}
	return arg, nil
}

// set changes one key of mycelium.yaml, for a person.
func (a *app) set(ctx context.Context, s setting) error {
	if a.Config != "" || a.Getenv("MYCELIUM_CONFIG_PATH") != "" {
		return failure.Usagef("%s: it changes mycelium.yaml, and another file is named as the configuration", s.act)
	}
	if s.user {
		if err := a.Begin(a.Know); err != nil {
			return err
		}
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	a.SayProject()
	if err := s.elsewhere(p); err != nil {
		return err
	}
	f := change.Of(s.act, p, source.MainFile)
	f.User = s.user
	if err := f.Read(); err != nil {
		return err
	}
	if f.Data, err = yamlfile.SetPath(f.Was, strings.Split(s.key, "."), s.value); err != nil {
		return failure.New(failure.Config, fmt.Errorf("%s: %w", s.act, err), "myc config edit")
	}
	changes, err := f.Put(ctx, a.App)
	if err != nil {
		return err
	}
	return a.done(ctx, s, f.Changed(), changes)
}

// elsewhere is an error if the key stands in another file, whose section a mycelium.yaml with the key would replace.
func (s setting) elsewhere(p *config.Project) error {
	if s.user {
		return nil
	}
	section, _, _ := strings.Cut(s.key, ".")
	file := ""
	switch {
	case section == "mcpServers" && p.ServersFrom != source.MainFile:
		file = p.ServersFrom
	case section == "session" && slices.ContainsFunc(slices.Collect(maps.Keys(p.Sources)), func(key string) bool {
		return strings.HasPrefix(key, "session.") && p.Sources[key] == source.ConfigFile
	}):
		file = source.ConfigFile
	}
	if file == "" {
		return nil
	}
	return failure.Hint(fmt.Errorf("%s: %s of this project stands in %s, and would be replaced by %s in mycelium.yaml", s.act, section, file,
		section), "change it there and accept it: myc trust; or move the section to mycelium.yaml first")
}

// done says what is in force now, and what of it has no effect.
func (a *app) done(ctx context.Context, s setting, changed bool, changes []meaning.Change) error {
	p, err := a.Load()
	if err != nil {
		return err
	}
	for _, pr := range p.Problems {
		if pr.Warning && pr.Key == s.key {
			fmt.Fprintln(a.Err, project.ProblemText(pr))
		}
	}
	a.TellRestart(ctx)
	all, err := settings.List(p, nil)
	if err != nil {
		return err
	}
	file := p.Shown(source.MainFile)
	if s.user {
		file = p.User.Shown(source.MainFile)
	}
	at := slices.IndexFunc(all, func(is settings.Setting) bool { return is.Key == s.key })
	switch {
	case a.JSON:
		return a.PrintJSON(struct {
			Key     string           `json:"key"`
			Changes []meaning.Change `json:"changes"`
		}{s.key, changes})
	case !changed:
		fmt.Fprintln(a.Out, "nothing changed")
	case at >= 0 && all[at].From != file: // a default, or the other file bounds it
		fmt.Fprintf(a.Out, "in %s; in force is %s: %s (%s)\n", file, s.key, all[at].Value, all[at].From)
	case s.value == "":
		fmt.Fprintf(a.Out, "in force: %s is not set\n", s.key)
	default:
		fmt.Fprintf(a.Out, "in force: %s: %s\n", s.key, s.value)
	}
	return nil
}
