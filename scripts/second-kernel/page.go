package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// page has the table of this machine's kernel, which TestLayers writes, and after it the part that this program writes.
const page = "docs/proofs/escapes.md"

// heading begins the part of this program. It goes to the end of the page.
const heading = "\n## Other kernels\n"

// publish writes the part of the page, compares it with the page, or only prints it.
func publish(found []*machine, only, write bool) error {
	data, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, was, _ := strings.Cut(string(data), heading)
	part := render(found, before)
	switch {
	case only:
		fmt.Print(part)
		return nil
	case write:
		return os.WriteFile(page, []byte(before+heading+part), 0o644) //nolint:gosec // a page for everybody
	case was != part:
		fmt.Print(part)
		return errors.New(page + " says something else than was found, which is above: -write writes it")
	}
	return nil
}

// row is a row of the table of the page.
type row struct{ attack, root, ordinary string }

// rows reads the table of this machine's kernel.
func rows(page string) []row {
	var out []row
	_, table, _ := strings.Cut(page, "\n| What is tried")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) == 3 && strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| ---") {
			out = append(out, row{strings.TrimPrefix(cells[0], "| "), cells[1], strings.TrimSuffix(cells[2], " |")})
		}
	}
	return out
}

// render writes the part of the page.
func render(found []*machine, before string) string {
	base := rows(before)
	var b strings.Builder
	b.WriteString("\n`go run ./scripts/second-kernel` tries the same on kernels of Debian and Ubuntu, each in a virtual machine without a network " +
		"(QEMU, x86-64). Where the attacks were\ntried, every row that is not below is as above.\n\n" +
		"| Kernel | Landlock ABI | `capabilities`, as root and as an ordinary user | With all layers |\n| --- | --- | --- | --- |\n")
	for _, m := range found {
		abi, all := "–", "nothing runs"
		if m.Verdicts[0].Holds {
			abi, all = fmt.Sprint(m.ABI), "not tried"
		}
		if len(m.Opened) > 0 {
			all = escaped(m, base)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", m.Release, abi, said(m.Verdicts[0]), all)
	}
	b.WriteString("\n| What is tried | Kernel | Gets out, as root, without | As an ordinary user, without |\n| --- | --- | --- | --- |\n")
	for _, r := range base {
		for _, m := range found {
			root, ordinary := layers(m.Opened[r.attack]["root"]), layers(m.Opened[r.attack]["an ordinary user"])
			if len(m.Opened) > 0 && (root != r.root || ordinary != r.ordinary) {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.attack, short(m.Release), root, ordinary)
			}
		}
	}
	b.WriteString("\nWhere the machine lacks a link, `capabilities` says which. Nothing runs then.\n\n" +
		"| State of the machine | Kernel | User | `capabilities` | A command |\n| --- | --- | --- | --- | --- |\n")
	for _, line := range verdicts(found) {
		b.WriteString(line)
	}
	return b.String()
}

// escaped says what gets out with all layers.
func escaped(m *machine, base []row) string {
	var names []string
	for _, r := range base {
		for _, user := range users() {
			if slices.Contains(m.Opened[r.attack][user], nothing) {
				names = append(names, r.attack+" (as "+user+")")
			}
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("none of %d gets out", len(base))
	}
	return "gets out: " + strings.Join(names, ", ")
}

// verdicts are the rows of the states, one for both users and for all kernels that say the same.
func verdicts(found []*machine) []string {
	type key struct{ state, said, ran string }
	var order []key
	kernels, users := map[key][]string{}, map[key][]string{}
	for _, m := range found {
		for _, v := range m.Verdicts {
			k := key{v.State, said(v), map[bool]string{true: "runs", false: "does not run"}[v.Ran]}
			if v.State == "" {
				continue
			}
			if !slices.Contains(order, k) {
				order = append(order, k)
			}
			kernels[k], users[k] = once(kernels[k], short(v.Release)), once(users[k], v.User)
		}
	}
	var out []string
	for _, k := range order {
		out = append(out, fmt.Sprintf("| %s | %s | %s | %s | %s |\n",
			k.state, strings.Join(kernels[k], ", "), strings.Join(users[k], ", "), k.said, k.ran))
	}
	return out
}

func once(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

// said is the verdict in one line.
func said(v verdict) string {
	if v.Holds {
		return "holds"
	}
	return fmt.Sprintf("%s: %s: %s. %s", v.Layer, v.Doing, v.Cause, v.Mend)
}

func layers(without []string) string {
	switch {
	case len(without) == 0:
		return "–"
	case slices.Contains(without, nothing):
		return "any: no layer of this kernel holds it"
	}
	return strings.Join(without, ", ")
}

// short is the release without what counts builds: 6.12 of 6.12.95+deb12-cloud-amd64.
func short(release string) string {
	parts := strings.SplitN(release, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
