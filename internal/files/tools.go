package files

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
)

// definitions are the tools as clients see them, sorted by name. The arguments are checked against their schemas.
const definitions = `[
{"name":"delete_file","title":"Delete a file","description":"Deletes one file, or one empty folder.",
"inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the folder that this server serves, or absolute inside it."}},"required":["path"],"additionalProperties":false},
"annotations":{"title":"Delete a file","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}},

{"name":"edit_file","title":"Edit a file","description":"Replaces a text in a file. oldText must stand in it exactly once, unless replaceAll is set. The file changes whole or not at all.",
"inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the folder that this server serves, or absolute inside it."},"oldText":{"type":"string","description":"The text to replace, exactly as it stands in the file, line ends and spaces included."},"newText":{"type":"string","description":"The text to put in its place."},"replaceAll":{"type":"boolean","description":"Replace every occurrence. Default: false.","default":false}},"required":["path","oldText","newText"],"additionalProperties":false},
"annotations":{"title":"Edit a file","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}},

{"name":"list_directory","title":"List a folder","description":"Lists what is in a folder, sorted by name, at most 1000 entries, with the sizes of files in bytes.",
"inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the folder that this server serves, or absolute inside it. Default: that folder.","default":"."}},"additionalProperties":false},
"annotations":{"title":"List a folder","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}},

{"name":"move_file","title":"Move or rename","description":"Moves or renames a file or a folder. Nothing is overwritten: the destination must not exist. Missing parent folders are made.",
"inputSchema":{"type":"object","properties":{"source":{"type":"string","description":"Path of what is moved, relative to the folder that this server serves, or absolute inside it."},"destination":{"type":"string","description":"The new path, in full."}},"required":["source","destination"],"additionalProperties":false},
"annotations":{"title":"Move or rename","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}},

{"name":"read_file","title":"Read a file","description":"Reads a file, at most 1 MiB (1048576 bytes) at a time. A longer one is read page by page: the answer says at which offset to go on. Text (UTF-8) comes as text, anything else as base64.",
"inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the folder that this server serves, or absolute inside it."},"offset":{"type":"integer","minimum":0,"description":"First byte to read. Default: 0.","default":0},"limit":{"type":"integer","minimum":0,"maximum":1048576,"description":"How many bytes to read at most; a page of text ends with a whole line. Default: 1048576."}},"required":["path"],"additionalProperties":false},
"annotations":{"title":"Read a file","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}},

{"name":"search_files","title":"Search files","description":"Finds files by name (pattern), lines by content (text), or lines in the files that a pattern names (both). At most 500 matches. Content is searched in UTF-8 text files only; hidden files and folders, .git and files of secrets are left out.",
"inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Folder to search, relative to the folder that this server serves, or absolute inside it. Default: that folder.","default":"."},"pattern":{"type":"string","description":"Glob over paths relative to path: * and ? match inside a name, ** any folders, {a,b} either. Without a slash it matches names at any depth."},"text":{"type":"string","description":"Text to find in lines."},"regex":{"type":"boolean","description":"text is a regular expression (RE2). Default: false.","default":false},"ignoreCase":{"type":"boolean","description":"Ignore upper and lower case in text. Default: false.","default":false}},"additionalProperties":false},
"annotations":{"title":"Search files","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}},

{"name":"stat_file","title":"Look at a file","description":"Tells type, size in bytes, permissions and time of change of a file, a folder or a link.",
"inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the folder that this server serves, or absolute inside it."}},"required":["path"],"additionalProperties":false},
"annotations":{"title":"Look at a file","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}},

{"name":"write_file","title":"Write a file","description":"Writes a whole file, at most 4 MiB; missing parent folders are made. An existing file is replaced, whole or not at all, and keeps its permissions.",
"inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the folder that this server serves, or absolute inside it."},"content":{"type":"string","description":"What to write."},"encoding":{"type":"string","enum":["utf-8","base64"],"description":"How content is written: base64 for anything that is not text. Default: utf-8.","default":"utf-8"},"createOnly":{"type":"boolean","description":"Fail if the file exists. Default: false.","default":false}},"required":["path","content"],"additionalProperties":false},
"annotations":{"title":"Write a file","readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}}
]`

// table parses the definitions and joins each with its function.
func table() (map[string]*tool, []policy.Definition, error) {
	var raws []jsontext.Value
	if err := json.Unmarshal([]byte(definitions), &raws); err != nil {
		return nil, nil, fmt.Errorf("read the definitions of the files server: %w", err)
	}
	tools := map[string]*tool{
		"delete_file":    {run: with(deleteFile)},
		"edit_file":      {run: with(editFile)},
		"list_directory": {run: with(listDirectory)},
		"move_file":      {run: with(moveFile)},
		"read_file":      {run: with(readFile)},
		"search_files":   {run: with(searchFiles)},
		"stat_file":      {run: with(statFile)},
		"write_file":     {run: with(writeFile)},
	}
	defs := make([]policy.Definition, 0, len(raws))
	for _, raw := range raws {
		var d struct {
			Name        string `json:"name"`
			InputSchema struct {
				Properties map[string]property `json:"properties"`
				Required   []string            `json:"required"`
			} `json:"inputSchema"`
			Annotations map[string]any `json:"annotations"`
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, nil, fmt.Errorf("read the definitions of the files server: %w", err)
		}
		t, ok := tools[d.Name]
		if !ok {
			return nil, nil, fmt.Errorf("the files server defines %s but has no function for it", d.Name)
		}
		t.props, t.required = d.InputSchema.Properties, d.InputSchema.Required
		hints := map[string]bool{}
		for k, v := range d.Annotations {
			if b, ok := v.(bool); ok {
				hints[k] = b
			}
		}
		defs = append(defs, policy.Definition{Item: policy.Item{Server: "files", Name: d.Name}, Raw: raw, Annotations: hints})
	}
	return tools, defs, nil
}
