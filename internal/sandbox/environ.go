package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// passed are the variables that a command inherits. None of them has a secret in common use. A name that ends with * is a beginning.
var passed = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR",
	"COLUMNS", "LINES", "SHELL", "CI", "SOURCE_DATE_EPOCH",
	"GOFLAGS", "GOPATH", "GOTOOLCHAIN", "GOOS", "GOARCH", "CGO_ENABLED", "GO111MODULE", "GOROOT", "GOPRIVATE",
	"NODE_ENV", "NODE_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYENV_ROOT", "PYENV_VERSION", "NVM_DIR", "CARGO_HOME",
	"RUSTUP_HOME",
	"RUSTFLAGS", "RUST_BACKTRACE", "JAVA_HOME", "MAVEN_OPTS", "GRADLE_USER_HOME", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "MAKEFLAGS",
	"DEBUG", "VERBOSE", "PAGER", "GIT_PAGER", "GIT_EDITOR", "CLAUDECODE"}

// offline tells npm and npx that there is no network. Otherwise they try for more than a minute before they say so.
const offline = "npm_config_offline=true"

// environ is the environment of the command.
func (c *Command) environ() []string {
	var out []string
	for _, v := range c.Environ {
		name, _, _ := strings.Cut(v, "=")
		if slices.ContainsFunc(passed, func(p string) bool {
			begin, open := strings.CutSuffix(p, "*")
			return name == p || open && strings.HasPrefix(name, begin)
		}) && name != "HOME" {
			out = append(out, v)
		}
	}
	if c.Home != "" {
		out = append(out, "HOME="+c.Home, "XDG_CACHE_HOME="+filepath.Join(c.Home, ".cache"))
	}
	if c.Home != "" && len(c.Registries) > 0 { // ~/.npm is the person's, and read-only
		out = append(out, "npm_config_cache="+filepath.Join(c.Home, ".cache", "npm"))
	}
	out = append(out, "TMPDIR=/tmp", "MYCELIUM_SANDBOX="+c.Profile.Name)
	out = c.warmEnviron(out)
	if c.GitConfig != "" {
		out = append(out, "GIT_CONFIG_GLOBAL="+gitConfig)
	}
	if !c.Profile.Network && len(c.Hosts)+len(c.Masks)+len(c.Registries) == 0 {
		out = append(out, offline)
		if c.Taken != "" { // private modules lie beside the others; there is no network in which somebody could learn their names
			out = append(out, "GONOPROXY=none")
		}
	}
	for _, v := range c.Env {
		name, _, _ := strings.Cut(v, "=")
		out = slices.DeleteFunc(out, func(other string) bool { return strings.HasPrefix(other, name+"=") })
	}
	return append(out, c.Env...)
}
