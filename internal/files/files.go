// Package files is the built-in filesystem server: tools over one folder, kept inside it by os.Root.
//
// Every path is checked twice: as text (no "..", no NUL, relative or below the folder), and by os.Root at each step. So a symbolic link
// cannot lead out of the folder, even if it is created during a call. The policy decides before a call which files in the folder the
// caller may use.
package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"mycelium/internal/builtin"
	"mycelium/internal/policy"
)

// The bounds of one call. They keep an answer well below rpc.MaxMessage (4 MiB), even in base64.
const (
	MaxRead    = 1 << 20 // bytes that one read_file returns
	MaxWrite   = 4 << 20 // bytes that one write_file writes
	MaxEntries = 1000    // entries that one list_directory returns
	MaxMatches = 500     // matches that one search_files returns
)

// maxEdit is the largest file, in bytes, that edit_file reads into memory.
const maxEdit = 4 * MaxWrite

// Server serves the tools read_file, write_file, edit_file, list_directory, search_files, stat_file, move_file, delete_file.
// It is safe for concurrent use.
type Server struct {
	readable Guard

	dir   string // absolute path of the folder
	real  string // dir with links resolved
	root  *os.Root
	tools *builtin.Table[*Server]

	mu *sync.Mutex // held while a file is changed, so that no edit is lost
}

// Guard reports whether search_files may read a file, so that a search shows nothing that the caller could not read by name. It gets the path
// with links resolved. Without one, a search reads every file that is not hidden and does not have the name of a secret.
type Guard func(scope policy.Scope, path string) bool

// New opens a folder.
func New(root string, readable Guard) (*Server, error) {
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
	s := &Server{readable: readable, dir: dir, real: resolved, root: r, mu: new(sync.Mutex)}
	if s.tools, err = table(); err != nil {
		_ = r.Close()
		return nil, err
	}
	return s, nil
}

// Definitions returns the tools. The caller must not change them.
func (s *Server) Definitions() []policy.Definition { return s.tools.Definitions() }

// Do answers an MCP request as [builtin.Table.Do] does.
func (s *Server) Do(ctx context.Context, scope policy.Scope, method string, params []byte, _ func(method string, params []byte)) (result,
	rpcErr []byte, err error) {
	if scope.Folder == "" {
		return s.tools.Do(ctx, s, scope, method, params)
	}
	at, err := s.in(scope.Folder)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = at.Close() }()
	return s.tools.Do(ctx, at, scope, method, params)
}

// in is the server in another folder: for one call of a session that works there. folder is absolute and has its links resolved.
func (s *Server) in(folder string) (*Server, error) {
	r, err := os.OpenRoot(folder)
	if err != nil {
		return nil, errors.New("the folder in which this session works cannot be opened")
	}
	return &Server{readable: s.readable, dir: folder, real: folder, root: r, tools: s.tools, mu: s.mu}, nil
}

// Close closes the folder. Later calls fail.
func (s *Server) Close() error { return s.root.Close() }
