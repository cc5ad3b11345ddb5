package project

// The options of tools of Python: those that name files or code, and the harmless ones of their manuals.

const pytestOptions = "c|config-file=x rootdir=x confcutdir=x basetemp=d junit-xml|junitxml=w log-file=w " +
	"debug=? pdbcls=v p=v o|override-ini=v cov-config=x cov-report=v html=w alluredir=w json-report-file=w ds=v"

const plainPytest = "V W=v h k=v l m=v q r=v s v x assert=v cache-clear cache-show=v capture=v co " +
	"code-highlight=v collect-in-virtualenv collect-only color=v continue-on-collection-errors deselect=v " +
	"disable-pytest-warnings disable-warnings doctest-continue-on-failure doctest-glob=v doctest-ignore-import-errors " +
	"doctest-modules doctest-report=v durations=v durations-min=v exitfirst failed-first ff fixtures fixtures-per-test " +
	"full-trace funcargs help ignore=v ignore-glob=v import-mode=v junit-prefix=v keep-duplicates last-failed " +
	"last-failed-no-failures=v lf lfnf=v log-auto-indent=v log-cli-date-format=v log-cli-format=v log-cli-level=v " +
	"log-date-format=v log-file-date-format=v log-file-format=v log-file-level=v log-format=v log-level=v markers " +
	"maxfail=v new-first nf no-header no-summary noconftest pdb pyargs pythonwarnings=v quiet runxfail setup-only " +
	"setup-plan setup-show show-capture=v showlocals stepwise stepwise-skip strict strict-config strict-markers sw " +
	"sw-skip tb=v trace trace-config verbose verbosity=v version cov=? cov-append cov-branch cov-fail-under=v " +
	"cov-context=v no-cov no-cov-on-fail n|numprocesses=v dist=v maxprocesses=v max-worker-restart=v forked timeout=v " +
	"timeout-method=v session-timeout=v reruns=v reruns-delay=v asyncio-mode=v randomly-seed=v random-order " +
	"random-order-seed=v reuse-db create-db nomigrations no-migrations migrations snapshot-update inline-snapshot=v " +
	"hypothesis-show-statistics hypothesis-seed=v hypothesis-profile=v benchmark-only benchmark-skip benchmark-disable " +
	"self-contained-html json-report picked mypy ruff flake8 black headed browser=v slowmo=v xfail-tb fold-skipped " +
	"no-fold-skipped force-short-summary"

const plainRuff = "h help V version v verbose q quiet s silent no-fix fix-only unsafe-fixes show-fixes " +
	"diff w|watch ignore-noqa output-format=v preview extension=v statistics add-noqa=? show-files show-settings " +
	"extend-select=v extend-ignore=v per-file-ignores=v extend-per-file-ignores=v fixable=v unfixable=v " +
	"extend-fixable=v extend-exclude=v respect-gitignore force-exclude n|no-cache isolated stdin-filename=v " +
	"e|exit-zero exit-non-zero-on-fix exit-non-zero-on-format check range=v all direction=v detect-string-imports " +
	"min-dots=v"

const plainBlack = "h help version v verbose q quiet pyi ipynb python-cell-magics=v " +
	"x|skip-source-first-line S|skip-string-normalization C|skip-magic-trailing-comma preview unstable " +
	"enable-unstable-feature=v color no-color line-ranges=v fast safe required-version=v extend-exclude=v " +
	"force-exclude=v stdin-filename=v W|workers=v no-cache"

const plainFlake8 = "h help version v verbose q quiet count color=v diff extend-exclude=v filename=v " +
	"stdin-display-name=v format=v hang-closing per-file-ignores=v max-doc-length=v indent-size=v extend-select=v " +
	"disable-noqa show-source no-show-source statistics require-plugins=v exit-zero j|jobs=v tee isolated " +
	"enable-extensions=v benchmark bug-report max-complexity=v doctests include-in-doctest=v exclude-from-doctest=v " +
	"builtins=v"

const plainIsort = "h help V version v verbose q|quiet d|stdout c|check-only only-modified i|indent=v " +
	"l|w|line-length|line-width=v m|multi-line=v a|add-import=v p|project=v o|thirdparty=v f|future=v b|builtin=v " +
	"e|balanced le|line-ending=v lai|lines-after-imports=v sl|force-single-line-imports src|src-path=r " +
	"tc|trailing-comma up|use-parentheses ac|atomic fss|force-sort-within-sections fas|force-alphabetical-sort " +
	"nis|no-inline-sort ls|length-sort ca|combine-as cs|combine-star gitignore skip-gitignore filter-files s|skip=v " +
	"sg|skip-glob=v extend-skip=v extend-skip-glob=v float-to-top known-first-party=v show-files show-config " +
	"py|python-version=v color dont-order-by-type ext-format=v"

const plainMypy = "h help v verbose V version i strict ignore-missing-imports follow-imports=v " +
	"follow-untyped-imports namespace-packages no-namespace-packages site-packages silence-site-packages platform=v " +
	"always-true=v always-false=v disallow-any-unimported disallow-any-expr disallow-any-decorated " +
	"disallow-any-explicit disallow-any-generics allow-any-generics disallow-subclassing-any allow-subclassing-any " +
	"disallow-untyped-calls allow-untyped-calls untyped-calls-exclude=v disallow-untyped-defs allow-untyped-defs " +
	"disallow-incomplete-defs allow-incomplete-defs check-untyped-defs disallow-untyped-decorators " +
	"allow-untyped-decorators implicit-optional strict-optional force-uppercase-builtins force-union-syntax " +
	"warn-unused-configs warn-redundant-casts warn-unused-ignores warn-no-return warn-return-any warn-unreachable " +
	"allow-untyped-globals allow-redefinition implicit-reexport strict-equality extra-checks strict-bytes " +
	"disable-error-code=v enable-error-code=v show-error-context hide-error-context show-column-numbers show-error-end " +
	"show-error-codes hide-error-codes show-error-code-links pretty color-output error-summary show-absolute-path " +
	"hide-absolute-path soft-error-limit=v incremental sqlite-cache cache-fine-grained skip-version-check " +
	"skip-cache-mtime-checks show-traceback tb raise-exceptions custom-typing-module=v new-type-inference " +
	"disable-recursive-aliases enable-incomplete-feature=v warn-incomplete-stub fast-exit allow-empty-bodies " +
	"find-occurrences=v scripts-are-modules non-interactive interactive stats inferstats local-partial-types " +
	"explicit-package-bases fast-module-lookup exclude=v exclude-gitignore O|output=v disable-bytearray-promotion " +
	"disable-memoryview-promotion strict-concatenate"

const plainPylint = "h help version v verbose E|errors-only d=v e=v f|output-format=v j|jobs=v r|reports=? " +
	"s|score=v l list-msgs list-msgs-enabled list-groups list-conf-levels list-extensions full-documentation " +
	"help-msg=v generate-rcfile generate-toml-config long-help ignore=v ignore-patterns=v ignore-paths=v fail-under=v " +
	"fail-on=v exit-zero recursive=v persistent=v msg-template=v confidence=v max-line-length=v max-args=v " +
	"max-locals=v max-branches=v max-statements=v max-module-lines=v max-nested-blocks=v min-similarity-lines=v " +
	"good-names=v disable-all py-version=v from-stdin suggestion-mode=v extension-pkg-allow-list=v " +
	"extension-pkg-whitelist=v ignored-modules=v ignored-classes=v analyse-fallback-blocks=v"
