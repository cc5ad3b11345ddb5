package shell

import "strings"

// tables are the rows, each table sorted by name.
var tables = [...][]program{fileTools, textTools, shellTools, systemTools, networkTools, buildTools, languageTools, cloudTools, agentTools}

// find is the row of a program; nil: nothing is known of it. A version at the end of the name is left out: python3.12, gcc-13.
func find(name string) *program {
	name = strings.TrimSuffix(name, ".exe")
	if p := exact(name); p != nil {
		return p
	}
	if len(name) > 2 && name[0] == 'g' { // GNU's on macOS: gsed, gtimeout
		if p := exact(name[1:]); p != nil && p.subs == nil && p.does == 0 {
			return p
		}
	}
	if short := strings.TrimRight(name, "0123456789."); short != name && short != "" {
		return exact(strings.TrimSuffix(short, "-"))
	}
	return nil
}

func exact(name string) *program {
	for _, t := range tables {
		low, high := 0, len(t)
		for low < high {
			if mid := (low + high) / 2; t[mid].name < name {
				low = mid + 1
			} else {
				high = mid
			}
		}
		if low < len(t) && t[low].name == name {
			if t[low].same != "" {
				return exact(t[low].same)
			}
			return &t[low]
		}
	}
	return nil
}

// fileTools read, write, move and delete files.
var fileTools = []program{
	{name: "7z", subs: []program{{name: "l|t|i", operands: "r*"}, {name: "x|e", opts: "o=w", operands: "rv*", here: "w", do: withPatch}, {name: "a|u|d|rn", operands: "br*"}}},
	{name: "ar", operands: "vbr*", do: withPatch},
	{name: "bunzip2", same: "gzip"},
	{name: "bzip2", same: "gzip"},
	{name: "cat", operands: "r*"},
	{name: "chattr", operands: "vw*", does: doesPrivilege},
	{name: "chgrp", same: "chown"},
	{name: "chmod", opts: "reference=r R|recursive", operands: "vw*", do: withChmod},
	{name: "chown", opts: "reference=r from=v R|recursive", operands: "vw*", do: withChown},
	{name: "cmp", operands: "r*"},
	{name: "colordiff", same: "diff"},
	{name: "comm", operands: "r*"},
	{name: "cp", opts: "t|target-directory=w S|suffix=v r|R|recursive a|archive f|force l|link s|symbolic-link", do: withCopy},
	{name: "cpio", opts: "i|extract o|create p|pass-through F|file=b D|directory=k R|owner=v H|format=v O=w I=r E|pattern-file=r rsh-command=c", operands: "w*", here: "w", do: withPatch},
	{name: "csplit", opts: "f|prefix=w b|suffix-format=v n|digits=v", operands: "rv*", here: "w"},
	{name: "dd", do: withDd},
	{name: "df", operands: "r*"},
	{name: "diff", opts: "U|unified=? C|context=? I|ignore-matching-lines=v F|show-function-line=v x|exclude=v X|exclude-from=r to-file=r from-file=r label=v L=v W|width=v", operands: "r*"},
	{name: "diff3", operands: "r*"},
	{name: "dir", same: "ls"},
	{name: "dos2unix", operands: "b*"},
	{name: "du", opts: "d|max-depth=v X|exclude-from=r exclude=v files0-from=r B|block-size=v t|threshold=v", operands: "r*", here: "r"},
	{name: "exa", same: "ls"},
	{name: "eza", same: "ls"},
	{name: "fd", opts: "e|extension=v E|exclude=v t|type=v d|max-depth=v x|exec=v X|exec-batch=v S|size=v base-directory=k ignore-file=r c|color=v", operands: "vr*", here: "r", do: withPatterns},
	{name: "fdfind", same: "fd"},
	{name: "file", opts: "f|files-from=r m|magic-file=r F|separator=v", operands: "r*"},
	{name: "find", raw: asFind},
	{name: "getfacl", operands: "r*"},
	{name: "gunzip", same: "gzip"},
	{name: "gzip", opts: "S|suffix=v c|stdout d|decompress k|keep l|list t|test", operands: "b*", instead: "c r* l r* t r*"},
	{name: "install", opts: "t|target-directory=w m|mode=v o|owner=v g|group=v S|suffix=v d|directory strip-program=c", operands: "r*w", instead: "t r* d w*", do: withChmod},
	{name: "ln", opts: "t|target-directory=w S|suffix=v s|symbolic f|force n|no-dereference r|relative", do: withLink},
	{name: "ls", opts: "I|ignore=v w|width=v T|tabsize=v hide=v block-size=v sort=v time=v", operands: "r*", here: "r"},
	{name: "lsattr", operands: "r*", here: "r"},
	{name: "md5", same: "md5sum"},
	{name: "md5sum", operands: "r*"},
	{name: "mkdir", opts: "m|mode=v", operands: "w*"},
	{name: "mkfifo", opts: "m|mode=v", operands: "w*"},
	{name: "mktemp", opts: "p|tmpdir=w suffix=v d t", operands: "v"},
	{name: "mv", opts: "t|target-directory=w S|suffix=v f|force", do: withCopy},
	{name: "patch", opts: "i|input=r o|output=w d|directory=k p|strip=v r|reject-file=w D|ifdef=v F|fuzz=v B|prefix=v z|suffix=v dry-run", operands: "br*", here: "w", do: withPatch},
	{name: "readlink", operands: "r*"},
	{name: "realpath", opts: "relative-to=r relative-base=r", operands: "r*"},
	{name: "rename", operands: "vb*", does: doesInlineCode},
	{name: "rm", opts: "r|R|recursive f|force i|interactive d|dir one-file-system no-preserve-root", operands: "d*"},
	{name: "rmdir", opts: "p|parents", operands: "d*"},
	{name: "rsync", opts: "e|rsh=c rsync-path=v f|filter=v exclude=v include=v exclude-from=r include-from=r files-from=r B|block-size=v T|temp-dir=w link-dest=r compare-dest=r copy-dest=r log-file=w partial-dir=w backup-dir=w suffix=v M|remote-option=v port=v bwlimit=v chmod=v chown=v password-file=r max-size=v min-size=v timeout=v out-format=v delete del remove-source-files write-batch=w read-batch=r", do: withRsync},
	{name: "sha1sum", same: "md5sum"},
	{name: "sha256sum", same: "md5sum"},
	{name: "sha512sum", same: "md5sum"},
	{name: "shasum", opts: "a|algorithm=v", operands: "r*"},
	{name: "shred", opts: "n|iterations=v s|size=v random-source=r u|remove=?", operands: "d*", does: doesDestructive},
	{name: "split", opts: "b|bytes=v l|lines=v n|number=v a|suffix-length=v C|line-bytes=v additional-suffix=v filter=c t|separator=v", operands: "rw", here: "w"},
	{name: "stat", opts: "c|format=v printf=v f=v", operands: "r*"},
	{name: "sync", operands: "r*"},
	{name: "tar", opts: "f|file=b C|directory=k T|files-from=r X|exclude-from=r to-command=c checkpoint-action=v I|use-compress-program=c exclude=v strip-components=v transform|xform=v owner=v group=v mode=v mtime=v g|listed-incremental=b F|info-script|new-volume-script=c rsh-command=c newer=v c|create x|extract|get t|list r|append u|update A|catenate delete remove-files z j J a|auto-compress P|absolute-names overwrite O|to-stdout checkpoint=?", do: withTar},
	{name: "tee", opts: "a|append", operands: "w*"},
	{name: "touch", opts: "r|reference=r d|date=v t=v", operands: "w*"},
	{name: "trash", same: "rm"},
	{name: "tree", opts: "o=w L=v P=v I=v", operands: "r*", here: "r"},
	{name: "truncate", opts: "s|size=v r|reference=r", operands: "w*"},
	{name: "uncompress", same: "gzip"},
	{name: "unix2dos", operands: "b*"},
	{name: "unlink", operands: "d*"},
	{name: "unxz", same: "gzip"},
	{name: "unzip", opts: "d=w x=v l p t v Z P=v", operands: "rv*", do: withPatch},
	{name: "vdir", same: "ls"},
	{name: "xz", same: "gzip"},
	{name: "zcat", operands: "r*"},
	{name: "zip", do: withPatch, opts: "m|move T|test TT|unzip-command=c r|recurse-paths x|exclude=v i|include=v P|password=v b|temp-path=w", operands: "wr*"},
	{name: "zipinfo", operands: "r*"},
	{name: "zstd", same: "gzip"},
}

// textTools read text and write it to standard output, with the exceptions that their rows say.
var textTools = []program{
	{name: "ack", same: "grep"},
	{name: "ag", same: "grep"},
	{name: "awk", opts: "F|field-separator=v v|assign=v f|file=x i|include=x l|load=v e|source=v o|pretty-print=w p|profile=w d|dump-variables=w E|exec=x", operands: "vr*", instead: "f r* e r*", do: withAwk},
	{name: "base32", same: "base64"},
	{name: "base64", opts: "w|wrap=v i|input=r o|output=w", operands: "r*"},
	{name: "basename"},
	{name: "bat", opts: "l|language=v r|line-range=v style=v theme=v H|highlight-line=v pager=c p|plain", operands: "r*"},
	{name: "batcat", same: "bat"},
	{name: "bc", operands: "x*"},
	{name: "cal"},
	{name: "cksum", operands: "r*"},
	{name: "cloc", opts: "exclude-dir=v out|report-file=w", operands: "r*", here: "r"},
	{name: "column", opts: "s|separator=v o|output-separator=v N=v c=v", operands: "r*"},
	{name: "cut", opts: "d|delimiter=v f|fields=v c|characters=v b|bytes=v output-delimiter=v", operands: "r*"},
	{name: "date", opts: "d|date=v f|file=r r|reference=r s|set=v I=? j v=v", do: withSignal},
	{name: "dirname"},
	{name: "egrep", same: "grep"},
	{name: "expand", operands: "r*"},
	{name: "expr"},
	{name: "factor"},
	{name: "fgrep", same: "grep"},
	{name: "fmt", operands: "r*"},
	{name: "fold", opts: "w|width=v", operands: "r*"},
	{name: "gawk", same: "awk"},
	{name: "grep", opts: "e|regexp=v f|file=r A|after-context=v B|before-context=v C|context=v m|max-count=v include=v exclude=v exclude-from=r exclude-dir=v color=? colour=? r|recursive R|dereference-recursive l|files-with-matches label=v d|directories=v D=v ignore-dir=v", operands: "vr*", instead: "e r* f r*", do: withPatterns},
	{name: "hadolint", opts: "c|config=r f|format=v", operands: "r*"},
	{name: "head", opts: "n|lines=v c|bytes=v", operands: "r*"},
	{name: "hexdump", opts: "n=v s=v e=v f=r", operands: "r*"},
	{name: "iconv", opts: "f|from-code=v t|to-code=v o|output=w", operands: "r*"},
	{name: "join", opts: "t=v o=v j=v 1=v 2=v a=v e=v v=v", operands: "r*"},
	{name: "jq", opts: "arg=2 argjson=2 slurpfile=3 rawfile=3 f|from-file=r L=r indent=v args jsonargs", operands: "vr*", instead: "f r*", do: withFilter},
	{name: "less", opts: "o|log-file=w O|LOG-FILE=w k|lesskey-file=r p|pattern=v", operands: "r*", do: withEditor},
	{name: "look"},
	{name: "markdownlint", opts: "c|config=r i|ignore=v f|fix o|output=w", operands: "f*"},
	{name: "mawk", same: "awk"},
	{name: "more", operands: "r*", do: withEditor},
	{name: "nawk", same: "awk"},
	{name: "nl", opts: "b=v s=v w=v", operands: "r*"},
	{name: "nm", operands: "r*"},
	{name: "numfmt"},
	{name: "objdump", opts: "j=v", operands: "r*"},
	{name: "od", opts: "A=v t=v j=v N=v", operands: "r*"},
	{name: "paste", opts: "d|delimiters=v", operands: "r*"},
	{name: "pr", operands: "r*"},
	{name: "rev", operands: "r*"},
	{name: "rg", opts: "e|regexp=v f|file=r A|after-context=v B|before-context=v C|context=v m|max-count=v g|glob=v iglob=v t|type=v T|type-not=v pre=c pre-glob=v ignore-file=r d|max-depth=v j|threads=v M|max-columns=v sort=v color=v hostname-bin=c r|replace=v files type-list l|files-with-matches context-separator=v max-filesize=v", operands: "vr*", instead: "e r* f r*", here: "r", do: withPatterns},
	{name: "ripgrep", same: "rg"},
	{name: "sdiff", opts: "o|output=w w=v", operands: "r*"},
	{name: "sed", opts: "e|expression=v f|file=x i|in-place=? I=? l|line-length=v n|quiet E r|regexp-extended s z u", operands: "vr*", instead: "e r* f r*", do: withSed},
	{name: "seq"},
	{name: "shuf", opts: "o|output=w n|head-count=v i|input-range=v random-source=r e|echo", operands: "r*", instead: "e v*"},
	{name: "sort", opts: "o|output=w T|temporary-directory=w compress-program=c k|key=v S|buffer-size=v t|field-separator=v files0-from=r random-source=r parallel=v batch-size=v", operands: "r*"},
	{name: "strings", opts: "n|bytes=v", operands: "r*"},
	{name: "tac", opts: "s=v", operands: "r*"},
	{name: "tail", opts: "n|lines=v c|bytes=v s|sleep-interval=v pid=v", operands: "r*"},
	{name: "tokei", opts: "e|exclude=v t|type=v o|output=v", operands: "r*", here: "r"},
	{name: "tr"},
	{name: "unexpand", operands: "r*"},
	{name: "uniq", opts: "f|skip-fields=v s|skip-chars=v w|check-chars=v", operands: "rw"},
	{name: "wc", opts: "files0-from=r", operands: "r*"},
	{name: "xmllint", opts: "o|output=w xpath=v schema=r dtdvalid=r path=v", operands: "r*"},
	{name: "xxd", opts: "c|cols=v g|groupsize=v l|len=v s|seek=v o=v n|name=v R=v", operands: "rw"},
	{name: "yamllint", opts: "c|config-file=r d=v f=v", operands: "r*"},
	{name: "yq", opts: "i|inplace f=v o=v p=v from-file=r s|split-exp=v arg=2 P|prettyPrint", operands: "vr*", instead: "i vb*", do: withFilter},
	{name: "zgrep", same: "grep"},
}

// shellTools are builtins of the shell and wrappers.
var shellTools = []program{
	{name: ".", raw: asSource, style: first},
	{name: ":", operands: "v*"},
	{name: "[", raw: asTest},
	{name: "alias", do: withAlias},
	{name: "ash", raw: asShell},
	{name: "bash", raw: asShell},
	{name: "bg"},
	{name: "break"},
	{name: "builtin", raw: asCommand, style: first},
	{name: "busybox", raw: asWrapper, style: first},
	{name: "caffeinate", opts: "t=v w=v", raw: asWrapper, style: first},
	{name: "cd", opts: "P L", do: withCd},
	{name: "chrt", raw: asWrapper, style: first},
	{name: "command", opts: "v V p", raw: asCommand, style: first},
	{name: "continue"},
	{name: "dash", raw: asShell},
	{name: "declare", do: withExport},
	{name: "dirs"},
	{name: "disown"},
	{name: "doas", opts: "u=v C=r", raw: asSudo, style: first},
	{name: "echo"},
	{name: "enable", opts: "f=x", does: doesUnclear}, // what a builtin's name means changes
	{name: "env", opts: "u|unset=v C|chdir=v S|split-string=v i|ignore-environment 0|null P=v block-signal=? default-signal=? ignore-signal=?", raw: asEnv, style: first},
	{name: "eval", raw: asEval},
	{name: "exec", opts: "a=v c l", raw: asExec, style: first},
	{name: "exit", do: withLeave},
	{name: "export", do: withExport},
	{name: "false"},
	{name: "fc", does: doesUnclear},
	{name: "fg"},
	{name: "fish", raw: asShell},
	{name: "flock", opts: "c|command=v w|timeout=v E=v", raw: asWrapper, style: first},
	{name: "getopts", do: withNames},
	{name: "hash", opts: "p=x"},
	{name: "help"},
	{name: "history", opts: "a=? w=? c d=v", does: doesSecrets},
	{name: "hyperfine", opts: "p|prepare=c s|setup=c c|cleanup=c w|warmup=v r|runs=v m|min-runs=v M|max-runs=v n|command-name=v S|shell=v export-json=w export-markdown=w export-csv=w", operands: "c*"},
	{name: "ionice", opts: "c|class=v n|classdata=v p|pid=v P=v u=v", raw: asWrapper, style: first},
	{name: "jobs"},
	{name: "kill", opts: "s|signal=v n=v l|list", do: withSignal},
	{name: "ksh", raw: asShell},
	{name: "let"},
	{name: "local", do: withExport},
	{name: "mapfile", opts: "d=v n=v O=v s=v u=v C=c c=v t", do: withNames},
	{name: "nice", opts: "n|adjustment=v", raw: asWrapper, style: first},
	{name: "nohup", raw: asWrapper, style: first},
	{name: "parallel", opts: "a|arg-file=v j|jobs=v I=v S|sshlogin=h delay=v timeout=v results=w joblog=w C|colsep=v N=v n|max-args=v L=v d|delimiter=v retries=v tmpdir=w bar k|keep-order dry-run", raw: asXargs, style: first},
	{name: "pkexec", opts: "u|user=v", raw: asSudo, style: first},
	{name: "popd", do: withPopd},
	{name: "printenv", do: withSignal},
	{name: "printf", opts: "v=v", do: withNames},
	{name: "pushd", do: withCd},
	{name: "pwd"},
	{name: "read", opts: "a=v d=v i=v n=v N=v p=v t=v u=v r s e", do: withNames},
	{name: "readarray", same: "mapfile"},
	{name: "readonly", do: withExport},
	{name: "return", do: withLeave},
	{name: "script", opts: "c|command=v I|log-in=w O|log-out=w B|log-io=w T|log-timing=w t|timing=? E=v m=v o=v", operands: "w", raw: asScript, style: first},
	{name: "set", raw: asSet},
	{name: "setpriv", raw: asSudo, style: first},
	{name: "setsid", raw: asWrapper, style: first},
	{name: "sh", raw: asShell},
	{name: "shift", do: withShift},
	{name: "shopt", does: doesUnclear}, // what patterns match may change
	{name: "sleep"},
	{name: "source", raw: asSource, style: first},
	{name: "stdbuf", opts: "i|input=v o|output=v e|error=v", raw: asWrapper, style: first},
	{name: "su", opts: "c|command=v s|shell=v g=v G=v w=v", raw: asSu},
	{name: "sudo", opts: "u|user=v g|group=v h|host=v p|prompt=v C=v r=v t=v T=v U=v D|chdir=v R|chroot=v a=v", raw: asSudo, style: first},
	{name: "sudoedit", operands: "b*", does: doesPrivilege},
	{name: "taskset", raw: asWrapper, style: first},
	{name: "tcsh", raw: asShell},
	{name: "test", raw: asTest},
	{name: "time", opts: "o|output=w f|format=v", raw: asWrapper, style: first},
	{name: "timeout", opts: "s|signal=v k|kill-after=v", raw: asWrapper, style: first},
	{name: "times"},
	{name: "trap", do: withTrap},
	{name: "true"},
	{name: "type"},
	{name: "typeset", do: withExport},
	{name: "ulimit"},
	{name: "umask", do: withUmask},
	{name: "unalias"},
	{name: "unbuffer", raw: asWrapper, style: first},
	{name: "unset", do: withNames},
	{name: "wait"},
	{name: "watch", opts: "n|interval=v q=v x|exec", raw: asWatch, style: first},
	{name: "whence"},
	{name: "whereis"},
	{name: "which"},
	{name: "xargs", opts: "a|arg-file=v d|delimiter=v E=v I|replace=v i=? L|max-lines=v n|max-args=v P|max-procs=v s|max-chars=v process-slot-var=v 0|null r|no-run-if-empty t p", raw: asXargs, style: first},
	{name: "yes"},
	{name: "zsh", raw: asShell},
}
