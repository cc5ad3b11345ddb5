package policy

// The effects that facts can name: what a rule's `match: {effect: …}` is compared with.
const (
	EffectRead        = "read"
	EffectWrite       = "write"
	EffectDelete      = "delete"
	EffectExecute     = "execute"         // a program runs: every simple command of a shell has it
	EffectUnknown     = "unknown_program" // … that the table of programs does not know, so that what it does is not known
	EffectProjectCode = "project_code"    // … or that runs code from files: scripts, tests, builds (make, npm test, go test, python x.py, ./x.sh)
	EffectNetwork     = "network"
	EffectUpload      = "upload"       // data is sent to the network: curl -d, scp, rsync to a host
	EffectListen      = "listen"       // something waits for connections: nc -l, python -m http.server
	EffectSecrets     = "secrets"      // the environment or stored credentials are shown: env, printenv, gh auth token
	EffectPrivilege   = "privilege"    // more rights than the user's own: sudo, su, setuid, chown root …
	EffectPush        = "push"         // commits go to another repository
	EffectForcePush   = "force_push"   // … and replace what is there
	EffectHistory     = "history"      // commits or work that is not committed are lost or rewritten: reset --hard, rebase, clean, branch -D
	EffectPublish     = "publish"      // something becomes available to others: npm publish, docker push, gh release
	EffectInstall     = "install"      // software is fetched and may run scripts: npm install X, pip install X, apt-get
	EffectDeps        = "dependencies" // the dependencies that the project declares are fetched, and may run scripts: npm ci, go mod download
	EffectInlineCode  = "inline_code"  // python -c, node -e, eval
	EffectRemoteCode  = "remote_code"  // what comes from the network is executed: curl | sh
	EffectProcess     = "process"      // other processes are ended or changed: kill, pkill, systemctl
	EffectContainer   = "container"    // a container or a cluster is changed or entered
	EffectCloud       = "cloud"        // resources elsewhere are changed: terraform apply, aws …
	EffectDatabase    = "database"     // a statement runs in a database
	EffectDestructive = "destructive"  // a disk, a device, a database or the whole of something is destroyed: mkfs, dd of=/dev, DROP DATABASE
	EffectAgent       = "agent"        // an agent runs that no hook of ours governs (W9)
	EffectOperator    = "operator"     // an act of our own operator: myc approvals approve, session new … (W8)
	EffectWrittenHere = "written_here" // what is executed was written in this session (W3); added by the gate
	EffectUnclear     = "unclear"      // part of it was not understood
)
