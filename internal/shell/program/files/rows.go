// Package files knows programs that read, write, move and delete files.
package files

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Rows are the programs that work on files, sorted by name.
var Rows = []program.Row{
	{Name: "7z", Plain: "h help", Subs: []program.Row{
		{Name: "l|t|i", Plain: plain7z, Operands: "r*", Handle: switches7z},
		{Name: "x|e", Options: "o=k", Plain: plain7z, Operands: "rv*", Here: "w", Handle: extract7z},
		{Name: "a|u", Plain: "v=? " + plain7z, Operands: "br*", Handle: pack7z},
		{Name: "d|rn", Plain: plain7z, Operands: "bv*", Handle: switches7z},
	}},
	{Name: "ar", Plain: "a b c D d f i m N O o P p q r S s t T|thin U u V v x target=v record-libdeps=v help version", Listed: true,
		Options: "output=k plugin=x M", Operands: "vbr*", Handle: ar},
	{Name: "bunzip2", Same: "gzip"},
	{Name: "bzip2", Same: "gzip"},
	{Name: "cat", Plain: plainCat, Operands: "r*"},
	{Name: "chattr", Operands: "vw*", Does: effect.Privilege},
	{Name: "chgrp", Same: "chown"},
	{Name: "chmod", Plain: plainChmod, Options: "reference=r R|recursive", Operands: "vw*", Handle: chmod},
	{Name: "chown", Plain: plainChown, Options: "reference=r from=v R|recursive", Operands: "vw*", Handle: chown},
	{Name: "cmp", Plain: plainCmp, Operands: "r*"},
	{Name: "colordiff", Same: "diff"},
	{Name: "comm", Plain: plainComm, Operands: "r*"},
	{Name: "cp", Plain: plainCp, Options: "t|target-directory=w S|suffix=v r|R|recursive a|archive f|force l|link s|symbolic-link " +
		"n|no-clobber P|no-dereference d preserve=?", Handle: copyFiles},
	{Name: "cpio", Plain: plainCpio, Options: "i|extract o|create p|pass-through F|file=b D|directory=k R|owner=v H|format=v O=w I=r " +
		"E|pattern-file=r rsh-command=c", Operands: "w*", Here: "w", Handle: cpio},
	{Name: "csplit", Plain: plainCsplit, Options: "f|prefix=v b|suffix-format=v n|digits=v", Operands: "rv*", Here: "w",
		Handle: splitByContext},
	{Name: "dd", Handle: dd},
	{Name: "df", Plain: plainDf, Operands: "l*"},
	{Name: "diff", Plain: plainDiff, Options: "U|unified=? C|context=? I|ignore-matching-lines=v F|show-function-line=v x|exclude=v " +
		"X|exclude-from=r to-file=r from-file=r label=v L=v W|width=v r|recursive", Operands: "r*", Handle: compare},
	{Name: "diff3", Plain: plainDiff3, Options: "diff-program=x", Operands: "r*"},
	{Name: "dir", Same: "ls"},
	{Name: "dos2unix", Plain: plainDos2unix, Options: "n|newfile", Operands: "b*"},
	{Name: "du", Plain: plainDu,
		Options: "d|max-depth=v X|exclude-from=r exclude=v files0-from=r B|block-size=v t|threshold=v", Operands: "l*",
		Here: "r"},
	{Name: "exa", Same: "eza"},
	{Name: "eza", Plain: plainEza, Options: "I|ignore-glob=v", Operands: "l*", Here: "r"},
	{Name: "fallocate", Plain: "c|collapse-range d|dig-holes i|insert-range n|keep-size p|punch-hole x|posix z|zero-range v|verbose " +
		"h|help V|version", Options: "l|length=v o|offset=v", Operands: "w*", Handle: resize},
	{Name: "fd", Plain: plainFd,
		Options: "e|extension=v E|exclude=v t|type=v d|max-depth=v x|exec=v X|exec-batch=v S|size=v base-directory=k " +
			"ignore-file=r search-path=r c|color=v", Operands: "vr*", Here: "r", Handle: runFound},
	{Name: "fdfind", Same: "fd"},
	{Name: "file", Plain: plainFile, Options: "f|files-from=r m|magic-file=r F|separator=v", Operands: "l*", Instead: "m r* f r*"},
	{Name: "find", Parse: find},
	{Name: "getfacl", Plain: "a|access c|omit-header d|default e|all-effective E|no-effective s|skip-base R|recursive L|logical " +
		"P|physical t|tabular n|numeric p|absolute-names v|version h|help", Operands: "l*"},
	{Name: "gunzip", Same: "gzip"},
	{Name: "gzip", Plain: plainGzip,
		Options: "S|suffix=v c|stdout|to-stdout d|decompress|uncompress k|keep l|list t|test N|name o=v r|recursive " +
			"T|threads=v files=? files0=? filelist=n output-dir-flat=w " +
			"output-dir-mirror=w D=r patch-from=r trace=w",
		Operands: "m*", Instead: "k r* c r* l r* t r*", Handle: compress},
	{Name: "install", Plain: plainInstall,
		Options:  "t|target-directory=w m|mode=v o|owner=v g|group=v S|suffix=v d|directory strip-program=c",
		Operands: "r*w", Instead: "t r* d w*", Handle: install},
	{Name: "ln", Plain: plainLn,
		Options: "t|target-directory=w S|suffix=v s|symbolic f|force n|no-dereference r|relative", Handle: makeLink},
	{Name: "ls", Plain: plainLs,
		Options: "I|ignore=v w|width=v T|tabsize=v hide=v block-size=v sort=v time=v", Operands: "l*", Here: "r"},
	{Name: "lsattr", Plain: "a d l p R v V", Operands: "l*", Here: "r"},
	{Name: "md5", Same: "md5sum"},
	{Name: "md5sum", Plain: plainMd5sum, Operands: "r*"},
	{Name: "mkdir", Plain: plainMkdir, Options: "m|mode=v", Operands: "w*"},
	{Name: "mkfifo", Plain: plainMkfifo, Options: "m|mode=v", Operands: "w*"},
	{Name: "mktemp", Plain: plainMktemp, Options: "p=v tmpdir=? suffix=v d|directory t", Handle: makeTemporary},
	{Name: "mv", Plain: plainMv, Options: "t|target-directory=w S|suffix=v f|force", Handle: moveFiles},
	{Name: "patch", Plain: plainPatch,
		Options: "i|input=r o|output=w d|directory=k p|strip=v r|reject-file=w D|ifdef=v F|fuzz=v B|prefix=v z|suffix=v b|backup " +
			"dry-run",
		Operands: "br*", Here: "w", Handle: patch},
	{Name: "readlink", Plain: plainReadlink, Operands: "l*"},
	{Name: "realpath", Plain: plainRealpath, Options: "relative-to=r relative-base=r", Operands: "l*"},
	{Name: "rename", Operands: "vb*", Does: effect.InlineCode},
	{Name: "rm", Plain: plainRm, Options: "r|R|recursive f|force i|interactive d|dir one-file-system no-preserve-root", Operands: "d*"},
	{Name: "rmdir", Plain: plainRmdir, Options: "p|parents", Operands: "d*"},
	{Name: "sha1sum", Same: "md5sum"},
	{Name: "sha256sum", Same: "md5sum"},
	{Name: "sha512sum", Same: "md5sum"},
	{Name: "shasum", Plain: "b|binary c|check t|text U|UNIVERSAL 0|01 tag ignore-missing q|quiet s|status strict w|warn h|help " +
		"v|version", Options: "a|algorithm=v", Operands: "r*"},
	{Name: "shred", Plain: plainShred,
		Options: "n|iterations=v s|size=v random-source=r u|remove=?", Operands: "d*", Does: effect.Destructive},
	{Name: "split", Plain: plainSplit,
		Options:  "b|bytes=v l|lines=v n|number=v a|suffix-length=v C|line-bytes=v additional-suffix=v filter=c t|separator=v",
		Operands: "rv", Here: "w", Handle: splitFile},
	{Name: "stat", Plain: plainStat, Options: "c|format=v printf=v f=v", Operands: "l*"},
	{Name: "sync", Plain: plainSync, Operands: "r*"},
	{Name: "tar", Plain: plainTar, Options: "f|file=v C|directory=k T|files-from=n X|exclude-from=r to-command=c checkpoint-action=v " +
		"I|use-compress-program=c exclude=v strip-components=v transform|xform=v owner=v group=v mode=v mtime=v " +
		"one-top-level=?o index-file=w volno-file=w rmt-command=c g|listed-incremental=b F|info-script|new-volume-script=c " +
		"rsh-command=c newer=v c|create x|extract|get t|list " +
		"r|append u|update A|catenate delete remove-files z j J " +
		"a|auto-compress P|absolute-names overwrite O|to-stdout " +
		"checkpoint=? add-file=r owner-map=r group-map=r", Handle: tar},
	{Name: "tee", Plain: plainTee, Options: "a|append", Operands: "w*"},
	{Name: "touch", Plain: plainTouch, Options: "r|reference=r d|date=v t=v", Operands: "t*"},
	{Name: "trash", Same: "rm"},
	{Name: "tree", Plain: plainTree, Options: "o=w L=v P=v I=v infofile=r gitfile=r", Operands: "l*", Here: "r"},
	{Name: "truncate", Plain: plainTruncate, Options: "s|size=v r|reference=r", Operands: "w*", Handle: resize},
	{Name: "uncompress", Same: "gzip"},
	{Name: "unix2dos", Plain: plainDos2unix, Options: "n|newfile", Operands: "b*"},
	{Name: "unlink", Plain: "help version", Operands: "d*"},
	{Name: "unxz", Same: "gzip"},
	{Name: "unzip", Plain: plainUnzip, Options: "d=w x=v l p t v j Z P=v", Operands: "rv*", Handle: unzip},
	{Name: "unzstd", Same: "gzip"},
	{Name: "vdir", Same: "ls"},
	{Name: "xz", Same: "gzip"},
	{Name: "zcat", Plain: "f|force h|help l|list q|quiet r|recursive S|suffix=v synchronous v|verbose V|version L|license",
		Operands: "r*"},
	{Name: "zip", Plain: plainZip, Options: "m|move T|test TT|unzip-command=c r|recurse-paths R|recurse-patterns x|exclude=v " +
		"i|include=v P|password=v b|temp-path=w O|output-file=w logfile-path=w @|names-stdin",
		Operands: "wr*", Handle: zip},
	{Name: "zipinfo", Plain: "1 2 s m l v h M t T C U z x=v", Operands: "r*"},
	{Name: "zstd", Same: "gzip"},
}
