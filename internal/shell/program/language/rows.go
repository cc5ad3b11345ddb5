// Package language knows interpreters, compilers, editors and pagers.
package language

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Rows are interpreters, compilers, editors and pagers, sorted by name.
var Rows = []program.Row{
	{Name: "R", Style: program.First, Plain: plainR, Options: "e=i f|file=x g|gui=v d|debugger=c debugger-args=v encoding=v",
		Parse: interpret},
	{Name: "Rscript", Style: program.First, Plain: plainR, Options: "e=i g=v default-packages=v", Parse: interpret},
	{Name: "c++", Same: "gcc"},
	{Name: "cc", Same: "gcc"},
	{Name: "clang", Same: "gcc"},
	{Name: "clang++", Same: "gcc"},
	{Name: "dart", Plain: "h help v verbose version disable-analytics", Subs: []program.Row{
		{Name: "run|test|compile", Plain: plainDart, Options: "o|output=w packages=r coverage=w coverage-path=w file-reporter=v",
			Parse: namedProject},
		{Name: "format|analyze|fix", Plain: plainDart, Options: "o|output=v", Operands: "b*", Here: "r"},
		{Name: "pub", Plain: "h help v verbose offline no-offline precompile no-precompile dry-run n json up-to-date",
			Does: effect.Deps | effect.Network},
	}},
	{Name: "django-admin", Parse: django},
	{Name: "ed", Operands: "b*", Does: effect.InlineCode},
	{Name: "elixir", Style: program.First, Plain: "no-halt logger-otp-reports=v logger-sasl-reports=v short-version version v h help",
		Options: "e|eval=i r=x S=v erl=v name=v sname=v cookie=v app=v rpc-eval=i vm-args=x " +
			"pipe-to=w", Parse: interpret},
	{Name: "emacs", Plain: "nw n w Q q quick no-init-file no-window-system no-splash no-site-file no-site-lisp kill version help",
		Options: "eval=i batch l|load=x f=v", Operands: "b*", Handle: edit},
	{Name: "erl", Style: program.Single, Plain: "noshell noinput hidden version emu_args", Options: "eval=i", Parse: interpret},
	{Name: "ex", Plain: plainVim, Options: "c=i S=x V=? W=w s", Operands: "b*", Handle: vi},
	{Name: "expect", Style: program.First, Plain: "n N v", Options: "c=i f=x D=v", Parse: interpret},
	{Name: "flutter", Plain: plainDart, Options: "o|output=w packages=r coverage-path=w target-directory=w", Here: "rw", Parse: flutter},
	{Name: "g++", Same: "gcc"},
	{Name: "ghc", Style: program.Single, Plain: "c O O0 O1 O2 Wall Wextra Werror Wcompat w threaded v V version numeric-version package=v " +
		"main-is=v make static dynamic prof fforce-recomp fno-code j", Options: "e=i o=w odir=w hidir=w outputdir=w i=?", Operands: "r*"},
	{Name: "groovy", Style: program.First, Plain: "v version h help n p l a", Options: "e=i", Parse: onJava},
	{Name: "ipython", Same: "python"},
	{Name: "java", Style: program.SingleFirst, Listed: true, Plain: plainJava, Options: "cp|classpath|class-path=v jar=x p|module-path=v " +
		"patch-module=v upgrade-module-path=x m|module=v version|fullversion|full-version", Parse: java},
	{Name: "julia", Style: program.First, Plain: plainJulia, Options: "e|eval=i E|print=i L|load=x project=? t|threads=v p|procs=v " +
		"machine-file=r " +
		"C|cpu-target=v J|sysimage=x H|home=e", Parse: interpret},
	{Name: "kotlin", Style: program.First, Plain: "version help h no-reflect", Options: "e=i", Parse: onJava},
	{Name: "ld", Style: program.Single, Listed: true, Plain: plainLd,
		Options: "o|output=w L|library-path=r rpath-link=r Y=r l|library=? T|script|default-script|dT=x " +
			"c|mri-script=x Map=w plugin=x out-implib=w output-def=w base_file=w dependency-file=w m=v e|entry=v dynamic-linker=v rpath=v " +
			"soname|h=v retain-symbols-file=r version-script=r dynamic-list=r export-dynamic-symbol-list=r R|just-symbols=r sysroot=r cref " +
			"error-handling-script=x", Operands: "r*", Parse: link},
	{Name: "less", Plain: plainLess, Options: "o|log-file=w O|LOG-FILE=w k|lesskey-file=r p|pattern=v", Operands: "r*", Handle: edit},
	{Name: "lua", Style: program.First, Plain: "i v E W", Options: "e=i l=x", Parse: interpret},
	{Name: "luajit", Same: "lua"},
	{Name: "more", Plain: "# d f l p c u s n=v e h V lines=v print-over clean-print squeeze plain silent logical no-pause help version",
		Operands: "r*", Handle: edit},
	{Name: "nano", Plain: "A B D E F G H I J=v K L M N P Q=v R S T=v U V W X=v Y=v Z a c d e g h i k l m n p q r=v t u v w x y z",
		Operands: "b*", Handle: edit},
	{Name: "node", Style: program.First, Plain: plainNode, Options: "e|eval=i p|print=i r|require=x import=x " +
		"loader|experimental-loader=x c|check " +
		"i|interactive test watch run=v env-file=r env-file-if-exists=r snapshot-blob=b build-snapshot build-snapshot-config=r " +
		"experimental-policy=r policy-integrity=v redirect-warnings=w " +
		"cpu-prof heap-prof cpu-prof-dir=w cpu-prof-name=w heap-prof-dir=w heap-prof-name=w diagnostic-dir=w report-dir|report-directory=w " +
		"report-filename=w trace-event-file-pattern=w logfile=w tls-keylog=w icu-data-dir=r openssl-config=x localstorage-file=w " +
		"test-reporter-destination=w experimental-sea-config=x experimental-config-file=x watch-path=r test-name-pattern=v " +
		"input-type=v stack-trace-limit=v trace-event-categories=v inspect|inspect-brk|inspect-wait=? test-reporter=x " +
		"max-old-space-size=v C|conditions=v title=v disable-warning=v unhandled-rejections=v secure-heap=v secure-heap-min=v " +
		"tls-cipher-list=v " +
		"max-http-header-size=v dns-result-order=v inspect-port|debug-port=v heapsnapshot-near-heap-limit=v heapsnapshot-signal=v " +
		"v8-pool-size=v " +
		"use-largepages=v test-concurrency=v test-coverage-include=v test-coverage-exclude=v test-shard=v test-timeout=v test-isolation=v " +
		"test-skip-pattern=v test-global-setup=x watch-kill-signal=v allow-fs-read=v allow-fs-write=v experimental-default-type=v " +
		"cpu-prof-interval=v heap-prof-interval=v network-family-autoselection-attempt-timeout=v " +
		"v|version h|help", Modules: ".js|.mjs|.cjs|/index.js|/package.json", Parse: interpret},
	{Name: "nodejs", Same: "node"},
	{Name: "nvim", Same: "vim"},
	{Name: "osacompile", Operands: "r*", Does: effect.InlineCode},
	{Name: "osascript", Style: program.First, Plain: "i", Options: "e=i l=v s=v", Parse: interpret},
	{Name: "perl", Style: program.First, Plain: plainPerl, Options: "e=i E=i M=? m=? I=x i=? n p l 0 F=? d=? C=? a w c v|version",
		Parse: interpret},
	{Name: "php", Style: program.First, Plain: plainPhp, Options: "r=i B=i R=i E=i f|F=x S=v t=r c=r d=v z=x modules|m l v|version",
		Parse: interpret},
	{Name: "pry", Does: effect.InlineCode},
	{Name: "pwsh", Parse: powerShell},
	{Name: "pypy", Same: "python"},
	{Name: "python", Style: program.First, Plain: plainPython, Options: "c=v m=v W=v X=v Q=v check-hash-based-pycs=v", Modules: "/__main__.py",
		Parse: python},
	{Name: "pythonw", Same: "python"},
	{Name: "ruby", Style: program.First, Plain: plainRuby, Options: "e=i r=? I=x n p i=? l a F=? C=k " +
		"E|encoding|external-encoding|internal-encoding=v " +
		"c w v|version", Parse: interpret},
	{Name: "scala", Style: program.First, Plain: "version help h", Options: "e=i", Parse: onJava},
	{Name: "swiftc", Style: program.Single, Listed: true, Plain: plainSwift, Options: optionsSwift, Operands: "r*", Parse: compileSwift},
	{Name: "tclsh", Style: program.First, Plain: "h", Parse: interpret},
	{Name: "ts-node", Style: program.First, Plain: plainTsNode, Options: "e|eval=i p|print=i r|require=x P|project=r C|compiler=x " +
		"transpiler=x cwd=k scopeDir|scope-dir=r",
		Modules: ".js|.mjs|.cjs|/index.js|/package.json", Parse: interpret},
	{Name: "tsx", Style: program.First, Plain: plainTsx, Options: "e|eval=i p|print=i r|require=x import=x watch test tsconfig=r " +
		"env-file=r env-file-if-exists=r c|check max-old-space-size=v C|conditions=v test-name-pattern=v inspect|inspect-brk|inspect-wait=? " +
		"v|version h|help i|interactive",
		Modules: ".js|.mjs|.cjs|/index.js|/package.json", Parse: tsx},
	{Name: "vi", Same: "vim"},
	{Name: "view", Same: "vim"},
	{Name: "vim", Plain: plainVim, Options: "c=i cmd=i S=x u=x i=b V=? w=w W=w s=x T=v E e", Operands: "b*", Handle: vi},
	{Name: "wasmtime", Style: program.First, Plain: "h help V version env=v invoke=v", Options: "dir=b mapdir=v", Parse: interpret},
	{Name: "zig", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "build|test|run|build-exe|build-lib|build-obj", Plain: "D=v O=v j=v h l help verbose summary=v color=v release=? fetch " +
			"search-prefix=v " +
			"test-filter=v target=v name=v watch prominent-compile-errors", Options: "p|prefix=w cache-dir=w global-cache-dir=w build-file=x",
			Parse: namedProject},
		{Name: "fmt", Plain: "check ast-check stdin color=v exclude=v h help", Operands: "b*"},
		{Name: "version|env|targets", Plain: "h help", Operands: "v*"},
		{Name: "cc|c++", Parse: asClang},
	}},
}

// modules are the modules that python -m runs and that are no programs of their own.
var modules = []program.Row{
	{Name: "timeit|asyncio", Does: effect.InlineCode},
	{Name: "webbrowser|antigravity", Operands: "h*", Does: effect.Network | effect.Upload},
	{Name: "cProfile|profile|trace", Style: program.First, Plain: "m|module s|sort=v count t|trace l|listfuncs T|trackcalls r|report " +
		"g|timing " +
		"summary no-report h help ignore-module=v ignore-dir=v missing", Options: "o=w f|file=w C|coverdir=w", Parse: namedProject},
	{Name: "unittest", Plain: "v verbose q quiet locals f failfast c catch b buffer k=v durations=v p|pattern=v h help",
		Options: "s|start-directory=r " +
			"t|top-level-directory=r", Parse: namedProject},
	{Name: "py_compile|compileall", Plain: "l r=v f q x=v o=v j|workers=v e=v b h help invalidation-mode=v hardlink-dupes quiet",
		Options: "i=n d=v s=v p=v",
		Parse:   namedProject},
	{Name: "flask|uvicorn|gunicorn", Parse: serve},
	{Name: "doctest|nose|behave|django|hatch|cython|ensurepip", Parse: program.RunProject},
	{Name: "json.tool", Plain: "sort-keys no-ensure-ascii json-lines indent=v tab no-indent compact h help", Operands: "rw"},
	{Name: "http.server|pyftpdlib|SimpleHTTPServer", Plain: "cgi p|protocol=v h help", Options: "d|directory=r b|bind=v",
		Does: effect.Listen | effect.Network, Handle: serveFiles},
	{Name: "venv|virtualenv", Plain: "system-site-packages symlinks copies clear upgrade without-pip upgrade-deps " +
		"without-scm-ignore-files prompt=v " +
		"h help v verbose q quiet version no-download no-periodic-update reset-app-data activators=v no-setuptools no-wheel pip=v",
		Options: "p|python=x app-data=w", Operands: "w*"},
	{Name: "site|sysconfig|platform|calendar|this|ast|tokenize|dis|pyclbr|inspect",
		Plain: "h help user-base user-site exact include-attributes " +
			"no-type-comments a", Operands: "r*"},
	{Name: "zipfile|tarfile", Plain: "v verbose h help metadata-encoding=v", Options: "e|extract c|create l|list t|test", Operands: "b*",
		Handle: extractModule},
	{Name: "gzip|base64", Plain: "fast best d decompress e t u h help", Operands: "b*"},
	{Name: "build", Plain: "s sdist w wheel skip-dependency-check x n no-isolation v verbose V version h help installer=v",
		Options:  "o|outdir=w",
		Operands: "b*", Here: "rw", Does: effect.ProjectCode | effect.Deps | effect.Network},
}
