package state

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
)

// Former are the places where earlier versions kept the state of a project: the key of the log and what an operator accepted in the
// user's folder, everything else in the project.
type Former struct {
	Folder        string // in the project
	Log           string // the segments of the log, where audit.dir names no other folder
	LogLock       string
	DaemonLock    string
	Keys          string
	Pins          string
	OperatorToken string
}

// FormerOf returns these places for a project folder. usual is the state folder that its versions had.
func FormerOf(usual Root, project string) Former {
	sum := sha256.Sum256([]byte(project))
	key := hex.EncodeToString(sum[:16])
	folder := filepath.Join(project, FolderName)
	return Former{
		Folder: folder, Log: filepath.Join(folder, AuditLog), LogLock: filepath.Join(folder, "audit.lock"),
		DaemonLock: filepath.Join(folder, "daemon.lock"),
		Keys:       usual.in("audit", key), Pins: usual.in("pins", key), OperatorToken: usual.in("operator", key+".json"),
	}
}
