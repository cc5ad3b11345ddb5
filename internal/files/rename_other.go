//go:build !linux

package files

// renameNew renames a file in the folder and fails if the new name exists. It is not atomic: only Linux can check and rename in one step.
func (s *Server) renameNew(from, to string) error { return s.renameChecked(from, to) }
