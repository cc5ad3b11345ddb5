// Package language knows interpreters, compilers, editors and pagers.
package language

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Rows are interpreters, compilers, editors and pagers, sorted by name.
var Rows = []program.Row{
	{Name: "R", Style: program.First, Options: "e=i f|file=x g|gui=v d|debugger=c debugger-args=v encoding=v", Parse: interpret},
	{Name: "Rscript", Style: program.First, Options: "e=i g=v default-packages=v", Parse: interpret},
	{Name: "c++", Same: "gcc"},
	{Name: "cc", Same: "gcc"},
	{Name: "clang", Same: "gcc"},
	{Name: "clang++", Same: "gcc"},
	{Name: "dart", Subs: []program.Row{
		{Name: "run|test|compile", Parse: program.RunProject},
		{Name: "format|analyze|fix", Operands: "b*", Here: "r"},
		{Name: "pub", Does: effect.Deps | effect.Network},
	}},
	{Name: "django-admin", Parse: django},
	{Name: "ed", Operands: "b*", Does: effect.InlineCode},
	{Name: "elixir", Style: program.First, Options: "e|eval=i r=x S=v erl=v name=v sname=v cookie=v app=v rpc-eval=i vm-args=x " +
		"pipe-to=w", Parse: interpret},
	{Name: "emacs", Options: "eval=i batch l|load=x f=v", Operands: "b*", Handle: edit},
	{Name: "erl", Style: program.Single, Options: "eval=i", Parse: interpret},
	{Name: "ex", Options: "c=i S=x V=? W=w s", Operands: "b*", Handle: vi},
	{Name: "expect", Style: program.First, Options: "c=i f=x D=v", Parse: interpret},
	{Name: "flutter", Here: "rw", Parse: flutter},
	{Name: "g++", Same: "gcc"},
	{Name: "ghc", Style: program.Single, Options: "e=i o=w", Operands: "r*"},
	{Name: "groovy", Style: program.First, Options: "e=i", Parse: onJava},
	{Name: "ipython", Same: "python"},
	{Name: "java", Style: program.Single, Listed: true, Options: "cp=x classpath=x jar=x agentpath=x javaagent=x version", Parse: java},
	{Name: "julia", Style: program.First, Options: "e|eval=i E|print=i L|load=x project=? t|threads=v p|procs=v machine-file=r " +
		"C|cpu-target=v J|sysimage=x H|home=e", Parse: interpret},
	{Name: "kotlin", Style: program.First, Options: "e=i", Parse: onJava},
	{Name: "ld", Style: program.Single, Listed: true, Options: "o|output=w L=? l=? T|script=x Map=w plugin=x out-implib=w " +
		"dependency-file=w m=v e=v " +
		"dynamic-linker=v rpath=v soname=v retain-symbols-file=r version-script=r cref", Operands: "r*"},
	{Name: "less", Options: "o|log-file=w O|LOG-FILE=w k|lesskey-file=r p|pattern=v", Operands: "r*", Handle: edit},
	{Name: "lua", Style: program.First, Options: "e=i l=x", Parse: interpret},
	{Name: "luajit", Same: "lua"},
	{Name: "more", Operands: "r*", Handle: edit},
	{Name: "nano", Operands: "b*", Handle: edit},
	{Name: "node", Style: program.First, Options: "e|eval=i p|print=i r|require=x import=x loader|experimental-loader=x c|check " +
		"i|interactive test watch env-file=r env-file-if-exists=r snapshot-blob=b build-snapshot redirect-warnings=w " +
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
	{Name: "osascript", Style: program.First, Options: "e=i l=v s=v", Parse: interpret},
	{Name: "perl", Style: program.First, Options: "e=i E=i M=? m=? I=x i=? n p l 0 F=? d=? C=? a w c v|version", Parse: interpret},
	{Name: "php", Style: program.First, Options: "r=i B=i R=i E=i f|F=x S=v t=r c=r d=v z=x modules|m l v|version", Parse: interpret},
	{Name: "pry", Does: effect.InlineCode},
	{Name: "pwsh", Parse: powerShell},
	{Name: "pypy", Same: "python"},
	{Name: "python", Modules: "/__main__.py", Parse: python},
	{Name: "pythonw", Same: "python"},
	{Name: "ruby", Style: program.First, Options: "e=i r=? I=x n p i=? l a F=? C=k E|encoding|external-encoding|internal-encoding=v " +
		"c w v|version", Parse: interpret},
	{Name: "scala", Style: program.First, Options: "e=i", Parse: onJava},
	{Name: "swiftc", Same: "gcc"},
	{Name: "tclsh", Style: program.First, Parse: interpret},
	{Name: "ts-node", Style: program.First, Options: "e|eval=i p|print=i r|require=x P|project=r",
		Modules: ".js|.mjs|.cjs|/index.js|/package.json", Parse: interpret},
	{Name: "tsx", Style: program.First, Options: "e|eval=i p|print=i r|require=x import=x watch test",
		Modules: ".js|.mjs|.cjs|/index.js|/package.json", Parse: tsx},
	{Name: "vi", Same: "vim"},
	{Name: "view", Same: "vim"},
	{Name: "vim", Options: "c=i cmd=i S=x u=x i=b V=? w=w W=w s=x T=v E e", Operands: "b*", Handle: vi},
	{Name: "wasmtime", Style: program.First, Parse: interpret},
	{Name: "zig", Subs: []program.Row{
		{Name: "build|test|run|build-exe|build-lib|build-obj", Parse: program.RunProject},
		{Name: "fmt", Operands: "b*"},
		{Name: "version|env|targets", Operands: "v*"},
		{Name: "cc|c++", Operands: "r*"},
	}},
}

// modules are the modules that python -m runs and that are no programs of their own.
var modules = []program.Row{
	{Name: "timeit|asyncio", Does: effect.InlineCode},
	{Name: "webbrowser|antigravity", Operands: "h*", Does: effect.Network | effect.Upload},
	{Name: "cProfile|profile|trace", Parse: program.RunProject},
	{Name: "unittest|doctest|nose|behave|django|flask|uvicorn|gunicorn|hatch|cython|py_compile|compileall|ensurepip",
		Parse: program.RunProject},
	{Name: "json.tool", Operands: "rw"},
	{Name: "http.server|pyftpdlib|SimpleHTTPServer", Options: "d|directory=r b|bind=v", Does: effect.Listen | effect.Network,
		Handle: serveFiles},
	{Name: "venv|virtualenv", Operands: "w*"},
	{Name: "site|sysconfig|platform|calendar|this|ast|tokenize|dis|pyclbr|inspect", Operands: "r*"},
	{Name: "zipfile|tarfile", Options: "e|extract c|create l|list t|test", Operands: "b*", Handle: extractModule},
	{Name: "gzip|base64", Operands: "b*"},
	{Name: "build", Operands: "b*", Here: "rw", Does: effect.ProjectCode | effect.Deps | effect.Network},
}
