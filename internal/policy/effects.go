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
	EffectLostWork    = "lost_work"
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

// FilesNotKnown is what was not understood of a command of git that brings commits from elsewhere: git cannot say which files they change
// before they are here.
const FilesNotKnown = "git does not know yet which files it changes"

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

// EffectTraits are the meaning, the risk and the category of one effect. Does, Like and Matters are for people.
type EffectTraits struct {
	Name     string
	Risk     Risk   // of a call with this effect
	Category string // of a call with no other effect
	Refused  bool   // a base constraint refuses it, or some calls with it, to every agent
	Does     string // what a call with it would do, to be read after "would"
	Like     string // what else there is to know of it, and examples; may be empty
	Matters  string // why that matters, as a sentence without its full stop
}

// effectTable has a row for each effect. It is the one place that says what effects mean, and why people are asked about them.
var effectTable = [...]EffectTraits{
	{EffectRead, Low, CategoryGeneral, false, "read files", "; without a path, files of the whole project",
		"What an agent reads goes to the provider of its model"},
	{EffectWrite, Medium, CategoryFileWrite, false, "write files", "; without a path, files of the whole project",
		"What was there before is gone unless git or a backup has it"},
	{EffectDelete, High, CategoryFileWrite, false, "delete files", "", "What is deleted is gone unless git or a backup has it"},
	{EffectExecute, Medium, CategoryShell, false, "run a program", ": every simple command has it",
		"A program outside of the sandbox can do whatever you can do"},
	{EffectUnknown, High, CategoryShell, false, "run a program that is not in the table of programs",
		"; arguments that look like paths are read and written", "Nobody has said what it does with its arguments"},
	{EffectProjectCode, Medium, CategoryShell, false, "run code out of files", ": scripts, tests, builds",
		"The code may have come with a package, or an agent may have changed it"},
	{EffectWrittenHere, High, CategoryShell, false, "run code that was written in this session", ", or earlier in the same command",
		"Nobody but the agent has read that code"},
	{EffectInlineCode, High, CategoryShell, false, "run code that stands in the command itself",
		": `python -c`, `node -e`, a here-document for an interpreter", "Such code can do anything, and what it does is not looked at"},
	{EffectRemoteCode, Critical, CategoryShell, true, "run code from the network", ": `curl … | sh`, `bash <(curl …)`",
		"Whoever serves the code decides what this machine does"},
	{EffectNetwork, Medium, CategoryNetwork, false, "reach another machine", "",
		"A request can carry data out, and an answer can carry instructions for the agent in"},
	{EffectUpload, High, CategoryNetwork, false, "send data to another machine", ": `curl -d`, `scp`", "What was sent cannot be taken back"},
	{EffectListen, High, CategoryNetwork, false, "wait for connections", ": `nc -l`, `python -m http.server`",
		"Whoever reaches the port can use it"},
	{EffectDeps, Medium, CategoryShell, false, "fetch the dependencies that the project declares",
		", which may run scripts: `npm ci`, `go mod download`", "Packages can run scripts while they are installed"},
	{EffectInstall, High, CategoryShell, false, "fetch new software", ", which may run scripts: `npm install X`, `apt-get install`",
		"It runs with your rights, and nobody has looked at it for this project"},
	{EffectPush, High, CategoryVCS, false, "send commits to another repository", "", "Others see them, and builds start with them"},
	{EffectForcePush, Critical, CategoryVCS, true, "replace or delete branches of another repository", "",
		"The commits of others can be lost"},
	{EffectHistory, High, CategoryVCS, false, "lose or rewrite commits or uncommitted work",
		": `git reset --hard`, `git rebase`, `git clean`", "Commits change that others may have, and what was not committed may be lost"},
	{EffectLostWork, High, CategoryVCS, false, "lose uncommitted work, or what only the reflog still holds, for good",
		": `git reset --hard`, `git clean`, `git stash drop`", "Nothing brings it back"},
	{EffectPublish, High, CategoryNetwork, false, "make something available to others", ": `npm publish`, `docker push`, `gh release`",
		"What is published has been seen, even if it is removed"},
	{EffectSecrets, High, CategoryShell, false, "show the environment or stored credentials", ": `env`, `gh auth token`",
		"Secrets would be in the conversation, and with the provider of the model"},
	{EffectPrivilege, Critical, CategoryShell, false, "use or give more rights than your own", ": `sudo`, setuid",
		"It could change the machine and everybody's files"},
	{EffectProcess, High, CategoryShell, false, "end or change other processes", ": `kill`, `systemctl`",
		"They may be yours, with work that is not saved"},
	{EffectContainer, High, CategoryShell, false, "change or enter a container or a cluster", "",
		"A container can reach files and services of this machine, and a cluster may serve others"},
	{EffectCloud, High, CategoryNetwork, false, "change resources of a cloud", ": `terraform apply`, `aws …`",
		"They cost money, and others may depend on them"},
	{EffectDatabase, High, CategoryDatabase, false, "run a statement in a database", "", "It can change or delete data that no git has"},
	{EffectDestructive, Critical, CategoryShell, true, "destroy a disk, a device, a database or the whole of something",
		": `dd of=/dev/…`, `DROP DATABASE`", "There is no way back"},
	{EffectAgent, Critical, CategoryShell, false, "start an agent that no hook of ours governs", "", "Nothing of what it does is asked about"},
	{EffectOperator, Critical, CategoryShell, true, "act as our own operator", ": `myc approvals approve`", "An agent would answer its own questions"},
	{EffectOpenRights, Critical, CategoryFileWrite, true, "open files to everybody", ": `chmod 777`", "Every user of the machine could change them"},
	{EffectGiveRoot, Critical, CategoryFileWrite, true, "give files to root", ": `chown root`", "You could no longer change them"},
	{EffectServeShell, Critical, CategoryShell, true, "run a program for whoever is at the other end of a connection", ": `nc -e`",
		"A stranger would have your hands"},
	{EffectResetRemote, Critical, CategoryVCS, true, "throw local work away for what another repository has",
		": `git reset --hard origin/main`", "What was not pushed is lost"},
	{EffectCleanIgnored, Critical, CategoryVCS, true, "delete ignored files wholesale", ": `git clean -fdx`",
		"Settings, secrets and data that git does not have are among them"},
	{EffectHostRights, Critical, CategoryShell, true, "give a container the rights of the machine", ": `docker run --privileged`",
		"Whatever runs in it could change the machine"},
	{EffectEnterCluster, Critical, CategoryShell, true, "enter the containers of a cluster", ": `kubectl exec`, `kubectl cp`",
		"Others may depend on what runs there"},
	{EffectUnusable, High, CategoryFileWrite, false, "make files that nobody can open, or fill the disk",
		": `chmod -R 000 .`, `fallocate -l 1T x`", "Other programs would stop working"},
	{EffectUnclear, High, CategoryGeneral, false, "do something that was not understood", "", "Nobody can tell what it would change"},
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
