package filter

import "mycelium/internal/shell/program"

// MoreRows are programs that read text or data and are not in every system, sorted by name. Each names all options of its manual that do
// no harm; an option that is missing asks.
var MoreRows = []program.Row{
	{Name: "ascii", Plain: "a x o d b h t s v", Operands: "v*"},
	{Name: "b2sum", Same: "md5sum"},
	{Name: "bzcat", Plain: "q quiet s small v verbose help version", Operands: "r*"},
	{Name: "bzgrep", Same: "grep"},
	{Name: "c++filt", Listed: true, Plain: "_ n i p r t s=v format=v strip-underscore no-strip-underscore no-params types no-verbose help " +
		"version", Operands: "v*"},
	{Name: "choose", Options: "i|input=r", Plain: "c x n f=v field-separator=v o=v output-field-separator=v exclusive non-greedy help " +
		"version",
		Operands: "v*"},
	{Name: "csvcut", Plain: "c=v columns=v C=v not-columns=v n names x delete-empty-rows " + plainCsvkit, Operands: "r*"},
	{Name: "csvgrep", Options: "f|file=r", Plain: "c=v columns=v m=v match=v r=v regex=v i invert-match a any-match n names " + plainCsvkit,
		Operands: "r*"},
	{Name: "csvlook", Plain: "max-rows=v max-columns=v max-column-width=v max-precision=v y=v snifflimit=v I no-inference " + plainCsvkit,
		Operands: "r*"},
	{Name: "csvsort", Plain: "c=v columns=v r reverse i ignore-case I no-inference n names y=v snifflimit=v " + plainCsvkit, Operands: "r*"},
	{Name: "csvstat", Plain: "c=v columns=v csv json n names count type nulls unique min max sum mean median stdev len freq freq-count=v " +
		"non-nulls y=v snifflimit=v I no-inference " + plainCsvkit, Operands: "r*"},
	{Name: "diffstat", Options: "o=w e=w D=r S=r", Plain: "b c C k K l m q s t u v V f=v n=v N=v p=v r=v w=v", Operands: "r*"},
	{Name: "difft", Plain: "display=v color=v context=v width=v skip-unchanged exit-code missing-as-json list-languages check-only " +
		"ignore-comments syntax-highlight=v tab-width=v background=v sort-paths strip-cr=v byte-limit=v graph-limit=v help version",
		Operands: "r*"},
	{Name: "filterdiff", Plain: plainPatchutils, Operands: "r*"},
	{Name: "getopt", Plain: "a alternative h l=v longoptions=v n=v name=v o=v options=v q quiet Q quiet-output s=v shell=v T test u " +
		"unquoted " +
		"V version help", Operands: "v*"},
	{Name: "gron", Operands: "u*", Plain: "u ungron s stream c colorize m monochrome v values j json no-sort version"},
	{Name: "hexyl", Plain: "n=v length=v c=v bytes=v s=v skip=v block-size=v v no-squeezing color=v border=v display-offset=v panels=v b=v " +
		"base=v C characters P p plain help version", Operands: "r*"},
	{Name: "lsd", Same: "eza"},
	{Name: "lsdiff", Plain: plainPatchutils, Operands: "r*"},
	{Name: "lz4cat", Plain: "q v", Operands: "r*"},
	{Name: "namei", Plain: "l long m modes o owners v vertical x mountpoints n nosymlinks Z context help version h V", Operands: "r*"},
	{Name: "pathchk", Plain: "p P portability help version", Operands: "v*"},
	{Name: "pv", Options: "P|pidfile=w o|output=w", Plain: "p t e r b a T A=v q n s=v L=v N=v i=v w=v H=v B=v f l 8 W I F=v size=v name=v " +
		"rate-limit=v interval=v width=v height=v format=v buffer-size=v eta bytes progress timer rate average-rate line-mode quiet numeric " +
		"wait force cursor help version h V", Operands: "r*"},
	{Name: "sd", Operands: "vvb*", Plain: "F fixed-strings s string-mode p preview f=v flags=v n=v max-replacements=v help version h V"},
	{Name: "sha224sum", Same: "md5sum"},
	{Name: "sha384sum", Same: "md5sum"},
	{Name: "sponge", Operands: "w", Plain: "a h"},
	{Name: "sum", Plain: "r s sysv help version", Operands: "r*"},
	{Name: "tidy", Style: program.Single, Options: "o|output|output-file=w config=r f|file=w", Plain: "q quiet e errors xml i indent utf8 " +
		"wrap=v w=v asxml asxhtml ashtml v version h help", Operands: "r*"},
	{Name: "ts", Plain: "i r s m", Operands: "v*"},
	{Name: "tsort", Plain: "w help version", Operands: "r"},
	{Name: "wdiff", Plain: "1 2 3 c C i n s no-deleted no-inserted no-common copyright ignore-case no-wraps statistics w=v x=v y=v z=v " +
		"start-delete=v end-delete=v start-insert=v end-insert=v help version h v", Operands: "r*"},
	{Name: "xcbeautify", Options: "report-path=w", Plain: "q quiet qq quieter is-ci disable-colored-output disable-logging renderer=v " +
		"preserve-unbeautified report=v h help version", Operands: "v*"},
	{Name: "xcpretty", Options: "o|output=w", Plain: "s simple t test tap c color no-utf no-color r=v report=v help v version",
		Operands: "v*"},
	{Name: "xzcat", Plain: "q quiet v verbose k keep f force T=v threads=v M=v memlimit=v help version", Operands: "r*"},
	{Name: "xzgrep", Same: "grep"},
	{Name: "zcmp", Same: "cmp"},
	{Name: "zdiff", Same: "diff"},
}

const (
	// plainCsvkit are the options of each program of csvkit.
	plainCsvkit = "d=v delimiter=v t tabs q=v quotechar=v u=v quoting=v b no-doublequote p=v escapechar=v z=v maxfieldsize=v e=v " +
		"encoding=v " +
		"S skipinitialspace H no-header-row K=v skip-lines=v v verbose l linenumbers zero V version help"
	plainPatchutils = "n number N number-files s status p=v strip-match=v strip=v i=v include=v x=v exclude=v E empty-files-as-removed v " +
		"verbose h H F=v files=v lines=v clean remove-timestamps help version"
)
