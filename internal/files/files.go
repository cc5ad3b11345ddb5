// Package files is the built-in filesystem server: tools over one folder, kept inside it by os.Root.
//
// Every path is checked twice: by its words (no "..", no NUL, relative or under the folder) and by os.Root while it is walked, so
// that a link which leads out, or which is put in the way while a call runs, reaches nothing. Which of the files inside the
// folder a caller may touch is not decided here but by the policy, before a request arrives.
package files

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
)

// The bounds of one call. They keep an answer well under rpc.MaxMessage (4 MiB), also when base64 makes it longer by a third.
const (
	MaxRead    = 1 << 20 // bytes that one read_file returns
	MaxWrite   = 4 << 20 // bytes that one write_file writes, and the largest file that edit_file edits is four times this
	MaxEntries = 1000    // entries that one list_directory returns
	MaxMatches = 500     // matches that one search_files returns
)

// maxEdit is the largest file, in bytes, that edit_file reads into memory.
const maxEdit = 4 * MaxWrite

// Server serves the tools read_file, write_file, edit_file, list_directory, search_files, stat_file, move_file, delete_file.
// It is safe for concurrent use.
type Server struct {
	// Readable, when set, is asked by search_files before it looks into a file: a search shows nothing that the caller could
	// not read by name. It gets the path with links resolved. It must be set before the first call. Where it is nil, a search
	// looks into every file that is not hidden and whose name does not tell of a secret.
	Readable func(scope policy.Scope, path string) bool

	dir   string // the folder, absolute, as it was given
	real  string // the same with links resolved
	root  *os.Root
	tools map[string]*tool
	defs  []policy.Definition

	mu sync.Mutex // held by everything that changes a file, so that two edits of one file cannot lose one another
}

// New opens the folder. Nothing outside of it can be reached, by .. or by links.
func New(root string) (*Server, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open folder %s for the files server: %w", root, err)
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder %s for the files server: %w", dir, err)
	}
	r, err := os.OpenRoot(resolved)
	if err != nil {
		return nil, fmt.Errorf("open folder %s for the files server: %w", dir, err)
	}
	s := &Server{dir: dir, real: resolved, root: r}
	if s.tools, s.defs, err = table(); err != nil {
		_ = r.Close()
		return nil, err
	}
	return s, nil
}

// Definitions are the tools. The caller may keep the slice but must not change what it holds.
func (s *Server) Definitions() []policy.Definition { return s.defs }

// Do answers one MCP request (tools/call) in the shape that every backend has: a raw result or a raw JSON-RPC error object.
// What goes wrong with a file or an argument is a result with isError, so that a model can read it and try again; a method or a
// tool that does not exist is a JSON-RPC error. The last return value is always nil: there is no transport that could fail.
func (s *Server) Do(ctx context.Context, scope policy.Scope, method string, params []byte, _ func(method string, params []byte)) (result, rpcErr []byte, err error) {
	if method != "tools/call" {
		return nil, rpcError(codeMethodNotFound, "method not found: "+method), nil
	}
	var p struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, rpcError(codeInvalidParams, "params of tools/call must be an object with name and arguments: "+jsonReason(err)), nil
	}
	t, ok := s.tools[p.Name]
	if !ok {
		return nil, rpcError(codeInvalidParams, "unknown tool: "+p.Name), nil
	}
	if err := t.check(p.Arguments); err != nil {
		return failure(p.Name, err), nil, nil
	}
	out, err := t.run(ctx, s, scope, p.Arguments)
	if err != nil {
		return failure(p.Name, err), nil, nil
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, rpcError(codeInternal, "the answer of "+p.Name+" cannot be written as JSON: "+err.Error()), nil //nolint:nilerr // the error is in the answer
	}
	return raw, nil, nil
}

// Close closes the folder. Calls after it fail.
func (s *Server) Close() error { return s.root.Close() }
