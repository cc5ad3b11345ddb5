// Options writes the options that the manuals of this machine's programs name: one program a line, as testdata of the rows of programs.
//
//	go run ./scripts/options > /tmp/lines
//
// A program that is not installed is left out, and said on standard error. What is new goes into
// internal/shell/program/table/testdata/options.txt, whose lines of other programs and versions stay.
//
//	go run ./scripts/options -values > internal/shell/program/table/testdata/values.txt
//
// writes instead what the manuals call the values of options, where that is a file, a folder, a command or an address: -o=FILE. A ">" at the
// end says that the manual speaks of writing. With -compilers, it writes the options of gcc and clang that take a value, each as it is written.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// helped are programs whose --help names their options.
const helped = "base64 basename batcat cat chgrp chmod chown cksum cmp comm cp csplit cut date df diff diff3 dirname du " +
	"expand fdfind fmt fold grep gzip head iconv id install ip join ln ls mkdir mkfifo mktemp mv nl nm numfmt " +
	"objdump od paste patch pr ps readlink realpath rg rm rmdir rsync sdiff sed seq sha256sum shred shuf sort " +
	"split stat strings tac tail tar tee touch tr tree truncate uname uniq unexpand wc wget who xz yamllint zstd " +
	"file cpio sync lsof pgrep ss uptime free vmstat pstree getent lsblk column rev hexdump env nice nohup timeout " +
	"xargs stdbuf nproc tty make journalctl systemctl dmesg findmnt"

// more are further programs whose help says what the values of their options are.
const more = "ar as c++filt gcov gdb gprof ld ldd nm objcopy readelf strip size strings addr2line jq yq less jar javap jdeps jps " +
	"jstack perf valgrind pkg-config node python3 unzip zip zipinfo gunzip xz bzip2 lz4 vim prove gzip pg_dumpall rustfmt lsof namei apt-cache " +
	"lsb_release busctl networkctl systemd-cgls gofmt tcpdump tshark w chrt taskset lscpu unshare nsenter setpriv ssh-keygen getopt tmux " +
	"xmllint xsltproc identify convert ffmpeg ffprobe pdftotext pandoc sqlite3 rsync ffplay parallel cpio dpkg-deb dpkg-query dot gnuplot"

// gitCommands are the subcommands of git whose options git itself lists.
const gitCommands = "add am apply blame branch checkout cherry-pick clean clone commit config describe diff fetch for-each-ref " +
	"format-patch grep init log ls-files ls-remote ls-tree merge mv notes pull push rebase remote reset restore " +
	"revert rm shortlog show show-branch show-ref stash status switch symbolic-ref tag worktree"

var (
	values    = flag.Bool("values", false, "write what the manuals call the values of options")
	compilers = flag.Bool("compilers", false, "write the options of gcc and clang that take a value")
)

func main() {
	flag.Parse()
	switch {
	case *compilers:
		writeCompilers()
		return
	case *values:
		fmt.Println(valuesHead)
	}
	for name := range strings.FieldsSeq(helped) {
		writeLine(name, ofHelp(output(name, "--help")))
	}
	if *values {
		for name := range strings.FieldsSeq(more) {
			writeLine(name, ofHelp(output(name, "--help")))
		}
	}
	writeLine("curl", ofHelp(output("curl", "--help", "all")))
	for name := range strings.FieldsSeq(gitCommands) {
		writeLine("git "+name, ofGit(name))
	}
	writeTools()
	writeCloud()
}

// ofGit joins what git completes with the usage text, which has the short names. The forms --no-NAME are left out beside NAME.
func ofGit(name string) []string {
	list := append(strings.Fields(output("git", name, "--git-completion-helper-all")), ofHelp(output("git", name, "-h"))...)
	return slices.DeleteFunc(list, func(o string) bool {
		positive, negated := strings.CutPrefix(o, "--no-")
		return negated && slices.ContainsFunc(list, func(p string) bool { return strings.TrimRight(p, "[=") == "--"+positive })
	})
}

// output is what a program says, on either stream. Some programs end with an error after their help.
func output(name string, args ...string) string {
	text := said(name, args...)
	if *values {
		helps = append(helps, text)
	}
	return text
}

func said(name string, args ...string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "options: left out:", err)
		return ""
	}
	cmd := exec.Command(path, args...) //nolint:gosec // of the lists above
	cmd.Env = append(os.Environ(), "LC_ALL=C", "COLUMNS=200", "PAGER=cat", "GIT_PAGER=cat")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run()
	return out.String()
}

// writeLine writes the line of one program: its options, sorted. One with a value ends with "=", one whose value may be left out with "[=".
func writeLine(name string, options []string) {
	if *values {
		options = nil
		for _, help := range helps {
			options = append(options, valuesIn(help)...)
		}
		if helps = nil; told[name] {
			return
		}
		told[name] = true
	}
	for i, o := range options {
		options[i] = strings.TrimSuffix(o, "...")
	}
	options = slices.DeleteFunc(options, func(o string) bool { return len(o) < 2 || o[0] != '-' || o == "--" })
	slices.Sort(options)
	for i := 0; i+1 < len(options); i++ { // of --color and --color[= the second says more
		if name := strings.TrimRight(options[i], "[="); name == strings.TrimRight(options[i+1], "[=") || options[i] == options[i+1] {
			options = slices.Delete(options, i, i+1)
			i--
		}
	}
	if len(options) > 0 {
		fmt.Println(name + ": " + strings.Join(options, " "))
	}
}

// line is the beginning of a line of a help text that describes options: all their names, up to the description.
var line = regexp.MustCompile(`^\s{0,12}(-[^\s].*?)(\s{2,}[^-\s].*|\t.*)?$`)

// option is one name of an option, with the mark of its value.
var option = regexp.MustCompile(`(?:^|[\s,|/(])(--?[A-Za-z0-9@][A-Za-z0-9._+-]*)(\[=|=|\[[A-Z<]| ?<| [A-Z][A-Z_]+\b)?`)

// ofHelp reads the options in a help text.
func ofHelp(text string) (list []string) {
	for one := range strings.Lines(text) {
		m := line.FindStringSubmatch(strings.TrimRight(one, "\r\n"))
		if m == nil {
			continue
		}
		var names []string
		value := ""
		for _, o := range option.FindAllStringSubmatch(m[1], -1) {
			names = append(names, o[1])
			switch mark := o[2]; {
			case strings.HasPrefix(mark, "["):
				value = "[="
			case mark != "" && value == "":
				value = "="
			}
		}
		for _, name := range names {
			list = append(list, name+value)
		}
	}
	return list
}
