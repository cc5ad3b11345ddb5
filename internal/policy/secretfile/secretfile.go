// Package secretfile has the one table of the names under which programs keep secrets. Rules, base constraints, the sandbox, the files
// server, the swarm and the scan of definitions all take the names from here. The package is pure: package held of room credential
// reads the files whose contents decide.
package secretfile

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy/paths"
)

// Grade says how much the name of a file proves. The zero value is that of a name that the table does not have.
type Grade uint8

// The grades, from the weakest to the strongest.
const (
	None   Grade = iota
	Judged       // most files of this name have no secret: only what is in the file shows that it has one
	Public       // it has a secret unless what is in it shows that it is public, such as a certificate
	Named        // it has a secret
)

// File is a row of the table: a name under which secrets are kept.
type File struct {
	// Path has one of these forms. A star stands for any text without a slash. A path with a slash at its end is a folder: everything
	// below it has secrets.
	//
	//	x      in any folder       x/y   in any folder named x
	//	~/x    in any home         /x    absolute
	Path  string
	What  string // for people, in the plural
	Grade Grade

	// Base is the name of the base constraint that closes the file for ever; "" if rules decide. Such a path is the name of one file.
	Base string
}

// examples are the last parts of the names of files that show what a file with secrets looks like, and have none.
var examples = []string{".example", ".sample", ".template", ".dist"}

const (
	environment = "variables with secrets"
	tokens      = "tokens"
	passwords   = "passwords"
	keys        = "private keys"
	clouds      = "cloud credentials"
	clusters    = "cluster credentials"
	registries  = "registry credentials"
	terraform   = "variables and states of Terraform"
)

// Files is the table. The caller must not change it.
var Files = []File{
	{".env.production", "secrets of production", Named, "env-production"},
	{".env.local", "secrets of this machine", Named, "env-local"},
	{"credentials.json", "credentials", Named, "credentials-json"},
	{"credentials.yaml", "credentials", Named, "credentials-yaml"},
	{"credentials.yml", "credentials", Named, "credentials-yaml"},
	{"secrets.json", "secrets", Named, "secrets-json"},
	{"secrets.yaml", "secrets", Named, "secrets-yaml"},
	{"secrets.yml", "secrets", Named, "secrets-yaml"},
	{"secrets.toml", "secrets", Named, "secrets-yaml"},
	{"id_rsa", keys, Named, "id-rsa"},
	{"id_dsa", keys, Named, "id-dsa"},
	{"id_ecdsa", keys, Named, "id-ecdsa"},
	{"id_ecdsa_sk", keys, Named, "id-ecdsa"},
	{"id_ed25519", keys, Named, "id-ed25519"},
	{"id_ed25519_sk", keys, Named, "id-ed25519"},

	{".envrc*", environment, Judged, ""}, // before the next row: the first pattern that begins a name counts
	{".env*", environment, Named, ""},
	{".envs/", environment, Named, ""},
	{".dev.vars*", environment, Named, ""},
	{"*.env", environment, Judged, ""},
	{"/proc/*/environ", environment, Named, ""},

	{".secrets", "secrets", Named, ""},
	{".secrets/", "secrets", Named, ""},
	{".password-store/", passwords, Named, ""},
	{".netrc", passwords, Named, ""},
	{"_netrc", passwords, Named, ""},
	{".pgpass", passwords, Named, ""},
	{"pgpass.conf", passwords, Named, ""},
	{".my.cnf", passwords, Named, ""},
	{".mylogin.cnf", passwords, Named, ""},
	{".htpasswd", passwords, Named, ""},
	{".git-credentials", passwords, Named, ""},
	{".vault-pass*", passwords, Named, ""},
	{".vault_pass*", passwords, Named, ""},
	{".passwd-s3fs", passwords, Named, ""},
	{"rclone.conf", passwords, Named, ""},
	{".rclone.conf", passwords, Named, ""},
	{"wp-config.php", passwords, Named, ""},
	{".m2/settings.xml", passwords, Named, ""},
	{".m2/settings-security.xml", passwords, Named, ""},
	{"*.kdbx", passwords, Named, ""},
	{"*.kdb", passwords, Named, ""},
	{"*.ovpn", passwords, Judged, ""},

	{"token.json", tokens, Named, ""},
	{".vault-token", tokens, Named, ""},
	{"oauth_creds.json", tokens, Named, ""},
	{"client_secret*.json", tokens, Named, ""},
	{".claude/.credentials.json", tokens, Named, ""},
	{".codex/auth.json", tokens, Named, ""},
	{".composer/auth.json", tokens, Named, ""},
	{"composer/auth.json", tokens, Named, ""},
	{"auth.json", tokens, Judged, ""},
	{".config/gh/", tokens, Named, ""},
	{".config/glab-cli/", tokens, Named, ""},
	{".config/hub", tokens, Named, ""},
	{".databrickscfg", tokens, Named, ""},
	{".sentryclirc", tokens, Judged, ""},

	{"~/.npmrc", registries, Named, ""},
	{".npmrc", registries, Judged, ""},
	{".yarnrc", registries, Judged, ""},
	{".yarnrc.yml", registries, Judged, ""},
	{"bunfig.toml", registries, Judged, ""},
	{".pypirc", registries, Named, ""},
	{"pypoetry/auth.toml", registries, Named, ""},
	{"pip.conf", registries, Judged, ""},
	{"pip.ini", registries, Judged, ""},
	{"nuget.config", registries, Judged, ""},
	{".gem/credentials", registries, Named, ""},
	{".cargo/credentials", registries, Named, ""},
	{".cargo/credentials.toml", registries, Named, ""},
	{".docker/config.json", registries, Named, ""},
	{".dockercfg", registries, Named, ""},
	{".dockerconfigjson", registries, Named, ""},
	{"~/.gradle/gradle.properties", registries, Named, ""},
	{"gradle.properties", registries, Judged, ""},

	{".aws/credentials", clouds, Named, ""},
	{".boto", clouds, Named, ""},
	{".s3cfg", clouds, Named, ""},
	{".config/gcloud/", clouds, Named, ""},
	{"application_default_credentials.json", clouds, Named, ""},
	{"serviceaccount*.json", clouds, Named, ""},
	{"service-account*.json", clouds, Named, ""},
	{"service_account*.json", clouds, Named, ""},
	{"*firebase-adminsdk*.json", clouds, Named, ""},
	{"local.settings.json", clouds, Judged, ""},

	{".kube/config", clusters, Named, ""},
	{"kubeconfig", clusters, Named, ""},
	{"kubeconfig.*", clusters, Named, ""},
	{"*.kubeconfig", clusters, Named, ""},

	{"terraform.tfvars", terraform, Named, ""},
	{"terraform.tfvars.json", terraform, Named, ""},
	{"*.auto.tfvars", terraform, Named, ""},
	{"*.auto.tfvars.json", terraform, Named, ""},
	{"*.tfvars", terraform, Judged, ""},
	{"*.tfstate", terraform, Named, ""},
	{"*.tfstate.backup", terraform, Named, ""},
	{".terraformrc", terraform, Named, ""},
	{"terraform.rc", terraform, Named, ""},
	{"credentials.tfrc.json", terraform, Named, ""},

	{"*.pem", keys, Public, ""},
	{"*.key", keys, Public, ""},
	{"*.p8", keys, Public, ""},
	{"*.ppk", keys, Named, ""},
	{"*.p12", keys, Named, ""},
	{"*.pfx", keys, Named, ""},
	{"*.jks", keys, Named, ""},
	{"*.keystore", keys, Named, ""},
}

// Example reports whether a file shows what another one looks like, and so has no secret.
func Example(name string) bool { return isExample(paths.Fold(nil, name)) }

// copied are the ends of the names of copies, with which an example stays one.
var copied = []string{".bak", ".old", ".orig", "~"}

func isExample(folded []byte) bool {
	for _, end := range copied {
		folded = bytes.TrimSuffix(folded, []byte(end))
	}
	return slices.ContainsFunc(examples, func(end string) bool { return bytes.HasSuffix(folded, []byte(end)) })
}

// Of returns the row of a path: the one of the highest grade. home is the home folder of the user; "" if it is not known. Case does not
// count, because a file system may ignore it.
func Of(name, home string) (File, bool) {
	var buf [256]byte
	return OfFolded(paths.Fold(buf[:0], name), home)
}

// OfFolded is [Of] for a path that is folded. So is home.
func OfFolded(folded []byte, home string) (row File, ok bool) {
	folded = bytes.TrimRight(folded, "/")
	last := folded[bytes.LastIndexByte(folded, '/')+1:]
	if len(last) == 0 {
		return File{}, false
	}
	t, best := made, -1
	try := func(list []int, first bool) {
		for _, i := range list {
			if !t.rows[i].matches(folded, last, home) {
				continue
			}
			if best < 0 || Files[i].Grade > Files[best].Grade {
				best = i
			}
			if first {
				return
			}
		}
	}
	if !isExample(last) {
		try(t.names[string(last)], false)
		if best < 0 { // a whole name says more than a part of one
			for i, c := range last {
				if c == '.' {
					try(t.ends[string(last[i:])], false)
				}
			}
			try(t.others, true)
		}
	}
	try(t.folders, false)
	if best < 0 {
		return File{}, false
	}
	return Files[best], true
}

// Known reports whether a file may have a row by the last part of its path alone, which is folded. Below a folder of the table every name
// has one.
func Known(last []byte) bool {
	if isExample(last) {
		return false
	}
	if len(made.names[string(last)]) > 0 {
		return true
	}
	for i, c := range last {
		if c == '.' && len(made.ends[string(last[i:])]) > 0 {
			return true
		}
	}
	for _, i := range made.others {
		if r := &made.rows[i]; bytes.HasPrefix(last, r.begin) && matched(path.Base(r.text), string(last)) {
			return true
		}
	}
	return false
}

// Globs returns globs that match at least every path of the row. home is the home folder of the user.
func (f File) Globs(home string) []string {
	name := strings.TrimSuffix(f.Path, "/")
	below := ""
	if name != f.Path {
		below = "/**"
	}
	switch {
	case strings.HasPrefix(name, "~/"):
		list := []string{"/home/*" + name[1:] + below, "/users/*" + name[1:] + below, "/root" + name[1:] + below}
		if home != "" {
			list = append(list, home+name[1:]+below)
		}
		return list
	case strings.HasPrefix(name, "/"):
		return []string{name + below}
	}
	return []string{"**/" + name + below}
}

// row is a row, taken apart.
type row struct {
	text            string // folded, without what the form says
	home, root, dir bool   // ~/x, /x, x/
	star            bool
	begin           []byte // of its last part, before the first star: most names are sorted out by it
}

// index finds the rows that may match a path.
type index struct {
	rows    []row
	names   map[string][]int // without a star, by the last part
	ends    map[string][]int // "*.pem" and its like, by the end from the dot on
	others  []int
	folders []int
}

// made is the index of Files. A pure package has no lock, so the program makes it when it starts, in some microseconds.
var made = newIndex()

func newIndex() *index {
	t := &index{names: map[string][]int{}, ends: map[string][]int{}}
	for i, f := range Files {
		text := paths.FoldString(f.Path)
		r := row{star: strings.Contains(text, "*")}
		text, r.home = strings.CutPrefix(text, "~/")
		text, r.root = strings.CutPrefix(text, "/")
		text, r.dir = strings.CutSuffix(text, "/")
		r.text = text
		t.rows = append(t.rows, r)
		last := path.Base(text)
		begin, _, _ := strings.Cut(last, "*")
		t.rows[i].begin = []byte(begin)
		switch end, ends := strings.CutPrefix(last, "*."); {
		case r.dir:
			t.folders = append(t.folders, i)
		case !strings.Contains(last, "*"):
			t.names[last] = append(t.names[last], i)
		case ends && !strings.Contains(end, "*"):
			t.ends["."+end] = append(t.ends["."+end], i)
		default:
			t.others = append(t.others, i)
		}
	}
	return t
}

// matches reports whether a path has the form of the row. last is its last part.
func (r *row) matches(folded, last []byte, home string) bool {
	switch {
	case r.dir:
		return below(folded, r.text)
	case r.root:
		return folded[0] == '/' && matched(r.text, string(folded[1:]))
	case r.home:
		below := paths.BelowHome(folded)
		if below == nil && home != "" && len(folded) > len(home)+1 && paths.Under(folded, home) {
			below = folded[len(home)+1:]
		}
		if below == nil && len(folded) > 2 && folded[0] == '~' && folded[1] == '/' {
			below = folded[2:]
		}
		return string(below) == r.text
	case r.star:
		return (strings.Contains(r.text, "/") || bytes.HasPrefix(last, r.begin)) && matched(r.text, string(last))
	}
	return paths.EndsWith(folded, r.text)
}

// below reports whether a path lies in a folder of a name, in whatever folder that is.
func below(folded []byte, folder string) bool {
	for from := 0; ; {
		i := bytes.Index(folded[from:], []byte(folder))
		if i < 0 {
			return false
		}
		begin, end := from+i, from+i+len(folder)
		if (begin == 0 || folded[begin-1] == '/') && end < len(folded) && folded[end] == '/' {
			return true
		}
		from = begin + 1
	}
}

// matched reports whether a text matches a pattern in which a star stands for any text without a slash.
func matched(pattern, s string) bool {
	ok, err := path.Match(pattern, s)
	return ok && err == nil
}
