//go:build !linux

package files

// renameNew renames inside the folder and fails where the new name is taken. Between the look and the rename another program
// could take it: only Linux has one step for both.
func (s *Server) renameNew(from, to string) error { return s.renameChecked(from, to) }
