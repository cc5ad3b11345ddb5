package code

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"mycelium/internal/lazy"
	"mycelium/internal/policy"
	"mycelium/internal/shell"
)

// language says how a file names other files that run with it.
type language uint8

const (
	byContent language = iota // what its first line or its name says
	opaque                    // nothing is looked for: a program, or data
	shellScript
	python
	javascript
	ruby
	makefile
	unknownCode // a language in which nothing is looked for, though it may load more
)

// interpreters are the programs that read a language.
var interpreters = map[string]language{
	"sh": shellScript, "bash": shellScript, "dash": shellScript, "zsh": shellScript, "ksh": shellScript, ".": shellScript,
	"source": shellScript, "python": python, "python2": python, "python3": python, "pypy": python, "pypy3": python, "node": javascript,
	"nodejs": javascript, "bun": javascript, "deno": javascript, "tsx": javascript, "ts-node": javascript, "ruby": ruby, "make": makefile,
	"gmake": makefile, "perl": unknownCode, "php": unknownCode, "Rscript": unknownCode, "lua": unknownCode, "rake": unknownCode,
	"just": unknownCode, "java": opaque, "psql": opaque,
}

// languageOf returns the language of a file that a program executes.
func languageOf(program, path string) language {
	if isInstalled(path) {
		return opaque
	}
	if l, known := interpreters[strings.TrimRight(program, "0123456789.")]; known && program != "." {
		return l
	}
	return interpreters[program]
}

// IsInterpreter reports whether a program, or its path, runs the file that it is given.
func IsInterpreter(program string) bool { return languageOf(filepath.Base(program), "") != byContent }

// IsProgramName reports whether a path has the name of a program in a language whose files are known by their names.
func IsProgramName(path string) bool {
	switch filepath.Ext(path) {
	case ".so", ".pyd", ".dll", ".dylib", ".wasm", ".jar", ".class", ".pyc", ".pyz", ".php", ".pl", ".pm", ".lua", ".r", ".R", ".zsh", ".fish", ".ps1":
		return true
	case "":
		return false
	}
	return languageIn(path, nil) != unknownCode
}

// IsProgram reports whether a file may be run: by its name, because it is executable, or because its first line names an interpreter. A
// file that cannot be read may be run.
func IsProgram(path string) bool {
	st, err := os.Stat(path)
	if err != nil || IsProgramName(path) || st.Mode()&0o111 != 0 {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, 2)
	n, _ := io.ReadFull(f, head)
	return string(head[:n]) == "#!"
}

// isInstalled reports whether a package manager put a file where it is. Its bytes are digested, and what it loads is not looked for.
func isInstalled(path string) bool {
	for _, part := range [...]string{"/node_modules/", "/site-packages/", "/venv/bin/", "/.venv/bin/", "/.cargo/bin/", "/vendor/bin/"} {
		if strings.Contains(path, part) {
			return true
		}
	}
	return false
}

// languageIn returns the language of a file that is started by its name.
func languageIn(path string, text []byte) language {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if line, ok := bytes.CutPrefix(first, []byte("#!")); ok {
		for word := range strings.FieldsSeq(string(line)) {
			if l := languageOf(filepath.Base(word), path); l != byContent {
				return l
			}
		}
		return unknownCode
	}
	if bytes.IndexByte(text[:min(len(text), 512)], 0) >= 0 {
		return opaque
	}
	switch filepath.Ext(path) {
	case ".py":
		return python
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx":
		return javascript
	case ".rb":
		return ruby
	case ".mk":
		return makefile
	case ".sh", ".bash", "":
		return shellScript // a text without a first line of its own is read by a shell
	}
	return unknownCode
}

// follow looks in a file for what it runs or loads.
func (r *reader) follow(s source) {
	if len(s.text) > maxText {
		r.unread(fmt.Sprintf("what %s runs in turn: it is longer than %d KiB", s.path, maxText>>10))
		return
	}
	switch s.language {
	case shellScript:
		r.script(s)
	case python:
		r.python(s)
	case javascript:
		r.javascript(s)
	case ruby:
		r.matches(s, rubyLoads(), func(name string) { r.file(withExt(filepath.Join(filepath.Dir(s.path), name), ".rb"), ruby) })
	case makefile:
		r.makefile(s)
	case unknownCode:
		r.out.More = true
	case byContent, opaque:
	}
}

// ownFolder matches the ways in which a script writes the folder that it lies in.
var (
	ownFolder = lazy.Regexp(`\$\(\s*dirname\s+(?:-- )?"?\$(?:0|\{0\}|\{BASH_SOURCE\}|BASH_SOURCE|\{BASH_SOURCE\[0\]\})"?\s*\)` +
		`|\$\{(?:0|BASH_SOURCE|BASH_SOURCE\[0\])%/\*\}`)
	absFolder = lazy.Regexp(`\$\(\s*cd\s+(?:-P )?(?:-- )?"?(/[A-Za-z0-9._/+@-]*)"?\s*(?:(?:&>|>|1>)\s*/dev/null\s*)?(?:2>&1\s*)?` +
		`&&\s*pwd(?:\s+-P)?\s*\)`)
	plainPath = lazy.Regexp(`^/[A-Za-z0-9._/+@-]*$`)
)

// script looks in a shell script. What it names is looked for where the call works and beside the script; a cd of the call before it may
// have led to either.
func (r *reader) script(s source) {
	text, dir := s.text, filepath.Dir(s.path)
	if len(text) >= shell.MaxLength {
		r.unread(fmt.Sprintf("what %s runs in turn: it is longer than %d bytes", s.path, shell.MaxLength))
		return
	}
	if plainPath().MatchString(dir) {
		text = ownFolder().ReplaceAllLiteralString(text, dir)
		text = absFolder().ReplaceAllString(text, "$1")
	}
	for _, at := range [...]string{r.dir, dir} {
		f := r.commandsOf(text, at)
		for i := range f.Parts {
			p := &f.Parts[i]
			if len(p.Unclear) > 0 && (p.Program == "" || has(p, policy.EffectProjectCode, policy.EffectInlineCode)) {
				r.unread("what " + s.path + " runs in turn: " + strings.Join(p.Unclear, ", "))
				p.Unclear = nil
			}
			r.part(p, &f)
		}
		if dir == r.dir {
			break
		}
	}
}

var (
	// dynamic matches what runs or loads code by a name that is made when the program runs.
	dynamic = lazy.Regexp(`\b(?:exec|eval|execfile|compile|__import__|import_module|runpy|subprocess|system|popen|Popen|spawn|` +
		`spawnSync|execSync|execFile|fork|child_process|Function|vm|instance_eval|load|open3)\b|\x60`)
	scriptLoads = lazy.Regexp(`(?:\bfrom|\bimport|\brequire(?:\.resolve)?)\s*\(?\s*["'\x60]([^"'\x60$\n]+)["'\x60]`)
	rubyLoads   = lazy.Regexp(`(?m)^\s*(?:require_relative|load)\s*\(?\s*["']([^"'#\n]+)["']`)
)

// matches calls f for each first group of a pattern in a text, and notes that a text with dynamic names may run more.
func (r *reader) matches(s source, pattern *regexp.Regexp, f func(name string)) {
	if dynamic().MatchString(s.text) {
		r.out.More = true
	}
	for _, m := range pattern.FindAllStringSubmatch(s.text, -1) {
		f(m[1])
	}
}

// javascript looks for the files that a script imports by a path. Packages are not read.
func (r *reader) javascript(s source) {
	dir := filepath.Dir(s.path)
	r.matches(s, scriptLoads(), func(name string) {
		if !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "/") {
			r.out.More = r.out.More || !strings.HasPrefix(name, "node:") && inPackages(dir, name)
			return
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		r.file(name, javascript)
		r.file(name+".js", javascript)
		for _, end := range [...]string{".json", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", "/index.js", "/index.ts", "/package.json"} {
			if _, there := stat(name + end); there {
				r.file(name+end, javascript)
			}
		}
	})
}

// inPackages reports whether a package is installed for a script in a folder.
func inPackages(dir, name string) bool {
	for {
		if _, there := stat(filepath.Join(dir, "node_modules", name)); there {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
}

// withExt returns a path with an extension, if it has none.
func withExt(path, ext string) string {
	if filepath.Ext(path) == "" {
		return path + ext
	}
	return path
}
