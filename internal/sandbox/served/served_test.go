package served

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
)

// TestFolderOfTheCaller: what a caller runs works in the folder to which its session is bound, by each tool, and runs nowhere else if that
// folder cannot be had.
func TestFolderOfTheCaller(t *testing.T) {
	var folders []string
	s, err := New(jail.Self{}, map[string][]string{".sh": {"sh"}}, func(folder string) (sandbox.Command, error) {
		folders = append(folders, folder)
		return sandbox.Command{}, errors.New("it is gone")
	}, func() (Law, bool) { return Law{}, false })
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"", "/tree"} {
		folders = nil
		for tool, args := range map[string]string{"bash": `{"command":"pwd"}`, "sandbox_exec": `{"command":"pwd"}`,
			"sandbox_exec_script": `{"scriptPath":"a.sh"}`} {
			result, _, err := s.Do(context.Background(), policy.Scope{Folder: folder}, "tools/call",
				fmt.Appendf(nil, `{"name":%q,"arguments":%s}`, tool, args), nil)
			if want := `{"content":[{"type":"text","text":"` + tool + `: it is gone"}],"isError":true}`; err != nil || string(result) != want {
				t.Errorf("%s: %s, %v", tool, result, err)
			}
		}
		if want := []string{folder, folder, folder}; !slices.Equal(folders, want) {
			t.Errorf("commands of a caller in %q work in %q", folder, folders)
		}
	}
}

// TestUnknownLaw: before it is known what the policy closes, nothing runs, and there are the shipped profiles.
func TestUnknownLaw(t *testing.T) {
	s, err := New(jail.Self{Argv: []string{"/no/such/program"}}, nil, func(string) (sandbox.Command, error) { return sandbox.Command{}, nil },
		func() (Law, bool) { return Law{}, false })
	if err != nil {
		t.Fatal(err)
	}
	result, _, err := s.Do(t.Context(), policy.Scope{}, "tools/call", []byte(`{"name":"bash","arguments":{"command":"pwd"}}`), nil)
	if err != nil || !strings.Contains(string(result), "it is not known what the policy closes; nothing ran") {
		t.Errorf("%s %v", result, err)
	}
	if _, ok := s.Find(sandbox.Profiles()[0].Name); !ok {
		t.Error("the shipped profiles are not there")
	}
}
