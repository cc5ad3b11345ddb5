package program

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
	"mycelium/internal/shell/effect"
)

// searchPath is a variable with the folders where an interpreter looks for modules.
type searchPath struct {
	name     string
	modules  string // the ending of a module
	programs string // programs in that language which run no code of the project otherwise
}

var searchPaths = [...]searchPath{
	{"PYTHONPATH", ".py", "python|python3|pip|pip3|pydoc3|pygmentize|gcloud|aws|az|yq"},
	{"PERL5LIB", ".pm", "perl|shasum|prove|json_pp|perldoc|cpan|ptar|pod2text|ack|exiftool"},
	{"RUBYLIB", ".rb", "ruby|gem|bundle|irb"},
	{"NODE_PATH", ".js", "node|npm|npx"},
	{"CLASSPATH", ".class", "java|javac|javap|jshell|mvn|gradle"},
	{"LUA_PATH", ".lua", "lua|luajit"},
}

// loadModules executes the modules in the folders that such a variable names. Programs that run code of the project anyway are left out:
// what a test loads is written all day, as the test is.
func loadModules(c *Call) {
	if !c.Walk.Searched || c.Does&(effect.ProjectCode|effect.InlineCode) != 0 || c.Part.Program == "" {
		return
	}
	for i := range searchPaths {
		s := &searchPaths[i]
		for _, v := range c.Env {
			if v.Name == s.name {
				modulesIn(c, v.Value, s.modules)
			}
		}
		if values, ok := c.State.Lookup(s.name); ok && Named(s.programs, c.Part.Program) && len(values) == 1 {
			modulesIn(c, values[0], s.modules)
		}
	}
}

func modulesIn(c *Call, folders Word, ending string) {
	if folders.Unknown {
		c.Unclear("which modules it loads is not known")
		return
	}
	for dir := range strings.SplitSeq(folders.Text, ":") {
		if dir = strings.TrimSuffix(dir, "/"); dir != "" {
			c.File(policy.Execute, Word{Text: globs.Quote(dir) + "/**/*" + ending, Pattern: true})
		}
	}
}
