package program

import "strings"

// namesOfShells is the table of the names to which the manuals of bash 5.3, dash 0.5.12 and zsh 5.9 give a meaning: bash(1) "Shell
// Variables", dash(1) "Environment" and "Builtins", zshparam(1), and zshmodules(1) for the modules that zsh loads by itself. Names that
// programs know too (PATH, HOME, BASH_ENV, PROMPT_COMMAND) stand in meaningOf. known is false for a name without a meaning.
//
// A harmless name is plainVariable: whatever its value is, later commands mean the same. A name that is not harmless makes each command
// unclear that assigns it, in whatever way.
func namesOfShells(name string) (m meaning, known bool) {
	switch name {
	case "CDPATH", "GLOBIGNORE", "GLOBSORT", "EXECIGNORE", "FIGNORE", "FUNCNEST", "HISTFILESIZE", "HOSTFILE", "MAILPATH", "POSIXLY_CORRECT",
		"DIRSTACK", "auto_resume", "histchars",
		"ARGV0", "HISTCHARS", "HISTORY_IGNORE", "MODULE_PATH", "FPATH", "NULLCMD", "READNULLCMD", "STTY", "TMPPREFIX", "TMPSUFFIX",
		"CORRECT_IGNORE", "CORRECT_IGNORE_FILE", "KEYBOARD_HACK", "TERMINFO", "TERMINFO_DIRS", "MANPATH", "manpath",
		"argv", "path", "cdpath", "fpath", "fignore", "mailpath", "module_path", "dirstack", "zle_highlight", "zle_bracketed_paste",
		"chpwd_functions", "periodic_functions", "precmd_functions", "preexec_functions", "zshaddhistory_functions", "zshexit_functions",
		"zsh_directory_name_functions":
		return shellVariable, true
	case "aliases", "dis_aliases", "galiases", "dis_galiases", "saliases", "dis_saliases", "commands", "functions", "dis_functions",
		"functions_source", "dis_functions_source", "options", "nameddirs", "mapfile":
		return tableVariable, true
	case "BASHPID", "BASH_REMATCH", "BASH_SILENCE_DEPRECATION_WARNING", // the second is macOS's
		"CHILD_MAX", "COLUMNS", "COMPREPLY", "COPROC", "EMACS", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS", "HISTCMD",
		"HISTCONTROL", "HISTIGNORE", "HISTSIZE", "HISTTIMEFORMAT", "HOSTNAME", "HOSTTYPE", "IGNOREEOF", "INSIDE_EMACS", "LANG", "LC_ALL",
		"LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "LINENO", "LINES", "MACHTYPE", "MAIL", "MAILCHECK", "MAPFILE",
		"OLDPWD", "OPTARG", "OPTERR", "OPTIND", "OSTYPE", "PIPESTATUS", "PPID", "PROMPT_DIRTRIM", "PWD", "RANDOM", "REPLY", "SECONDS",
		"SHLVL", "SRANDOM", "TIMEFORMAT", "TMOUT", "UID", "_",
		"COMP_CWORD", "COMP_KEY", "COMP_LINE", "COMP_POINT", "COMP_TYPE", "COMP_WORDBREAKS", "COMP_WORDS",
		"READLINE_ARGUMENT", "READLINE_LINE", "READLINE_MARK", "READLINE_POINT",
		"ARGC", "BAUD", "CPUTYPE", "DIRSTACKSIZE", "EGID", "ERRNO", "GID", "HOST", "KEYTIMEOUT", "LISTMAX", "LOGNAME", "MATCH", "MBEGIN",
		"MEND", "POSTEDIT", "PROMPT_EOL_MARK", "PSVAR", "REPORTMEMORY", "REPORTTIME", "SAVEHIST", "TERM", "TIMEFMT", "TRY_BLOCK_ERROR",
		"TRY_BLOCK_INTERRUPT", "TTY", "TTYIDLE", "USERNAME", "VENDOR", "WORDCHARS", "ZBEEP", "match", "mbegin", "mend", "pipestatus",
		"psvar", "reply", "signals", "status",
		"builtins", "dis_builtins", "reswords", "dis_reswords", "patchars", "dis_patchars", "parameters", "modules", "history",
		"historywords", "jobdirs", "jobtexts", "jobstates", "userdirs", "usergroups", "funcfiletrace", "funcsourcetrace", "funcstack",
		"functrace":
		return plainVariable, true
	}
	switch {
	case strings.HasPrefix(name, "BASH_"), strings.HasPrefix(name, "ZSH_"), strings.HasPrefix(name, "zsh_"),
		strings.HasPrefix(name, "ZLE_"), name == "BASH":
		return shellVariable, true // also those of later versions
	}
	return plainVariable, false
}

// offWhenEmpty reports whether a name that is not harmless is one that an empty value turns off.
func offWhenEmpty(name string) bool {
	switch name {
	case "CDPATH", "GLOBIGNORE", "EXECIGNORE", "FIGNORE", "FUNCNEST", "HOSTFILE", "MAILPATH", "BASH_COMPAT", "BASH_XTRACEFD",
		"BASH_LOADABLES_PATH", "FPATH", "MODULE_PATH", "cdpath", "fignore", "mailpath", "MANPATH":
		return true
	}
	return false
}

// Own returns the number that the shell gives to a variable which the command has not set. Where not every shell has the variable, or the
// shell has it only on a terminal, the word may be empty. ok is false for other variables, and where the command may have set all.
func (s State) Own(name string) (value Word, ok bool) {
	switch name {
	case "PPID", "LINENO":
	case "RANDOM", "SECONDS", "UID", "EUID":
		value.MayBeEmpty = s.sh
	case "BASHPID", "EPOCHSECONDS", "COLUMNS", "LINES":
		value.MayBeEmpty = true
	default:
		return value, false
	}
	value.Text = "0"
	return value, !s.Doubted
}

// keepsOwn reports whether bash does not let a variable have any value that a command assigns: it ignores or refuses the assignment, takes
// a number from it, or assigns anew after the next command.
func keepsOwn(name string) bool {
	switch name {
	case "BASHPID", "COMP_CWORD", "COMP_KEY", "COMP_LINE", "COMP_POINT", "COMP_TYPE", "COMP_WORDS", "EPOCHREALTIME", "EPOCHSECONDS", "EUID",
		"FUNCNAME", "GROUPS", "HISTCMD", "LINENO", "PIPESTATUS", "PPID", "RANDOM", "SECONDS", "SHLVL", "SRANDOM", "UID":
		return true
	}
	return false
}

// hasOwn reports whether the shell gives a variable a value that is known while the command has not set it.
func hasOwn(name string) bool {
	if name == "PWD" || name == "HOME" {
		return true
	}
	_, ok := State{}.Own(name)
	return ok
}

// HarmlessOption reports whether an option of set, given as its letter or its name, leaves words, patterns, names of programs and the
// meaning of later commands as they are. The letters mean that in bash, dash and zsh.
func HarmlessOption(name string) bool {
	switch name {
	case "a", "b", "e", "h", "m", "n", "p", "r", "t", "u", "v", "x", "C", "E",
		"allexport", "errexit", "errtrace", "functrace", "hashall", "ignoreeof", "monitor", "noclobber", "noexec", "nolog", "notify",
		"nounset", "onecmd", "pipefail", "privileged", "restricted", "verbose", "xtrace", "emacs", "vi":
		return true
	}
	return false
}
