package config

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/vmihailenco/msgpack/v5"

	"mycelium/internal/atomicfile"
	"mycelium/internal/config/source"
	"mycelium/internal/policy/when"
	"mycelium/internal/skill"
)

// snapshot is what Load makes of accepted files. A hook that finds no daemon reads it in a fraction of the time that the files take.
//
// The file begins with the SHA-256 of the key and of the rest, so a snapshot of another program or of other contents is not used, and
// neither is a damaged one. It need not be removed when something else is accepted.
type snapshot struct {
	Content
	Closed map[string]bool // Project.closed
}

// snapshotKey names all that the content of a project follows from: this program, the folders, and what is accepted. ok is false if the
// content follows from anything else.
func snapshotKey(p *Project) (key []byte, ok bool) {
	self, err := os.Executable()
	if err != nil {
		return nil, false
	}
	st, err := os.Stat(self)
	if err != nil {
		return nil, false
	}
	key = fmt.Appendf(nil, "%q %d %d\n", self, st.Size(), st.ModTime().UnixNano())
	key = fmt.Appendf(key, "%q %q %q %q %q\n", p.Dir, p.Home, p.UserDir, p.main, p.State.Folder())
	for _, a := range governing(p) {
		if a.accepted == nil {
			if _, err := os.Lstat(a.dir); !errors.Is(err, fs.ErrNotExist) {
				return nil, false
			}
			continue
		}
		key = fmt.Appendf(key, "%s %s\n", a.origin, a.accepted.Digest)
	}
	return key, true
}

// readAcceptances reads and verifies what is accepted.
func readAcceptances(p *Project) error {
	for _, a := range governing(p) {
		var err error
		if a.accepted, err = a.store.Read(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		a.Trusted = err == nil
	}
	return nil
}

// readSnapshot takes the content of the project from its snapshot, and reports whether it did.
func readSnapshot(p *Project) bool {
	if readAcceptances(p) != nil {
		return false
	}
	key, ok := snapshotKey(p)
	data, err := os.ReadFile(p.State.Snapshot())
	if !ok || err != nil || len(data) < sha256.Size {
		return false
	}
	sum := sha256.Sum256(slices.Concat(key, data[sha256.Size:]))
	var s snapshot
	if !bytes.Equal(data[:sha256.Size], sum[:]) || msgpack.Unmarshal(data[sha256.Size:], &s) != nil {
		return false
	}
	p.Content, p.closed, p.checked = s.Content, s.Closed, true
	for i := range p.Skills {
		openSkill(p, &p.Skills[i])
	}
	return true
}

// openSkill gives a skill of the snapshot its folder in the accepted copy.
func openSkill(p *Project, s *skill.Skill) {
	for _, a := range governing(p) {
		if string(s.Source) == a.origin && a.accepted != nil {
			folder := path.Base(path.Dir(s.File))
			s.Dir = atomicfile.DirFS(filepath.Join(a.accepted.Folder(), source.SkillsFolder, folder))
		}
	}
}

// writeSnapshot keeps the content of the project. It keeps nothing that would be read back otherwise, and nothing if files are in force as
// they lie in the folder: then each hook reads the files. So it does if the snapshot cannot be written.
func writeSnapshot(p *Project) {
	s := snapshot{p.Content, p.closed}
	s.Skills = slices.Clone(s.Skills)
	for i := range s.Skills {
		s.Skills[i] = s.Skills[i].Plain()
	}
	s.Rules = slices.Clone(s.Rules)
	var conditions when.Compiler
	for i, r := range s.Rules {
		if r.When != "" {
			s.Rules[i].Checked = conditions.Check(r.When)
		}
	}
	key, ok := snapshotKey(p)
	data, err := msgpack.Marshal(s)
	var back snapshot
	if !ok || inFolder(p) || err != nil || msgpack.Unmarshal(data, &back) != nil || !reflect.DeepEqual(s, back) {
		return
	}
	sum := sha256.Sum256(slices.Concat(key, data))
	_ = atomicfile.Write(p.State.Snapshot(), append(sum[:], data...), 0o600)
}
