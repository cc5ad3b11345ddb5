package install

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mycelium/internal/atomicfile"
	"mycelium/internal/hook"
)

// Program is the small program that entries run. It is installed into the state folder, where no agent can write, with a note of where the
// whole program is.
type Program struct {
	Folder   string // where it is installed
	Myc      string // the whole program, absolute and with links resolved; the small one lies beside it
	Dir      string // the project folder
	Anywhere bool   // a person accepts a whole program in a place where an agent may write
}

// Path returns the path of the installed program.
func (p *Program) Path() string { return filepath.Join(p.Folder, hook.Small) }

// Source returns the path of the program that is installed: the one beside the whole program.
func (p *Program) Source() string { return filepath.Join(filepath.Dir(p.Myc), hook.Small) }

// Check returns the program that Install would install, or why it would not.
func (p *Program) Check() ([]byte, error) {
	if why := exposed(p.Myc, p.Dir); why != "" && !p.Anywhere {
		return nil, &FileError{p.Myc, errors.New(why + ", where an agent may write, and the hook would run it"),
			"copy myc and myc-hook to a folder such as /usr/local/bin or ~/.local/bin, and run that one; or accept it with --unsafe-program"}
	}
	source := p.Source()
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, &FileError{source, err, "build it beside myc: make build; or go build with CGO_ENABLED=0 ./cmd/myc-hook"}
	}
	if dynamic(text) {
		return nil, &FileError{source, errors.New("it is linked dynamically: a library that a project names in LD_PRELOAD could forge its " +
			"answers"), "build it with CGO_ENABLED=0, as make build does"}
	}
	return text, nil
}

// Install installs the program, if it is not the installed one already.
func (p *Program) Install() error {
	text, err := p.Check()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.Folder, 0o700); err != nil {
		return &FileError{p.Folder, err, "make its parent folder writable for you"}
	}
	note := hook.Installed{Myc: p.Myc, Digest: digest(text)}
	if old, err := os.ReadFile(p.Path()); err != nil || !bytes.Equal(old, text) {
		if err := atomicfile.Write(p.Path(), text, 0o700); err != nil {
			return &FileError{p.Path(), err, "make its folder writable for you"}
		}
	}
	if err := atomicfile.Write(hook.NotePath(p.Path()), note.JSON(), 0o600); err != nil {
		return &FileError{hook.NotePath(p.Path()), err, "make its folder writable for you"}
	}
	return nil
}

// Problems reports what keeps the installed program from working. again is how to mend it.
func (p *Program) Problems(again string) []Problem {
	text, err := os.ReadFile(p.Path())
	if err != nil {
		return []Problem{{fmt.Sprintf("the program of the hook cannot be read: %v", err), again}}
	}
	note, err := hook.ReadInstalled(p.Path())
	switch {
	case err != nil:
		return []Problem{{fmt.Sprintf("the note of the installed program cannot be read: %v", err), again}}
	case note.Digest != digest(text):
		return []Problem{{fmt.Sprintf("the program %s is not the one that was installed", p.Path()), again}}
	case !executable(note.Myc):
		return []Problem{{fmt.Sprintf("the program %s, which decides where no daemon runs, is not there", note.Myc), again}}
	}
	if st, err := os.Stat(p.Path()); err != nil || st.Mode().Perm()&0o111 == 0 {
		return []Problem{{fmt.Sprintf("the program %s cannot be executed", p.Path()), again}}
	}
	return nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// executable reports whether a path is a program.
func executable(path string) bool {
	st, err := os.Stat(path)
	return filepath.IsAbs(path) && err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o111 != 0
}

// dynamic reports whether a program loads libraries when it starts. On systems other than Linux, every program does.
func dynamic(text []byte) bool {
	f, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		return false
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return true
		}
	}
	return false
}

// exposed says in which place a program lies that an agent may write; "" if in none: this project, another one, or a folder for temporary
// files.
func exposed(program, project string) string {
	if resolved, err := filepath.EvalSymlinks(program); err == nil {
		program = resolved
	}
	if below(program, project) {
		return "it lies in the project " + project
	}
	for _, temp := range []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		if resolved, err := filepath.EvalSymlinks(temp); err == nil && below(program, resolved) {
			return "it lies in " + temp + ", a folder for temporary files"
		}
	}
	for at := filepath.Dir(program); at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, "mycelium.yaml")); !errors.Is(err, fs.ErrNotExist) {
			return "it lies in the project " + at
		}
	}
	return ""
}

// below reports whether a path lies in a folder.
func below(path, folder string) bool {
	return folder != "" && strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}
