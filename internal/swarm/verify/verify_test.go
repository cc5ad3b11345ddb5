package verify

import (
	"fmt"
	"strings"
	"testing"

	"mycelium/internal/text"
)

// A verification runs programs of the list, files of the project, and what a person has named.
func TestRefuse(t *testing.T) {
	for _, program := range append(strings.Fields("go npm pytest cargo make biome ./scripts/check scripts/check .venv/bin/pytest"),
		"named", "/opt/x") {
		if err := Refuse([]string{program, "a && b", "$(x)"}, []string{"named", "/opt/x"}); err != nil {
			t.Errorf("%s: %v", program, err)
		}
	}
	for _, program := range []string{"", "sh", "bash", "curl", "/bin/sh", "../check", "./../../x", "go test", "go;",
		"Go", "a\\b/c", "./a\x00", " go"} {
		if err := Refuse([]string{program}, []string{"named"}); err == nil {
			t.Errorf("%q runs", program)
		}
	}
	if err := Refuse([]string{"sh"}, nil); !strings.Contains(text.HintOf(err), "--allow-program sh") {
		t.Errorf("the hint is %q", text.HintOf(err))
	}
	if err := Refuse([]string{"pytets"}, nil); !strings.Contains(text.HintOf(err), "did you mean pytest?") {
		t.Errorf("the hint is %q", text.HintOf(err))
	}
	if err := Refuse(nil, nil); err == nil {
		t.Error("nothing runs")
	}
	if n := len(Programs()); n != 47 {
		t.Errorf("%d programs, and C101 has 47", n)
	}
}

// Programs that can measure coverage are asked to; one that cannot is refused.
func TestMeasured(t *testing.T) {
	for command, want := range map[string]string{
		"go test ./...":             "go test -coverprofile=/dev/stdout ./...",
		"pytest -q":                 "pytest -q --cov",
		"pytest --cov=src":          "pytest --cov=src",
		"jest":                      "jest --coverage",
		"vitest run --coverage":     "vitest run --coverage",
		"npm test -- --coverage":    "npm test -- --coverage",
		"./scripts/check":           "./scripts/check",
		"go vet ./...":              "",
		"go test -coverprofile=c .": "",
		"ruff check":                "",
		"sh x":                      "",
		"":                          "",
	} {
		got, err := Measured(strings.Fields(command))
		if strings.Join(got, " ") != want || (err == nil) != (want != "") {
			t.Errorf("%q becomes %q, %v", command, got, err)
		}
	}
}

// The figure is that of the whole, whoever prints it.
func TestPercent(t *testing.T) {
	const goProfile = "mode: set\nx/a.go:3.20,5.2 3 1\nx/a.go:6.20,8.2 1 0\nok  \tx\t0.1s\tcoverage: 75.0% of statements\n" +
		"x/b/b.go:1.1,2.2 4 0\nx/a.go:3.20,5.2 3 0\nok \tx/b\t0.1s\tcoverage: 0.0% of statements\n"
	for output, want := range map[string]string{
		goProfile: "37.5 true",
		strings.TrimPrefix(goProfile, "mode: set\n"):                               "0 false", // its beginning is lost
		"mode: set\nok x\n":                                                        "0 false",
		"Name  Stmts  Miss  Cover\nTOTAL     20      3    85%\n\n2 passed\n":       "85 true",
		"TOTAL     20   3    4   1    85.25%\n":                                    "85.25 true",
		"File | % Stmts | % Branch\nAll files |   91.66 |  50 | 100 | 91.66 |  \n": "91.66 true",
		"85.71% coverage, 6/7 lines covered\n":                                     "85.71 true",
		"total:\t\t(statements)\t80.0%\n":                                          "80 true",
		"coverage: 40%\ncoverage: 50% of all\n":                                    "50 true",
		"TOTAL 20 3 185%\n":                                                        "0 false",
		"all good\n":                                                               "0 false",
	} {
		percent, ok := Percent(output)
		if got := fmt.Sprint(percent, ok); got != want {
			t.Errorf("%q: %s, want %s", output, got, want)
		}
	}
	if said := Said(goProfile); strings.Contains(said, "a.go") || strings.Contains(said, "mode:") || !strings.Contains(said, "ok  \tx") {
		t.Errorf("what it said is %q", said)
	}
}
