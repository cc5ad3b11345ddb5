package main

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestABadRoleReachesTheClient: a client over stdio whose configuration names a role that does not exist is told so in words, in both eras.
func TestABadRoleReachesTheClient(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(nil))
	for _, version := range []string{"2026-07-28", "2025-11-25", "2024-11-05"} {
		c := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
		_, err := c.Connect(p.ctx, p.stdio("--role", "emperor"), &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err == nil || !strings.Contains(err.Error(), `myc mcp --role emperor: `) || !strings.Contains(err.Error(), "myc policy roles") {
			t.Errorf("%s: the client says %v", version, err)
		}
	}
}

// TestAFolderWithoutAProjectReachesTheClient: so does a folder in which there is no project.
func TestAFolderWithoutAProjectReachesTheClient(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	c := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	_, err := c.Connect(p.ctx, p.stdio(), nil)
	if err == nil || !strings.Contains(err.Error(), "is not a Mycelium project") || !strings.Contains(err.Error(), "myc init") {
		t.Errorf("the client says %v", err)
	}
}
