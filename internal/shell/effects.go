package shell

import "mycelium/internal/policy"

// effects is a set of the effects of package policy.
type effects uint64

const (
	doesRead effects = 1 << iota
	doesWrite
	doesDelete
	doesExecute
	doesUnknown
	doesProjectCode
	doesNetwork
	doesUpload
	doesListen
	doesSecrets
	doesPrivilege
	doesPush
	doesForcePush
	doesHistory
	doesPublish
	doesInstall
	doesDeps
	doesInlineCode
	doesRemoteCode
	doesProcess
	doesContainer
	doesCloud
	doesDatabase
	doesDestructive
	doesAgent
	doesOperator
	doesWrittenHere
	doesUnclear
	doesOpenRights
	doesGiveRoot
	doesServeShell
	doesResetRemote
	doesCleanIgnored
	doesHostRights
	doesEnterCluster
	effectsEnd
)

// effectNames are the words for the effects, in the order of the bits above.
var effectNames = [...]string{
	policy.EffectRead, policy.EffectWrite, policy.EffectDelete, policy.EffectExecute, policy.EffectUnknown, policy.EffectProjectCode,
	policy.EffectNetwork, policy.EffectUpload, policy.EffectListen, policy.EffectSecrets, policy.EffectPrivilege, policy.EffectPush,
	policy.EffectForcePush, policy.EffectHistory, policy.EffectPublish, policy.EffectInstall, policy.EffectDeps, policy.EffectInlineCode,
	policy.EffectRemoteCode, policy.EffectProcess, policy.EffectContainer, policy.EffectCloud, policy.EffectDatabase,
	policy.EffectDestructive, policy.EffectAgent, policy.EffectOperator, policy.EffectWrittenHere, policy.EffectUnclear,
	policy.EffectOpenRights, policy.EffectGiveRoot, policy.EffectServeShell, policy.EffectResetRemote, policy.EffectCleanIgnored,
	policy.EffectHostRights, policy.EffectEnterCluster,
}

// words are the names of the effects of a set; execute comes first, because nearly everything has it.
func (e effects) words() []string {
	n := 0
	for b := e; b != 0; b &= b - 1 {
		n++
	}
	list := make([]string, 0, n)
	if e&doesExecute != 0 {
		list = append(list, policy.EffectExecute)
	}
	for i, name := range effectNames {
		if b := effects(1) << i; e&b != 0 && b != doesExecute {
			list = append(list, name)
		}
	}
	return list
}

// ofAccess is the effect that goes with an access.
func ofAccess(a policy.Access) effects {
	switch a {
	case policy.Write:
		return doesWrite
	case policy.Delete:
		return doesDelete
	case policy.Execute:
		return doesExecute
	default:
		return doesRead
	}
}
