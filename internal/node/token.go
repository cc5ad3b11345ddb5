package node

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/rpc"
)

// The operator's token answers approvals over HTTP. Outside of the project, in the state folder, is its digest only: what an agent
// could read there opens nothing (W8).

// OperatorPrefix tells an operator's token from that of a session.
const OperatorPrefix = "myc_op_"

// operatorNote is what is kept of a token.
type operatorNote struct {
	Name    string    `json:"name"`   // who asked for it, for the record of answers
	Digest  string    `json:"digest"` // SHA-256, hexadecimal
	Created time.Time `json:"created"`
}

// readOperator reads the note; one that is not there or damaged is nobody's.
func readOperator(path string) operatorNote {
	var o operatorNote
	b, err := os.ReadFile(filepath.Clean(path))
	if err != nil || json.Unmarshal(b, &o) != nil {
		return operatorNote{}
	}
	return o
}

// match is the operator's name if the token with this digest is theirs.
func (o operatorNote) match(sum [sha256.Size]byte) string {
	want, err := hex.DecodeString(o.Digest)
	if err != nil || len(want) != sha256.Size || subtle.ConstantTimeCompare(want, sum[:]) != 1 {
		return ""
	}
	return o.Name
}

// approvalsToken makes the operator's token anew: the one before is void.
func (n *Node) approvalsToken(_ context.Context, c daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.TokenParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	path, err := project.OperatorFile(n.dir)
	if err != nil {
		return nil, internalError(err)
	}
	if p.Revoke {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, internalError(err)
		}
		return "", nil
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it never fails: crypto/rand ends the program instead
	token := OperatorPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	sum := sha256.Sum256([]byte(token))
	b, err := json.Marshal(operatorNote{Name: userName(c.UID), Digest: hex.EncodeToString(sum[:]), Created: time.Now().UTC()})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(path, append(b, '\n'), 0o600)
	}
	if err != nil {
		return nil, internalError(fmt.Errorf("keep the operator's token: %w", err))
	}
	return token, nil
}
