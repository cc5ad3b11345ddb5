package table

import (
	"slices"
	"strings"
	"testing"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// each calls check for every row and every subcommand. at is the path to it: "git remote add".
func each(check func(at string, row *program.Row)) {
	var walk func(string, []program.Row)
	walk = func(at string, rows []program.Row) {
		for i := range rows {
			check(at+rows[i].Name, &rows[i])
			walk(at+rows[i].Name+" ", rows[i].Subs)
		}
	}
	for _, family := range families {
		walk("", *family)
	}
}

// TestFamiliesAreSorted: exact searches each family by halves, a name stands once in the whole table, and another name leads to a row.
func TestFamiliesAreSorted(t *testing.T) {
	seen := map[string]bool{}
	for _, family := range families {
		for i, row := range *family {
			if seen[row.Name] {
				t.Errorf("%s appears twice", row.Name)
			}
			seen[row.Name] = true
			if i > 0 && (*family)[i-1].Name >= row.Name {
				t.Errorf("%s stands behind %s", row.Name, (*family)[i-1].Name)
			}
			if found := Find(row.Name); found == nil || found.Same != "" {
				t.Errorf("%s is not found", row.Name)
			}
		}
	}
	if len(seen) < 500 {
		t.Errorf("%d programs", len(seen))
	}
}

// TestSubcommandsStandOnce: of two subcommands with the same name the second would never be found.
func TestSubcommandsStandOnce(t *testing.T) {
	each(func(at string, row *program.Row) {
		seen := map[string]bool{}
		for _, sub := range row.Subs {
			for name := range strings.SplitSeq(sub.Name, "|") {
				if name == "" || seen[name] {
					t.Errorf("%s: %q appears twice", at, name)
				}
				seen[name] = true
			}
		}
	})
}

// TestOptionsStandOnce: of two options with the same name the second would never be found. The roles of their values are known, and what
// Instead and Shows name is an option.
func TestOptionsStandOnce(t *testing.T) {
	each(func(at string, row *program.Row) {
		seen, first := map[string]bool{}, map[string]bool{}
		for entry := range strings.FieldsSeq(row.Options) {
			names, role, valued := strings.Cut(entry, "=")
			bare, optional := strings.CutPrefix(role, "?")
			if valued && (len(bare) != 1 && (!optional || bare != "") || !strings.Contains(roles, bare)) {
				t.Errorf("%s: the role in %s is not known", at, entry)
			}
			for i, name := range strings.Split(names, "|") {
				if name == "" || seen[name] {
					t.Errorf("%s: option %q appears twice", at, name)
				}
				seen[name] = true
				first[name] = first[name] || i == 0
			}
		}
		instead := strings.Fields(row.Instead)
		if len(instead)%2 != 0 {
			t.Fatalf("%s: instead %s", at, row.Instead)
		}
		for i := 0; i < len(instead); i += 2 {
			if !first[instead[i]] {
				t.Errorf("%s: %s in Instead is not the first name of an option", at, instead[i])
			}
			checkOperands(t, at, instead[i+1])
		}
		for name := range strings.FieldsSeq(row.Shows) {
			if !first[name] {
				t.Errorf("%s: %s in Shows is not the first name of an option", at, name)
			}
		}
	})
}

// roles are the letters that Call.Role knows: another letter would do nothing.
const roles = "vrwdxbmfhckugis23neo?lt"

func checkOperands(t *testing.T, at, operands string) {
	if strings.Trim(operands, roles+"*") != "" || strings.Count(operands, "*") > 1 || strings.HasPrefix(operands, "*") {
		t.Errorf("%s: operands %s", at, operands)
	}
}

// TestRowsHaveAllTheirParts: a row says what its program does, and nothing that is never read.
func TestRowsHaveAllTheirParts(t *testing.T) {
	each(func(at string, row *program.Row) {
		checkOperands(t, at, row.Operands)
		if strings.Trim(row.Here, "rwbk") != "" {
			t.Errorf("%s: here %s", at, row.Here)
		}
		if (row.Does|row.Alone|row.Rest)&^effect.All != 0 {
			t.Errorf("%s: an effect is not known", at)
		}
		if row.Style > program.SingleFirst {
			t.Errorf("%s: style %d", at, row.Style)
		}
		meaning := row.Operands != "" || row.Here != "" || row.Does != 0 || row.Handle != nil
		switch {
		case row.Name == "":
			t.Errorf("behind %s: a row without a name", at)
		case row.Same != "":
			if meaning || row.Parse != nil || row.Subs != nil || row.Options != "" {
				t.Errorf("%s is another name of %s, and says more", at, row.Same)
			}
		case row.Parse != nil && (row.Subs != nil || row.Handle != nil || row.Other != nil || row.Instead != "" || row.Shows != ""):
			t.Errorf("%s reads its arguments itself, and says more", at)
		case row.Subs == nil && (row.Alone != 0 || row.Rest != 0 || row.Other != nil):
			t.Errorf("%s says what a subcommand does, and has none", at)
		case row.Subs != nil && (row.Operands != "" || row.Here != "" || row.Instead != ""):
			t.Errorf("%s has subcommands, and says what its operands do", at)
		case !meaning && row.Parse == nil && row.Subs == nil:
			t.Errorf("%s does not say what it does", at)
		case (row.Agent || row.Ours) && row.Parse == nil:
			t.Errorf("%s is an agent without a handler", at)
		}
		for end := range strings.SplitSeq(row.Modules, "|") {
			if row.Modules != "" && !slices.ContainsFunc([]string{".", "/"}, func(s string) bool { return strings.HasPrefix(end, s) }) {
				t.Errorf("%s: %s in Modules is no end of a file", at, end)
			}
		}
	})
}

// TestOptionsOfEverySubcommand: an option that a program takes behind each of its subcommands, and that leads it to another machine or to
// other settings, stands in each row that asks nobody.
func TestOptionsOfEverySubcommand(t *testing.T) {
	const asks = effect.Container | effect.Cloud | effect.Secrets | effect.Publish | effect.Install | effect.Unknown | effect.Upload
	everywhere := map[string]string{
		"kubectl": "kubeconfig server token certificate-authority client-key cache-dir",
		"helm":    "kubeconfig kube-apiserver kube-token registry-config repository-config",
		"cargo":   "config registry",
	}
	without := map[string]bool{ // they ask no machine and read no settings that name programs
		"kubectl completion|options|help": true, "kubectl plugin list": true, "kubectl kustomize": true, "helm completion|help": true,
		"helm create": true, "helm dependency|dep|dependencies list|ls": true, "helm plugin list|ls": true, "cargo owner": true,
		"cargo watch": true,
	}
	each(func(at string, row *program.Row) {
		name, sub, _ := strings.Cut(at, " ")
		if sub == "" || row.Subs != nil || row.Parse != nil || row.Does&asks != 0 || without[at] {
			return
		}
		for option := range strings.FieldsSeq(everywhere[name]) {
			named := slices.ContainsFunc(strings.Fields(row.Options), func(entry string) bool {
				names, _, _ := strings.Cut(entry, "=")
				return slices.Contains(strings.Split(names, "|"), option)
			})
			if !named {
				t.Errorf("%s does not name --%s", at, option)
			}
		}
	})
}
