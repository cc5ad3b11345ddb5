package push

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"
	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/text"
)

// keys are the pair with which this user's pages name themselves to push services (VAPID, RFC 8292). A browser binds its subscription to
// the public key, so the pair is made once.
type keys struct {
	Public  string `json:"public"`
	Private string `json:"private"`
}

// lockWait is how long another process may take to make the keys, which takes milliseconds.
const lockWait = 5 * time.Second

// vapid returns the keys of the user, and makes them if there are none.
func (p *room) vapid() (keys, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys.Public != "" {
		return p.keys, nil
	}
	k, err := openKeys(p.Root.Pages())
	p.keys = k
	return k, err
}

// openKeys reads the keys in a folder, or makes them there.
func openKeys(dir string) (k keys, err error) {
	file := filepath.Join(dir, "vapid.json")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return keys{}, fmt.Errorf("make the folder of the pages: %w", err)
	}
	lock, err := atomicfile.LockWait(filepath.Join(dir, "vapid.lock"), lockWait)
	if err != nil {
		return keys{}, fmt.Errorf("make the keys of notifications: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	b, err := os.ReadFile(file)
	switch {
	case err == nil:
		err = json.Unmarshal(b, &k, json.RejectUnknownMembers(true))
		if err != nil || k.Public == "" || k.Private == "" {
			return keys{}, text.Hinted(fmt.Errorf("read the keys of notifications: %s holds no pair of keys", file),
				"remove the file: then every browser turns its notifications on again")
		}
		return k, nil
	case !errors.Is(err, fs.ErrNotExist):
		return keys{}, fmt.Errorf("read the keys of notifications: %w", err)
	}
	if k.Private, k.Public, err = webpush.GenerateVAPIDKeys(); err == nil {
		b, err = json.Marshal(k)
	}
	if err == nil {
		err = atomicfile.Write(file, append(b, '\n'), 0o600)
	}
	if err != nil {
		return keys{}, fmt.Errorf("make the keys of notifications: %w", err)
	}
	return k, nil
}
