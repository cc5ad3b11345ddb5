package sandbox

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mycelium/internal/lazy"
	"mycelium/internal/sandbox/jail"
)

// Lack is something that a command that failed may have wanted. It is read from what the command said, which is the only sign that there
// is: many programs look for files that need not be there.
type Lack struct {
	Need      string `json:"need"`                // read, write or network
	Path      string `json:"path,omitempty"`      // absolute; of read and write
	Host      string `json:"host,omitempty"`      // of network, if the command named one
	Protected string `json:"protected,omitempty"` // why nobody may be given the path; empty: a person may give it
	There     bool   `json:"-"`                   // the path is on the machine. This is for people: agents are not told
	Own       bool   `json:"-"`                   // the path is in a folder of the sandbox's own, such as /tmp
}

// The needs.
const (
	needRead    = "read"
	needWrite   = "write"
	needNetwork = "network"
)

// mostHeard is how much is kept of what a command says at last, in bytes; mostLacks bounds what is made of it.
const (
	mostHeard = 16 << 10
	mostLacks = 5
)

// heard passes on what is written to it, and keeps its end. The output of the command and notices about its servers come at the same time.
type heard struct {
	mu   sync.Mutex
	to   io.Writer
	last []byte
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = append(h.last, p...)
	if len(h.last) > 2*mostHeard {
		h.last = append(h.last[:0], h.last[len(h.last)-mostHeard:]...)
	}
	return h.to.Write(p)
}

// listen puts itself between the command and its standard error, unless that is a terminal: an interactive program needs it as it is. If
// both streams are one file, they stay one, so that their lines keep their order.
func (c *Command) listen() *heard {
	if c.Err == nil || isDevice(c.Err) {
		return &heard{}
	}
	h := &heard{to: c.Err}
	if c.Out == c.Err || sameFile(c.Out, c.Err) {
		c.Out = h
	}
	c.Err = h
	return h
}

func isDevice(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err != nil || st.Mode()&os.ModeCharDevice != 0
}

func sameFile(a, b io.Writer) bool {
	f, ok := a.(*os.File)
	g, too := b.(*os.File)
	if !ok || !too {
		return false
	}
	one, err := f.Stat()
	other, alsoErr := g.Stat()
	return err == nil && alsoErr == nil && os.SameFile(one, other)
}

// noFile, noWrite and noNetwork are the ways in which programs say that something is not there, is read-only, or cannot be reached. The
// last one has the host in its group.
var (
	noFile    = lazy.Regexp(`(?i)no such file or directory|permission denied|\bENOENT\b|\bEACCES\b`)
	noWrite   = lazy.Regexp(`(?i)read-only file system|\bEROFS\b`)
	noNetwork = lazy.Regexp(`(?i)(?:could not resolve host(?:name)?:? *|getaddrinfo (?:EAI_AGAIN|ENOTFOUND) *|` +
		`dial tcp: lookup |^npm error request to https://)([a-z0-9.-]+)|` +
		`temporary failure in name resolution|name or service not known|network is unreachable|\bENETUNREACH\b|\bEAI_AGAIN\b`)
	inQuotes = lazy.Regexp("'([^']+)'|\"([^\"]+)\"|‘([^’]+)’|`([^`]+)`")
)

// lacks reads what a command that failed may have wanted.
func (c *Command) lacks(spec *jail.Spec, said []byte) (out []Lack) {
	for line := range bytes.Lines(said) {
		l, ok := c.lack(spec, strings.TrimSpace(string(line)))
		if ok && !slices.Contains(out, l) && len(out) < mostLacks {
			out = append(out, l)
		}
	}
	return out
}

func (c *Command) lack(spec *jail.Spec, line string) (Lack, bool) {
	if m := noNetwork().FindStringSubmatch(line); m != nil {
		return Lack{Need: needNetwork, Host: strings.Trim(m[1], ".")}, !spec.Network
	}
	need, at := needWrite, noWrite().FindStringIndex(line)
	if at == nil {
		need, at = needRead, noFile().FindStringIndex(line)
	}
	if at == nil {
		return Lack{}, false
	}
	for _, name := range namesIn(line, at[0]) {
		if l, ok := c.wanted(spec, name, need); ok {
			return l, true
		}
	}
	return Lack{}, false
}

// namesIn returns the words of a message that can be the name of a file: those in quotes, or the last one before the reason.
func namesIn(line string, reason int) (names []string) {
	for _, m := range inQuotes().FindAllStringSubmatch(line, -1) {
		names = append(names, strings.Join(m[1:], ""))
	}
	if names != nil {
		return names
	}
	before := strings.TrimRight(line[:reason], ": ([")
	if i := strings.LastIndexAny(before, " \t"); i >= 0 {
		before = before[i+1:]
	}
	if before == "" {
		return nil
	}
	return []string{before}
}

// wanted says what it would take that a command finds a file.
func (c *Command) wanted(spec *jail.Spec, name, need string) (Lack, bool) {
	path := name
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(c.Home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(spec.Dir, path)
	}
	path = filepath.Clean(path)
	part := partOf(spec, path)
	shown := part.Kind != jail.Temp && part.Target != ""
	switch {
	case below(path, "/proc"), below(path, "/dev"),
		need == needRead && shown, need == needWrite && (!shown || part.Write),
		need == needWrite && slices.ContainsFunc(system, func(dir string) bool { return below(path, dir) }):
		return Lack{}, false
	}
	l := Lack{Need: need, Path: path, Own: slices.Contains(private, part.Target), Protected: c.protects(path, need == needWrite)}
	_, err := os.Lstat(path)
	if err != nil && need == needWrite {
		_, err = os.Lstat(filepath.Dir(path)) // it would be made
	}
	l.There = err == nil
	return l, true
}

// partOf returns the part of the root of a command in which a path lies; its target is empty if there is none.
func partOf(spec *jail.Spec, path string) (part jail.Bind) {
	for _, b := range spec.Binds {
		if below(path, b.Target) {
			part = b
		}
	}
	return part
}

// protects says why a command is never given a path; "" if a person may give it.
func (c *Command) protects(path string, write bool) string {
	for _, hidden := range c.Hide {
		if below(path, hidden) || below(hidden, path) {
			return "no command of the sandbox may open it"
		}
	}
	return c.refusal(path, write)
}

// Say tells a person what the command may have wanted; "" if that cannot be told, or nothing can be done.
func (l Lack) Say() string {
	switch {
	case l.Need == needNetwork && l.Host != "":
		return "there is no network in this profile, and it wanted " + l.Host + ": --allow-network"
	case l.Need == needNetwork:
		return "there is no network in this profile: --allow-network"
	case l.Protected != "":
		return l.Path + " is protected: " + l.Protected
	case !l.There:
		return ""
	}
	return "it may lack " + l.Path + ": --" + l.Need + " " + l.Path
}

// SayToAgent is Say for an agent, which learns from it nothing of what is on the machine; "" if there is nothing to say.
func (l Lack) SayToAgent() string {
	switch {
	case l.Need == needNetwork && l.Host != "":
		return "there is no network in this profile, and the command wanted " + l.Host + ": a person may open it"
	case l.Need == needNetwork:
		return "there is no network in this profile: a person may open it"
	case l.Protected != "":
		return l.Path + " is protected: " + l.Protected
	case l.Own:
		return ""
	case l.Need == needWrite:
		return l.Path + " is read-only in this profile: name it under writePaths, or ask a person"
	}
	return l.Path + " is not in the sandbox: a person may show it, if there is such a file (--read)"
}
