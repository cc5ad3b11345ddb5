package run

import (
	"slices"
	"strings"
	"testing"
)

func TestRolesNamed(t *testing.T) {
	known := []string{"guest", "developer", "code-reviewer", "code", "校閲者"}
	for prompt, want := range map[string]string{
		"role: guest":                                   "guest",
		"Role:guest. Look around.":                      "guest",
		"ROLE = \"Developer\"":                          "developer",
		"**Role:** `code-reviewer`":                     "code-reviewer",
		"Work as guest role and look.":                  "guest",
		"Work as the guest role":                        "guest",
		"Review this with a \"code-reviewer\" role.":    "code-reviewer",
		"ロール: guest":                                    "guest",
		"ロール：「guest」で見て":                                "guest",
		"役割：校閲者":                                        "校閲者",
		"guestロールで調べて":                                  "guest",
		"code-reviewerの役割として見る":                         "code-reviewer",
		"校閲者のロールで":                                      "校閲者",
		"as guest role, then with developer role":       "guest developer",
		"role: developer, later role: guest":            "developer guest",
		"":                                              "",
		"log in as guest":                               "",
		"the guest role of the application is broken":   "",
		"role: guests":                                  "",
		"role: guest-2":                                 "",
		"payrole: guest":                                "",
		"as guest rolex":                                "",
		"role: admin":                                   "",
		"guestとしてログインする":                                "",
		"has guest role":                                "",
		strings.Repeat("x", maxPrompt) + " role: guest": "",
	} {
		if got := strings.Join(rolesNamed(prompt, known), " "); got != want {
			t.Errorf("%.60q names %q, want %q", prompt, got, want)
		}
	}
}

func FuzzRolesNamed(f *testing.F) {
	for _, s := range []string{"role: guest", "as guest role", "ロール：guest", "guestの役割で", "\xff role: guest",
		"İ role: guest"} {
		f.Add(s, "guest")
	}
	f.Add("role: İ", "i̇")
	f.Fuzz(func(t *testing.T, prompt, name string) {
		for _, got := range rolesNamed(prompt, []string{name, "other"}) {
			if got != name && got != "other" {
				t.Errorf("%q names %q", prompt, got)
			}
		}
		if strings.ContainsAny(name, ":= \t\n") || len(name) > 100 || name == "" || strings.ToLower(name) != name ||
			strings.ContainsAny(name, quotes+"-_") {
			return
		}
		if !slices.Contains(rolesNamed("role: "+name, []string{name}), name) {
			t.Errorf("role: %q names nothing", name)
		}
	})
}
