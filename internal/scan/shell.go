package scan

import (
	"regexp"
	"strings"
)

// A payload is a harmful command. Every match contains one of its marks.
type payload struct {
	marks  []string
	re     *regexp.Regexp
	what   string
	spoken bool // texts that warn of the command name it
}

// payloads are the known payloads.
func payloads() []payload {
	return []payload{
		{[]string{"curl", "wget", "fetch"},
			regexp.MustCompile(`(?:curl|wget|fetch)\s[^|\n]{0,200}(?:https?://[\w$]|\w\.\w{2,})[^|\n]{0,` +
				`200}\|\s*(?:sudo\s+)?(?:-\S+\s+)*(?:ba|z|da|k)?sh\b`), "a command that runs what it downloads", false},
		{[]string{"base64"}, regexp.MustCompile(`base64\s+(?:-d|-D|--decode)[^|\n]{0,80}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b`),
			"a command that runs encoded text", false},
		{[]string{"rm "}, regexp.MustCompile(`\brm\s+(?:-[a-z-]+\s+)*-[a-z]*(?:rf|fr|r\s+-f|f\s+-r)[a-z]*\s+` +
			`(?:--no-preserve-root\s+)?["']?(?:/|~|\$home|\$\{home)`), "a command that deletes everything", true},
		{[]string{"/dev/tcp/", "/dev/udp/"}, regexp.MustCompile(`/dev/(?:tcp|udp)/[\w.-]+/\d+`), "a reverse shell", false},
		{[]string{"nc ", "ncat ", "netcat "}, regexp.MustCompile(`\b(?:nc|ncat|netcat)\s+(?:-\w+\s+)*-\w*[ec]\w*\s+\S*(?:sh|bash|cmd)`),
			"a reverse shell", false},
		{[]string{"authorized_keys"}, regexp.MustCompile(`>>?\s*\S*authorized_keys`), "a command that adds a key to authorized_keys", false},
		{[]string{"powershell", "pwsh"},
			regexp.MustCompile(`(?:powershell|pwsh)(?:\.exe)?\s.{0,80}-(?:e|en|enc|encodedcommand)\s+[a-z0-9+/=]{6,}`), "an encoded command", false},
		{[]string{"downloadstring", "invoke-webrequest", "iwr "},
			regexp.MustCompile(`(?:iex|invoke-expression)\b.{0,120}(?:downloadstring|invoke-webrequest|iwr)|downloadstring\(.{0,` +
				`120}(?:iex|invoke-expression)`), "a command that runs what it downloads", false},
		{[]string{"python"}, regexp.MustCompile(`python[\d.]*\s+-c\s+.{0,200}(?:exec\(|socket|subprocess|base64|os\.system|eval\()`),
			"inline code that opens a way in", false},
		{[]string{"node "}, regexp.MustCompile(`\bnode\s+-e\s+.{0,200}(?:child_process|net\.|eval\()`), "inline code that opens a way in", false},
		{[]string{"perl ", "ruby "}, regexp.MustCompile(`\b(?:perl|ruby)\s+-(?:m\S+\s+-)?e\s+.{0,200}(?:socket|exec|system)`),
			"inline code that opens a way in", false},
		{[]string{"socat"}, regexp.MustCompile(`socat\s.{0,120}exec:`), "a reverse shell", false},
		{[]string{"chmod +x", "chmod 755", "chmod u+x"}, regexp.MustCompile(`(?:curl|wget)\s.{0,200}chmod\s+\S+\s+\S+\s*(?:&&|;)`),
			"a command that runs what it downloads", false},
		{[]string{"| curl", "|curl", "| wget", "| nc "}, regexp.MustCompile(`\|\s*(?:curl|wget|nc)\s.{0,160}(?:https?://\w|\d+\.\d+\.\d+)`),
			"a command that sends data away", false},
		{[]string{"find / "}, regexp.MustCompile(`find\s+/\s.{0,60}-delete`), "a command that deletes everything", true},
		{[]string{":(){"}, regexp.MustCompile(`:\(\)\s*\{\s*:\s*\|\s*:`), "a fork bomb", false},
		{[]string{"dd ", "mkfs"}, regexp.MustCompile(`\bdd\s+.{0,80}of=/dev/(?:sd|nvme|hd|vd|disk)|\bmkfs\.\w+\s+/dev/`),
			"a command that overwrites a disk", true},
		{[]string{"chmod"}, regexp.MustCompile(`chmod\s+(?:-r\s+)?(?:777|a\+rwx|[ug]\+s)\s+/(?:etc|bin|usr|root)?`),
			"a command that opens system files to everybody", true},
		{[]string{"crontab"}, regexp.MustCompile(`\|\s*crontab\s+-(?:\s|$)|\|\s*crontab\s*$`), "a command that installs a cron job", false},
		{[]string{"$(curl", "$(wget", "`curl", "`wget", "<(curl"}, regexp.MustCompile("(?:\\$\\(|`|<\\()(?:curl|wget)\\s[^)`]*(?:https?://|\\.)"),
			"a command substitution that downloads", false},
		{[]string{"env", "/etc/", "~/."}, regexp.MustCompile(`\b(?:env|printenv|cat\s+\S+)\s*\|\s*(?:base64\s*\|\s*)?(?:curl|nc|wget)\b`),
			"a command that sends data away", false},
	}
}

// commands looks for shell payloads.
func (t *passage) commands() {
	s := strings.ToLower(t.raw)
	for _, p := range t.payloads {
		if !contains(s, p.marks...) {
			continue
		}
		at := p.re.FindStringIndex(s)
		if at == nil {
			continue
		}
		severity := Hard
		if p.spoken && t.place == inProse && contains(s, "refuse", "blocked", "rejected", "dangerous", "never run", "forbidden",
			"拒否", "危険") {
			severity = Soft
		}
		t.add(Shell, severity, t.where, t.raw[:min(len(t.raw), at[1])], p.what)
	}
}
