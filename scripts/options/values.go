package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// valuesHead is the first line of values.txt.
const valuesHead = "# What the manuals of Debian 12 call the values of options that are files, folders, commands or addresses. scripts/options -values writes this."

// compilersHead are the first lines of compilers.txt.
const compilersHead = `# The options of gcc 12 and clang 14 (Debian 12) that take a value, as each is written: % is the value, _ a blank. A > says that the manual
# speaks of a file that is written. scripts/options -compilers writes this.`

// helps are the help texts of the program whose line is written next, and told the programs whose lines are written.
var (
	helps []string
	told  = map[string]bool{}
)

var (
	// valued is an option with the name of its value: -o FILE, --output=<file>, --color[=WHEN].
	valued = regexp.MustCompile(`(?:^|[\s,|/(])(--?[A-Za-z0-9@][A-Za-z0-9._+-]*)(\[=|=|\[| )?(?:<([^<>]+)>|"?([A-Za-z][A-Za-z0-9_.:-]*)"?)?`)
	// names are words in the name of a value that is a file, a folder, a command or an address.
	names = regexp.MustCompile(`(?i)file|path|dir|folder|^dest|command|cmd|prog|script|exec|url|uri|host|addr|socket|server|device`)
	// writes are words of a description that speaks of writing.
	writes = regexp.MustCompile(`(?i)\b(write|writes|output|outputs|save|saves|dump|dumps|store|stores|append|appends|create|creates|emit|log)\b`)
)

// lowerNames are values that a help text names in small letters, without a mark.
var lowerNames = []string{"file", "path", "dir", "url", "command", "host", "infile", "outfile", "uri"}

// valuesIn reads the options in a help text whose values are files, folders, commands or addresses.
func valuesIn(text string) (list []string) {
	lines := slices.Collect(strings.Lines(text))
	for i, one := range lines {
		m := line.FindStringSubmatch(strings.TrimRight(one, "\r\n"))
		if m == nil {
			continue
		}
		var options []string
		value := ""
		for _, o := range valued.FindAllStringSubmatch(m[1], -1) {
			options = append(options, o[1])
			name := o[3] + o[4]
			named := o[2] != " " || o[3] != "" || strings.ToUpper(name) == name || slices.Contains(lowerNames, name)
			if o[2] != "" && named && names.MatchString(name) {
				value = strings.ToLower(strings.ReplaceAll(name, " ", "-"))
			}
		}
		about := m[2]
		if i+1 < len(lines) && strings.TrimSpace(about) == "" {
			about = lines[i+1]
		}
		if value == "" {
			continue
		}
		mark := ""
		if writes.MatchString(about) || strings.HasPrefix(value, "out") {
			mark = ">"
		}
		for _, name := range options {
			list = append(list, name+"="+value+mark)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// writeCompilers writes the options of gcc, g++ and clang that take a value, with % in its place and _ for a blank.
func writeCompilers() {
	fmt.Println(compilersHead)
	for _, name := range strings.Fields("gcc g++ clang clang++") {
		var list []string
		if strings.HasPrefix(name, "clang") {
			list = ofClang(output(name, "--help-hidden"))
		} else {
			list = append(ofGcc(output(name, "--help=joined"), "%"), ofGcc(output(name, "--help=separate"), "_%")...)
			list = append(list, ofClang(output(name, "--help"))...)
		}
		slices.Sort(list)
		if list = slices.Compact(list); len(list) > 0 {
			fmt.Println(name + ": " + strings.Join(list, " "))
		}
	}
}

// compilerOption is the beginning of a line that describes an option of a compiler.
var compilerOption = regexp.MustCompile(`^ {2}(--?[^\s<\[]+?)( ?)([<\[].*?)?(?: {2,}(.*))?$`)

// ofGcc reads a list of gcc of which all options take their value in the same way.
func ofGcc(text, value string) (list []string) {
	for one := range strings.Lines(text) {
		m := compilerOption.FindStringSubmatch(strings.TrimRight(one, "\n"))
		if m == nil {
			if f := strings.Fields(one); len(f) > 0 && strings.HasPrefix(one, "  -") {
				m = []string{"", f[0], "", "", strings.Join(f[1:], " ")}
			} else {
				continue
			}
		}
		name := m[1]
		if i := strings.IndexByte(name, '='); i > 0 { // some show the value without a mark
			name = name[:i+1]
		}
		list = append(list, name+value+wrote(m[4]))
	}
	return list
}

// ofClang reads a help text in which each option shows how its value stands behind it.
func ofClang(text string) (list []string) {
	lines := slices.Collect(strings.Lines(text))
	for i, one := range lines {
		m := compilerOption.FindStringSubmatch(strings.TrimRight(one, "\n"))
		if m == nil || m[3] == "" || !strings.HasPrefix(m[3], "<") {
			continue
		}
		about := m[4]
		if about == "" && i+1 < len(lines) {
			about = lines[i+1]
		}
		blank := strings.Replace(m[2], " ", "_", 1)
		list = append(list, m[1]+blank+"%"+wrote(about))
		if blank != "" && len(m[1]) == 2 { // -B <prefix> may be joined
			list = append(list, m[1]+"%"+wrote(about))
		}
	}
	return list
}

// wrote returns the mark of an option whose description speaks of writing.
func wrote(about string) string {
	if writes.MatchString(about) && strings.Contains(about, "file") || strings.HasPrefix(about, "Write") {
		return ">"
	}
	return ""
}
