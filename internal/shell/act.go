package shell

import "mycelium/internal/policy"

// act is what the code, and not the table alone, knows of a program.
type act uint8

// The acts that read the arguments themselves and end the call.
const (
	asWrapper act = iota + 1
	asCommand
	asExec
	asEnv
	asSudo
	asSu
	asXargs
	asSSH
	asWatch
	asScript
	asEval
	asSource
	asSet
	asShell
	asPython
	asInterpreter
	asFind
	asContainer
	asRunner
	asPackageScript
	asGitOther
	asOurs
	asAgent
	asProject
	asTest
	asCloud
)

// The acts that add to what the table says.
const (
	withCd act = iota + 100
	withPopd
	withLeave
	withShift
	withNames
	withExport
	withTrap
	withAlias
	withAwk
	withSed
	withTar
	withRsync
	withDd
	withChmod
	withChown
	withUmask
	withCurl
	withWget
	withListener
	withEditor
	withGit
	withPush
	withReset
	withCheckout
	withBranch
	withConfig
	withRemote
	withClean
	withCommit
	withTag
	withClone
	withInstall
	withManifest
	withStatement
	withSignal
	withMake
	withCopy
	withPatterns
	withRequest
	withSecrets
	withEverything
	withLink
	withPatch
	withGoRun
	withDryRun
	withFilter
	withElsewhere
)

// perform does the acts that end the call.
func (c *call) perform(a act, args []text) {
	switch a {
	case asWrapper:
		inPlace(c, args)
	case asCommand:
		commandBuiltin(c, args)
	case asExec:
		replace(c, args)
	case asEnv:
		environment(c, args)
	case asSudo:
		privileged(c, args)
	case asSu:
		substitute(c, args)
	case asXargs:
		manyTimes(c, args)
	case asSSH:
		remote(c, args)
	case asWatch:
		repeated(c, args)
	case asScript:
		recorded(c, args)
	case asEval:
		evaluate(c, args)
	case asSource:
		include(c, args)
	case asSet:
		setOptions(c, args)
	default:
		c.performMore(a, args)
	}
}

// performMore are the acts of interpreters, runners and what is ours.
func (c *call) performMore(a act, args []text) {
	switch a {
	case asShell:
		shellProgram(c, args)
	case asPython:
		python(c, args)
	case asInterpreter:
		interpreter(c, args)
	case asFind:
		searchFiles(c, args)
	case asContainer:
		container(c, args)
	case asRunner:
		runner(c, args)
	case asPackageScript:
		packageScript(c)
	case asGitOther:
		gitOther(c)
	case asOurs:
		ours(c, args)
	case asAgent:
		agent(c, args)
	case asProject:
		projectCode(c, args)
	case asTest:
		tests(c, args)
	case asCloud:
		cloudVerb(c)
	default: // it adds something: see consider
	}
}

// consider does the acts that add something.
func (c *call) consider(a act) {
	if a == 0 {
		return
	}
	switch a {
	case withCd:
		changeDir(c)
	case withPopd:
		popDir(c)
	case withLeave:
		leave(c)
	case withShift:
		shiftArgs(c)
	case withNames:
		assignNames(c)
	case withExport:
		exportNames(c)
	case withTrap:
		trapSignals(c)
	case withAlias:
		aliases(c)
	case withSignal:
		signal(c)
	default:
		c.considerFiles(a)
	}
}

// considerFiles are the acts of programs that work on files and on the network.
func (c *call) considerFiles(a act) {
	switch a {
	case withAwk:
		awk(c)
	case withSed:
		sed(c)
	case withTar:
		tar(c)
	case withRsync:
		rsync(c)
	case withDd:
		dd(c)
	case withChmod:
		chmod(c)
	case withChown:
		chown(c)
	case withUmask:
		umask(c)
	case withCurl:
		curl(c)
	case withWget:
		wget(c)
	case withListener:
		listener(c)
	case withEditor:
		editor(c)
	case withCopy:
		copied(c)
	default:
		c.considerProject(a)
	}
}

// considerProject are the acts of builds, packages, databases and whatever has no better place.
func (c *call) considerProject(a act) {
	switch a {
	case withInstall:
		installs(c)
	case withManifest:
		manifest(c)
	case withStatement:
		statement(c)
	case withMake:
		makefile(c)
	case withRequest:
		request(c)
	case withPatterns:
		patterns(c)
	case withSecrets:
		showsSecrets(c)
	case withEverything:
		c.file(policy.Read, known("/"))
	case withLink:
		linked(c)
	case withPatch:
		patched(c)
	case withGoRun:
		goRun(c)
	case withDryRun:
		dryRun(c)
	case withFilter:
		filter(c)
	case withElsewhere:
		otherPlaces(c)
	default:
		c.considerGit(a)
	}
}

// considerGit are the acts of git.
func (c *call) considerGit(a act) {
	switch a {
	case withGit:
		git(c)
	case withPush:
		gitPush(c)
	case withReset:
		gitReset(c)
	case withCheckout:
		gitCheckout(c)
	case withBranch:
		gitBranch(c)
	case withConfig:
		gitConfig(c)
	case withRemote:
		gitRemote(c)
	case withClean:
		gitClean(c)
	case withCommit:
		gitCommit(c)
	case withTag:
		gitTag(c)
	case withClone:
		gitClone(c)
	default: // it ends the call: see perform
	}
}
