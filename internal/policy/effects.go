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
	EffectUnusable    = "unusable"
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

// EffectTraits are the meaning, the risk and the category of one effect.
type EffectTraits struct {
	Name     string
	Risk     Risk   // of a call with this effect
	Category string // of a call with no other effect
	Refused  bool   // a base constraint refuses it, or some calls with it, to every agent
	Means    string // for people
}

// effectTable has a row for each effect.
var effectTable = [...]EffectTraits{
	{EffectRead, Low, CategoryGeneral, false, "files are read; without a path, files of the whole project"},
	{EffectWrite, Medium, CategoryFileWrite, false, "files are written; without a path, files of the whole project"},
	{EffectDelete, High, CategoryFileWrite, false, "files are deleted"},
	{EffectExecute, Medium, CategoryShell, false, "a program runs: every simple command has it"},
	{EffectUnknown, High, CategoryShell, false,
		"the program is not in the table of programs; arguments that look like paths are read and written"},
	{EffectProjectCode, Medium, CategoryShell, false, "code from files runs: scripts, tests, builds"},
	{EffectWrittenHere, High, CategoryShell, false, "the code that runs was written in this session, or earlier in the same command"},
	{EffectInlineCode, High, CategoryShell, false,
		"code in the command itself runs: `python -c`, `node -e`, a here-document for an interpreter"},
	{EffectRemoteCode, Critical, CategoryShell, true, "code from the network runs: `curl … | sh`, `bash <(curl …)`"},
	{EffectNetwork, Medium, CategoryNetwork, false, "another machine is reached"},
	{EffectUpload, High, CategoryNetwork, false, "data is sent to another machine: `curl -d`, `scp`"},
	{EffectListen, High, CategoryNetwork, false, "a program waits for connections: `nc -l`, `python -m http.server`"},
	{EffectDeps, Medium, CategoryShell, false,
		"the dependencies that the project declares are fetched, and may run scripts: `npm ci`, `go mod download`"},
	{EffectInstall, High, CategoryShell, false, "new software is fetched, and may run scripts: `npm install X`, `apt-get install`"},
	{EffectPush, High, CategoryVCS, false, "commits go to another repository"},
	{EffectForcePush, Critical, CategoryVCS, true, "branches of another repository are replaced or deleted"},
	{EffectHistory, High, CategoryVCS, false,
		"commits or uncommitted work are lost or rewritten: `git reset --hard`, `git rebase`, `git clean`"},
	{EffectPublish, High, CategoryNetwork, false, "something becomes available to others: `npm publish`, `docker push`, `gh release`"},
	{EffectSecrets, High, CategoryShell, false, "the environment or stored credentials are shown: `env`, `gh auth token`"},
	{EffectPrivilege, Critical, CategoryShell, false, "more rights than the user's own are used or given: `sudo`, setuid"},
	{EffectProcess, High, CategoryShell, false, "other processes are ended or changed: `kill`, `systemctl`"},
	{EffectContainer, High, CategoryShell, false, "a container or a cluster is changed or entered"},
	{EffectCloud, High, CategoryNetwork, false, "resources of a cloud are changed: `terraform apply`, `aws …`"},
	{EffectDatabase, High, CategoryDatabase, false, "a statement runs in a database"},
	{EffectDestructive, Critical, CategoryShell, true,
		"a disk, a device, a database or the whole of something is destroyed: `dd of=/dev/…`, `DROP DATABASE`"},
	{EffectAgent, Critical, CategoryShell, false, "an agent starts that no hook of ours governs"},
	{EffectOperator, Critical, CategoryShell, true, "an act of our own operator: `myc approvals approve`"},
	{EffectOpenRights, Critical, CategoryFileWrite, true, "files are opened to everybody: `chmod 777`"},
	{EffectGiveRoot, Critical, CategoryFileWrite, true, "files are given to root: `chown root`"},
	{EffectServeShell, Critical, CategoryShell, true, "a program runs for whoever is at the other end of a connection: `nc -e`"},
	{EffectResetRemote, Critical, CategoryVCS, true,
		"local work is thrown away for what another repository has: `git reset --hard origin/main`"},
	{EffectCleanIgnored, Critical, CategoryVCS, true, "ignored files are deleted wholesale: `git clean -fdx`"},
	{EffectHostRights, Critical, CategoryShell, true, "a container gets the rights of the machine: `docker run --privileged`"},
	{EffectEnterCluster, Critical, CategoryShell, true, "the containers of a cluster are entered: `kubectl exec`, `kubectl cp`"},
	{EffectUnusable, High, CategoryFileWrite, false,
		"files that nobody can open afterwards, or a full disk: `chmod -R 000 .`, `fallocate -l 1T x`"},
	{EffectUnclear, High, CategoryGeneral, false, "part of the command was not understood"},
}

// Effects are all effects, each with its meaning.
func Effects() []EffectTraits { return slices.Clone(effectTable[:]) }

// EffectNamed is the row of an effect. An effect that no row names is of critical risk: nobody knows what it means.
func EffectNamed(name string) (traits EffectTraits, known bool) {
	for i := range effectTable {
		if effectTable[i].Name == name {
			return effectTable[i], true
		}
	}
	return EffectTraits{Name: name, Risk: Critical, Category: CategoryShell}, false
}
