package files

import (
	"strconv"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
	"mycelium/internal/shell/program"
)

// tar packs and unpacks. Its first operand may be a bundle of options without a hyphen.
func tar(c *program.Call) {
	mode, files, from := tarMode(c)
	for i := 0; i+1 < len(files); i++ { // tar xzf a.tgz -C dir: -C stands behind the bundle
		if files[i].Text == "-C" {
			c.Enter(files[i+1])
		}
	}
	switch mode {
	case 'x':
		takeMembers(c, from, files)
		if c.Has("P") {
			c.Unclear("absolute names are unpacked where they lead")
		}
	case 't':
	case 'c', 'r', 'u', 'A':
		for _, f := range files {
			c.File(policy.Read, f)
			program.Everything(c, f, excluded(c)...)
			if c.Has("remove-files") {
				c.File(policy.Delete, f)
			}
		}
	default:
		c.Unclear("what tar does is not known")
		c.Guess(files)
	}
	if v, ok := c.Value("checkpoint-action"); ok {
		if cmd, is := strings.CutPrefix(v.Text, "exec="); is || v.Unknown {
			c.RunNested(program.Word{Text: cmd, Unknown: v.Unknown})
		}
	}
}

// takeMembers handles the members of an archive that tar unpacks or prints. Without any it is all of them.
func takeMembers(c *program.Call, from program.Word, files []program.Word) {
	access := policy.Write
	if c.HasAny("O", "to-command") {
		if access = policy.Read; len(files) == 0 {
			c.Unclear("it prints all that is in the archive")
		}
	} else {
		program.Unpack(c)
		strip := 0
		if v, ok := c.Value("strip-components"); ok {
			if strip, ok = count(v); !ok {
				c.Unclear("the names of what is unpacked are changed")
			}
		}
		if from.Text == "" && c.Input.File != nil {
			from = *c.Input.File
		}
		program.Unpacks(c, from, c.OK, strip, named(files))
	}
	if c.HasAny("transform", "one-top-level") && access == policy.Write {
		c.Unclear("the names of what is unpacked are changed")
	}
	members(c, access, files)
}

// count reads a small number.
func count(w program.Word) (n int, ok bool) {
	n, err := strconv.Atoi(w.Text)
	return n, err == nil && !w.Unknown && n >= 0 && n <= program.MaxWords
}

// named returns the members among the operands of tar.
func named(files []program.Word) (members []program.Word) {
	for i := 0; i < len(files); i++ {
		if files[i].Text == "-C" {
			i++
			continue
		}
		members = append(members, files[i])
	}
	return members
}

// compare handles diff, which reads folders with -r.
func compare(c *program.Call) {
	if c.Has("r") {
		for _, f := range c.Operands {
			program.Everything(c, f, excluded(c)...)
		}
	}
}

// members reads or writes the files that a command names inside of an archive. A name may lose the folders before it.
func members(c *program.Call, access policy.Access, files []program.Word) {
	for i := 0; i < len(files); i++ {
		f := files[i]
		if f.Text == "-C" { // of a bundle without a hyphen
			i++
			continue
		}
		f.Text = strings.TrimPrefix(f.Text, "/")
		f.Pattern = f.Pattern || globs.Has(f.Text)
		c.File(access, f)
		for strings.Contains(f.Text, "/") && (c.Has("strip-components") || c.Has("j") || c.Part.Program == "7z") {
			_, f.Text, _ = strings.Cut(f.Text, "/")
			c.File(access, f)
		}
	}
}

// excluded returns what the options leave out, as globs for every folder.
func excluded(c *program.Call) (globs []string) {
	for _, o := range c.Options {
		if program.Named("exclude|exclude-dir|x", o.Name) && o.HasValue && !o.Value.Unknown {
			name := strings.Trim(strings.TrimPrefix(o.Value.Text, "./"), "/")
			globs = append(globs, "**/"+name, "**/"+name+"/**")
		}
	}
	return globs
}

// tarMode reads the mode of tar and handles the archive. It returns the letter of the mode, or 0 if it is not known, the files, and the
// archive. tar opens the archive where it starts, whatever -C says.
func tarMode(c *program.Call) (mode byte, files []program.Word, from program.Word) {
	at := c.State
	defer func() { c.State = at }()
	c.State = c.OK
	for _, m := range [...]string{"c", "x", "t", "r", "u", "A", "delete"} {
		if c.Has(m) {
			mode = m[0]
			break
		}
	}
	files = c.Operands
	if mode != 0 || len(files) == 0 || strings.Trim(files[0].Text, "cxtruAzjJvfpkmhaOwWCTPn") != "" {
		if v, ok := c.Value("f"); ok {
			archive(c, v, mode)
			from = v
		}
		return mode, files, from
	}
	bundle := files[0].Text
	files = files[1:]
	if i := strings.IndexAny(bundle, "cxtruA"); i >= 0 {
		mode = bundle[i]
	}
	if strings.ContainsAny(bundle, "PCT") {
		c.Unclear("where the archive is unpacked is not known")
	}
	if strings.Contains(bundle, "f") && len(files) > 0 {
		archive(c, files[0], mode)
		from, files = files[0], files[1:]
	}
	return mode, files, from
}

// archive takes the file that tar works on. host:file is on another machine.
func archive(c *program.Call, t program.Word, mode byte) {
	if i := strings.IndexByte(t.Text, ':'); i > 0 && !strings.Contains(t.Text[:i], "/") {
		c.Host(t)
		return
	}
	switch mode {
	case 'x', 't':
		c.Role('r', t)
	case 'c':
		c.Role('w', t)
	default:
		if t.Text != "-" {
			c.Role('b', t)
		}
	}
}

// cpio reads archives with -i and -p.
func cpio(c *program.Call) {
	if c.HasAny("i", "p") {
		c.Unclear(unnamed)
	}
}

// patch writes the files that its input names.
func patch(c *program.Call) {
	if !c.Has("dry-run") {
		program.Backups(c, "z")
		c.Unclear(unnamed)
	}
}

// unnamed is why a program is unclear whose input says what it writes.
const unnamed = "which files it writes stands in what it reads"

// unzip unpacks, unless it only lists or tests.
func unzip(c *program.Call) {
	operands := c.Operands[min(1, len(c.Operands)):]
	if c.HasAny("l", "p", "t", "v") {
		if c.Has("p") {
			members(c, policy.Read, operands)
		}
		return
	}
	if to, ok := c.Value("d"); ok {
		c.Enter(to)
	}
	program.Unpack(c)
	strip := 0
	if c.Has("j") {
		strip = -1
	}
	if len(c.Operands) > 0 {
		program.Unpacks(c, c.Operands[0], c.OK, strip, operands)
	}
	members(c, policy.Write, operands)
}

// extract7z handles x and e of 7z.
func extract7z(c *program.Call) {
	switches7z(c)
	if program.ContainsText(c.Words, "-so") {
		members(c, policy.Read, c.Operands[min(1, len(c.Operands)):])
		return
	}
	program.Unpack(c)
	if len(c.Operands) > 0 {
		program.Unpacks(c, c.Operands[0], c.OK, 0, nil)
	}
	members(c, policy.Write, c.Operands[min(1, len(c.Operands)):])
}

// pack7z handles a and u of 7z: -sdel deletes what was packed.
func pack7z(c *program.Call) {
	switches7z(c)
	if program.ContainsText(c.Words, "-sdel") {
		deletePacked(c)
	}
}

// switches7z looks for switches of 7z that begin with s and do more than to change how it works: they write outside, or send. An operand
// with @ before it is a list of files.
func switches7z(c *program.Call) {
	for _, w := range c.Operands {
		if strings.HasPrefix(w.Text, "@") {
			c.Role('n', w.Tail(1))
		}
	}
	for _, w := range c.Words {
		if strings.HasPrefix(w.Text, "-s") && !program.Named("-so|-si|-slt|-ssc|-ssc-|-ssw|-sdel|-spe|-spd|-snl|-snh|-sni|-sns|-scsUTF-8|"+
			"-sccUTF-8", w.Text) {
			c.Unclear("what the option " + w.Text + " does is not known")
		}
	}
}

// deletePacked deletes the operands behind the archive.
func deletePacked(c *program.Call) {
	for _, f := range c.Operands[min(1, len(c.Operands)):] {
		c.File(policy.Delete, f)
	}
}

// ar unpacks with x among the letters of its first operand.
func ar(c *program.Call) {
	if c.Has("M") || len(c.Operands) > 0 && strings.Contains(c.Operands[0].Text, "M") {
		c.RunInput() // a script says what it does
	}
	if len(c.Operands) > 0 && strings.Contains(c.Operands[0].Text, "x") {
		program.Unpack(c)
		members(c, policy.Write, c.Operands[min(2, len(c.Operands)):])
	}
}

// zip packs, deletes what it packed with -m, and runs the command of -TT.
func zip(c *program.Call) {
	if c.Has("m") {
		deletePacked(c)
	}
	operands := c.Operands[min(1, len(c.Operands)):]
	if c.Has("r") {
		for _, f := range operands {
			program.Everything(c, f, excluded(c)...)
		}
	}
	if c.Has("R") { // the operands are patterns of names in every folder
		for _, f := range operands {
			f.Text, f.Pattern = "**/"+f.Text, true
			c.File(policy.Read, f)
		}
	}
	if c.Has("@") || program.ContainsText(c.Operands, "-") {
		c.Unclear("which files it packs stands in what it reads")
	}
	for i, w := range c.Words { // options of several letters
		switch {
		case strings.HasPrefix(w.Text, "-lf") && len(w.Text) > 3:
			c.File(policy.Write, w.Tail(3))
		case strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.Contains(w.Text, "TT"):
			if _, command, _ := strings.Cut(w.Text, "TT"); command != "" {
				c.RunNested(w.Tail(len(w.Text) - len(strings.TrimPrefix(command, "="))))
			} else if i+1 < len(c.Words) {
				c.RunNested(c.Words[i+1])
			}
		case i+1 == len(c.Words):
		case w.Text == "-lf":
			c.File(policy.Write, c.Words[i+1])
		}
	}
}
