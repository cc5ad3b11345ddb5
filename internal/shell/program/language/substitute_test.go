package language

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPerlRunsNothingElse: of scripts that are written at random from what perl could run, those that are taken for mere replacing run
// nothing. Perl itself says so.
func TestPerlRunsNothingElse(t *testing.T) {
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip("there is no perl")
	}
	dir := t.TempDir()
	input, mark := filepath.Join(dir, "in"), filepath.Join(dir, "ran")
	if err := os.WriteFile(input, []byte("aab1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code := `mkdir("` + mark + `")`
	code = strings.ReplaceAll(code, "/", `\x2f`) // a slash would end the pattern
	pieces := []string{
		"s/", "s/a/", "/", "/", "a", "1", "$1", "$0", "$&", "$", "@", "@{[" + code + "]}", "${\\ " + code + "}", "(?{" + code + "})",
		"(??{" + code + "})", "{" + code + "}", "[" + code + "]", "->[" + code + "]", "e", "g", "x", ";", " ", "print", " if ", "\\", "\\\\",
		"(", ")", "|", "(a)", "`x`", code, "$)", "$|", "#", "(? {" + code + "})", "\\$", "\\@", "next", " unless ", "!",
	}
	r := rand.New(rand.NewPCG(1, 2))
	ran := 0
	for n := 0; n < 400_000 && ran < 120; n++ {
		script := ""
		if r.IntN(2) == 0 {
			script = "s/"
		}
		for range 2 + r.IntN(8) {
			script += pieces[r.IntN(len(pieces))]
		}
		if !onlyReplaces(script) {
			continue
		}
		ran++
		_ = exec.Command(perl, "-ne", script, input).Run() // what it says of the script does not matter
		if _, err := os.Stat(mark); err == nil {
			t.Fatalf("%s ran its code", script)
		}
	}
	if ran < 60 {
		t.Errorf("only %d scripts were taken", ran)
	}
}
