package facts

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"mycelium/internal/policy"
)

// Bounds of what is read of the archives of one call.
const (
	maxMembers  = 50_000
	maxUnpacked = 256 << 20 // bytes, unpacked: about a second
	maxArchives = 50
)

// errUnlisted is the error for an archive whose names cannot be read.
var errUnlisted = errors.New("the names in the archive cannot be read")

// member is one file of an archive. link is where it leads, if it is a link: from its own folder, or, if hard is set, from where the
// archive is unpacked.
type member struct {
	name, link string
	hard       bool
}

// unpacked completes the facts of a part that unpacks archives which exist: the names of the members are written paths. Files with the
// hooks of agents are refused by the base constraints; other protected files make the call ask, as with git.
// The links among them are noted for the parts behind it.
func (t *trees) unpacked(part *policy.Part, before *made) {
	for i := range part.Archives {
		a := &part.Archives[i]
		files := []string{a.Path}
		if a.Pattern {
			files, _ = doublestar.FilepathGlob(a.Path)
		}
		if len(files) > maxArchives {
			unclear(part, "it unpacks more archives than can be looked at")
			return
		}
		for _, file := range files {
			members, err := membersOf(file)
			switch {
			case errors.Is(err, os.ErrNotExist): // the command makes it, or fails
			case err != nil && holds(a.Dir, t.at.Dir): // a folder below governs nobody
				unclear(part, "which files "+filepath.Base(file)+" writes into the project is not known: "+err.Error())
			case err == nil:
				t.judge(part, a, members, before)
			}
		}
	}
}

// judge judges the members of an archive as files that are written.
func (t *trees) judge(part *policy.Part, a *policy.Archive, members []member, before *made) {
	links := map[string]string{}
	asks := ""
	for _, m := range members {
		name, ok := stripped(m.name, a.Strip)
		if !ok || !takes(a, m.name) {
			continue
		}
		at := through(links, path.Join(a.Dir, name))
		paths := []string{at}
		if to := m.link; to != "" {
			switch {
			case m.hard:
				to = path.Join(a.Dir, to)
			case !path.IsAbs(to):
				to = path.Join(path.Dir(at), to)
			}
			links[at], paths = to, append(paths, to)
			before.note(at, to)
		}
		for _, p := range paths {
			at := policy.Path{Access: policy.Write, Raw: p, Clean: p}
			switch {
			case len(part.Paths) > maxPaths/2:
				asks = "more files than can be looked at"
			case holdsHooks(p):
				part.Paths = append(part.Paths, at)
			case asks == "" && t.at.Protects != nil && t.at.Protects(at):
				asks = p
			}
		}
	}
	if asks != "" {
		unclear(part, "it also writes "+asks+", which is protected")
	}
}

// takes reports whether the call unpacks a member.
func takes(a *policy.Archive, name string) bool {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	for _, only := range a.Only {
		for p := name; p != "."; p = path.Dir(p) {
			if ok, err := doublestar.Match(only, p); ok || err != nil {
				return true
			}
		}
		if strings.ContainsAny(only, "*?[") { // a star of tar and unzip matches slashes too
			if ok, _ := doublestar.Match(strings.ReplaceAll(only, "*", "**/*"), name); ok || strings.HasPrefix(only, "*") {
				return true
			}
		}
	}
	return len(a.Only) == 0
}

// through follows the links that an archive has before a member.
func through(links map[string]string, p string) string {
	for folder := path.Dir(p); len(links) > 0 && len(folder) > 1; folder = path.Dir(folder) {
		if to, ok := links[folder]; ok {
			return path.Join(to, p[len(folder):])
		}
	}
	return p
}

// stripped returns a name without its first folders. ok is false for a name that has no more.
func stripped(name string, folders int) (string, bool) {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if folders < 0 {
		return path.Base(name), true
	}
	for ; folders > 0; folders-- {
		var ok bool
		if _, name, ok = strings.Cut(name, "/"); !ok {
			return "", false
		}
	}
	return name, name != ""
}

// membersOf returns the members of an archive: zip, or tar as it is or packed by gzip or bzip2.
func membersOf(file string) ([]member, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errUnlisted
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	head, _ := r.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte("PK")):
		return zipMembers(f, info.Size())
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, errUnlisted
		}
		return tarMembers(z)
	case bytes.HasPrefix(head, []byte("BZh")):
		return tarMembers(bzip2.NewReader(r))
	}
	return tarMembers(r)
}

func zipMembers(f io.ReaderAt, size int64) (list []member, err error) {
	z, err := zip.NewReader(f, size)
	if err != nil || len(z.File) > maxMembers {
		return nil, errUnlisted
	}
	for _, e := range z.File {
		m := member{name: strings.ReplaceAll(e.Name, `\`, "/")}
		if e.Mode()&os.ModeSymlink != 0 {
			if r, err := e.Open(); err == nil {
				to, _ := io.ReadAll(io.LimitReader(r, maxPath))
				m.link = string(to)
				_ = r.Close()
			}
		}
		list = append(list, m)
	}
	return list, nil
}

func tarMembers(r io.Reader) (list []member, err error) {
	bounded := &io.LimitedReader{R: r, N: maxUnpacked}
	for t := tar.NewReader(bounded); ; {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF) && bounded.N > 0:
			return list, nil
		case err != nil || len(list) > maxMembers:
			return nil, errUnlisted
		}
		m := member{name: h.Name}
		switch h.Typeflag {
		case tar.TypeSymlink:
			m.link = h.Linkname
		case tar.TypeLink: // its target is a name like that of a member
			m.link, m.hard = h.Linkname, true
		}
		list = append(list, m)
	}
}
