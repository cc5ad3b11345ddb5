package program

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/address"
	"mycelium/internal/shell/effect"
)

// meaning is what a variable of the environment means to programs.
type meaning uint8

const (
	plainVariable     meaning = iota
	ourVariable               // says to our own programs who asks
	agentVariable             // says to an agent where its settings are
	commandVariable           // a command line that programs run
	codeVariable              // code that programs load, or settings that name it
	searchVariable            // folders where programs look for code
	toolsVariable             // a folder with programs that a program runs
	folderVariable            // a folder where a program works
	readVariable              // a file that programs read
	writtenVariable           // a file or a folder that programs write
	optionsVariable           // options that programs take from it; a few known ones change nothing
	elsewhereVariable         // the machine that programs ask
	npmVariable               // an option of npm
	promptVariable            // a prompt; the shell runs the commands in it
	shellVariable             // what it means to the shell changes what later commands mean
	tableVariable             // the same for its elements: it is a table of zsh, and any name to other shells
)

// meaningOf returns what a variable means: it is the table of variables.
func meaningOf(name string) meaning {
	switch name {
	case "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "GEMINI_CLI", "CODEX_SANDBOX", "CRUSH":
		return ourVariable
	case "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_HOME", "CRUSH_GLOBAL_CONFIG", "ANTHROPIC_BASE_URL":
		return agentVariable
	case "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS",
		"GIT_PROXY_COMMAND", "EDITOR", "VISUAL", "FCEDIT", "PAGER", "MANPAGER", "BAT_PAGER", "DELTA_PAGER", "SYSTEMD_PAGER", "GH_PAGER",
		"GH_EDITOR", "GH_BROWSER", "AWS_PAGER", "PSQL_PAGER", "PSQL_EDITOR", "KUBE_EDITOR", "LESSOPEN", "LESSCLOSE", "BROWSER", "RUSTC",
		"RUSTDOC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RSYNC_RSH", "CVS_RSH", "SVN_SSH", "SUDO_ASKPASS", "PROMPT_COMMAND",
		"MAKE_SHELL", "CC", "CXX", "LD", "AR", "FC", "CPP", "TAR", "FZF_DEFAULT_COMMAND", "PKG_CONFIG", "AS", "NM", "STRIP", "RANLIB",
		"OBJCOPY", "YACC", "LEX", "JAVACMD", "CLOUDSDK_PYTHON", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER", "PERLDOC_PAGER",
		"LESSEDIT", "KUBECTL_EXTERNAL_DIFF", "RUSTC_LINKER", "SWIFT_EXEC", "GH_PATH", "SYSTEMD_EDITOR", "HOMEBREW_EDITOR", "HOMEBREW_CURL_PATH",
		"UV_PYTHON", "TROFF":
		return commandVariable
	case "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "ZDOTDIR", "INPUTRC", "PERL5OPT",
		"PERL5DB", "RUBYOPT", "LUA_INIT", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONBREAKPOINT", "PYTHONWARNINGS",
		"PYTEST_PLUGINS", "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE", "R_PROFILE_USER", "DOTNET_STARTUP_HOOKS", "CORECLR_PROFILER_PATH",
		"ELIXIR_ERL_OPTIONS", "ERL_FLAGS", "GCONV_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "OPENSSL_CONF", "OPENSSL_ENGINES",
		"OPENSSL_MODULES", "VIMINIT", "EXINIT", "MYVIMRC", "LESS", "LESSKEY", "LESSKEYIN", "MORE", "TAR_OPTIONS", "GREP_OPTIONS",
		"RIPGREP_CONFIG_PATH", "CURL_HOME", "WGETRC", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "PATH", "SHELL", "HOME", "XDG_CONFIG_HOME",
		"XDG_CONFIG_DIRS", "IFS", "MAKEFILES", "GOROOT", "GOTOOLDIR", "CARGO_HOME", "KUBECONFIG", "DOCKER_CONFIG", "TF_CLI_CONFIG_FILE",
		"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "CLOUDSDK_CONFIG", "HELM_PLUGINS", "PIP_CONFIG_FILE", "UV_CONFIG_FILE",
		"GH_CONFIG_DIR", "KRB5_CONFIG", "GNUPGHOME", "MANOPT", "YARN_YARN_PATH", "YARN_RC_FILENAME", "ZIPOPT", "ZIP", "UNZIP", "UNZIPOPT",
		"CMAKE_TOOLCHAIN_FILE", "NVM_DIR", "GOAUTH", "GOTOOLCHAIN", "RUSTUP_TOOLCHAIN", "YARN_PLUGINS", "TF_REATTACH_PROVIDERS", "MANROFFOPT",
		"MANLESS", "TOOLCHAINS", "MIX_EXS", "MAVEN_CONFIG", "ANSIBLE_CONFIG", "RAKEOPT", "GEM_PATH", "GEM_HOME", "BUNDLE_GEMFILE",
		"PKG_CONFIG_PATH", "COMPOSE_FILE", "HELM_REPOSITORY_CONFIG":
		return codeVariable
	case "NODE_OPTIONS", "BUN_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", "MAVEN_OPTS", "MAVEN_ARGS",
		"GRADLE_OPTS", "SBT_OPTS", "MAKEFLAGS", "GNUMAKEFLAGS", "TARGET_ARCH", "TARGET_MACH", "OUTPUT_OPTION", "LOADLIBES", "LDLIBS", "ARFLAGS",
		"ASFLAGS", "FFLAGS", "LFLAGS", "YFLAGS", "LINTFLAGS", "GOWORK", "XZ_OPT", "XZ_DEFAULTS", "GOFLAGS", "GOENV", "GOPROXY", "GOSUMDB",
		"GONOSUMDB", "GONOSUMCHECK", "GOINSECURE", "PYTEST_ADDOPTS", "RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_BUILD_RUSTFLAGS", "CFLAGS", "CXXFLAGS",
		"CPPFLAGS", "FZF_DEFAULT_OPTS", "FZF_DEFAULT_OPTS_FILE", "LDFLAGS", "CGO_CFLAGS", "CGO_CXXFLAGS", "CGO_CPPFLAGS", "CGO_LDFLAGS":
		return optionsVariable
	case "PYTHONPATH", "PERL5LIB", "RUBYLIB", "NODE_PATH", "CLASSPATH", "LUA_PATH", "LUA_CPATH", "JULIA_LOAD_PATH":
		return searchVariable
	case "JAVA_HOME", "MAVEN_HOME", "M2_HOME", "GRADLE_HOME", "ANT_HOME", "SBT_HOME", "KOTLIN_HOME", "SCALA_HOME", "NODE_HOME",
		"RUSTUP_HOME", "PYENV_ROOT", "ANDROID_HOME", "ANDROID_SDK_ROOT", "CLOUDSDK_ROOT_DIR", "TF_PLUGIN_CACHE_DIR", "DEVELOPER_DIR",
		"DOTNET_ROOT":
		return toolsVariable
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY":
		return folderVariable
	case "TMPDIR", "SSLKEYLOGFILE", "GOCACHE", "GOMODCACHE", "GOPATH", "GOBIN", "GOTMPDIR", "CARGO_TARGET_DIR", "PYTHONPYCACHEPREFIX",
		"XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "HISTFILE", "DESTDIR", "TF_LOG_PATH", "TF_DATA_DIR", "DEPENDENCIES_OUTPUT",
		"SUNPRO_DEPENDENCIES", "NODE_V8_COVERAGE", "NODE_REDIRECT_WARNINGS", "NODE_REPL_HISTORY", "NODE_COMPILE_CACHE", "GOCOVERDIR",
		"COVERAGE_FILE", "LLVM_PROFILE_FILE", "MALLOC_TRACE", "LD_DEBUG_OUTPUT", "LESSHISTFILE", "SQLITE_HISTORY", "PSQL_HISTORY",
		"MYSQL_HISTFILE", "PYTHON_HISTORY", "CARGO_BUILD_TARGET_DIR", "BUN_INSTALL", "REBAR_BASE_DIR", "PIPX_HOME":
		return writtenVariable
	case "DOCKER_HOST", "DOCKER_CONTEXT", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_INDEX_URL", "UV_DEFAULT_INDEX",
		"UV_INDEX", "UV_EXTRA_INDEX_URL", "YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER", "GH_HOST", "GITLAB_HOST", "CARGO_REGISTRY_INDEX",
		"GEM_HOST", "HOSTALIASES", "VAULT_ADDR", "HELM_KUBEAPISERVER", "CONTAINER_HOST", "RUBYGEMS_HOST", "BUN_CONFIG_REGISTRY",
		"COREPACK_NPM_REGISTRY", "RUSTUP_DIST_SERVER", "RUSTUP_UPDATE_ROOT", "HEX_MIRROR", "HEX_API_URL", "UV_INSECURE_HOST":
		return elsewhereVariable
	case "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_KEY", "NETRC",
		"GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "AWS_CA_BUNDLE", "PGPASSFILE", "COMPOSE_ENV_FILES":
		return readVariable
	}
	return familyOf(name)
}

// familyOf returns the meaning of variables that share a beginning or an end.
func familyOf(name string) meaning {
	if m, known := namesOfShells(name); known {
		return m
	}
	switch {
	case strings.HasPrefix(name, "MYCELIUM_"):
		return ourVariable
	case Named("PS0|PS1|PS2|PS3|PS4|PROMPT|PROMPT2|PROMPT3|PROMPT4|RPROMPT|RPROMPT2|RPS1|RPS2|SPROMPT|prompt", name):
		return promptVariable
	case strings.HasPrefix(name, "GIT_CONFIG"), strings.HasPrefix(name, "DYLD_"), strings.HasPrefix(name, "BASH_FUNC_"),
		strings.HasPrefix(name, "TF_CLI_ARGS"):
		return codeVariable
	case strings.HasPrefix(name, "CARGO_TARGET_") && (strings.HasSuffix(name, "_LINKER") || strings.HasSuffix(name, "_RUNNER")),
		strings.HasPrefix(name, "CARGO_BUILD_RUSTC"):
		return commandVariable
	case strings.HasPrefix(name, "GIT_TRACE"):
		return writtenVariable
	case strings.HasPrefix(name, "AWS_ENDPOINT_URL"), strings.HasPrefix(name, "CARGO_REGISTRIES_"), strings.HasPrefix(name, "CARGO_SOURCE_"),
		strings.HasPrefix(name, "CLOUDSDK_API_ENDPOINT_OVERRIDES_"), strings.HasPrefix(name, "HOMEBREW_") && strings.HasSuffix(name, "_REMOTE"):
		return elsewhereVariable
	}
	if strings.HasPrefix(name, "PIP_") {
		return optionsVariable
	}
	if len(name) < len("all_proxy") {
		return plainVariable
	}
	lower := strings.ToLower(name)
	if strings.HasSuffix(lower, "_proxy") && lower != "no_proxy" {
		return elsewhereVariable
	}
	if key, ok := strings.CutPrefix(lower, "npm_config_"); ok {
		switch key = strings.ReplaceAll(key, "-", "_"); {
		case strings.Contains(key, "registry"):
			return elsewhereVariable
		case Named("script_shell|shell|userconfig|globalconfig|prefix|node_options|git|editor|viewer", key),
			Named("init_module|node_gyp|python|onload_script", key):
			return codeVariable
		}
		return npmVariable
	}
	return plainVariable
}

// IsPlainVariable reports whether a variable means nothing special to programs.
func IsPlainVariable(name string) bool { return meaningOf(name) == plainVariable }

// IsOurVariable reports whether a variable says to our own programs who asks.
func IsOurVariable(name string) bool { return meaningOf(name) == ourVariable }

// Variable says what an assignment means for the command.
func (c *Call) Variable(name string, value Word) {
	m := meaningOf(name)
	if value.Text == "" && !value.Unknown && name != "PATH" && m != ourVariable && m != agentVariable &&
		(m != shellVariable || offWhenEmpty(name)) {
		return // an empty value changes nothing
	}
	switch m {
	case plainVariable, tableVariable:
	case shellVariable:
		c.Unclear(name + " changes what later commands mean to the shell")
	case ourVariable:
		c.Does |= effect.Operator
	case agentVariable:
		c.Does |= effect.Agent
	case commandVariable:
		c.RunNested(value)
	case codeVariable:
		if !plainCode(name, value) {
			c.Unclear(name + " changes which code runs")
		}
	case optionsVariable:
		if !plainOptions(name, value) {
			c.Unclear(name + " changes which code runs")
		}
	case searchVariable:
		c.Walk.Searched = true
		for dir := range strings.SplitSeq(value.Text, ":") {
			if dir != "" && (!value.Unknown || !strings.HasSuffix(value.Text, dir)) {
				c.File(policy.Read, Known(dir))
			}
		}
	case toolsVariable:
		if strings.HasPrefix(value.Text, "/") && !strings.HasPrefix(value.Text, "/tmp") && !value.Unknown &&
			(c.Walk.Dir == "" || !strings.HasPrefix(value.Text, c.Walk.Dir)) {
			return // of the machine
		}
		c.Role('e', value)
	case readVariable:
		c.Role('r', value)
	case npmVariable:
		if value.Unknown || ContainsAny(value.Text, "/", "..") || strings.HasPrefix(value.Text, ".") {
			c.Role('w', value)
		}
	case folderVariable:
		c.Role('b', value)
		if name == "GIT_DIR" || name == "GIT_COMMON_DIR" {
			ExecuteGitSettings(c, value)
		}
	case writtenVariable:
		if !strings.HasPrefix(name, "GIT_TRACE") || strings.HasPrefix(value.Text, "/") || value.Unknown {
			c.Role('w', value)
		}
	case elsewhereVariable:
		if a := address.Read(value.Text); value.Unknown || !a.Clear || !Named("localhost|127.0.0.1|::1", a.Host) {
			c.Unclear(name + " changes which machine is asked")
		}
	case promptVariable:
		if value.Unknown || ContainsAny(value.Text, "$(", "`", "${") {
			c.Unclear(name + " runs what stands in it")
		}
	}
}

// Element says what an assignment to an element of an array, or of a whole array, means for the command.
func (c *Call) Element(name string, value Word) {
	switch meaningOf(name) { //nolint:exhaustive // the others mean the same as one value
	case tableVariable:
		c.Unclear(name + " changes what later commands mean to the shell")
	case shellVariable:
		value.Unknown = true
		fallthrough
	default:
		c.Variable(name, value)
	}
}

// Touch says what it means for the command that a builtin gives a value which is not known to a variable, or to an element: a[0].
func (c *Call) Touch(name string) {
	name, _, element := strings.Cut(name, "[")
	if element {
		c.Element(name, Word{Unknown: true})
		return
	}
	c.Variable(name, Word{Unknown: true})
}

// plainCode reports whether a variable that says where code is has a value that changes nothing.
func plainCode(name string, value Word) bool {
	switch name {
	case "GOTOOLCHAIN":
		return value.Text == "local" && !value.Unknown
	case "PATH":
		return systemPath(value) || samePath(value)
	case "IFS":
		return strings.Trim(value.Text, " \t\n,:;|=") == "" && !value.Unknown
	}
	return false
}

// ExecuteGitSettings executes the settings in a folder of git, if it is not the project's own: settings of git name commands that git runs.
func ExecuteGitSettings(c *Call, dir Word) {
	if dir.Unknown || dir.Text == "" {
		return
	}
	if to := strings.TrimSuffix(dir.Text, "/"); to != ".git" && to != c.Walk.Dir+"/.git" {
		c.File(policy.Execute, Word{Text: to + "/config"})
	}
}

// plainOptions reports whether none of the options names code, or another place to fetch it from.
func plainOptions(name string, value Word) bool {
	if value.Unknown {
		return false
	}
	switch name {
	case "GOENV", "GOPROXY":
		return Named("off|direct|https://proxy.golang.org|https://proxy.golang.org,direct", value.Text)
	case "GOSUMDB", "GONOSUMDB", "GONOSUMCHECK", "GOINSECURE":
		return value.Text == "sum.golang.org"
	case "RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_BUILD_RUSTFLAGS":
		return !ContainsAny(value.Text, "link", "plugin", "-Z")
	case "GOWORK":
		return value.Text == "off"
	case "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CGO_CFLAGS", "CGO_CXXFLAGS", "CGO_CPPFLAGS", "CGO_LDFLAGS",
		"TARGET_ARCH", "TARGET_MACH", "OUTPUT_OPTION", "LOADLIBES", "LDLIBS", "ARFLAGS", "ASFLAGS", "FFLAGS", "LFLAGS", "YFLAGS", "LINTFLAGS":
		return plainCompilerOptions(value.Text)
	case "XZ_OPT", "XZ_DEFAULTS":
		return !strings.Contains(value.Text, "fi") // --files
	case "PYTEST_ADDOPTS":
		return !ContainsAny(value.Text, "-p", "-c", "--rootdir", "-o")
	}
	if strings.HasPrefix(name, "PIP_") { // an option of pip; most name a file or an address
		return !ContainsAny(value.Text, "/", ".")
	}
	for w := range strings.FieldsSeq(value.Text) {
		switch name, _, _ := strings.Cut(w, "="); name {
		case "--max-old-space-size", "--experimental-vm-modules", "--no-warnings", "--enable-source-maps", "--trace-warnings",
			"--openssl-legacy-provider", "-mod", "-race", "-count", "-tags", "-v", "-trimpath", "--unhandled-rejections",
			"--trace-deprecation", "--no-daemon", "--offline":
		default:
			if !strings.HasPrefix(w, "-j") && !strings.HasPrefix(w, "-Xm") && !strings.HasPrefix(w, "-XX:Max") {
				return false
			}
		}
	}
	return true
}

// plainCompilerOptions reports whether options of a compiler only say how it compiles: they name no file, but for folders and libraries.
func plainCompilerOptions(options string) bool {
	for w := range strings.FieldsSeq(options) {
		begin := w[:min(2, len(w))]
		switch {
		case Named("-I|-L|-l|-D|-U|-O|-g|-m", begin), Named("-pthread|-pipe|-static|-s|-pedantic|-w|-v|-shared", w):
		case begin == "-W" && !strings.Contains(w, ","), strings.HasPrefix(w, "-std="):
		case strings.HasPrefix(w, "-Wl,") && !ContainsAny(w, "Map", "-o", "plugin", "script", "-T", "@", "depend", "implib"):
		case begin == "-f" && !ContainsAny(w, "/", "plugin", "dump"):
		default:
			return false
		}
	}
	return true
}

// SystemFolder reports whether a folder is one in which the system has programs.
func SystemFolder(dir string) bool {
	switch dir {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin", "/usr/local/go/bin",
		"/snap/bin", "/usr/libexec":
		return true
	}
	return false
}

// samePath reports whether PATH is given the value that it has.
func samePath(value Word) bool {
	return Named(`$PATH|"$PATH"|PATH=$PATH|PATH="$PATH"|${PATH}|"${PATH}"`, value.Raw) && value.Text == ""
}

// systemPath reports whether all folders of a PATH are the system's.
func systemPath(value Word) bool {
	if value.Unknown || value.Pattern {
		return false
	}
	for dir := range strings.SplitSeq(value.Text, ":") {
		if !SystemFolder(dir) {
			return false
		}
	}
	return true
}
