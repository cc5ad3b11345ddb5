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

	// These are refused by base constraints.
	EffectOpenRights   = "open_rights"
	EffectGiveRoot     = "root_owner"
	EffectServeShell   = "shell_server"
	EffectResetRemote  = "reset_to_remote"
	EffectCleanIgnored = "clean_ignored"
	EffectHostRights   = "host_rights"
	EffectEnterCluster = "cluster_entry"
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
	Refused  bool   // by a base constraint, to every agent; of some effects only in some cases
}

// effectTable has a row for each effect.
var effectTable = [...]EffectInfo{
	{EffectRead, "files are read; without a path, files of the whole project", Low, CategoryGeneral, false},
	{EffectWrite, "files are written; without a path, files of the whole project", Medium, CategoryFileWrite, false},
	{EffectDelete, "files are deleted", High, CategoryFileWrite, false},
	{EffectExecute, "a program runs: every simple command has it", Medium, CategoryShell, false},
	{EffectUnknown, "the program is not in the table of programs; arguments that look like paths are read and written", High, CategoryShell, false},
	{EffectProjectCode, "code from files runs: scripts, tests, builds", Medium, CategoryShell, false},
	{EffectWrittenHere, "the code that runs was written in this session, or earlier in the same command", High, CategoryShell, false},
	{EffectInlineCode, "code in the command itself runs: `python -c`, `node -e`, a here-document for an interpreter", High, CategoryShell, false},
	{EffectRemoteCode, "code from the network runs: `curl … | sh`, `bash <(curl …)`", Critical, CategoryShell, true},
	{EffectNetwork, "another machine is reached", Medium, CategoryNetwork, false},
	{EffectUpload, "data is sent to another machine: `curl -d`, `scp`", High, CategoryNetwork, false},
	{EffectListen, "a program waits for connections: `nc -l`, `python -m http.server`", High, CategoryNetwork, false},
	{EffectDeps, "the dependencies that the project declares are fetched, and may run scripts: `npm ci`, `go mod download`", Medium, CategoryShell, false},
	{EffectInstall, "new software is fetched, and may run scripts: `npm install X`, `apt-get install`", High, CategoryShell, false},
	{EffectPush, "commits go to another repository", High, CategoryVCS, false},
	{EffectForcePush, "branches of another repository are replaced or deleted", Critical, CategoryVCS, true},
	{EffectHistory, "commits or uncommitted work are lost or rewritten: `git reset --hard`, `git rebase`, `git clean`", High, CategoryVCS, false},
	{EffectPublish, "something becomes available to others: `npm publish`, `docker push`, `gh release`", High, CategoryNetwork, false},
	{EffectSecrets, "the environment or stored credentials are shown: `env`, `gh auth token`", High, CategoryShell, false},
	{EffectPrivilege, "more rights than the user's own are used or given: `sudo`, setuid", Critical, CategoryShell, false},
	{EffectProcess, "other processes are ended or changed: `kill`, `systemctl`", High, CategoryShell, false},
	{EffectContainer, "a container or a cluster is changed or entered", High, CategoryShell, false},
	{EffectCloud, "resources of a cloud are changed: `terraform apply`, `aws …`", High, CategoryNetwork, false},
	{EffectDatabase, "a statement runs in a database", High, CategoryDatabase, false},
	{EffectDestructive, "a disk, a device, a database or the whole of something is destroyed: `dd of=/dev/…`, `DROP DATABASE`", Critical, CategoryShell, true},
	{EffectAgent, "an agent starts that no hook of ours governs", Critical, CategoryShell, false},
	{EffectOperator, "an act of our own operator: `myc approvals approve`", Critical, CategoryShell, true},
	{EffectOpenRights, "files are opened to everybody: `chmod 777`", Critical, CategoryFileWrite, true},
	{EffectGiveRoot, "files are given to root: `chown root`", Critical, CategoryFileWrite, true},
	{EffectServeShell, "a program runs for whoever is at the other end of a connection: `nc -e`", Critical, CategoryShell, true},
	{EffectResetRemote, "local work is thrown away for what another repository has: `git reset --hard origin/main`", Critical, CategoryVCS, true},
	{EffectCleanIgnored, "ignored files are deleted wholesale: `git clean -fdx`", Critical, CategoryVCS, true},
	{EffectHostRights, "a container gets the rights of the machine: `docker run --privileged`", Critical, CategoryShell, true},
	{EffectEnterCluster, "the containers of a cluster are entered: `kubectl exec`, `kubectl cp`", Critical, CategoryShell, true},
	{EffectUnclear, "part of the command was not understood", High, CategoryGeneral, false},
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
