package backend

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/backend/httpclient"
	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/text"
)

// launch is a server's entry with everything expanded.
type launch struct {
	mcpclient.Target
	oauth *oauth.Config // nil: the entry says nothing about OAuth
	realm string        // who may use the tokens of this server: a project's folder; empty: every project of the user
}

// inherited are the variables that a server inherits from our environment. It inherits no other: no key of a model, no token of ours, no
// credential of the shell that started us (T13).
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR", "TZ"}

// inheritedPrefixes are the prefixes of further inherited variables.
var inheritedPrefixes = []string{"LC_", "XDG_"}

func isInherited(name string) bool {
	return slices.Contains(inherited, name) ||
		slices.ContainsFunc(inheritedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// resolve expands an entry. dir is the project folder. A variable without a value is an error, which names all such variables: an empty
// string in the place of a token would cause a misleading refusal.
//
// Without find no secret is looked up. An entry that names a secret is then expanded as far as possible, and cannot be launched.
func (s *Server) resolve(dir string, vars variables, find lookup) (*launch, error) {
	x := &expander{vars: vars, find: find}
	if err := s.check(); err != nil {
		return nil, err
	}
	l := &launch{Target: mcpclient.Target{Dir: dir, SSE: s.Type == typeSSE}}
	var address string
	if s.isHTTP() {
		address = x.expand(s.URL)
		l.Headers = make(map[string]string, len(s.Headers))
		for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
			l.Headers[k] = x.expand(s.Headers[k])
		}
		if s.OAuth != nil {
			l.oauth = s.OAuth.Expand(x.expand)
		}
		if !s.Shared {
			l.realm = dir
		}
	} else {
		l.Argv = []string{x.expand(s.Command)}
		for _, a := range s.Args {
			l.Argv = append(l.Argv, x.expand(a))
		}
		if cwd := x.expand(s.Cwd); filepath.IsAbs(cwd) {
			l.Dir = cwd
		} else {
			l.Dir = filepath.Join(dir, cwd)
		}
		l.Env = s.childEnv(x)
	}
	if x.missing != nil {
		return nil, &missingError{names: x.missing}
	}
	if x.faults != nil {
		return nil, text.Hinted(errors.Join(x.faults...), "docs/secrets.md says where secrets can be and how to put them there")
	}
	if x.unasked {
		return l, nil
	}
	l.Secrets = secretsOf(x.used, s, l)
	if s.isHTTP() {
		if err := l.parseURL(address); err != nil {
			return nil, err
		}
		return l, l.checkOAuth()
	}
	program, err := lookPath(l.Argv[0], environment(l.Env)["PATH"], l.Dir)
	if err != nil {
		return nil, l.Secrets.Error(err)
	}
	l.Argv[0] = program
	return l, nil
}

// Confined is a server that is to run in the sandbox.
type Confined struct {
	Profile string
	Walls   string        // as [Server.Walls]
	Argv    []string      // the program, by its absolute path, and its arguments
	Dir     string        // absolute: its working directory
	Env     []string      // all of its environment
	Own     []string      // the names of those variables of Env that its entry sets
	Grace   time.Duration // from SIGTERM to the end of its processes
}

// Confine returns the argument vector and the environment of a program that runs a server in the sandbox, on its own standard streams. If
// it cannot, nothing may be started.
type Confine func(Confined) (argv, env []string, err error)

// confine makes the launch of a server that of the program which runs it in the sandbox, if its entry says so.
func (l *launch) confine(s *Server, how Confine) (err error) {
	if s.Sandbox == "" {
		return nil
	}
	if how == nil || l.Argv == nil {
		return errors.New("it is to run in the sandbox, and there is none for it")
	}
	l.Argv, l.Env, err = how(Confined{Profile: s.Sandbox, Walls: s.Walls, Argv: l.Argv, Dir: l.Dir, Env: l.Env,
		Own:   slices.Sorted(maps.Keys(s.Env)),
		Grace: s.Stop.or(DefaultStop) / 2, // the other half is for what the keeper waits before, and for the sandbox itself
	})
	if err != nil {
		return l.Secrets.Error(err)
	}
	l.Dir = "/"
	return nil
}

func (l *launch) parseURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("url is not an http or https address") // the address may carry a secret, so the error does not show it
	}
	l.URL = u
	return nil
}

// checkOAuth checks the OAuth configuration after its variables were expanded.
func (l *launch) checkOAuth() error {
	if l.oauth == nil {
		return nil
	}
	if err := l.noOAuth(); err != nil {
		return err
	}
	if err := l.oauth.Check(); err != nil {
		return l.Secrets.Error(err)
	}
	return nil
}

// noOAuth says why we get no token for a server; nil: we may.
func (l *launch) noOAuth() error {
	for k := range l.Headers {
		if strings.EqualFold(k, "Authorization") {
			return text.Hinted(errors.New("its entry has an Authorization header, so that no token is got for it"), "keep headers or oauth")
		}
	}
	if l.URL.Scheme == "http" && !httpclient.IsLoopback(l.URL.Hostname()) {
		return text.Hinted(errors.New("its url is not https, so that a token could be read on its way"),
			"write https, or a server on this machine")
	}
	return nil
}

// childEnv is the environment of a server: the inherited variables, and those of its entry, which win.
func (s *Server) childEnv(x *expander) []string {
	env := map[string]string{}
	for k, v := range x.vars {
		if isInherited(k) {
			env[k] = v
		}
	}
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		env[k] = x.expand(s.Env[k])
	}
	list := make([]string, 0, len(env))
	for _, k := range slices.Sorted(maps.Keys(env)) {
		list = append(list, k+"="+env[k])
	}
	return list
}

// lookPath finds a program by the server's own PATH, from the server's own folder.
func lookPath(name, path, dir string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if err := isProgram(name); err != nil {
			return "", fmt.Errorf("command %s: %w", name, err)
		}
		return name, nil
	}
	for _, d := range filepath.SplitList(path) {
		// Relative folders are ignored, as in os/exec: their meaning depends on the working directory.
		if file := filepath.Join(d, name); filepath.IsAbs(d) && isProgram(file) == nil {
			return file, nil
		}
	}
	return "", text.Hinted(fmt.Errorf("command %s: not found in PATH", name), "install it, or write its whole path as the command")
}

func isProgram(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("no such file")
	case err != nil:
		return errors.Unwrap(err)
	case info.IsDir():
		return errors.New("is a folder")
	case info.Mode()&0o111 == 0:
		return text.Hinted(errors.New("is not executable"), "chmod +x")
	}
	return nil
}
