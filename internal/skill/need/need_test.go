package need

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

func checked(name string, state skill.State, programs, modules []string) skill.Checked {
	s := skill.Skill{Grant: policy.Grant{Name: name}, Requires: skill.Requires{Programs: programs, Python: modules}}
	return skill.Checked{State: state, Skill: s}
}

// TestLook looks for real programs and modules with the real python3.
func TestLook(t *testing.T) {
	const absent = "mycelium_has_no_such"
	got := Look(t.Context(), []skill.Checked{
		checked("whole", skill.Valid, []string{"python3", absent + "|sh"}, []string{"json", absent + "|csv"}),
		checked("lacks", skill.Valid, []string{absent, "pdfinfo-" + absent}, []string{absent, "zipfile"}),
		checked("waits", skill.Pending, nil, []string{absent}),
		checked("broken", skill.Invalid, []string{absent}, nil),
		checked("nothing", skill.Valid, nil, nil),
	})
	pip := "python3 -m pip install " + absent
	want := map[string][]Lack{
		"lacks": {{absent, false, "apt install " + absent + ", or brew install " + absent},
			{"pdfinfo-" + absent, false, "apt install pdfinfo-" + absent + ", or brew install pdfinfo-" + absent}, {absent, true, pip}},
		"waits": {{absent, true, pip}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLookRunsNoModule: a module is found without being imported, and not in the folder in which myc was started.
func TestLookRunsNoModule(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	if err := os.WriteFile(filepath.Join(dir, "mycelium_trap.py"), []byte("open("+`"`+ran+`"`+", 'w')\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	trap := []skill.Checked{checked("s", skill.Valid, nil, []string{"mycelium_trap"})}
	t.Chdir(dir)
	if got := Look(t.Context(), trap); len(got) != 1 {
		t.Errorf("a module of the folder counts: %v", got)
	}
	t.Setenv("PYTHONPATH", dir)
	if got := Look(t.Context(), trap); len(got) != 0 {
		t.Errorf("a module of PYTHONPATH is not found: %v", got)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the module was imported")
	}
}

// TestLookWithoutPython: without python3 each module is absent. A python3 that fails, or says nothing, counts as none.
func TestLookWithoutPython(t *testing.T) {
	skills := []skill.Checked{checked("s", skill.Valid, []string{"python3"}, []string{"json"})}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if got := Look(t.Context(), skills); len(got["s"]) != 2 {
		t.Errorf("without python3: %v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "python3"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	if got := Look(t.Context(), skills); len(got["s"]) != 1 || !got["s"][0].Python {
		t.Errorf("with a broken python3: %v", got)
	}
}

// TestInstall: the package is told where its name differs from that of the program or module.
func TestInstall(t *testing.T) {
	for name, want := range map[string]string{
		"pdftotext":       "apt install poppler-utils, or brew install poppler",
		"rsvg-convert":    "apt install librsvg2-bin, or brew install librsvg",
		"soffice":         "apt install libreoffice, or brew install --cask libreoffice",
		"chromium|chrome": "apt install chromium, or brew install --cask chromium",
		"npx":             "apt install nodejs npm, or brew install node",
	} {
		if got := installProgram(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, want := range map[string]string{
		"docx":   "apt install python3-docx, or python3 -m pip install python-docx",
		"PIL":    "apt install python3-pil, or python3 -m pip install pillow",
		"pandas": "apt install python3-pandas, or python3 -m pip install pandas", "rare": "python3 -m pip install rare",
	} {
		if got := installModule(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
