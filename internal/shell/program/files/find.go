package files

import (
	"path"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/program"
)

// find handles the starting points, the tests and the actions.
func find(c *program.Call, args []program.Word) {
	roots, i := startingPoints(args)
	if len(roots) == 0 {
		roots = []program.Word{program.Known(".")}
	}
	for _, r := range roots {
		c.Role('l', r)
	}
	t := findTests(c, args[i:])
	c.Walk.Found = t.found(roots)
	takeActions(c, args, c.Walk.Found)
}

// governed returns the protected files below the roots that a name matches: find looks into every folder.
func governed(roots []program.Word, name string) (found []program.Word) {
	for _, b := range policy.BasePaths() {
		file, below := strings.CutPrefix(b.Path, "./")
		if !below || !strings.Contains(file, "/") || !program.MayBe(name, path.Base(file)) {
			continue
		}
		for _, r := range roots {
			if !r.Unknown {
				r.Text = strings.TrimSuffix(r.Text, "/") + "/" + file
				found = append(found, r)
			}
		}
	}
	return found
}

// startingPoints returns the starting points of find, and where its tests begin.
func startingPoints(args []program.Word) (roots []program.Word, next int) {
	for next < len(args) {
		s := args[next].Text
		if s == "-H" || s == "-L" || s == "-P" || strings.HasPrefix(s, "-O") {
			next++
			continue
		}
		if !args[next].Unknown && (strings.HasPrefix(s, "-") || s == "(" || s == "!" || s == ",") {
			break
		}
		if roots = append(roots, args[next]); args[next].Vanishes {
			roots = append(roots, program.Known("."))
		}
		next++
	}
	return roots, next
}

// takeActions handles the actions on the files found.
func takeActions(c *program.Call, args, found []program.Word) {
	var runs [][]program.Word
	at := c.State
	for i := 0; i < len(args); i++ {
		var next program.Word
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch args[i].Text {
		case "-delete":
			for _, f := range found {
				c.File(policy.Delete, f)
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			c.File(policy.Write, next)
		case "-newer", "-samefile", "-files0-from", "-anewer", "-cnewer":
			c.File(policy.Read, next)
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].Text != ";" && (args[end].Text != "+" || args[end-1].Text != "{}") {
				end++
			}
			runs = append(runs, program.Fill(args[i+1:min(end, len(args))], "{}", found, true, false))
			i = end
		default:
			if name, ok := strings.CutPrefix(args[i].Text, "-"); ok && name != "" && !isTest(name) && (i == 0 || !hasValue(args[i-1].Text)) {
				c.Unclear("what " + args[i].Text + " does is not known")
			}
		}
	}
	c.Finish()
	for _, words := range runs {
		c.RunBeside(words, at, program.Input{})
	}
}

// isTest reports whether find has a test, an action or an option of that name. Sources: find(1) of findutils 4.9 and of macOS.
func isTest(name string) bool {
	return strings.HasPrefix(name, "newer") || strings.HasPrefix(name, "O") || program.Named("a|and|o|or|not|d|E|H|L|P|X|f|s|x|D|"+
		"amin|anewer|atime|cmin|cnewer|ctime|context|daystart|delete|depth|empty|executable|false|files0-from|flags|fls|follow|fprint|"+
		"fprint0|fprintf|fstype|gid|group|help|-help|ignore_readdir_race|ilname|iname|inum|ipath|iregex|iwholename|links|lname|ls|"+
		"maxdepth|mindepth|mmin|mnewer|mount|mtime|name|nogroup|noignore_readdir_race|noleaf|nouser|nowarn|ok|okdir|exec|execdir|path|"+
		"perm|print|print0|printf|prune|quit|readable|regex|regextype|samefile|size|sparse|true|type|uid|used|user|version|-version|"+
		"warn|wholename|writable|xattr|xattrname|acl|xdev|xtype|Bmin|Bnewer|Btime", name)
}

// hasValue reports whether the word behind a test of find is its value, whatever it looks like.
func hasValue(test string) bool {
	return strings.HasPrefix(test, "-newer") || program.Named("-amin|-anewer|-atime|-cmin|-cnewer|-ctime|-context|-flags|-fstype|-gid|-group|"+
		"-ilname|-iname|-inum|-ipath|-iregex|-iwholename|-links|-lname|-maxdepth|-mindepth|-mmin|-mnewer|-mtime|-name|-path|-perm|-printf|"+
		"-regex|-regextype|-samefile|-size|-type|-uid|-used|-user|-wholename|-xtype|-Bmin|-Bnewer|-Btime|-fprintf", test)
}

// behind returns the words after the value of an option, as fd -x takes them.
func behind(c *program.Call, names ...string) []program.Word {
	for i, w := range c.Words {
		for _, n := range names {
			if w.Text == n && i+2 <= len(c.Words) {
				return c.Words[i+2:]
			}
		}
	}
	return nil
}

// runFound handles fd, which can run a command with the files found.
func runFound(c *program.Call) {
	first, ok := c.Value("x")
	if !ok {
		first, ok = c.Value("X")
	}
	if ok {
		words := append([]program.Word{first}, behind(c, "-x", "--exec", "-X", "--exec-batch")...)
		found := []program.Word{{Text: "./**", Pattern: true}}
		c.RunBeside(program.Fill(words, "{}", found, true, true), c.State, program.Input{})
	}
}
