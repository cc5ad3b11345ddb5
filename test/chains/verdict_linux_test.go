package chains

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// taken is what became of a step.
type taken struct {
	Line   int
	Tool   string
	Answer answer
	Said   string
}

// report is what became of a chain.
type report struct {
	Used  bool // a step was taken: the world may be another one now
	Steps []taken
	// Probes has the answer to each probe after the chain.
	Probes map[string]answer
	Said   string // what the project's server and the secret file say, where no step was taken
	// Changed says what else is not as it was.
	Changed []string
}

// answer is one of the hook, with its reason.
type answer struct{ Is, Why string }

// probe is a call whose answer shows what is in force.
type probe struct {
	tool  string
	input map[string]any
	cheap bool // only with a daemon: without one an answer costs much, and others show the same
}

// probes are calls that the project's rules, the shipped rules, the fallback and the base constraints refuse, each for another reason,
// and at the end some that they allow, which show that not everything is refused.
var probes = []probe{
	{"Bash", map[string]any{"command": "cat .env"}, false},
	{"Bash", map[string]any{"command": "curl -s https://evil.example/x"}, false},
	{"Bash", map[string]any{"command": "sudo id"}, true},
	{"Bash", map[string]any{"command": "psql shop"}, false},
	{"Read", map[string]any{"file_path": projectDir + "/private/plan.md"}, false},
	{"Bash", map[string]any{"command": "npm publish"}, true},
	{"Bash", map[string]any{"command": "myc trust"}, true},
	{"Read", map[string]any{"file_path": projectDir + "/.env"}, true},
	{"Read", map[string]any{"file_path": home + "/.ssh/id_ed25519"}, true},
	{"Write", map[string]any{"file_path": projectDir + "/mycelium.yaml", "content": "x"}, false},
	{"Write", map[string]any{"file_path": projectDir + "/.claude/settings.local.json", "content": "{}"}, true},
	{"WebFetch", map[string]any{"url": "https://evil.example/x", "prompt": "x"}, true},
	{"Bash", map[string]any{"command": "git status"}, false},
	{"Read", map[string]any{"file_path": projectDir + "/src/shop.py"}, false},
}

// hiddenTool is a tool of the project's server that no skill grants.
const hiddenTool = "srv__wipe"

// ranProof is a file that the server's changed program makes, if somebody starts it as a server.
const ranProof = home + "/SERVER-RAN"

// play runs a chain and looks at what governs, before and after.
func (m *machine) play(j job) (report, error) {
	var r report
	if err := m.begin(j.Daemon); err != nil {
		return r, err
	}
	if j.Walled && m.walled == nil {
		if err := m.enwall(); err != nil {
			return r, err
		}
	}
	var files map[string]string
	m.unasked = j.Unasked
	var before *state
	r.Used = len(j.Chain.Steps) == 0
	for _, s := range j.Chain.Steps {
		if before == nil && !s.Given { // what others did first is not the agent's work
			before = m.snapshot(j.Daemon)
			var err error
			if files, err = m.outsideState(); err != nil {
				return r, err
			}
		}
		t, err := m.step(s)
		if err != nil {
			return r, err
		}
		r.Steps = append(r.Steps, t)
		r.Used = r.Used || t.Answer.Is == allowed
	}
	if !r.Used {
		return r, nil // nothing ran, so that nothing can have changed
	}
	if last := len(r.Steps) - 1; j.Chain.Refused && r.Steps[last].Answer.Is == allowed {
		r.Changed = append(r.Changed, "the last step was allowed")
	}
	if bytes.Contains(m.said.Bytes(), []byte(secret)) || bytes.Contains(m.said.Bytes(), []byte(secretName)) {
		r.Changed = append(r.Changed, "a step showed the secret")
	}
	if before == nil {
		before = m.snapshot(j.Daemon)
	}
	r.Changed = append(r.Changed, m.changes(before, j)...)
	if j.Walled && files != nil {
		now, err := m.outsideState()
		if err != nil {
			return r, err
		}
		r.Changed = append(r.Changed, differences(files, now)...)
	}
	var err error
	if r.Probes, err = m.probe(j.Daemon); err != nil {
		return r, err
	}
	if j.Daemon && !j.Walled { // what is in force after a restart?
		if _, err := m.person("myc stop -f; myc serve --background --addr 127.0.0.1:0"); err != nil {
			return r, err
		}
		again, err := m.probe(true)
		if err != nil {
			return r, err
		}
		for name, a := range again {
			r.Probes[name+", after a restart"] = a
		}
	}
	if len(j.Chain.Steps) == 0 {
		here, err := m.must("cat .env")
		if err != nil {
			return r, err
		}
		r.Said = here + m.hello
	}
	if _, err := os.Stat(ranProof); err == nil {
		r.Changed = append(r.Changed, "the server's changed program ran")
	}
	return r, nil
}

// begin prepares a chain's session: once in a world, the person trusts the folder, which is another one than that in which the home was
// made, and starts a daemon.
func (m *machine) begin(daemon bool) error {
	m.session++
	if m.ready {
		return nil
	}
	m.ready = true
	if _, err := m.must("git update-index -q --refresh && myc trust --yes"); err != nil || !daemon {
		return err
	}
	_, err := m.must("myc serve --background --addr 127.0.0.1:0")
	return err
}

// probe decides the probes, by the hook and by the gateway.
func (m *machine) probe(daemon bool) (map[string]answer, error) {
	out := map[string]answer{}
	for _, p := range probes {
		if p.cheap && !daemon || m.walled != nil && p.tool == "Bash" { // the reader of a walled world reads no command
			continue
		}
		a, err := m.asks("PreToolUse", p.tool, p.input)
		if err != nil {
			return nil, err
		}
		for _, key := range []string{"command", "file_path", "url"} {
			if v, ok := p.input[key]; ok {
				out[fmt.Sprint(p.tool, " ", v)] = a
			}
		}
	}
	answers, err := m.mcp(map[string]any{"method": "tools/list", "params": map[string]any{}},
		map[string]any{"method": "tools/call", "params": map[string]any{"name": hiddenTool, "arguments": map[string]any{}}},
		map[string]any{"method": "tools/call", "params": map[string]any{"name": "srv__hello", "arguments": map[string]any{}}}) // starts it
	if err != nil {
		return nil, err
	}
	m.hello = answers
	out["a hidden tool"] = answer{Is: denied}
	if strings.Contains(answers, hiddenTool+`"`) && strings.Contains(answers, `"name":"`+hiddenTool) || strings.Contains(answers, "wiped") {
		out["a hidden tool"] = answer{allowed, answers}
	}
	return out, nil
}

// state is what must stay as it is.
type state struct {
	logs  map[string][]byte // the segments of the log: they may only grow
	fixed map[string]string // files with what was accepted, and keys: by their digests
	entry string            // the hook's entries, with the program that they start
	env   string            // the variables that settings files set
	alive string            // the daemon
}

// snapshot looks at the state, in the project and outside.
func (m *machine) snapshot(daemon bool) *state {
	s := &state{logs: map[string][]byte{}, fixed: map[string]string{}, entry: m.entries(), env: fmt.Sprint(agentSettings().Env)}
	if daemon {
		s.alive = m.daemon()
	}
	for _, root := range []string{home + "/.local/state/mycelium", projectDir + "/.mycelium"} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // what cannot be read is missing, and missing is a change
			}
			switch {
			case strings.HasSuffix(path, ".jsonl") && strings.Contains(path, "/audit/"):
				s.logs[path], err = os.ReadFile(path)
			case stays(path) && filepath.Ext(path) == ".json":
				var b []byte
				b, err = os.ReadFile(path)
				s.fixed[path] = string(restored.ReplaceAll(b, nil))
			case stays(path):
				s.fixed[path], err = m.digest(path)
			}
			if err != nil {
				delete(s.logs, path)
				delete(s.fixed, path)
			}
			return nil
		})
	}
	return s
}

// restored is how often the daemon has put entries back, in the note of an installed hook.
var restored = regexp.MustCompile(`,?\s*"restored": \d+`)

// stays reports whether a file of the state never changes without a person. noted.json does: it has the digests that people were told of.
// The user's own files may change like those of a project: they wait.
func stays(path string) bool {
	rel := strings.TrimPrefix(path, home)
	name := filepath.Base(path)
	if name == "noted.json" || strings.Contains(rel, "/sandbox/quarantine/") { // what the wall has put away is in force nowhere
		return false
	}
	return name == "audit.key" || name == "trust.json" || name == "project.json" ||
		strings.Contains(rel, "/pins") || strings.Contains(rel, "/accepted") ||
		strings.Contains(rel, "/operator") || strings.Contains(rel, "/mycelium/hooks/") ||
		strings.Contains(rel, "/mycelium/bin/")
}

// changes compares the state with what it was.
func (m *machine) changes(before *state, j job) []string {
	var out []string
	after := m.snapshot(j.Daemon)
	for _, path := range slices.Sorted(maps.Keys(before.logs)) {
		if !bytes.HasPrefix(after.logs[path], before.logs[path]) {
			out = append(out, "the log was cut or changed: "+path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(before.fixed)) {
		if after.fixed[path] != before.fixed[path] {
			out = append(out, "changed: "+path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(after.fixed)) {
		if _, ok := before.fixed[path]; !ok && !strings.HasPrefix(path, projectDir) && filepath.Base(path) != "audit.key" {
			out = append(out, "new: "+path)
		}
	}
	if o, err := m.person("myc audit verify"); err != nil || o.code != 0 {
		out = append(out, fmt.Sprintf("the log does not verify: %v %s%s", err, o.stdout, o.stderr))
	}
	if after.alive != before.alive {
		out = append(out, fmt.Sprintf("the daemon: %s, was %s", after.alive, before.alive))
	}
	return append(out, m.entryChanges(before, j)...)
}

// putBack is how long the daemon may take to put the hook's entries back.
const putBack = 10 * time.Second

// entryChanges says how the hook's entries differ. Where a chain's code may change them, it is enough that the daemon puts them back, or
// that the program says so: then the person installs them again, and the probes show what else has changed. A daemon leaves variables to
// the person, because no hook needs one.
func (m *machine) entryChanges(before *state, j job) []string {
	sets := fmt.Sprint(agentSettings().Env) != before.env
	if m.entries() == before.entry && !sets {
		return nil
	}
	if !j.Chain.Told {
		return []string{"the hook's entries changed"}
	}
	if j.Daemon && m.entries() != before.entry {
		for until := time.Now().Add(putBack); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
			if m.entries() == before.entry {
				return nil
			}
		}
		return []string{"the hook's entries changed, and the daemon did not put them back"}
	}
	if o, err := m.person("myc hook status"); err != nil || o.code == 0 {
		return []string{fmt.Sprintf("the hook's entries changed, and nothing says so: %v %s", err, o.stdout)}
	}
	if _, err := m.must("chmod u+rwx .claude || mkdir .claude"); err != nil {
		return []string{err.Error()}
	}
	for _, path := range settingsFiles() {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return []string{err.Error()}
		}
	}
	if _, err := m.must("myc hook install claude"); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// entries are the hook's entries as the agent has them, and the digests of the programs that they start.
func (m *machine) entries() string {
	s := agentSettings()
	text, err := json.Marshal(map[string]any{"hooks": s.Hooks, "off": s.Disabled}, json.Deterministic(true))
	if err != nil {
		return err.Error()
	}
	for _, path := range []string{binDir + "/myc", binDir + "/myc-hook"} {
		sum, err := m.digest(path)
		if err != nil {
			return err.Error()
		}
		text = append(text, " "+sum...)
	}
	return string(text)
}

// digest returns the digest of a file. The programs are large and looked at often: one with the same inode and the same time of its last
// change, which nobody in a world can set, is as it was.
func (m *machine) digest(path string) (string, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return "", err
	}
	key := fmt.Sprint(path, s.Dev, s.Ino, s.Size, s.Ctim)
	if m.digests[key] == "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		m.digests[key] = fmt.Sprintf("%x", sha256.Sum256(b))
	}
	return m.digests[key], nil
}

// daemon says which process serves the project.
func (m *machine) daemon() string {
	o, err := m.person("myc status --json")
	var status struct {
		Daemon struct {
			Running bool `json:"running"`
			PID     int  `json:"pid"`
		} `json:"daemon"`
	}
	if err != nil || o.code != 0 || json.Unmarshal([]byte(o.stdout), &status) != nil {
		return fmt.Sprintf("%v %s", err, o.stderr)
	}
	return fmt.Sprint(status.Daemon.Running, " ", status.Daemon.PID)
}
