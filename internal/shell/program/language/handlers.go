package language

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// interpret handles node, ruby, perl, php and similar programs. Their rows name the options that are code.
func interpret(c *program.Call, args []program.Word) {
	c.Scan(args)
	runScanned(c)
}

// tsx is an interpreter with a subcommand.
func tsx(c *program.Call, args []program.Word) {
	c.Scan(args)
	if len(c.Operands) > 1 && c.Operands[0].Text == "watch" {
		c.Operands = c.Operands[1:]
	}
	runScanned(c)
}

// runScanned runs the code, the file or the input that the options and operands name.
func runScanned(c *program.Call) {
	code := c.Does&effect.InlineCode != 0
	switch {
	case code && substitutes(c):
	case code:
		c.Guess(c.Operands)
	case len(c.Operands) > 0:
		c.RunFile(c.Operands[0])
		framework(c, c.Operands[0], c.Operands[1:])
		program.Targets(c, c.Operands[1:])
		c.Guess(c.Operands[1:])
	case c.HasAny("jar", "test", "m", "run"):
		c.Does |= effect.ProjectCode
	case c.HasAny("v", "version", "h", "l", "modules"):
	default:
		c.RunInput()
	}
	for _, o := range c.Options {
		if strings.HasPrefix(o.Value.Text, "data:") {
			c.Does |= effect.InlineCode
		}
	}
	if c.Has("inspect") {
		c.Does |= effect.Listen
	}
	loaded(c)
	c.Finish()
}

// python has two options that end its options: -c CODE and -m MODULE.
func python(c *program.Call, args []program.Word) {
	for i := 0; i < len(args); i++ {
		switch w := args[i]; {
		case w.Unknown && !w.Stream && w.Text == "":
			c.Unclear("an argument of python is not known")
			c.Finish()
			return
		case len(w.Text) < 2 || w.Text[0] != '-':
			pythonScript(c, w, args[i+1:])
			return
		case strings.HasPrefix(w.Text, "--"):
			c.Scan(args[i : i+1])
			if w.Text == "--check-hash-based-pycs" {
				i++
			}
		default:
			at := pythonLetters(c, w)
			rest := args[i+1:]
			if at == len(w.Text) {
				continue
			}
			if at+1 < len(w.Text) {
				rest = append([]program.Word{w.Tail(at + 1)}, rest...)
			} else {
				i++
			}
			switch w.Text[at] {
			case 'c':
				c.Does |= effect.InlineCode
				c.Guess(rest[min(1, len(rest)):])
				c.Finish()
				return
			case 'm':
				runModule(c, rest)
				return
			case 'X':
				pythonSetting(c, rest)
			}
		}
	}
	if len(args) == 0 || args[0].Text != "--version" && args[0].Text != "-V" && args[0].Text != "--help" && args[0].Text != "-h" {
		c.RunInput()
	}
	c.Finish()
}

// pythonScript runs a script, or what comes from standard input.
func pythonScript(c *program.Call, script program.Word, args []program.Word) {
	if script.Text == "-" {
		c.RunInput()
	} else {
		c.RunFile(script)
		framework(c, script, args)
	}
	program.Targets(c, args)
	c.Guess(args)
	c.Finish()
}

// pythonLetters reads the letters of one word up to one that has a value, and returns where that stands.
func pythonLetters(c *program.Call, w program.Word) int {
	at := strings.IndexAny(w.Text[1:], "cmWXQ") + 1
	if at == 0 {
		at = len(w.Text)
	}
	c.Scan([]program.Word{{Text: w.Text[:at], Unknown: w.Unknown && at == len(w.Text)}})
	if strings.Contains(w.Text[:at], "i") {
		c.Does |= effect.InlineCode
	}
	return at
}

// pythonSetting handles -X, which may say where compiled files are written.
func pythonSetting(c *program.Call, values []program.Word) {
	if len(values) == 0 {
		return
	}
	switch key, file, _ := strings.Cut(values[0].Text, "="); {
	case values[0].Unknown || key == "presite":
		c.Unclear("a setting of python is not known")
	case key == "pycache_prefix":
		c.Role('w', program.Known(file))
	}
}

// runModule handles python -m. A module that is also a program is that program.
func runModule(c *program.Call, words []program.Word) {
	if len(words) == 0 || words[0].Unknown {
		c.Unclear("which module runs is not known")
		c.Finish()
		return
	}
	name := words[0].Text
	for i := range modules {
		if program.Named(modules[i].Name, name) {
			if modules[i].Parse == nil {
				shadowed(c)
			}
			c.Apply(&modules[i], words[1:])
			return
		}
	}
	if row := c.Shell.Find(name); row != nil {
		shadowed(c)
		c.Apply(row, words[1:])
		return
	}
	c.Does |= effect.ProjectCode | effect.Unknown
	c.Guess(words[1:])
	c.Finish()
}

// vi handles ex, vi and vim, which take commands from standard input too.
func vi(c *program.Call) {
	if c.HasAny("e", "E") || c.Part.Program == "ex" {
		c.Does |= effect.InlineCode
	}
	if c.Input.Document != nil || c.Input.Output != nil || c.Input.File != nil {
		c.RunInput()
	}
	edit(c)
}

// shadowed executes the modules of the working directory that stand in for those which a module loads: without them it does nothing but
// what its row says.
func shadowed(c *program.Call) {
	c.File(policy.Execute, program.Word{Text: "{" + shadows + "}.py", Pattern: true})
	c.File(policy.Execute, program.Word{Text: "{" + shadows + "}/__init__.py", Pattern: true})
}

// shadows are modules that those of the table load: Python looks for them in the working directory first. Source: sys.modules of
// Python 3.11 after each of them.
const shadows = "argparse,array,ast,atexit,base64,binascii,bisect,bz2,calendar,collections,copy,copyreg,datetime,dis,email,enum,errno," +
	"fcntl,filecmp,fnmatch,functools,gc,gettext,glob,grp,gzip,hashlib,heapq,html,http,importlib,inspect,io,ipaddress,json," +
	"keyword,linecache,locale,logging,lzma,math,mimetypes,ntpath,opcode,operator,os,pathlib,platform,pwd,quopri,random,re," +
	"select,selectors,shlex,shutil,signal,socket,socketserver,ssl,stat,string,struct,subprocess,sysconfig,tarfile,tempfile," +
	"textwrap,threading,token,tokenize,traceback,types,typing,urllib,venv,warnings,weakref,webbrowser,zipfile,zipimport," +
	"zlib"

// edit handles an editor or a pager that a person would use. Commands among its operands are code.
func edit(c *program.Call) {
	for _, t := range c.Operands {
		if c.Part.Program == "less" && program.Named("+F|+G|+g", t.Text) {
			continue
		}
		if strings.HasPrefix(t.Text, "+") && len(t.Text) > 1 && (t.Text[1] < '0' || t.Text[1] > '9') {
			c.Does |= effect.InlineCode
		}
	}
}

// extractModule handles python -m zipfile and tarfile: with -e they unpack the first operand into the second.
func extractModule(c *program.Call) {
	if c.Has("c") && len(c.Operands) > 0 {
		for _, f := range c.Operands[1:] {
			program.Everything(c, f)
		}
	}
	if !c.Has("e") || len(c.Operands) == 0 {
		return
	}
	if len(c.Operands) > 1 {
		c.Enter(c.Operands[1])
	}
	program.Unpack(c)
	program.Unpacks(c, c.Operands[0], c.OK, 0, nil)
}

// serveFiles handles http.server: bound to this machine alone, it is a server as the project's own are.
func serveFiles(c *program.Call) {
	if v, ok := c.Value("b"); ok && !v.Unknown && program.Named("127.0.0.1|localhost|::1", v.Text) && len(c.Part.Unclear) == 0 {
		c.Does &^= effect.Listen | effect.Network
	}
}
