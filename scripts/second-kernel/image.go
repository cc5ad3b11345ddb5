package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// file is a file, a folder or a link of the guest. All of them belong to root.
type file struct {
	path string
	mode uint32
	from string // the file of this machine that it is a copy of
	text string // what it contains, or where the link leads
}

// Types of files in a mode (inode(7)).
const (
	folder = 0o040000
	plain  = 0o100000
	link   = 0o120000
)

// build builds the programs for the guest: this one, myc, the tests of the sandbox, and Debian's that they start.
func build(ctx context.Context, cache string) ([]file, error) {
	dir := filepath.Join(cache, "programs")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.Setenv("CGO_ENABLED", "0")); err != nil { //nolint:gosec // no secret is in them
		return nil, err
	}
	for _, args := range [][]string{
		{"build", "-o", dir + "/init", "./scripts/second-kernel"},
		{"build", "-ldflags=-s -w", "-o", dir + "/myc", "./cmd/myc"},
		{"test", "-c", "-ldflags=-s -w", "-o", dir + "/sandbox.test", "./internal/sandbox"},
	} {
		if _, err := command(ctx, "", "go", args...); err != nil {
			return nil, err
		}
	}
	out := []file{
		{path: "init", from: dir + "/init", mode: 0o755},
		{path: "usr/bin/myc", from: dir + "/myc", mode: 0o755},
		{path: "usr/bin/sandbox.test", from: dir + "/sandbox.test", mode: 0o755},
		{path: "bin", mode: link, text: "usr/bin"}, {path: "sbin", mode: link, text: "usr/sbin"},
		{path: "lib", mode: link, text: "usr/lib"}, {path: "lib64", mode: link, text: "usr/lib64"},
		{path: "etc/passwd", mode: 0o644, text: "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home/nobody:/bin/sh\n"},
		{path: "etc/group", mode: 0o644, text: "root:x:0:\nnogroup:x:65534:\n"},
		{path: "etc/shadow", mode: 0o600, text: "root:*:20000:0:99999:7:::\n"},
	}
	for _, name := range []string{"proc", "sys", "dev", "tmp", "run", "root", "home", "var/tmp", "usr/sbin", "mnt", "real"} {
		out = append(out, file{path: name, mode: folder | 0o755})
	}
	debian, err := debianPrograms(ctx, cache)
	return append(out, debian...), err
}

// debianPrograms are the programs of Debian that the tests start, and the parser of AppArmor with what its profiles include. They are of
// trixie, because the parser of bookworm does not know the rule for user namespaces.
func debianPrograms(ctx context.Context, cache string) ([]file, error) {
	a, err := openArchive(ctx, cache, "trixie")
	if err != nil {
		return nil, err
	}
	root, err := a.fetch(ctx, "libc6", "dash", "coreutils", "apparmor")
	if err != nil {
		return nil, err
	}
	const libs = "usr/lib/x86_64-linux-gnu/"
	var out []file
	for _, name := range []string{"usr/bin/dash", "usr/bin/cat", "usr/bin/sleep", "usr/bin/true", "usr/bin/echo", "usr/sbin/apparmor_parser",
		libs + "ld-linux-x86-64.so.2", libs + "libc.so.6", libs + "libm.so.6"} {
		from := filepath.Join(root, name)
		if _, err := os.Stat(from); err != nil {
			from = filepath.Join(root, strings.TrimPrefix(name, "usr/")) // before the folders were merged
		}
		out = append(out, file{path: name, from: from, mode: 0o755})
	}
	out = append(out, file{path: "usr/bin/sh", mode: link, text: "dash"},
		file{path: "usr/lib64/ld-linux-x86-64.so.2", mode: link, text: "../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"})
	err = filepath.WalkDir(filepath.Join(root, "etc/apparmor.d"), func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		part := strings.Contains(rel, "/abi/") || strings.Contains(rel, "/tunables/")
		if err == nil && part && d.Type().IsRegular() {
			out = append(out, file{path: rel, from: path, mode: 0o644})
		}
		return err
	})
	return append(out, file{path: "etc/apparmor/parser.conf", mode: 0o644}), err
}

// writeArchive writes the first file system of the guest: a cpio archive of the kind "newc"
// (the kernel's Documentation/driver-api/early-userspace/buffer-format.rst).
func writeArchive(path string, files []file) (err error) {
	f, err := os.Create(path) //nolint:gosec // in our own folder
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := &padded{w: bufio.NewWriter(f)}
	made := map[string]bool{".": true}
	for _, e := range files {
		for _, dir := range parents(e.path) {
			if !made[dir] {
				made[dir] = true
				w.entry(dir, folder|0o755, nil)
			}
		}
		data := []byte(e.text)
		if e.from != "" {
			if data, err = os.ReadFile(e.from); err != nil {
				return err
			}
		}
		switch {
		case e.mode&0o170000 == folder && made[e.path]:
			continue
		case e.mode&0o170000 == link:
			e.mode |= 0o777
		case e.mode&0o170000 == 0:
			e.mode |= plain
		}
		made[e.path] = true
		w.entry(e.path, e.mode, data)
	}
	w.entry("TRAILER!!!", 0, nil)
	return errors.Join(w.err, w.w.Flush())
}

// parents are the folders above a path, from the top.
func parents(path string) []string {
	var out []string
	for i, c := range path {
		if c == '/' {
			out = append(out, path[:i])
		}
	}
	return out
}

// padded writes the entries of an archive.
type padded struct {
	w   *bufio.Writer
	err error
}

func (p *padded) entry(name string, mode uint32, data []byte) {
	p.write(fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0, name)) // one link each, so the kernel needs no numbers
	p.write(string(data))
}

// write writes a part, up to a multiple of four.
func (p *padded) write(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s+"\x00\x00\x00"[:(4-len(s)%4)%4])
	}
}
