package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"mycelium/internal/sandbox/proxy"
)

// Wants returns what a person can give a command that lacked it, and what is left to say without that: the proxy's refusals of hosts and
// packages that nobody named, and what the command said of files and hosts. Of a host that both name the proxy's word counts.
func (l Left) Wants() (refused []proxy.Refusal, said []Lack, rest Left) {
	rest = l
	rest.Lacks, rest.Refused = nil, nil
	for _, r := range l.Refused {
		if r.Nameable {
			refused = append(refused, r)
		} else {
			rest.Refused = append(rest.Refused, r)
		}
	}
	for _, lack := range l.Lacks {
		switch {
		case lack.Need == needNetwork && len(refused) > 0: // programs put it in words of their own
		case lack.Need == needNetwork && !nameable(lack.Host), lack.Protected != "":
			rest.Lacks = append(rest.Lacks, lack)
		case !lack.Own:
			said = append(said, lack)
		}
	}
	return refused, said, rest
}

// nameable reports whether a person can name a host that a command speaks of.
func nameable(host string) bool {
	_, err := proxy.ParseHost(host)
	return host != "" && host != "localhost" && err == nil
}

// Open returns the file or folder that has to be opened so that the command finds what it lacked: a file that is to be made needs its
// folder. note says what a person should know of it; "" for nothing. An agent is not told of either.
func (l Lack) Open() (path, note string) {
	path = l.Path
	if _, err := os.Lstat(path); err != nil {
		if l.Need != needWrite {
			return path, "is not on this machine"
		}
		path = filepath.Dir(path)
		if _, err := os.Lstat(path); err != nil {
			return path, "is not on this machine"
		}
		note = "is the folder in which it would make " + filepath.Base(l.Path)
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil && resolved != path {
		note = "leads to " + resolved
	}
	return path, note
}

// Give gives the command hosts, packages of registries, and paths that a person has looked at. A path that is not there, or that leads to what no command may have,
// is left out: it can lead elsewhere than when the person looked.
func (c *Command) Give(hosts, packages, read, write []string) {
	c.Hosts, c.Packages = append(slices.Clip(c.Hosts), hosts...), append(slices.Clip(c.Packages), packages...)
	for _, list := range []struct {
		to    *[]string
		from  []string
		write bool
	}{{&c.Read, read, false}, {&c.Write, write, true}} {
		for _, path := range list.from {
			resolved, err := filepath.EvalSymlinks(path)
			if err == nil && c.protects(path, list.write) == "" && c.protects(resolved, list.write) == "" {
				*list.to = append(slices.Clip(*list.to), path)
			}
		}
	}
}
