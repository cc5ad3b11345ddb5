// Package effect holds the effects of package policy as bits of a set, for the programs that package shell knows.
package effect

import "mycelium/internal/policy"

// Set is a set of effects.
type Set uint64

// The effects, one bit each. Package policy says what each of them means.
const (
	Read Set = 1 << iota
	Write
	Delete
	Execute
	Unknown
	ProjectCode
	Network
	Upload
	Listen
	Secrets
	Privilege
	Push
	ForcePush
	History
	LostWork
	Publish
	Install
	Deps
	InlineCode
	RemoteCode
	Process
	Container
	Cloud
	Database
	Destructive
	Agent
	Operator
	WrittenHere
	Unusable
	Unclear
	OpenRights
	GiveRoot
	ServeShell
	ResetRemote
	CleanIgnored
	HostRights
	EnterCluster
	end
)

// All is the set of all effects.
const All = end - 1

// names are the effects of package policy, in the order of the bits above.
var names = [...]string{
	policy.EffectRead, policy.EffectWrite, policy.EffectDelete, policy.EffectExecute, policy.EffectUnknown, policy.EffectProjectCode,
	policy.EffectNetwork, policy.EffectUpload, policy.EffectListen, policy.EffectSecrets, policy.EffectPrivilege, policy.EffectPush,
	policy.EffectForcePush, policy.EffectHistory, policy.EffectLostWork, policy.EffectPublish, policy.EffectInstall, policy.EffectDeps, policy.EffectInlineCode,
	policy.EffectRemoteCode, policy.EffectProcess, policy.EffectContainer, policy.EffectCloud, policy.EffectDatabase,
	policy.EffectDestructive, policy.EffectAgent, policy.EffectOperator, policy.EffectWrittenHere, policy.EffectUnusable, policy.EffectUnclear,
	policy.EffectOpenRights, policy.EffectGiveRoot, policy.EffectServeShell, policy.EffectResetRemote, policy.EffectCleanIgnored,
	policy.EffectHostRights, policy.EffectEnterCluster,
}

// Names returns the names of the effects in the set. Execute comes first, because nearly every command has it.
func (s Set) Names() []string {
	n := 0
	for b := s; b != 0; b &= b - 1 {
		n++
	}
	list := make([]string, 0, n)
	if s&Execute != 0 {
		list = append(list, policy.EffectExecute)
	}
	for i, name := range names {
		if b := Set(1) << i; s&b != 0 && b != Execute {
			list = append(list, name)
		}
	}
	return list
}

// Of returns the effect that goes with an access to a file.
func Of(a policy.Access) Set {
	switch a {
	case policy.Write:
		return Write
	case policy.Delete:
		return Delete
	case policy.Execute:
		return Execute
	default:
		return Read
	}
}

// Refused returns the effects that a base constraint refuses.
func Refused() (set Set) {
	for i, name := range names {
		if e, _ := policy.EffectNamed(name); e.Refused {
			set |= Set(1) << i
		}
	}
	return set
}
