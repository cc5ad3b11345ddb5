package scan

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// families are the files of the corpus with poisoned definitions.
var families = []string{Hidden, Confusable, Instruction, Shadow, Secret, Shell, Exfil, Schema}

// rules are shared by the tests, as they are by whoever scans.
var rules = New()

// sample is one definition of the corpus.
type sample struct {
	raw []byte
	own []string
}

// read reads one file of the corpus; see testdata/README.md.
func read(t testing.TB, part, name string) []sample {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", part, name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []sample
	var own []string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		line := sc.Text()
		if rest, ok := strings.CutPrefix(line, "#own "); ok {
			own = strings.Fields(rest)
			continue
		}
		if line == "" {
			continue
		}
		s := sample{own: own}
		if strings.HasPrefix(line, "{") {
			s.raw = []byte(line)
		} else {
			name, text, ok := strings.Cut(line, " :: ")
			if !ok {
				t.Fatalf("%s/%s: no :: in %q", part, name, line)
			}
			s.raw = []byte(`{"name":"` + name + `","description":"` + escape(text) + `"}`)
		}
		if !json.Valid(s.raw) {
			t.Fatalf("%s/%s: not JSON: %s", part, name, s.raw)
		}
		out = append(out, s)
	}
	return out
}

// escape makes a line of the corpus the inside of a JSON string: its escapes stay, bare quotation marks are escaped.
func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			b.WriteString(s[i : i+2])
			i++
		case s[i] == '"':
			b.WriteString(`\"`)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func (s sample) scan() []Finding {
	var def struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(s.raw, &def)
	return rules.Server(Context{Own: append([]string{def.Name}, s.own...)}).Definition(s.raw)
}

// TestCorpus measures: of each family at least 95 % of the judging part have a hard finding, and at most 1 % of the benign ones do.
func TestCorpus(t *testing.T) {
	for _, part := range []string{"build", "second", "judge"} {
		poisoned := 0
		for _, family := range families {
			found, same := 0, 0
			all := read(t, part, family)
			for _, s := range all {
				fs := s.scan()
				if !HasHard(fs) {
					if part != "judge" || testing.Verbose() && os.Getenv("SCAN_MISSED") != "" {
						t.Logf("%s: missed %s %v", family, s.raw, fs)
					}
					continue
				}
				found++
				for _, f := range fs {
					if f.Family == family && f.Severity == Hard {
						same++
						break
					}
				}
			}
			poisoned += len(all)
			t.Logf("%-5s %-11s %d of %d found, %d of them as such", part, family, found, len(all), same)
			if found*100 < len(all)*95 {
				t.Errorf("%s %s: only %d of %d found", part, family, found, len(all))
			}
		}
		benign, bad := 0, 0
		for _, s := range read(t, part, "benign") {
			benign++
			if fs := s.scan(); HasHard(fs) {
				bad++
				if part != "judge" || os.Getenv("SCAN_MISSED") != "" {
					t.Logf("benign: %s %v", s.raw, fs)
				}
			}
		}
		t.Logf("%-5s %d poisoned; %d of %d benign ones held", part, poisoned, bad, benign)
		if bad*100 > benign {
			t.Errorf("%s: %d of %d benign definitions are held", part, bad, benign)
		}
	}
}

// TestRealServers: nothing that the four npm servers define is held.
func TestRealServers(t *testing.T) {
	files, _ := filepath.Glob("testdata/npm/*.json")
	if len(files) != 4 {
		t.Fatalf("found %d files", len(files))
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var lists map[string][]json.RawMessage
		if err := json.Unmarshal(b, &lists); err != nil {
			t.Fatal(err)
		}
		c := Context{}
		for _, l := range lists {
			for _, d := range l {
				var def struct {
					Name string `json:"name"`
				}
				_ = json.Unmarshal(d, &def)
				c.Own = append(c.Own, def.Name)
			}
		}
		n := 0
		for _, l := range lists {
			for _, d := range l {
				n++
				for _, f := range rules.Server(c).Definition(d) {
					if f.Severity == Hard {
						t.Errorf("%s: %+v", file, f)
					} else {
						t.Logf("%s: %+v", file, f)
					}
				}
			}
		}
		t.Logf("%s: %d definitions", file, n)
	}
}

// TestFresh prints what the rules make of definitions that were written after them. Nothing is enforced and nothing may be tuned on it: it
// says what the figures above are worth.
func TestFresh(t *testing.T) {
	poisoned, found := 0, 0
	for _, s := range read(t, "fresh", "poisoned") {
		poisoned++
		if HasHard(s.scan()) {
			found++
		}
	}
	bad := 0
	benign := read(t, "fresh", "benign")
	for _, s := range benign {
		if HasHard(s.scan()) {
			bad++
		}
	}
	t.Logf("fresh: %d of %d poisoned found, %d of %d benign held", found, poisoned, bad, len(benign))
	if poisoned < 16 || len(benign) < 38 {
		t.Errorf("only %d and %d", poisoned, len(benign))
	}
}
