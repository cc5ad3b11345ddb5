// Package table holds the rows of all programs and finds the row of one.
package table

import (
	"strings"

	"mycelium/internal/shell/program"
	"mycelium/internal/shell/program/agent"
	"mycelium/internal/shell/program/builtin"
	"mycelium/internal/shell/program/cloud"
	"mycelium/internal/shell/program/files"
	"mycelium/internal/shell/program/filter"
	"mycelium/internal/shell/program/git"
	"mycelium/internal/shell/program/language"
	"mycelium/internal/shell/program/network"
	"mycelium/internal/shell/program/project"
	"mycelium/internal/shell/program/system"
	"mycelium/internal/shell/program/wrapper"
)

// families are the rows, each family sorted by name. They are pointers so that the linker lays the table out and nothing is built when the
// program starts.
var families = [...]*[]program.Row{
	&files.Rows, &filter.Rows, &builtin.Rows, &wrapper.Rows, &git.Rows, &project.Rows, &language.Rows, &system.Rows, &network.Rows,
	&cloud.Rows, &agent.Rows, &filter.MoreRows, &files.MediaRows, &system.LocalRows, &network.LoadRows, &language.VersionRows,
	&wrapper.MoreRows,
}

// Find returns the row of a program. nil means that nothing is known of the program. A version at the end of the name does not count:
// python3.12, gcc-13.
func Find(name string) *program.Row {
	name = strings.TrimSuffix(name, ".exe")
	if row := exact(name); row != nil {
		return row
	}
	if len(name) > 2 && name[0] == 'g' { // the GNU programs on macOS: gsed, gtimeout
		if row := exact(name[1:]); row != nil && row.Subs == nil && row.Does == 0 {
			return row
		}
	}
	if short := strings.TrimRight(name, "0123456789."); short != name && short != "" {
		return exact(strings.TrimSuffix(short, "-"))
	}
	return nil
}

// exact returns the row of that very name.
func exact(name string) *program.Row {
	for _, family := range families {
		rows := *family
		low, high := 0, len(rows)
		for low < high {
			if middle := (low + high) / 2; rows[middle].Name < name {
				low = middle + 1
			} else {
				high = middle
			}
		}
		if low < len(rows) && rows[low].Name == name {
			if rows[low].Same != "" {
				return exact(rows[low].Same)
			}
			return &rows[low]
		}
	}
	return nil
}
