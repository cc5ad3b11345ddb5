package project

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/backend/pin"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/skill"
)

// A skill that a server serves takes effect when the operator has approved it with the digests of its files. It makes visible only tools of
// its own server, whatever else it asks for.

// servedSkills returns the approved skills, and the problems with them.
func servedSkills(served []pin.Served) (out []skill.Skill, problems []policy.Problem) {
	for _, s := range served {
		if s.State != pin.SkillApproved {
			continue
		}
		k, ps := ServedSkill(s, s.Text)
		problems = append(problems, ps...)
		if k != nil {
			out = append(out, *k)
		}
	}
	return out, problems
}

// ServedSkill reads SKILL.md of a served skill and keeps the parts that such a skill may have. It returns nil for an unusable file.
func ServedSkill(s pin.Served, text []byte) (*skill.Skill, []policy.Problem) {
	source := skill.Source("mcp:" + s.Server)
	file := string(source) + " " + s.URI
	name := strings.TrimPrefix(s.Name, s.Server+".")
	if i := strings.IndexByte(name, '.'); i >= 0 {
		name = name[:i]
	}
	front, err := skill.FrontMatter(text)
	said := jsontext.Value(rawjson.Member(s.Raw, "frontmatter")).Clone()
	if err == nil && (said.Canonicalize() != nil || (*jsontext.Value)(&front).Canonicalize() != nil || !bytes.Equal(said, front)) {
		err = errors.New("the front matter of its SKILL.md differs from that of its entry")
	}
	if err != nil {
		return nil, []policy.Problem{{File: file, Message: err.Error(), Hint: "tell the makers of the server"}}
	}
	folder, err := oneFile(name+"/SKILL.md", text)
	if err != nil {
		return nil, []policy.Problem{{File: file, Message: err.Error()}}
	}
	list, problems := skill.LoadOne(folder, name, string(source), source)
	for i := range problems {
		problems[i].File = file
	}
	if len(list) != 1 || list[0].Name != name {
		return nil, append(problems, policy.Problem{File: file, Message: "its SKILL.md does not declare the skill " + name,
			Hint: "tell the makers of the server"})
	}
	k := list[0]
	asked := k.AllowedTools
	k.Grant = policy.Grant{Name: s.Name}
	for _, entry := range asked {
		if tool, ok := ownTool(s.Server, entry); ok {
			k.AllowedTools = append(k.AllowedTools, "?"+tool)
		} else {
			problems = append(problems, policy.Problem{File: file, Warning: true,
				Message: fmt.Sprintf("allowed-tools asks for %q, which is not a tool of %s: it is not granted", entry, s.Server)})
		}
	}
	k.Commands, k.Triggers, k.Dir, k.File = nil, nil, nil, file
	k.Instructions = fmt.Sprintf("(This skill comes from the MCP server %q. It is not the operator's own.)\n\n%s", s.Server, k.Instructions)
	return &k, problems
}

// ownTool reads an entry of a served skill's allowed-tools. ok is false if the entry names tools of another server.
func ownTool(server, entry string) (string, bool) {
	entry = strings.TrimPrefix(strings.TrimPrefix(entry, "?"), "mcp__")
	if strings.ContainsAny(entry, "( )") {
		return "", false
	}
	if !strings.Contains(entry, "__") {
		entry = server + "__" + entry
	}
	own, _, _ := strings.Cut(entry, "__")
	_, err := policy.ParsePattern(entry)
	return entry, err == nil && own == server
}

// oneFile returns a file system with one file.
func oneFile(name string, data []byte) (fs.FS, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
}

// ServedProblem says why a served skill takes no effect.
func ServedProblem(s pin.Served) policy.Problem {
	p := policy.Problem{File: "mcp:" + s.Server + " " + s.URI, Hint: "read and approve it: myc skill approve " + s.Name}
	switch s.State {
	case pin.SkillChanged:
		p.Message = "its files changed after it was approved, so the approval ended and it grants no tool"
	case pin.SkillUnbound:
		p.Message, p.Hint = "its entry has no digests, so that it cannot be approved", "its server would have to list its files"
	default:
		p.Message = "a server serves it, and nobody has approved it, so it grants no tool"
	}
	return p
}
