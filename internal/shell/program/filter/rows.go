// Package filter knows programs that read text and write it to standard output.
package filter

import "mycelium/internal/shell/program"

// Rows are the programs that read text, sorted by name. They write it to standard output, with the exceptions that the rows say.
var Rows = []program.Row{
	{Name: "ack", Plain: plainAck, Options: "pager=c ackrc=x files-from=n x=? f g=v r|R|recurse exclude-dir|ignore-dir=v match=v",
		Operands: "vr*", Instead: "f r* match r*", Handle: grep},
	{Name: "ag", Plain: plainAg, Options: "pager=c p|path-to-ignore=r ignore|ignore-dir=v r|R|recurse u|unrestricted hidden",
		Operands: "vr*", Handle: grep},
	{Name: "awk", Plain: plainAwk, Options: "F|field-separator=v v|assign=v f|file=x i|include=x l|load=x e|source=v o|pretty-print=w " +
		"p|profile=w d|dump-variables=w E|exec=x W=v", Operands: "vr*", Instead: "f r* e r*", Handle: awk},
	{Name: "base32", Same: "base64"},
	{Name: "base64", Plain: plainBase64, Options: "w|wrap=v i|input=r o|output=w", Operands: "r*"},
	{Name: "basename", Plain: plainBasename, Operands: "v*"},
	{Name: "bat", Plain: plainBat,
		Options: "l|language=v r|line-range=v style=v theme=v H|highlight-line=v pager=c p|plain", Operands: "r*"},
	{Name: "batcat", Same: "bat"},
	{Name: "bc", Plain: "h|help i|interactive l|mathlib q|quiet s|standard w|warn v|version", Options: "f|file=x e|expression=v",
		Operands: "x*"},
	{Name: "cal", Plain: "3 1 y Y n|months=v s|sunday m|monday j|julian A=v B=v S|span w|week=? color=? C N h|help V|version e H=v J " +
		"d=v p", Operands: "v*"},
	{Name: "cksum", Plain: plainCksum, Operands: "r*"},
	{Name: "cloc", Options: "exclude-dir=v out|report-file=w list-file=n exclude-list-file=r ignored=w counted=w found=w categorized=w " +
		"sql=w extract-with=c read-lang-def=r force-lang-def=r write-lang-def=w config=x", Plain: plainCloc, Operands: "r*", Here: "r"},
	{Name: "column", Plain: plainColumn, Options: "s|separator=v o|output-separator=v N=v c=v", Operands: "r*"},
	{Name: "cut", Plain: plainCut, Options: "d|delimiter=v f|fields=v c|characters=v b|bytes=v output-delimiter=v", Operands: "r*"},
	{Name: "dirname", Plain: plainDirname, Operands: "v*"},
	{Name: "egrep", Same: "grep"},
	{Name: "expand", Plain: plainExpand, Operands: "r*"},
	{Name: "expr", Plain: "help version", Operands: "v*"},
	{Name: "factor", Plain: "h|exponents help version", Operands: "v*"},
	{Name: "fgrep", Same: "grep"},
	{Name: "fmt", Plain: plainFmt, Operands: "r*"},
	{Name: "fold", Plain: plainFold, Options: "w|width=v", Operands: "r*"},
	{Name: "gawk", Same: "awk"},
	{Name: "grep", Plain: plainGrep,
		Options: "e|regexp=v f|file=r A|after-context=v B|before-context=v C|context=v m|max-count=v include=v " +
			"exclude=v exclude-from=r exclude-dir=v color=? colour=? r|recursive R|dereference-recursive l|files-with-matches " +
			"label=v d|directories=v D=v ignore-dir=v", Operands: "vr*", Instead: "e r* f r*", Handle: grep},
	{Name: "hadolint", Options: "c|config=r f|format=v",
		Plain: "no-fail no-color V|verbose v|version h|help t|failure-threshold=v ignore=v " +
			"error=v warning=v info=v style=v trusted-registry=v require-label=v strict-labels disable-ignore-pragma file-path-in-report=v",
		Operands: "r*"},
	{Name: "head", Plain: plainHead, Options: "n|lines=v c|bytes=v", Operands: "r*"},
	{Name: "hexdump", Plain: plainHexdump, Options: "n=v s=v e=v f|format-file=r", Operands: "r*"},
	{Name: "iconv", Plain: plainIconv, Options: "f|from-code=v t|to-code=v o|output=w", Operands: "r*"},
	{Name: "join", Plain: plainJoin, Options: "t=v o=v j=v 1=v 2=v a=v e=v v=v", Operands: "r*"},
	{Name: "jq", Plain: plainJq,
		Options: "arg=2 argjson=2 slurpfile=3 rawfile=3 argfile=3 f|from-file=x L=e indent=v args jsonargs", Operands: "vr*",
		Instead: "f r*", Handle: query},
	{Name: "look", Plain: "a|alternative b d|alphanum f|ignore-case h|help V|version", Options: "t|terminate=v", Operands: "vr*"},
	{Name: "markdownlint", Options: "c|config=x i|ignore=v f|fix o|output=w p|ignore-path=r r|rules=x",
		Plain: "d|dot j|json q|quiet s|stdin enable=v " +
			"disable=v configPointer=v h|help V|version", Operands: "f*"},
	{Name: "mawk", Same: "awk"},
	{Name: "nawk", Same: "awk"},
	{Name: "nl", Plain: plainNl, Options: "b=v s=v w=v", Operands: "r*"},
	{Name: "nm", Plain: plainNm, Options: "plugin=x", Listed: true, Operands: "r*"},
	{Name: "numfmt", Plain: plainNumfmt, Operands: "v*"},
	{Name: "objdump", Plain: plainObjdump, Listed: true, Options: "j|section=v I|include=r plugin=x", Operands: "r*"},
	{Name: "od", Plain: plainOd, Options: "A=v t=v j=v N=v", Operands: "r*"},
	{Name: "paste", Plain: plainPaste, Options: "d|delimiters=v", Operands: "r*"},
	{Name: "pr", Plain: plainPr, Operands: "r*"},
	{Name: "readelf", Listed: true, Options: "x|hex-dump=v p|string-dump=v R|relocated-dump=v w|debug-dump=?", Plain: plainReadelf,
		Operands: "r*"},
	{Name: "rev", Plain: plainRev, Operands: "r*"},
	{Name: "rg", Plain: plainRg,
		Options: "e|regexp=v f|file=r A|after-context=v B|before-context=v C|context=v m|max-count=v g|glob=v iglob=v " +
			"t|type=v T|type-not=v pre=c pre-glob=v ignore-file=r d|max-depth=v j|threads=v M|max-columns=v sort=v color=v " +
			"hostname-bin=c r|replace=v files type-list l|files-with-matches context-separator=v max-filesize=v " +
			"hidden u|unrestricted", Operands: "vr*", Instead: "e r* f r*", Here: "r", Handle: ripgrep},
	{Name: "ripgrep", Same: "rg"},
	{Name: "scc", Options: "o|output=w format-multi=v", Plain: plainScc, Operands: "r*", Here: "r"},
	{Name: "sdiff", Plain: plainSdiff, Options: "o|output=w w|width=v diff-program=x", Operands: "r*"},
	{Name: "sed", Plain: plainSed, Options: "e|expression=v f|file=x i|in-place=? I=? l|line-length=v n|quiet E r|regexp-extended s z u",
		Operands: "vr*", Instead: "e r* f r*", Handle: sed},
	{Name: "seq", Plain: plainSeq, Operands: "v*"},
	{Name: "shuf", Plain: plainShuf,
		Options: "o|output=w n|head-count=v i|input-range=v random-source=r e|echo", Operands: "r*", Instead: "e v*"},
	{Name: "size", Listed: true, Plain: "A B G d f o t x common format=v radix=v target=v totals help version V", Operands: "r*"},
	{Name: "sort", Plain: plainSort,
		Options: "o|output=w T|temporary-directory=w compress-program=c k|key=v S|buffer-size=v t|field-separator=v " +
			"files0-from=n random-source=r parallel=v batch-size=v", Operands: "r*"},
	{Name: "strings", Plain: plainStrings, Listed: true, Options: "n|bytes=v", Operands: "r*"},
	{Name: "tac", Plain: plainTac, Options: "s=v", Operands: "r*"},
	{Name: "tail", Plain: plainTail, Options: "n|lines=v c|bytes=v s|sleep-interval=v pid=v", Operands: "r*"},
	{Name: "tokei", Options: "e|exclude=v t|type=v o|output=v i|input=r",
		Plain: "C|compact f|files hidden l|languages no-ignore no-ignore-dot " +
			"no-ignore-parent no-ignore-vcs s|sort=v r|rsort=v c|columns=v n|num-format=v v|verbose h|help V|version", Operands: "r*",
		Here: "r"},
	{Name: "tr", Plain: plainTr, Operands: "v*"},
	{Name: "unexpand", Plain: plainUnexpand, Operands: "r*"},
	{Name: "uniq", Plain: plainUniq, Options: "f|skip-fields=v s|skip-chars=v w|check-chars=v", Operands: "rw"},
	{Name: "wc", Plain: plainWc, Options: "files0-from=r", Operands: "l*", Handle: count},
	{Name: "xmllint", Options: "o|output=w xpath=v schema=u dtdvalid=u path=v relaxng=u schematron=u", Plain: plainXmllint,
		Operands: "u*"},
	{Name: "xxd", Plain: plainXxd, Style: program.Single, Options: "c|cols=v g|groupsize=v l|len=v s|seek|skip=v o|offset=v n|name=v R=v",
		Operands: "rw", Parse: hexDump},
	{Name: "yamllint", Plain: plainYamllint, Options: "c|config-file=r d=v f=v", Operands: "r*"},
	{Name: "yq", Parse: yq},
	{Name: "zgrep", Same: "grep"},
}
