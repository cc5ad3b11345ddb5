package sandbox

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/registry"
	"mycelium/internal/sandbox/committed"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/proxy"
)

// authorities is the file of the authorities that a command trusts if the proxy opens TLS, and trustStore that for Java.
const (
	authorities = inside + "/ca.pem"
	trustStore  = inside + "/ca.p12"
)

// wayOut makes the proxy of the command; nil if it needs none. It is called before the command starts.
func (c *Command) wayOut(ctx context.Context) (*proxy.Proxy, error) {
	if err := c.seats(); err != nil {
		return nil, err
	}
	none := len(c.Hosts)+len(c.Masks)+len(c.Registries) == 0
	if none && (!c.Asks || c.Profile.Network) {
		return nil, nil
	}
	if c.Profile.Network {
		return nil, errors.New("the command has the network of the machine: hosts, masks and registries count only without it")
	}
	from := proxy.Registries{Open: c.Registries, Packages: c.Packages}
	if len(c.Registries) > 0 {
		from.Locked = c.locked(ctx)
	}
	return proxy.New(c.Hosts, c.Masks, from, c.outside, c.asksFor())
}

// locked returns the function that reads the packages of the lock files that count. Which commit they are of is settled now: the command may
// make one of its own. They are read as that commit has them, when they are needed.
func (c *Command) locked(ctx context.Context) func() *registry.Locked {
	folder, commit := cmp.Or(c.Locks.Folder, c.Project), c.Locks.Commit
	if commit == "" {
		commit = c.Head(ctx, folder)
	}
	at := committed.Repository{Git: c.git(), Dir: committed.Of(folder)}
	return func() *registry.Locked {
		var out registry.Locked
		if commit == NoCommit {
			return &out
		}
		files, err := at.Files(ctx, commit, registry.IsLock)
		if err != nil {
			out.Fail(err)
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			out.Read(name, files[name])
		}
		return &out
	}
}

// Head returns the name of the commit that is checked out in a folder now, or [NoCommit]. In a repository of the agent's no git runs.
func (c *Command) Head(ctx context.Context, folder string) string {
	at := committed.Repository{Git: c.git(), Dir: committed.Of(folder)}
	if at.Git == "" || at.Dir == "" || c.Untrusted && below(folder, c.Project) {
		return NoCommit
	}
	id, err := at.Head(ctx)
	if err != nil {
		return NoCommit
	}
	return id
}

// asksFor says to the command how a host is asked for: an agent is told what it can do itself.
func (c *Command) asksFor() string {
	if c.Asks {
		return "Run the same command again: if a person may allow it, they are asked"
	}
	return "A person allows a host in their own terminal (myc sandbox exec --host NAME; a package: --package REGISTRY:NAME) or in the configuration; an agent tells them which"
}

// serve runs a proxy on the listener of the command. The function that it returns ends the proxy, and returns what it refused.
func serve(way *proxy.Proxy, l net.Listener) (end func() []proxy.Refusal) {
	if way == nil || l == nil {
		return func() []proxy.Refusal { return nil }
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		way.Serve(l)
	}()
	return func() []proxy.Refusal {
		refused := way.Close()
		<-done
		return refused
	}
}

// trusted are the parts of the root that the proxy needs.
func trusted(way *proxy.Proxy) (out []jail.Bind, err error) {
	if data := way.Authorities(); data != nil {
		out = append(out, jail.Bind{Kind: jail.File, Target: authorities, Data: data})
	}
	data, err := way.TrustStore()
	if data != nil {
		out = append(out, jail.Bind{Kind: jail.File, Target: trustStore, Data: data})
	}
	return out, err
}

// javaEnviron adds the variables that lead Maven and Gradle to the proxy. Values that they have already stay. Maven's local repository is with
// the caches of the project, because the person's own is read-only; Maven from 3.9 on is told to look there too.
func (c *Command) javaEnviron(env []string, way *proxy.Proxy) []string {
	options := way.Java(jail.ListenAddr, trustStore)
	if options == nil {
		return env
	}
	if c.Home != "" && !strings.Contains(c.Home, " ") { // the options are split at spaces
		options = append(options, "-Dmaven.repo.local="+filepath.Join(c.Home, ".cache", "maven"),
			"-Dmaven.repo.local.tail="+filepath.Join(c.Home, ".m2", "repository"))
	}
	for _, name := range []string{"MAVEN_OPTS", "GRADLE_OPTS"} {
		all := options
		env = slices.DeleteFunc(env, func(v string) bool {
			value, is := strings.CutPrefix(v, name+"=")
			if is {
				all = append([]string{value}, options...)
			}
			return is
		})
		env = append(env, name+"="+strings.Join(all, " "))
	}
	return env
}
