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
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/atomicfile"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy/sign"
)

// Approvals is the queue of calls that wait for a person, and the token with which the operator answers them over HTTP.
type Approvals struct {
	queue     *approval.Queue
	tokenFile string
	watchers  atomic.Int64 // terminals and pages that show the queue now
	away      atomic.Int64 // those who tell a person of it elsewhere, as a chat does
}

// List returns the requests that wait, the oldest first.
func (a *Approvals) List(ctx context.Context) ([]approval.Request, error) {
	list, err := a.queue.List(ctx)
	return list, approvalFailure("", err)
}

// Show returns one request, also a settled one.
func (a *Approvals) Show(ctx context.Context, id string) (approval.Request, error) {
	r, err := a.queue.Show(ctx, id)
	return r, approvalFailure(id, err)
}

// Say settles a request as a person says, and returns it as it is then. The first answer counts.
func (a *Approvals) Say(ctx context.Context, person string, p api.Answer) (approval.Request, error) {
	if err := p.Complete(); err != nil {
		return approval.Request{}, err
	}
	return a.Answer(ctx, p.ID, p.By(person), sign.Of(p.Sure))
}

// Answer settles a request and returns it as it is then. The first answer counts.
func (a *Approvals) Answer(ctx context.Context, id string, answer approval.Answer, s sign.Sign) (approval.Request, error) {
	r, err := a.queue.Settle(ctx, id, answer, s)
	return r, approvalFailure(id, err)
}

// Watch calls tell with every request that waits, then with each that comes, changes or is settled, until ctx is done.
func (a *Approvals) Watch(ctx context.Context, tell func(approval.Request)) { a.queue.Watch(ctx, tell) }

// watchFor is Watch for a terminal whose person can answer: while it lasts, somebody is reachable. With a session it tells of the
// requests of that session and its sub-agents only, and nobody is reachable by it. See [api.WatchParams].
func (a *Approvals) watchFor(ctx context.Context, p api.WatchParams, tell func(approval.Request)) {
	if p.Session != "" {
		a.queue.Observe(ctx, func(r approval.Request) {
			if r.Session == p.Session || slices.Contains(r.Above, p.Session) {
				tell(r)
			}
		})
		return
	}
	count := map[bool]*atomic.Int64{false: &a.watchers, true: &a.away}[p.Away]
	count.Add(1)
	defer count.Add(-1)
	a.queue.Watch(ctx, tell)
}

// approvalFailure gives an error of the queue its kind.
func approvalFailure(id string, err error) error {
	var late *approval.LateError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &late), errors.Is(err, approval.ErrDigest), errors.Is(err, approval.ErrNoWords):
		return failure.New(failure.Conflict, err, "myc approvals list shows what still waits")
	case errors.Is(err, approval.ErrUnknown):
		return failure.New(failure.NotFound, errors.New("no request has the id "+id), "myc approvals list shows what waits")
	case errors.Is(err, approval.ErrClosed):
		return failure.New(failure.Unavailable, err, "")
	case approval.IsBadAnswer(err):
		return failure.New(failure.Invalid, err, "")
	}
	return err
}

// The operator's token answers approvals over HTTP. Only its digest is kept, in the user's state folder: an agent that reads the
// file learns nothing that opens the API (W8).

// OperatorPrefix begins an operator's token, so that it is not taken for the token of a session.
const OperatorPrefix = "myc_op_"

// operatorToken is what is kept of a token.
type operatorToken struct {
	Name    string    `json:"name"`   // who asked for it, for the record of answers
	Digest  string    `json:"digest"` // SHA-256, hexadecimal
	Created time.Time `json:"created"`
}

// NewToken makes a token for a person. The one before is void.
func (a *Approvals) NewToken(person string) (string, error) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it never fails: crypto/rand ends the program instead
	token := OperatorPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	sum := sha256.Sum256([]byte(token))
	b, err := json.Marshal(operatorToken{Name: person, Digest: hex.EncodeToString(sum[:]), Created: time.Now().UTC()})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(a.tokenFile), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(a.tokenFile, append(b, '\n'), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("keep the operator's token: %w", err)
	}
	return token, nil
}

// RevokeToken makes the present token void.
func (a *Approvals) RevokeToken() error {
	if err := os.Remove(a.tokenFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("revoke the operator's token: %w", err)
	}
	return nil
}

// Operator returns the name of the person whose token this is; "" if it is nobody's. The file is read each time, so that a token
// is void as soon as it is replaced or revoked.
func (a *Approvals) Operator(token string) string {
	var kept operatorToken
	b, err := os.ReadFile(a.tokenFile)
	if err != nil || json.Unmarshal(b, &kept) != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(token))
	want, err := hex.DecodeString(kept.Digest)
	if err != nil || len(want) != sha256.Size || subtle.ConstantTimeCompare(want, sum[:]) != 1 {
		return ""
	}
	return kept.Name
}
