package main

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
	"github.com/spf13/cobra"

	"mycelium/internal/atomicfile"
	"mycelium/internal/config"
	"mycelium/internal/daemon"
	"mycelium/internal/rpc"
)

// The operator's token answers approvals over HTTP. Outside of the project, in the state folder, is its digest only: what an agent
// could read there opens nothing (W8).

// operatorPrefix tells an operator's token from that of a session.
const operatorPrefix = "myc_op_"

// operatorNote is what is kept of a token.
type operatorNote struct {
	Name    string    `json:"name"`   // who asked for it, for the record of answers
	Digest  string    `json:"digest"` // SHA-256, hexadecimal
	Created time.Time `json:"created"`
}

func operatorFile(dir string) (string, error) {
	state, err := config.StateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(state, "operator", projectKey(dir)+".json"), nil
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

// tokenParams ask for a token, or take it away.
type tokenParams struct {
	Revoke bool `json:"revoke,omitzero"`
}

// approvalsToken makes the operator's token anew: the one before is void.
func (n *node) approvalsToken(_ context.Context, c daemon.Caller, params []byte) (any, *rpc.Error) {
	var p tokenParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	path, err := operatorFile(n.dir)
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
	token := operatorPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
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

func (a *app) approvalsTokenCmd() *cobra.Command {
	var p tokenParams
	c := &cobra.Command{
		Use: "token", Short: "The operator's token for the HTTP API; shown once, the one before is void", Args: noArgs,
		Long: "With this token /api/approvals of the daemon lists and answers what waits, from this machine only. Keep it where no agent reads:\n" +
			"whoever has it approves calls.",
		Example: "  myc approvals token\n  myc approvals token --revoke",
		RunE: func(c *cobra.Command, _ []string) error {
			var token string
			if err := a.operate(c.Context(), "make the operator's token", "approvals/token", p, &token); err != nil {
				return err
			}
			switch {
			case p.Revoke:
				fmt.Fprintln(a.err, "myc: the operator's token is void")
				return nil
			case a.json:
				return a.printJSON(map[string]string{"token": token})
			}
			fmt.Fprintln(a.out, token)
			fmt.Fprintln(a.err, "The token is shown this once, and the one before is void: Authorization: Bearer TOKEN at /api/approvals.")
			return nil
		},
	}
	c.Flags().BoolVar(&p.Revoke, "revoke", false, "no token answers any more")
	return c
}
