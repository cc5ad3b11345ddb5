package shell

import (
	"strings"

	"mycelium/internal/policy"
)

// meaning is what a variable of the environment means to programs.
type meaning uint8

const (
	plainVariable   meaning = iota
	ourVariable             // who we are to ourselves: W8
	agentVariable           // where an agent finds its settings: W9
	commandVar              // a command line that programs run
	loadVariable            // code that programs load, or settings that name it
	searchVariable          // folders where code is looked for
	folderVariable          // where a program works
	writtenVar              // a file or a folder that programs write
	optionsVariable         // options that programs take from it: a few known ones change nothing
	elsewhereVar            // the machine that programs ask
	promptVariable          // a prompt: the shell runs the commands in it
)

// meaningOf is the table of variables.
func meaningOf(name string) meaning {
	switch name {
	case "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "GEMINI_CLI", "CODEX_SANDBOX", "CRUSH":
		return ourVariable
	case "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_HOME", "CRUSH_GLOBAL_CONFIG", "ANTHROPIC_BASE_URL":
		return agentVariable
	case "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_PROXY_COMMAND", "EDITOR", "VISUAL",
		"FCEDIT", "PAGER", "MANPAGER", "BAT_PAGER", "DELTA_PAGER", "SYSTEMD_PAGER", "GH_PAGER", "GH_EDITOR", "GH_BROWSER", "AWS_PAGER", "PSQL_PAGER", "PSQL_EDITOR", "KUBE_EDITOR", "LESSOPEN",
		"LESSCLOSE", "BROWSER", "RUSTC", "RUSTDOC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RSYNC_RSH", "CVS_RSH", "SVN_SSH", "SUDO_ASKPASS", "PROMPT_COMMAND", "MAKE_SHELL",
		"CC", "CXX", "LD", "AR", "FC", "CPP", "TAR", "FZF_DEFAULT_COMMAND":
		return commandVar
	case "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "ZDOTDIR", "INPUTRC", "PERL5OPT", "PERL5DB", "RUBYOPT", "LUA_INIT", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE",
		"PYTHONBREAKPOINT", "PYTHONWARNINGS", "PYTEST_PLUGINS", "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE", "R_PROFILE_USER", "DOTNET_STARTUP_HOOKS", "CORECLR_PROFILER_PATH", "ELIXIR_ERL_OPTIONS", "ERL_FLAGS",
		"GCONV_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES", "VIMINIT", "EXINIT", "MYVIMRC", "LESS", "LESSKEY", "LESSKEYIN", "MORE",
		"TAR_OPTIONS", "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "CURL_HOME", "WGETRC", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "PATH", "SHELL", "HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "IFS",
		"MAKEFILES", "GOROOT", "GOTOOLDIR", "CARGO_HOME", "KUBECONFIG", "DOCKER_CONFIG", "TF_CLI_CONFIG_FILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "CLOUDSDK_CONFIG", "HELM_PLUGINS", "PIP_CONFIG_FILE",
		"UV_CONFIG_FILE", "GH_CONFIG_DIR", "KRB5_CONFIG", "GNUPGHOME":
		return loadVariable
	case "NODE_OPTIONS", "BUN_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", "MAVEN_OPTS", "MAVEN_ARGS", "GRADLE_OPTS", "SBT_OPTS", "MAKEFLAGS", "GOFLAGS", "GOENV", "GOPROXY", "GOSUMDB",
		"GONOSUMDB", "GONOSUMCHECK", "GOINSECURE", "PYTEST_ADDOPTS", "RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_BUILD_RUSTFLAGS", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CGO_CFLAGS", "CGO_LDFLAGS":
		return optionsVariable
	case "PYTHONPATH", "PERL5LIB", "RUBYLIB", "NODE_PATH", "CLASSPATH", "LUA_PATH", "LUA_CPATH", "JULIA_LOAD_PATH":
		return searchVariable
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY":
		return folderVariable
	case "TMPDIR", "SSLKEYLOGFILE", "GOCACHE", "GOMODCACHE", "GOPATH", "GOBIN", "GOTMPDIR", "CARGO_TARGET_DIR", "PYTHONPYCACHEPREFIX", "XDG_CACHE_HOME", "XDG_DATA_HOME", "HISTFILE", "DESTDIR":
		return writtenVar
	case "DOCKER_HOST", "DOCKER_CONTEXT", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_EXTRA_INDEX_URL", "YARN_REGISTRY",
		"YARN_NPM_REGISTRY_SERVER", "GH_HOST", "GITLAB_HOST", "CARGO_REGISTRY_INDEX", "GEM_HOST", "HOSTALIASES", "VAULT_ADDR":
		return elsewhereVar
	case "PS0", "PS1", "PS2", "PS4":
		return promptVariable
	}
	return familyOf(name)
}

// familyOf is the meaning of variables that share a beginning or an end.
func familyOf(name string) meaning {
	switch {
	case strings.HasPrefix(name, "MYCELIUM_"):
		return ourVariable
	case strings.HasPrefix(name, "GIT_CONFIG"), strings.HasPrefix(name, "DYLD_"), strings.HasPrefix(name, "BASH_FUNC_"), strings.HasPrefix(name, "TF_CLI_ARGS"):
		return loadVariable
	case strings.HasPrefix(name, "CARGO_TARGET_") && (strings.HasSuffix(name, "_LINKER") || strings.HasSuffix(name, "_RUNNER")), strings.HasPrefix(name, "CARGO_BUILD_RUSTC"):
		return commandVar
	case strings.HasPrefix(name, "GIT_TRACE"):
		return writtenVar
	case strings.HasPrefix(name, "AWS_ENDPOINT_URL"), strings.HasPrefix(name, "CARGO_REGISTRIES_"):
		return elsewhereVar
	}
	if len(name) < len("all_proxy") {
		return plainVariable
	}
	lower := strings.ToLower(name)
	if strings.HasSuffix(lower, "_proxy") && lower != "no_proxy" {
		return elsewhereVar
	}
	if key, ok := strings.CutPrefix(lower, "npm_config_"); ok {
		switch key = strings.ReplaceAll(key, "-", "_"); {
		case strings.Contains(key, "registry"):
			return elsewhereVar
		case named("script_shell|shell|userconfig|globalconfig|prefix|node_options|git|editor|viewer|init_module|node_gyp|python|onload_script", key):
			return loadVariable
		}
	}
	return plainVariable
}

// variables looks at the assignments before a command.
func (c *call) variables() {
	for _, v := range c.env {
		c.variable(v.name, v.val)
	}
}

// variable says what an assignment means for the command.
func (c *call) variable(name string, val text) {
	if val.s == "" && !val.unknown && name != "PATH" {
		if m := meaningOf(name); m != ourVariable && m != agentVariable {
			return // nothing is said
		}
	}
	switch meaningOf(name) {
	case plainVariable:
	case ourVariable:
		c.does |= doesOperator
	case agentVariable:
		c.does |= doesAgent
	case commandVar:
		c.nested(val)
	case loadVariable:
		if name != "IFS" || strings.Trim(val.s, " \t\n,:;|=") != "" || val.unknown {
			c.unclear(name + " changes which code runs")
		}
	case optionsVariable:
		if !plainOptions(name, val) {
			c.unclear(name + " changes which code runs")
		}
	case searchVariable:
		for dir := range strings.SplitSeq(val.s, ":") {
			if dir != "" && (!val.unknown || !strings.HasSuffix(val.s, dir)) {
				c.file(policy.Read, known(dir))
			}
		}
	case folderVariable:
		c.role('b', val)
		if name == "GIT_DIR" || name == "GIT_COMMON_DIR" {
			c.gitSettings(val)
		}
	case writtenVar:
		if !strings.HasPrefix(name, "GIT_TRACE") || strings.HasPrefix(val.s, "/") || val.unknown {
			c.role('w', val)
		}
	case elsewhereVar:
		if h := hostOf(val.s); val.unknown || h != "localhost" && h != "127.0.0.1" && h != "::1" {
			c.unclear(name + " changes which machine is asked")
		}
	case promptVariable:
		if val.unknown || strings.Contains(val.s, "$(") || strings.Contains(val.s, "`") || strings.Contains(val.s, "${") {
			c.unclear(name + " runs what stands in it")
		}
	}
}

// plainOptions reports whether none of the options names code, or another place to fetch it from.
func plainOptions(name string, val text) bool {
	if val.unknown {
		return false
	}
	switch name {
	case "GOENV", "GOPROXY":
		return val.s == "off" || val.s == "direct" || val.s == "https://proxy.golang.org" || val.s == "https://proxy.golang.org,direct"
	case "GOSUMDB", "GONOSUMDB", "GONOSUMCHECK", "GOINSECURE":
		return val.s == "sum.golang.org"
	case "RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_BUILD_RUSTFLAGS":
		return !strings.Contains(val.s, "link") && !strings.Contains(val.s, "plugin") && !strings.Contains(val.s, "-Z")
	case "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CGO_CFLAGS", "CGO_LDFLAGS":
		return !strings.Contains(val.s, "plugin") && !strings.Contains(val.s, "-B") && !strings.Contains(val.s, "specs") && !strings.Contains(val.s, "-wrapper") && !strings.Contains(val.s, "-fuse-ld=/")
	case "PYTEST_ADDOPTS":
		return !strings.Contains(val.s, "-p") && !strings.Contains(val.s, "-c") && !strings.Contains(val.s, "--rootdir") && !strings.Contains(val.s, "-o")
	}
	for w := range strings.FieldsSeq(val.s) {
		switch name, _, _ := strings.Cut(w, "="); name {
		case "--max-old-space-size", "--experimental-vm-modules", "--no-warnings", "--enable-source-maps", "--trace-warnings", "--openssl-legacy-provider",
			"-mod", "-race", "-count", "-tags", "-v", "-trimpath", "--unhandled-rejections", "--trace-deprecation", "--no-daemon", "--offline":
		default:
			if !strings.HasPrefix(w, "-j") && !strings.HasPrefix(w, "-Xm") && !strings.HasPrefix(w, "-XX:Max") {
				return false
			}
		}
	}
	return true
}
