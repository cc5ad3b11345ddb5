package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRender: the part has every kernel, the rows that differ from the table before it, and one row for users and kernels that say the
// same.
func TestRender(t *testing.T) {
	t.Parallel()
	const before = "# Ways out\n\n| What is tried | as root | as a user |\n| --- | --- | --- |\n" +
		"| one | – | mount |\n| two | mount, pid | – |\n"
	if got := rows(before); len(got) != 2 || got[1] != (row{"two", "mount, pid", "–"}) {
		t.Fatalf("%+v", got)
	}
	lacks := verdict{State: "no net", User: "root", Release: "6.12.9", Layer: "user", Doing: "make", Cause: "none", Mend: "more"}
	other := lacks
	other.User = "an ordinary user"
	m := &machine{Release: "6.12.9", ABI: 6, Verdicts: []verdict{{Holds: true, Ran: true}, lacks, other},
		Opened: map[string]map[string][]string{"one": {"an ordinary user": {"mount"}}, "two": {"root": {"mount"}}}}
	old := &machine{Release: "6.1.2", Opened: map[string]map[string][]string{},
		Verdicts: []verdict{{Layer: "landlock", Doing: "ask", Cause: "old", Mend: "newer"}}}
	got := render([]*machine{old, m}, before)
	for _, line := range []string{
		"| 6.1.2 | – | landlock: ask: old. newer | nothing runs |\n",
		"| 6.12.9 | 6 | holds | none of 2 gets out |\n",
		"| two | 6.12 | mount | – |\n",
		"| no net | 6.12 | root, an ordinary user | user: make: none. more | does not run |\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
	if strings.Contains(got, "| one |") {
		t.Error("a row that is the same is there")
	}
	m.Opened["one"]["root"] = []string{nothing}
	for _, want := range []string{"| 6.12.9 | 6 | holds | gets out: one (as root) |\n",
		"| one | 6.12 | any: no layer of this kernel holds it | mount |\n"} {
		if !strings.Contains(render([]*machine{m}, before), want) {
			t.Errorf("%q is not there", want)
		}
	}
}

// TestArchive: an archive has the folders above a file once, and every part begins at a multiple of four.
func TestArchive(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "archive")
	files := []file{{path: "a/b/c", mode: 0o644, text: "12345"}, {path: "a/b/d", mode: link, text: "c"}, {path: "a", mode: folder | 0o755}}
	if err := writeArchive(path, files); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const header = 110 // bytes (cpio(5))
	var names []string
	for at := 0; at < len(data); {
		if string(data[at:at+6]) != "070701" {
			t.Fatalf("no entry at %d: %q", at, data[at:])
		}
		name, _, _ := strings.Cut(string(data[at+header:]), "\x00")
		names = append(names, name)
		size := 0
		for _, c := range string(data[at+54 : at+62]) {
			size = size*16 + strings.IndexRune("0123456789abcdef", c)
		}
		round := func(n int) int { return (n + 3) / 4 * 4 }
		at += round(header+len(name)+1) + round(size)
	}
	if got := strings.Join(names, " "); got != "a a/b a/b/c a/b/d TRAILER!!!" {
		t.Error(got)
	}
}

// TestResult: the guest's line is found among what its kernel prints; a machine that says none is an error.
func TestResult(t *testing.T) {
	t.Parallel()
	m, said, err := result(strings.NewReader("boot\r\n" + mark + `{"Release":"7.3","Done":true}` + "\r\nend"))
	if err != nil || m.Release != "7.3" || said != "boot\r\nend" {
		t.Errorf("%+v %q %v", m, said, err)
	}
	for _, said := range []string{"panic\n", mark + `{"Release":"7.3"}` + "\npanic\n"} {
		if _, _, err := result(strings.NewReader(said)); err == nil {
			t.Errorf("%q is a result", said)
		}
	}
}

// TestWhole: what a guest says counts only if it is whole; each change below takes one part away.
func TestWhole(t *testing.T) {
	t.Parallel()
	whole := func() *machine {
		m := &machine{Release: "7.3.1", ABI: 7, Opened: map[string]map[string][]string{"one": {"root": {"mount"}}}}
		for i, state := range []string{"", "no user", "no net", "refused", "refused, mended"} {
			for _, user := range users() {
				v := verdict{State: state, User: user, Holds: true, Ran: true}
				if i > 0 && i < 4 {
					v = verdict{State: state, User: user, Layer: "user", Doing: "make", Cause: "none", Said: "myc: none"}
				}
				m.Verdicts = append(m.Verdicts, v)
			}
		}
		return m
	}
	if err := whole().whole(true); err != nil {
		t.Fatal(err)
	}
	quick := whole()
	quick.Opened = nil
	if err := quick.whole(false); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*machine){
		"nothing":                        func(m *machine) { *m = machine{} },
		"no attacks":                     func(m *machine) { m.Opened = nil },
		"an empty verdict":               func(m *machine) { m.Verdicts[3] = verdict{State: "no user", User: users()[1]} },
		"no cause":                       func(m *machine) { m.Verdicts[3].Cause = "" },
		"no message":                     func(m *machine) { m.Verdicts[3].Said = "" },
		"a state of one user":            func(m *machine) { m.Verdicts = m.Verdicts[:9] },
		"states that were not tried":     func(m *machine) { m.Verdicts = m.Verdicts[:2] },
		"it holds and nothing runs":      func(m *machine) { m.Verdicts[0].Ran = false },
		"it does not hold, and runs":     func(m *machine) { m.Verdicts[2].Ran = true },
		"the ordinary user's is another": func(m *machine) { m.Verdicts[1] = m.Verdicts[2]; m.Verdicts[1].State = "" },
		"the ordinary user says nothing": func(m *machine) { m.Verdicts[1] = verdict{User: users()[1]} },
	} {
		m := whole()
		change(m)
		if err := m.whole(true); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
