package cloud

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Commands of aws, gcloud and az: a service or groups, then a verb, then what it works on. A command changes nothing if its verb asks.

// providerCommand handles aws, gcloud and az.
func providerCommand(c *program.Call, _ []program.Word) {
	c.Does |= effect.Network
	if len(c.Part.Hosts) > 0 { // not the cloud's own address
		c.Does |= effect.Cloud
	}
	words := commandWords(c.Operands)
	verb := verbOf(c.Part.Program, words)
	if showsSecrets(words[:min(verb+1, len(words))]) {
		c.Does |= effect.Secrets
	}
	asks := verb < len(words) && asksOnly(words[verb])
	if !asks {
		c.Does |= effect.Cloud
	}
	if program.ContainsText(c.Operands, "userData") || program.ContainsText(c.Operands, "--with-decryption") {
		c.Does |= effect.Secrets
	}
	for _, t := range c.Operands {
		if t.Unknown {
			c.Unclear("which command runs is not known")
		}
	}
	asOther(c)
	if asks && c.Part.Program == "aws" {
		namedFiles(c)
		if writesAnswer(words[verb]) {
			c.Role('w', c.Operands[len(c.Operands)-1])
		}
	} else {
		c.Guess(slices.DeleteFunc(slices.Clone(c.Operands), func(w program.Word) bool { return strings.HasPrefix(w.Text, "gs://") }))
	}
	c.Finish()
}

// asOther looks for options with which gcloud takes the rights of somebody else, or more options from a file.
func asOther(c *program.Call) {
	if c.HasAny("impersonate-service-account", "access-token-file", "flags-file") {
		c.Does |= effect.Privilege
	}
	for _, t := range c.Operands {
		name, _, _ := strings.Cut(t.Text, "=")
		for _, option := range [...]string{"--impersonate-service-account", "--access-token-file", "--flags-file"} {
			if len(name) > len("--acc") && strings.HasPrefix(option, name) {
				c.Does |= effect.Privilege
			}
		}
		if at := strings.IndexByte(t.Text, '@'); c.Part.Program == "az" && (at == 0 || at > 0 && t.Text[at-1] == '=') {
			c.Role('r', t.Tail(at+1)) // the value stands in a file
		}
	}
}

// writesAnswer reports whether aws writes the answer to a question into a file, which the last word names.
func writesAnswer(verb string) bool {
	return program.Named("describe-input-device-thumbnail|get-clip|get-code-binding-source|get-configuration|get-connection-function|"+
		"get-export|get-function|get-glyphs|get-hosted-configuration-version|get-image-frame|get-image-set-metadata|"+
		"get-introspection-schema|get-latest-configuration|get-lineage-event|get-map-glyphs|get-map-sprites|get-map-style-descriptor|"+
		"get-map-tile|get-media|get-media-for-fragment-list|get-package-version-asset|get-position-estimate|get-profile|"+
		"get-raw-message-content|get-read-set|get-reference|get-resource-position|get-sdk|get-snapshot-block|"+
		"get-sol-function-package-content|get-sol-function-package-descriptor|get-sol-network-package-content|"+
		"get-sol-network-package-descriptor|get-sprites|get-static-map|get-style-descriptor|get-thing-shadow|get-tile|"+
		"get-work-unit-results", verb)
}

// commandWords returns the words before the first option, without those that say how finished a command is.
func commandWords(operands []program.Word) (words []string) {
	for _, t := range operands {
		switch {
		case strings.HasPrefix(t.Text, "-") || t.Unknown:
			return words
		case !program.Named("alpha|beta|preview", t.Text):
			words = append(words, t.Text)
		}
	}
	return words
}

// verbOf returns where the verb stands: behind the service of aws, at the end for az, and behind the groups for gcloud.
func verbOf(name string, words []string) int {
	switch name {
	case "aws":
		return 1
	case "az":
		return max(len(words)-1, 1)
	}
	for i := 1; i < len(words); i++ {
		if asksOnly(words[i]) {
			return i
		}
		if changes(words[i]) {
			break
		}
	}
	return len(words)
}

// asksOnly reports whether a verb changes nothing and brings no file.
func asksOnly(verb string) bool {
	word, _, _ := strings.Cut(verb, "-")
	return program.Named("describe|get|list|ls|show|head|search|tail|lookup|help|wait|filter|read|check|validate", word) &&
		!program.Named("get-object|get-object-torrent|get-job-output|get-credentials|list-and-delete", verb)
}

// changes reports whether a word of gcloud is a verb that changes something, so that what follows is a name.
func changes(word string) bool {
	word, _, _ = strings.Cut(word, "-")
	return program.Named("create|delete|update|set|unset|add|remove|reset|stop|start|restart|suspend|resume|deploy|publish|send|ssh|scp|cp|"+
		"mv|rm|rsync|import|export|execute|run|call|invoke|submit|cancel|apply|enable|disable|attach|detach|move|resize|promote|failover|"+
		"clone|restore|backup|migrate|rollback|patch|replace|undelete|sign|access|encrypt|decrypt|login|activate|configure|connect|print|"+
		"revoke|accept|reject|approve|pull|push|ack|seek|drain|abandon|recreate|rolling|simulate|upload|download|tag|untag|rename", word)
}

// showsSecrets reports whether a command shows secrets. The services that keep them list and describe them by name.
func showsSecrets(words []string) bool {
	names := len(words) > 1 && (strings.HasPrefix(words[len(words)-1], "list") || strings.HasPrefix(words[len(words)-1], "describe"))
	for _, w := range words {
		if names && program.Named("secretsmanager|ssm|kms|secrets|list-secrets|describe-secret|list-secret-version-ids", w) {
			continue
		}
		if tellsSecrets(w) {
			return true
		}
	}
	return false
}

// tellsSecrets reports whether a word of a command says that it shows secrets.
func tellsSecrets(word string) bool {
	return program.Named("secretsmanager|secrets|secret|keyvault|ssm|kms|keys|print|appsettings|get-function|get-function-configuration|"+
		"connection-string|get-console-screenshot", word) ||
		program.ContainsAny(word, "credential", "password", "token", "secret", "connection-string", "shared-key", "list-keys", "api-key",
			"key-string", "publishing")
}

// otherAuthority is why a command with another list of authorities is unclear.
const otherAuthority = "another authority says who the service is"

// namedFiles takes the files and the addresses that a question of aws names. The other words are names of what is there, also if they
// look like paths.
func namedFiles(c *program.Call) {
	for i, t := range c.Operands {
		name, _, attached := strings.Cut(t.Text, "=")
		_, file, isFile := strings.Cut(strings.Replace(t.Text, "fileb://", "file://", 1), "file://")
		switch {
		case isFile:
			c.File(policy.Read, program.Known(file))
		case name == "--ca-bundle" && attached:
			c.Unclear(otherAuthority)
		case i > 0 && c.Operands[i-1].Text == "--ca-bundle":
			c.Unclear(otherAuthority)
		case i > 0 && c.Operands[i-1].Text == "--endpoint-url" && !strings.Contains(t.Text, "://"):
			c.Host(t)
		case strings.Contains(t.Text, "://") && !strings.Contains(t.Text, "s3://"):
			c.Address(t.Tail(max(0, strings.Index(t.Text, "http"))))
		}
	}
}

// awsSetting handles aws configure get.
func awsSetting(c *program.Call) {
	for _, t := range c.Operands {
		if t.Unknown || program.ContainsAny(t.Text, "key", "token", "secret", "process", "password") {
			c.Does |= effect.Secrets
		}
	}
}
