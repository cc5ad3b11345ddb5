// Package filter knows programs that read text and write it to standard output.
package filter

import "mycelium/internal/shell/program"

// Rows are the programs that read text, sorted by name. They write it to standard output, with the exceptions that the rows say.
var Rows = []program.Row{
	{Name: "ack", Same: "grep"},
	{Name: "ag", Same: "grep"},
	{Name: "awk", Options: "F|field-separator=v v|assign=v f|file=x i|include=x l|load=v e|source=v o|pretty-print=w p|profile=w " +
		"d|dump-variables=w E|exec=x W=v", Operands: "vr*", Instead: "f r* e r*", Handle: awk},
	{Name: "base32", Same: "base64"},
	{Name: "base64", Options: "w|wrap=v i|input=r o|output=w", Operands: "r*"},
	{Name: "basename", Operands: "v*"},
	{Name: "bat", Options: "l|language=v r|line-range=v style=v theme=v H|highlight-line=v pager=c p|plain", Operands: "r*"},
	{Name: "batcat", Same: "bat"},
	{Name: "bc", Operands: "x*"},
	{Name: "cal", Operands: "v*"},
	{Name: "cksum", Operands: "r*"},
	{Name: "cloc", Options: "exclude-dir=v out|report-file=w", Operands: "r*", Here: "r"},
	{Name: "column", Options: "s|separator=v o|output-separator=v N=v c=v", Operands: "r*"},
	{Name: "cut", Options: "d|delimiter=v f|fields=v c|characters=v b|bytes=v output-delimiter=v", Operands: "r*"},
	{Name: "dirname", Operands: "v*"},
	{Name: "egrep", Same: "grep"},
	{Name: "expand", Operands: "r*"},
	{Name: "expr", Operands: "v*"},
	{Name: "factor", Operands: "v*"},
	{Name: "fgrep", Same: "grep"},
	{Name: "fmt", Operands: "r*"},
	{Name: "fold", Options: "w|width=v", Operands: "r*"},
	{Name: "gawk", Same: "awk"},
	{Name: "grep", Options: "e|regexp=v f|file=r A|after-context=v B|before-context=v C|context=v m|max-count=v include=v " +
		"exclude=v exclude-from=r exclude-dir=v color=? colour=? r|recursive R|dereference-recursive l|files-with-matches " +
		"label=v d|directories=v D=v ignore-dir=v", Operands: "vr*", Instead: "e r* f r*", Handle: grep},
	{Name: "hadolint", Options: "c|config=r f|format=v", Operands: "r*"},
	{Name: "head", Options: "n|lines=v c|bytes=v", Operands: "r*"},
	{Name: "hexdump", Options: "n=v s=v e=v f=r", Operands: "r*"},
	{Name: "iconv", Options: "f|from-code=v t|to-code=v o|output=w", Operands: "r*"},
	{Name: "join", Options: "t=v o=v j=v 1=v 2=v a=v e=v v=v", Operands: "r*"},
	{Name: "jq", Options: "arg=2 argjson=2 slurpfile=3 rawfile=3 f|from-file=r L=r indent=v args jsonargs", Operands: "vr*",
		Instead: "f r*", Handle: query},
	{Name: "look", Options: "t|terminate=v", Operands: "vr*"},
	{Name: "markdownlint", Options: "c|config=r i|ignore=v f|fix o|output=w", Operands: "f*"},
	{Name: "mawk", Same: "awk"},
	{Name: "nawk", Same: "awk"},
	{Name: "nl", Options: "b=v s=v w=v", Operands: "r*"},
	{Name: "nm", Listed: true, Operands: "r*"},
	{Name: "numfmt", Operands: "v*"},
	{Name: "objdump", Listed: true, Options: "j=v", Operands: "r*"},
	{Name: "od", Options: "A=v t=v j=v N=v", Operands: "r*"},
	{Name: "paste", Options: "d|delimiters=v", Operands: "r*"},
	{Name: "pr", Operands: "r*"},
	{Name: "rev", Operands: "r*"},
	{Name: "rg", Options: "e|regexp=v f|file=r A|after-context=v B|before-context=v C|context=v m|max-count=v g|glob=v iglob=v " +
		"t|type=v T|type-not=v pre=c pre-glob=v ignore-file=r d|max-depth=v j|threads=v M|max-columns=v sort=v color=v " +
		"hostname-bin=c r|replace=v files type-list l|files-with-matches context-separator=v max-filesize=v " +
		"hidden u|unrestricted", Operands: "vr*", Instead: "e r* f r*", Here: "r", Handle: ripgrep},
	{Name: "ripgrep", Same: "rg"},
	{Name: "sdiff", Options: "o|output=w w=v", Operands: "r*"},
	{Name: "sed", Options: "e|expression=v f|file=x i|in-place=? I=? l|line-length=v n|quiet E r|regexp-extended s z u",
		Operands: "vr*", Instead: "e r* f r*", Handle: sed},
	{Name: "seq", Operands: "v*"},
	{Name: "shuf", Options: "o|output=w n|head-count=v i|input-range=v random-source=r e|echo", Operands: "r*", Instead: "e v*"},
	{Name: "sort", Options: "o|output=w T|temporary-directory=w compress-program=c k|key=v S|buffer-size=v t|field-separator=v " +
		"files0-from=n random-source=r parallel=v batch-size=v", Operands: "r*"},
	{Name: "strings", Listed: true, Options: "n|bytes=v", Operands: "r*"},
	{Name: "tac", Options: "s=v", Operands: "r*"},
	{Name: "tail", Options: "n|lines=v c|bytes=v s|sleep-interval=v pid=v", Operands: "r*"},
	{Name: "tokei", Options: "e|exclude=v t|type=v o|output=v", Operands: "r*", Here: "r"},
	{Name: "tr", Operands: "v*"},
	{Name: "unexpand", Operands: "r*"},
	{Name: "uniq", Options: "f|skip-fields=v s|skip-chars=v w|check-chars=v", Operands: "rw"},
	{Name: "wc", Options: "files0-from=r", Operands: "r*"},
	{Name: "xmllint", Options: "o|output=w xpath=v schema=r dtdvalid=r path=v", Operands: "r*"},
	{Name: "xxd", Options: "c|cols=v g|groupsize=v l|len=v s|seek=v o=v n|name=v R=v", Operands: "rw"},
	{Name: "yamllint", Options: "c|config-file=r d=v f=v", Operands: "r*"},
	{Name: "yq", Parse: yq},
	{Name: "zgrep", Same: "grep"},
}
