package policy

import "slices"

// The effects that facts can name: what a rule's `match: {effect: …}` is compared with. [Effects] says what each of them means.
const (
	EffectRead        = "read"
	EffectWrite       = "write"
	EffectDelete      = "delete"
	EffectExecute     = "execute"
	EffectUnknown     = "unknown_program"
	EffectProjectCode = "project_code"
	EffectNetwork     = "network"
	EffectUpload      = "upload"
	EffectListen      = "listen"
	EffectSecrets     = "secrets"
	EffectPrivilege   = "privilege"
	EffectPush        = "push"
	EffectForcePush   = "force_push"
	EffectHistory     = "history"
	EffectPublish     = "publish"
	EffectInstall     = "install"
	EffectDeps        = "dependencies"
	EffectInlineCode  = "inline_code"
	EffectRemoteCode  = "remote_code"
	EffectProcess     = "process"
	EffectContainer   = "container"
	EffectCloud       = "cloud"
	EffectDatabase    = "database"
	EffectDestructive = "destructive"
	EffectAgent       = "agent"
	EffectOperator    = "operator"
	EffectWrittenHere = "written_here"
	EffectUnclear     = "unclear"
)

// Risk is how much harm a call can do.
type Risk string

// The risks, from the least to the greatest. No model settles a call of critical risk.
const (
	Low      Risk = "low"
	Medium   Risk = "medium"
	High     Risk = "high"
	Critical Risk = "critical"
)

// risks are the risks in their order.
var risks = [...]Risk{Low, Medium, High, Critical}

// Known reports whether r is one of the four risks.
func (r Risk) Known() bool { return slices.Contains(risks[:], r) }

// Max is the higher of two risks. A word that is not a risk counts as critical.
func (r Risk) Max(other Risk) Risk {
	if !r.Known() || !other.Known() {
		return Critical
	}
	return risks[max(slices.Index(risks[:], r), slices.Index(risks[:], other))]
}

// The categories of calls (requirements, A30; VCS and GENERAL come from A51).
const (
	CategoryGeneral   = "GENERAL"
	CategoryFileWrite = "FILE_WRITE"
	CategoryShell     = "SHELL_EXEC"
	CategoryNetwork   = "NETWORK"
	CategoryDatabase  = "DATABASE"
	CategoryVCS       = "VCS"
)

// EffectInfo is what there is to know about one effect.
type EffectInfo struct {
	Name     string
	Means    string // for people
	Risk     Risk   // of a call that has it
	Category string // of a call that has no other effect
}

// effectTable has a row for each effect.
var effectTable = [...]EffectInfo{
	{EffectRead, "files are read; without a path, files of the whole project", Low, CategoryGeneral},
	{EffectWrite, "files are written; without a path, files of the whole project", Medium, CategoryFileWrite},
	{EffectDelete, "files are deleted", High, CategoryFileWrite},
	{EffectExecute, "a program runs: every simple command has it", Medium, CategoryShell},
	{EffectUnknown, "the program is not in the table of programs; arguments that look like paths are read and written", High, CategoryShell},
	{EffectProjectCode, "code from files runs: scripts, tests, builds", Medium, CategoryShell},
	{EffectWrittenHere, "the code that runs was written in this session, or earlier in the same command", High, CategoryShell},
	{EffectInlineCode, "code in the command itself runs: `python -c`, `node -e`, a here-document for an interpreter", High, CategoryShell},
	{EffectRemoteCode, "code from the network runs: `curl … | sh`, `bash <(curl …)`", Critical, CategoryShell},
	{EffectNetwork, "another machine is reached", Medium, CategoryNetwork},
	{EffectUpload, "data is sent to another machine: `curl -d`, `scp`", High, CategoryNetwork},
	{EffectListen, "a program waits for connections: `nc -l`, `python -m http.server`", High, CategoryNetwork},
	{EffectDeps, "the dependencies that the project declares are fetched, and may run scripts: `npm ci`, `go mod download`", Medium, CategoryShell},
	{EffectInstall, "new software is fetched, and may run scripts: `npm install X`, `apt-get install`", High, CategoryShell},
	{EffectPush, "commits go to another repository", High, CategoryVCS},
	{EffectForcePush, "branches of another repository are replaced or deleted", Critical, CategoryVCS},
	{EffectHistory, "commits or uncommitted work are lost or rewritten: `git reset --hard`, `git rebase`, `git clean`", High, CategoryVCS},
	{EffectPublish, "something becomes available to others: `npm publish`, `docker push`, `gh release`", High, CategoryNetwork},
	{EffectSecrets, "the environment or stored credentials are shown: `env`, `gh auth token`", High, CategoryShell},
	{EffectPrivilege, "more rights than the user's own are used or given: `sudo`, setuid", Critical, CategoryShell},
	{EffectProcess, "other processes are ended or changed: `kill`, `systemctl`", High, CategoryShell},
	{EffectContainer, "a container or a cluster is changed or entered", High, CategoryShell},
	{EffectCloud, "resources of a cloud are changed: `terraform apply`, `aws …`", High, CategoryNetwork},
	{EffectDatabase, "a statement runs in a database", High, CategoryDatabase},
	{EffectDestructive, "a disk, a device, a database or the whole of something is destroyed: `dd of=/dev/…`, `DROP DATABASE`", Critical, CategoryShell},
	{EffectAgent, "an agent starts that no hook of ours governs", Critical, CategoryShell},
	{EffectOperator, "an act of our own operator: `myc approvals approve`", Critical, CategoryShell},
	{EffectUnclear, "part of the command was not understood", High, CategoryGeneral},
}

// Effects are all effects, each with its meaning.
func Effects() []EffectInfo { return slices.Clone(effectTable[:]) }

// EffectNamed is the row of an effect. An effect that no row names is of critical risk: nobody knows what it means.
func EffectNamed(name string) (info EffectInfo, known bool) {
	for i := range effectTable {
		if effectTable[i].Name == name {
			return effectTable[i], true
		}
	}
	return EffectInfo{Name: name, Risk: Critical, Category: CategoryShell}, false
}
