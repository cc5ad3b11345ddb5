package main

import (
	"regexp"
	"slices"
	"strings"
)

// asked are programs with subcommands, and how each is asked for its options: how the help is asked for and who reads it.
var asked = []struct {
	name string
	help string
	read func(string) []string
	subs string // with a slash for a blank
}{
	{"docker", "--help", ofCobra, " attach build commit cp create diff events exec export history images import info inspect " +
		"kill load login logout " +
		"logs pause port ps pull push rename restart rm rmi run save search start stats stop tag top unpause update version wait " +
		"container/ls container/inspect container/prune image/ls image/inspect image/prune image/history volume/ls volume/inspect " +
		"volume/prune network/ls network/inspect network/prune system/df system/events system/info system/prune context/ls " +
		"context/inspect context/show builder/prune builder/build node/ls node/ps node/inspect service/ls service/ps service/logs " +
		"service/inspect stack/ls stack/ps stack/services stack/config plugin/ls plugin/inspect trust/inspect secret/ls secret/inspect " +
		"config/ls config/inspect manifest/inspect"},
	{"kubectl", "--help", ofKubectl, " get describe logs top top/pod top/node version explain api-resources api-versions diff wait events " +
		"cluster-info cluster-info/dump config/view config/get-contexts config/current-context config/get-clusters auth/can-i " +
		"auth/whoami rollout/status rollout/history kustomize apply create replace patch delete drain cordon attach debug run " +
		"port-forward proxy exec cp"},
	{"terraform", "-help", ofTerraform, " output show validate version get metadata/functions providers providers/mirror " +
		"providers/lock providers/schema " +
		"state/list state/show state/pull workspace/list workspace/show plan console test graph fmt init destroy"},
	{"gh", "--help", ofCobra, " pr/list pr/view pr/status pr/diff pr/checks pr/checkout issue/list issue/view issue/status " +
		"run/list run/view " +
		"run/watch run/download workflow/list workflow/view repo/view repo/list repo/clone repo/deploy-key/list release/list " +
		"release/view release/download search/code search/commits search/issues search/prs search/repos status browse label/list api " +
		"auth/status secret/list ssh-key/list gpg-key/list codespace/list gist/list gist/view variable/list config/list config/get " +
		"alias/list extension/list extension/search completion version"},
	{"helm", "--help", ofCobra, " list status history version env search/repo search/hub get/notes get/metadata show/values " +
		"show/all show/chart " +
		"template lint dependency/list dependency/update dependency/build create package repo/list repo/update plugin/list completion push"},
	{"openssl", "-help", ofOpenssl, "version list ciphers speed rand prime passwd rsa pkey x509 req enc dgst genrsa genpkey " +
		"pkcs12 pkcs8 ec " +
		"ecparam verify crl pkeyutl rsautl asn1parse dhparam cms smime dsa pkcs7 ts"},
	{"psql", "--help", ofHelp, ""}, {"pg_dump", "--help", ofHelp, ""}, {"pg_restore", "--help", ofHelp, ""},
	{"createdb", "--help", ofHelp, ""},
	{"dropdb", "--help", ofHelp, ""}, {"mysqldump", "--help", ofHelp, ""}, {"pg_isready", "--help", ofHelp, ""},
	{"sqlite3", "-help", ofHelp, ""}, {"mysql", "--help", ofHelp, ""},
	{"mysqladmin", "--help", ofHelp, ""},
	{"xxd", "-h", ofHelp, ""}, {"gawk", "--help", ofHelp, ""}, {"mawk", "--help", ofHelp, ""}, {"bc", "--help", ofHelp, ""},
	{"shasum", "--help", ofHelp, ""}, {"base32", "--help", ofHelp, ""}, {"dpkg", "--help", ofHelp, ""},
	{"dpkg-query", "--help", ofHelp, ""}, {"man", "--help", ofHelp, ""}, {"whatis", "--help", ofHelp, ""}, {"apropos", "--help", ofHelp, ""},
	{"lscpu", "--help", ofHelp, ""}, {"lsns", "--help", ofHelp, ""}, {"lslocks", "--help", ofHelp, ""}, {"lsipc", "--help", ofHelp, ""},
	{"lslogins", "--help", ofHelp, ""}, {"lsmem", "--help", ofHelp, ""}, {"w", "--help", ofHelp, ""},
	{"pmap", "--help", ofHelp, ""}, {"pidof", "--help", ofHelp, ""}, {"netstat", "--help", ofHelp, ""},
	{"hostname", "--help", ofHelp, ""}, {"hostnamectl", "--help", ofHelp, ""}, {"timedatectl", "--help", ofHelp, ""},
	{"localectl", "--help", ofHelp, ""}, {"loginctl", "--help", ofHelp, ""}, {"resolvectl", "--help", ofHelp, ""},
	{"systemd-analyze", "--help", ofHelp, ""}, {"watch", "--help", ofHelp, ""}, {"setsid", "--help", ofHelp, ""},
	{"ionice", "--help", ofHelp, ""}, {"taskset", "--help", ofHelp, ""}, {"chrt", "--help", ofHelp, ""}, {"flock", "--help", ofHelp, ""},
	{"script", "--help", ofHelp, ""}, {"whereis", "--help", ofHelp, ""}, {"sleep", "--help", ofHelp, ""}, {"factor", "--help", ofHelp, ""},
	{"users", "--help", ofHelp, ""}, {"groups", "--help", ofHelp, ""}, {"logname", "--help", ofHelp, ""}, {"hostid", "--help", ofHelp, ""},
	{"whoami", "--help", ofHelp, ""}, {"unlink", "--help", ofHelp, ""}, {"uuidgen", "--help", ofHelp, ""}, {"lsattr", "--help", ofHelp, ""},
	{"cal", "--help", ofHelp, ""}, {"look", "--help", ofHelp, ""}, {"pgrep", "--help", ofHelp, ""}, {"fallocate", "--help", ofHelp, ""},
	{"getfacl", "--help", ofHelp, ""}, {"stty", "--help", ofHelp, ""}, {"mount", "--help", ofHelp, ""}, {"umount", "--help", ofHelp, ""},
	{"sysctl", "--help", ofHelp, ""}, {"kill", "--help", ofHelp, ""}, {"logger", "--help", ofHelp, ""}, {"dd", "--help", ofHelp, ""},
	{"blkid", "--help", ofHelp, ""}, {"ldd", "--help", ofHelp, ""}, {"locale", "--help", ofHelp, ""}, {"xmllint", "--help", ofHelp, ""},
	{"cloc", "--help", ofHelp, ""}, {"tput", "--help", ofHelp, ""}, {"fuser", "--help", ofHelp, ""},
	{"systemctl status", "--help", ofHelp, ""}, {"ncal", "--help", ofHelp, ""}, {"numastat", "--help", ofHelp, ""},
	{"strace", "--help", ofHelp, ""}, {"time", "--help", ofHelp, ""}, {"zipinfo", "--help", ofHelp, ""}, {"lsusb", "--help", ofHelp, ""},
}

// writeCloud writes the options of the programs in asked.
func writeCloud() {
	for _, p := range asked {
		name, first, _ := strings.Cut(p.name, " ")
		if first != "" {
			writeLine(p.name, p.read(output(name, strings.Fields(p.help)...)))
			continue
		}
		for sub := range strings.SplitSeq(p.subs, " ") {
			words := append(strings.FieldsFunc(sub, func(r rune) bool { return r == '/' }), strings.Fields(p.help)...)
			writeLine(strings.TrimSpace(name+" "+strings.ReplaceAll(sub, "/", " ")), p.read(output(name, words...)))
		}
	}
}

// cobra is an option in the help of a program that is written with cobra.
var cobra = regexp.MustCompile(`^ {2,6}(?:(-\w), |    )?(--[\w.-]+)(\[=\S*\])?( \S+)?(?:   ?\s*\S.*)?$`)

// ofCobra reads the options in the help of docker, gh and helm. A type stands behind a name that takes a value.
func ofCobra(text string) (list []string) {
	for one := range strings.Lines(text) {
		m := cobra.FindStringSubmatch(strings.TrimRight(one, "\r\n"))
		if m == nil {
			continue
		}
		mark := ""
		if m[4] != "" {
			mark = "="
		}
		if m[3] != "" {
			mark = "[="
		}
		for _, name := range m[1:3] {
			if name != "" {
				list = append(list, name+mark)
			}
		}
	}
	return list
}

// ofKubectl reads the options in the help of kubectl, which shows what they are if they are not given.
func ofKubectl(text string) (list []string) {
	for one := range strings.Lines(text) {
		one = strings.TrimSpace(one)
		if !strings.HasPrefix(one, "-") || !strings.HasSuffix(one, ":") || !strings.Contains(one, "=") {
			continue
		}
		names, value, _ := strings.Cut(strings.TrimSuffix(one, ":"), "=")
		mark := "="
		if slices.Contains([]string{"true", "false"}, value) {
			mark = ""
		}
		for name := range strings.SplitSeq(names, ", ") {
			list = append(list, name+mark)
		}
	}
	return list
}

// single is an option in the help of a program that writes its options with one hyphen: -name, -name=value, -name 'value'.
var single = regexp.MustCompile(`^\s{1,12}(-[a-z][\w-]*)(=\S+| '\S+)?`)

// ofTerraform reads the options in the help of terraform, which shows the other value of a switch.
func ofTerraform(text string) (list []string) {
	for one := range strings.Lines(text) {
		m := single.FindStringSubmatch(one)
		switch {
		case m == nil:
		case m[2] == "" || m[2] == "=true" || m[2] == "=false":
			list = append(list, m[1])
		default:
			list = append(list, m[1]+"=")
		}
	}
	return list
}

// opensslOption is an option in the help of openssl: one blank before the type of a value.
var opensslOption = regexp.MustCompile(`^ *(-[A-Za-z0-9_-]+) (val|infile|outfile|dir|uri|format|parm|[+]?int|intmax|PEM\S+)? `)

// ofOpenssl reads the options in the help of a command of openssl.
func ofOpenssl(text string) (list []string) {
	for one := range strings.Lines(text) {
		m := opensslOption.FindStringSubmatch(one)
		switch {
		case m == nil:
		case m[2] == "":
			list = append(list, m[1])
		default:
			list = append(list, m[1]+"=")
		}
	}
	return list
}
