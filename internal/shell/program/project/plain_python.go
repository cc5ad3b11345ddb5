package project

// The options of tools of Python: those that name files or code, and the harmless ones of their manuals.

const pytestOptions = "c|config-file=x rootdir=x confcutdir=x basetemp=d junit-xml|junitxml=w log-file=w debug=? pdbcls=v p=v " +
	"o|override-ini=v cov-config=r cov-report=v html=w alluredir=w json-report-file=w ds=v"

const plainPytest = "V W=v h k=v l m=v q r=v s v x assert=v cache-clear cache-show=v capture=v co code-highlight=v collect-in-virtualenv " +
	"collect-only color=v continue-on-collection-errors deselect=v disable-pytest-warnings disable-warnings " +
	"doctest-continue-on-failure doctest-glob=v doctest-ignore-import-errors doctest-modules doctest-report=v durations=v " +
	"durations-min=v exitfirst failed-first ff fixtures fixtures-per-test full-trace funcargs help ignore=v ignore-glob=v " +
	"import-mode=v junit-prefix=v keep-duplicates last-failed last-failed-no-failures=v lf lfnf=v log-auto-indent=v " +
	"log-cli-date-format=v log-cli-format=v log-cli-level=v log-date-format=v log-file-date-format=v log-file-format=v " +
	"log-file-level=v log-format=v log-level=v markers maxfail=v new-first nf no-header no-summary noconftest pdb pyargs " +
	"pythonwarnings=v quiet runxfail setup-only setup-plan setup-show show-capture=v showlocals stepwise stepwise-skip " +
	"strict strict-config strict-markers sw sw-skip tb=v trace trace-config verbose verbosity=v version cov=? cov-append " +
	"cov-branch cov-fail-under=v cov-context=v no-cov no-cov-on-fail n|numprocesses=v dist=v maxprocesses=v " +
	"max-worker-restart=v forked timeout=v timeout-method=v session-timeout=v reruns=v reruns-delay=v asyncio-mode=v " +
	"randomly-seed=v random-order random-order-seed=v reuse-db create-db nomigrations no-migrations migrations " +
	"snapshot-update inline-snapshot=v hypothesis-show-statistics hypothesis-seed=v hypothesis-profile=v benchmark-only " +
	"benchmark-skip benchmark-disable self-contained-html json-report picked mypy ruff flake8 black headed browser=v " +
	"slowmo=v xfail-tb fold-skipped no-fold-skipped force-short-summary"
