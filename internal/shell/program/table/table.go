// Package table holds the rows of all programs and finds the row of one.
package table

import (
	"iter"
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
	short := strings.TrimSuffix(strings.TrimRight(name, "0123456789."), "-")
	if short == "" {
		return nil
	}
	if row := exact(short); row != nil && short != name {
		return row
	}
	return ofTarget(short)
}

// ofTarget returns the row of a tool that makes code for another machine, whose name begins with that: arm-none-eabi-gcc,
// x86_64-linux-gnu-ld.bfd. The tools are those of gcc and binutils, and clang.
func ofTarget(name string) *program.Row {
	machine, _, _ := strings.Cut(name, "-")
	if !program.Named(machines, strings.TrimRight(machine, "0123456789")) {
		return nil
	}
	for i := strings.LastIndexByte(name, '-'); i > 0; i = strings.LastIndexByte(name[:i], '-') {
		if tool := name[i+1:]; program.Named("gcc|g++|c++|cc|cpp|clang|clang++|gfortran|ld|as|ar|nm|objcopy|objdump|ranlib|readelf|size|"+
			"strings|strip|addr2line|c++filt", tool) {
			return exact(tool)
		}
	}
	return nil
}

// machines are the first words of targets, without a number at their end. Source: config.sub of GNU config.
const machines = "aarch|aarch64_be|aarch64|alpha|alphaev|amdgcn|arc|arm|armeb|armv|armv7a|armv7l|armv6l|armv5tel|avr|bfin|bpf|cris|csky|" +
	"frv|hppa|i|ia|loongarch|m|m68k|mcore|microblaze|microblazeel|mips|mipsel|mips64el|mipsisa32r6el|mipsisa64r6el|mmix|mn|moxie|msp|" +
	"nds32le|nds|nios|nvptx|or1k|powerpc|powerpc64le|powerpcle|ppc|ppc64le|riscv|rl|rx|s|s390x|sh|sh4eb|sh4|sparc|sparcv|tic6x|v|vax|" +
	"visium|wasm|x|x86_64|x86_|xtensa|z8k|musl|llvm"

// exact returns the row of that very name.
func exact(name string) *program.Row {
	for rows := range Families() {
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

// Families yields the rows of each family, sorted by name.
func Families() iter.Seq[[]program.Row] {
	return func(yield func([]program.Row) bool) {
		for _, family := range families {
			if !yield(*family) {
				return
			}
		}
	}
}
