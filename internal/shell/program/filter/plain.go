package filter

// The options of which a program only changes how it works or what it shows: see Plain of [program.Row]. They are those of the manuals
// without what the rows name; what is missing in both asks.
const (
	plainReadelf = "A D I L S T V W X a c d e g h l n r s t u v H W all archive-index arch-specific ctf=? decompress demangle=? " +
		"dyn-syms " +
		"dynamic file-header got-contents headers help histogram lint lto-syms no-demangle no-recurse-limit notes program-headers " +
		"relocs section-details section-groups section-headers sections segments silent-truncation symbols sym-base=v syms " +
		"unicode=v unwind use-dynamic version version-info wide"
	plainScc = "M=v a b c d f=v h i=v l n=v p s=v v w x=v z avg-wage=v binary by-file ci cocomo-project-type=v count-as=v debug " +
		"dryness eaf=v exclude-dir=v exclude-ext=v exclude-file=v file-gc-count=v format=v gen generated-markers=v help " +
		"include-ext=v include-symlinks languages large-byte-count=v large-line-count=v min min-gen no-cocomo no-complexity " +
		"no-duplicates no-gen no-gitignore no-ignore no-large no-min no-scc-ignore no-size not-match=v overhead=v percent size-unit=v " +
		"sloccount-format sort=v trace uloc verbose version wide character"
	plainAck = "# 1 A=v B=v c C=? H h I i L l m=v n o p=? Q S s T=v t=v v w z after-context=v and=v bar before-context=v " +
		"break cc color-colno=v color-filename=v color-lineno=v color-match=v color=? colour=? column context=v count " +
		"cpp create-ackrc css dump elixir env files-with-matches files-without-matches filter flush follow go group " +
		"haskell heading help help-types html ignore-ack-defaults ignore-case ignore-file=v invert-match java js json " +
		"known-types kotlin literal lua make markdown max-count=v no-filename nobreak nocolor nocolumn noenv nofilter " +
		"nofollow nogroup noheading noignore-dir=v nopager nosmart-case not=v or=v passthru perl php print0 " +
		"proximate=? python range-end=v range-start=v ruby rust scala shell show-types smart-case sort-files sql swift " +
		"thpppt ts type-add=v type-del=v type-set=v type=v typescript underline version with-filename word-regexp xml " +
		"yaml"
	plainAg = "# 0 1 a A=? B=? c C=? D f F=v G=v g=v H h i L l m=v n o Q S s t U V v w W=v z ackmate affinity after=? " +
		"all-text all-types before=? break case-sensitive cc color color-line-number=v color-match=v color-path=v " +
		"column context=? count cpp css debug depth=v elixir file-search-regex=v filename files-with-matches " +
		"files-without-matches fixed-strings follow go group haskell heading help html ignore-case invert-match java " +
		"js json kotlin line-number list-file-types literal lua make markdown match max-count=v multiline noaffinity " +
		"nobreak nocolor nofilename nogroup noheading nomultiline nonumbers nopager numbers one-device only-matching " +
		"parallel passthrough passthru path-to-agignore=v perl php print-long-lines print0 python ruby rust scala " +
		"search-binary search-files search-zip shell silent skip-vcs-ignores smart-case sql stats stats-only swift ts " +
		"typescript version vimgrep width=v word-regexp workers=v xml yaml"
	plainBase64   = "D d decode ignore-garbage help version"
	plainBasename = "a s=v z multiple suffix=v zero help version"
	plainBat      = "A d f h L m=v n u V acknowledgements color=v decorations=v diagnostic diff diff-context=v file-name=v " +
		"force-colorization ignored-suffix=v italic-text=v list-languages list-themes map-syntax=v number paging=v show-all " +
		"tabs=v terminal-width=v unbuffered wrap=v help version"
	plainCksum   = "a=v c l=v w z algorithm=v check debug ignore-missing length=v quiet status strict tag untagged warn zero help version"
	plainCut     = "M n s w z complement only-delimited zero-terminated help version"
	plainDirname = "z zero help version"
	plainExpand  = "# i t=v initial tabs=v help version"
	plainFmt     = "# c g=v p=v s t u w=v crown-margin goal=v prefix=v split-only tagged-paragraph uniform-spacing width=v help version"
	plainFold    = "# b s bytes spaces help version"
	plainGrep    = "# a b c E F G H h I i L n o P q s T U V v w x Z z basic-regexp binary binary-files=v byte-offset count devices=v " +
		"extended-regexp files-without-match fixed-strings group-separator=v ignore-case initial-tab invert-match " +
		"line-buffered line-number line-regexp no-filename no-group-separator no-ignore-case no-messages null null-data " +
		"only-matching perl-regexp quiet silent text with-filename word-regexp help version"
	plainHead  = "# q v z quiet silent verbose zero-terminated help version"
	plainIconv = "c l s V list silent usage verbose help version"
	plainJoin  = "i z check-order header ignore-case nocheck-order zero-terminated help version"
	plainJq    = "a|ascii-output C|color-output c|compact-output e|exit-status h j|join-output M|monochrome-output n|null-input " +
		"R|raw-input r|raw-output s|slurp S|sort-keys V build-configuration raw-output0 seq stream stream-errors tab " +
		"unbuffered help version"
	plainNl = "d=v f=v h=v i=v l=v n=v p v=v body-numbering=v footer-numbering=v header-numbering=v join-blank-lines=v " +
		"line-increment=v no-renumber number-format=v number-separator=v number-width=v section-delimiter=v " +
		"starting-line-number=v help version"
	plainNm = "A a B C=? D e f=v g h j l n o P p r S s t=v U u V W X debug-syms defined-only demangle=? dynamic extern-only format=v " +
		"ifunc-chars=v just-symbols line-numbers no-demangle no-recurse-limit no-sort no-weak numeric-sort portability " +
		"print-armap print-file-name print-size quiet radix=v recurse-limit reverse-sort size-sort special-syms synthetic " +
		"target=v undefined-only unicode=v with-symbol-versions help version"
	plainNumfmt = "d=v M z debug delimiter=v field=v format=v from-unit=v from=v grouping header=? invalid=v padding=v round=v " +
		"suffix=v " +
		"to-unit=v to=v zero-terminated help version"
	plainOd = "a b c d f i l o s S=? v w=? x address-radix=v endian=v format=v output-duplicates read-bytes=v skip-bytes=v strings=? " +
		"traditional width=? help version"
	plainPaste = "s z serial zero-terminated help version"
	plainPr    = "# a c d D=v e=? F f h=v i=? J l=v m n=? N=v o=v r S=? s=? T t v W=v w=v across columns=v date-format=v double-space " +
		"expand-tabs=? first-line-number=v form-feed header=v indent=v join-lines length=v merge no-file-warnings " +
		"number-lines=? omit-header omit-pagination output-tabs=? page-width=v sep-string=? separator=? show-control-chars " +
		"show-nonprinting width=v help version"
	plainRg = "0 a b c E=v F H h I i L N n o P p q S s U V v w x z auto-hybrid-regex binary block-buffered byte-offset " +
		"case-sensitive colors=v column count count-matches crlf debug dfa-size-limit=v encoding=v engine=v " +
		"field-context-separator=v field-match-separator=v files-without-match fixed-strings follow glob-case-insensitive " +
		"heading ignore-case ignore-file-case-insensitive include-zero invert-match json line-buffered line-number line-regexp " +
		"max-columns-preview mmap multiline multiline-dotall no-config no-context-separator no-filename no-heading no-ignore " +
		"no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global no-ignore-messages no-ignore-parent no-ignore-vcs " +
		"no-line-number no-messages no-mmap no-pcre2-unicode no-require-git no-unicode null null-data one-file-system " +
		"only-matching passthru path-separator=v pcre2 pcre2-unicode pcre2-version pretty quiet regex-size-limit=v search-zip " +
		"smart-case sortr=v stats text trim type-add=v unicode vimgrep with-filename word-regexp help version"
	plainSdiff = "a B b d E H i I=v l s t v W Z expand-tabs ignore-all-space ignore-blank-lines ignore-case ignore-matching-lines=v " +
		"ignore-space-change ignore-tab-expansion ignore-trailing-space left-column minimal speed-large-files " +
		"strip-trailing-cr suppress-common-lines tabsize=v text width=v help version"
	plainSed  = "debug follow-symlinks null-data posix sandbox separate silent unbuffered help version"
	plainSeq  = "f=v s=v w equal-width format=v separator=v help version"
	plainShuf = "r z repeat zero-terminated help version"
	plainSort = "# b C=v c=v d f g h i M m n R r s T u V z check=? debug dictionary-order general-numeric-sort human-numeric-sort " +
		"ignore-case ignore-leading-blanks ignore-nonprinting merge month-sort numeric-sort random-sort reverse sort=v stable " +
		"unique version-sort zero-terminated help version"
	plainStrings = "a d e=v f h o s=v T=v t=v U V v w all data encoding=v include-all-whitespace output-separator=v print-file-name " +
		"radix=v target=v unicode=v help version"
	plainTac      = "b r before regex separator=v help version"
	plainTail     = "# F f=? q r v z follow=? max-unchanged-stats=v quiet retry silent verbose zero-terminated help version"
	plainTr       = "C c d s t u complement delete squeeze-repeats truncate-set1 help version"
	plainUnexpand = "a t=v all first-only tabs=v help version"
	plainUniq     = "# c D d i u z all-repeated=? count group=? ignore-case repeated unique zero-terminated help version"
	plainWc       = "c L l m w bytes chars lines max-line-length words help version"
	plainYamllint = "h s v format list-files no-warnings strict help version"
	plainColumn   = "d e E=v h H=v i=v J L l=v n=v O=v p=v R=v r=v t T=v V W=v x fillrows json keep-empty-lines output-width=v table " +
		"table-columns-limit=v table-columns=v table-header-repeat table-hide=v table-name=v table-noextreme=v " +
		"table-noheadings table-order=v table-right=v table-truncate=v table-wrap=v tree-id=v tree-parent=v tree=v help " +
		"version"
	plainRev     = "h V help version"
	plainHexdump = "b C c d h L=? o V v x canonical color=? format=v length=v no-squeezing one-byte-char one-byte-octal " +
		"skip=v two-bytes-decimal two-bytes-hex two-bytes-octal help version"
	plainAwk = "b|characters-as-bytes C|copyright c|traditional g|gen-pot h|help I|trace L|lint=? M|bignum N|use-lc-numeric " +
		"n|non-decimal-data O|optimize P|posix r|re-interval s|no-optimize S|sandbox t|lint-old V|version csv k"
	plainObjdump = "adjust-vma=v x|all-headers architecture=v m=v a|archive-headers ctf-parent=v ctf=? g|debugging e|debugging-tags " +
		"C demangle=? d D|disassemble-all z|disassemble-zeroes disassemble=? disassembler-color=v M|disassembler-options=v dwarf-check " +
		"dwarf-depth=v dwarf-start=v dwarf=? W=? R|dynamic-reloc T|dynamic-syms endian=v EB EL E=v f|file-headers F|file-offsets " +
		"file-start-context s|full-contents H|help i|info inlines insn-width=v l|line-numbers no-addresses no-recurse-limit " +
		"recurse-limit " +
		"prefix-addresses prefix-strip=v prefix=v p|private-headers P|private=v L|process-links r|reloc sframe=? show-all-symbols " +
		"S|source source-comment=? special-syms G|stabs start-address=v stop-address=v t|syms b|target=v U=? unicode=v v|V|version " +
		"visualize-jumps=? w|wide h|section-headers|headers show-raw-insn no-show-raw-insn"
	plainXxd  = "a|autoskip b|bits C|capitalize d decimal E|EBCDIC e h|help i|include ps|postscript|plain|p r|revert u|uppercase v|version"
	plainCloc = "by-file by-file-by-lang by-percent=v csv csv-delimiter=v json md yaml xml quiet exclude-ext=v exclude-lang=v " +
		"include-ext=v " +
		"include-lang=v include-content=v exclude-content=v match-f=v match-d=v not-match-f=v not-match-d=v fullpath hide-rate " +
		"progress-rate=v sum-one processes=v skip-uniqueness no-autogen no-recurse max-file-size=v timeout=v follow-links " +
		"docstring-as-code summary-cutoff=v show-ext=? show-lang=? show-os v|verbose=? 3 h help version"
	plainXmllint = "noout format recover huge nonet debug copy noblanks nocdata html xmlout push memory timing repeat insert c14n " +
		"c14n11 " +
		"exc-c14n encode=v noenc nodict nodefdtd nsclean auto dropdtd nowarning oldxml10 pedantic stats pretty=v walker stream " +
		"chkregister sax sax1 quiet help version maxmem=v max-ampl=v"
)

// plainYq are the options of both programs with the name yq: that of Mike Farah, and that of Andrey Kislyuk, which takes those of jq too.
const plainYq = "C|colors M|no-colors|monochrome-output e|exit-status j|tojson N|no-doc n|null-input r|unwrapScalar|raw-output v|verbose " +
	"V|version h|help I|indent=v 0|nul-output header-preprocess=? csv-auto-parse=? csv-separator=v tsv-auto-parse=? properties-separator=v " +
	"properties-array-brackets string-interpolation=? lua-globals lua-prefix=v lua-suffix=v lua-unquoted shell-key-separator=v " +
	"xml-attribute-prefix=v xml-content-name=v xml-directive-name=v xml-keep-namespace=? xml-proc-inst-prefix=v xml-raw-token=? " +
	"xml-skip-directives xml-skip-proc-inst xml-strict-mode security-disable-env-ops security-disable-file-ops " +
	"yaml-fix-merge-anchor-to-spec y|yaml-output Y|yaml-roundtrip w|width=v x|xml-output c|compact-output a|ascii-output S|sort-keys tab " +
	"raw-input R join-output args jsonargs explicit-start explicit-end grammar-version=v"
