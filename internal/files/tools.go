package files

import (
	_ "embed"

	"mycelium/internal/builtin"
)

// definitions are the tools as clients see them, sorted by name. The arguments are checked against their schemas.
//
//go:embed tools.json
var definitions string

// table joins the definitions with their functions.
func table() (*builtin.Table[*Server], error) {
	return builtin.Parse("files", definitions, map[string]builtin.Func[*Server]{
		"delete_file":    builtin.With(deleteFile),
		"edit_file":      builtin.With(editFile),
		"list_directory": builtin.With(listDirectory),
		"move_file":      builtin.With(moveFile),
		"read_file":      builtin.With(readFile),
		"search_files":   builtin.With(searchFiles),
		"stat_file":      builtin.With(statFile),
		"write_file":     builtin.With(writeFile),
	})
}
