// Package folder lists folders fast. The system tells the type of a name with the name, so that no file of the folder is looked at;
// [os.File.ReadDir] looks at each file of a folder that was opened in an [os.Root].
package folder

import "io/fs"

// bufferSize is how much of a folder is read at a time, in bytes: some hundred names.
const bufferSize = 32 << 10

// A Reader lists folders, one after the other. The zero value is ready.
type Reader struct{ buf []byte }

// Each is what is called for each name of a folder, with its type. If it returns an error, the list ends with it.
type Each func(name string, mode fs.FileMode) error
