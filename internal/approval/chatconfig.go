package approval

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// DefaultBotServer is Telegram's Bot API.
const DefaultBotServer = "https://api.telegram.org"

// TelegramConfig is approval.telegram. Token and PIN may be ${VAR} or ${secret:NAME}.
type TelegramConfig struct {
	Token   string       `yaml:"token" json:"token,omitempty" about:"of the bot, from BotFather"`
	Chat    int64        `yaml:"chat" json:"chat,omitempty" about:"where the bot asks; 0: the private chat with the first user"`
	Users   []int64      `yaml:"users" json:"users,omitempty" about:"who may speak to the bot"`
	PIN     string       `yaml:"pin" json:"pin,omitempty" about:"asked before something critical is approved; empty: no PIN"`
	Notices []NoticeKind `yaml:"notices" json:"notices,omitempty" about:"to send; empty: all"`
	Server  string       `yaml:"server" json:"server,omitempty" about:"a Bot API server; empty: https://api.telegram.org"`
}

// NotifyConfig is approval.notify: where people are told that a request waits. They cannot answer there.
type NotifyConfig struct {
	Ntfy    *WebhookConfig `yaml:"ntfy" json:"ntfy,omitzero" about:"the address of a topic: https://ntfy.sh/TOPIC"`
	Slack   *WebhookConfig `yaml:"slack" json:"slack,omitzero" about:"an incoming webhook"`
	Desktop *bool          `yaml:"desktop" json:"desktop,omitzero" about:"a notice on this machine's screen; absent: where a desktop is"`
	Bell    *bool          `yaml:"bell" json:"bell,omitzero" about:"a bell before the name of the agent's tmux window; absent: yes"`
}

// WebhookConfig is an address to post to. Both fields may be ${VAR} or ${secret:NAME}.
type WebhookConfig struct {
	URL   string `yaml:"url" json:"url,omitempty" about:"where notices are sent"`
	Token string `yaml:"token" json:"token,omitempty" about:"of ntfy, if the topic needs one"`
}

// NoticeKinds returns the kinds of notices.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{Started, Completed, Errored, Aborted, DenialAlert, BudgetAlert, Waits, Delivered, Stuck, GuardAlert}
}

// Check reports invalid values before secrets are expanded. bad gets the key below approval.telegram.
func (c *TelegramConfig) Check(bad func(key, message, hint string)) {
	if c.Token == "" {
		bad("token", "token is missing", "write token: ${TELEGRAM_BOT_TOKEN}; BotFather gives it (docs/telegram.md)")
	} else if !strings.Contains(c.Token, "${") && !botToken(c.Token) {
		bad("token", "token is not a bot token from BotFather", "it looks like 123456:ABC-DEF; write token: ${TELEGRAM_BOT_TOKEN} and keep "+
			"the token out "+
			"of the file")
	}
	if len(c.Users) == 0 {
		bad("users", "users is empty: nobody could answer", "write the number of each person, such as users: [123456789]; docs/telegram.md "+
			"says how to find it")
	}
	for i, u := range c.Users {
		if u <= 0 {
			bad(fmt.Sprintf("users[%d]", i), fmt.Sprintf("users holds %d", u),
				"the number of a person is positive; groups are negative and go under chat")
		}
	}
	if c.PIN != "" && !strings.Contains(c.PIN, "${") && !goodPIN(c.PIN) {
		bad("pin", "pin is too short or too long", "use 4 to 32 letters or digits")
	}
	for i, k := range c.Notices {
		if !slices.Contains(NoticeKinds(), k) {
			bad(fmt.Sprintf("notices[%d]", i), fmt.Sprintf("notices names %q", string(k)),
				"choose from started, completed, errored, aborted, denial-alert, budget-alert, waits, delivered, stuck, guard-alert")
		}
	}
	if c.Server != "" && !SafeURL(c.Server) {
		bad("server", "a token may not be sent to the address of server",
			"write https://HOST, or http:// for this machine only; the token is part of every address")
	}
}

// Check reports invalid values. bad gets the key below approval.notify.
func (c *NotifyConfig) Check(bad func(key, message, hint string)) {
	for name, w := range map[string]*WebhookConfig{"ntfy": c.Ntfy, "slack": c.Slack} {
		switch {
		case w == nil:
		case w.URL == "":
			bad(name, name+" says no url", map[string]string{"ntfy": "write url: https://ntfy.sh/TOPIC",
				"slack": "write url: ${SLACK_WEBHOOK}"}[name])
		case !strings.Contains(w.URL, "${") && !SafeURL(w.URL):
			bad(name+".url", name+".url is not an address that secrets may be sent to", "write an https address, or http:// for this machine only")
		}
	}
	if c.Slack != nil && c.Slack.Token != "" {
		bad("slack.token", "slack.token has no meaning", "the address of the webhook is its own secret; leave token out")
	}
}

// Validate checks a configuration whose secrets are expanded. The error does not contain them.
func (c *TelegramConfig) Validate() error {
	var problems []error
	c.Check(func(key, message, hint string) {
		problems = append(problems, fmt.Errorf("approval.telegram.%s: %s: %s", key, message, hint))
	})
	if len(problems) == 0 && !botToken(c.Token) {
		problems = append(problems, errors.New("approval.telegram.token: it is not a bot token from BotFather: it looks like 123456:ABC-DEF"))
	}
	if c.PIN != "" && !goodPIN(c.PIN) {
		problems = append(problems, errors.New("approval.telegram.pin: use 4 to 32 letters or digits"))
	}
	return errors.Join(problems...)
}

// botToken reports whether a text has the form of a bot's token. Other text must not get into the path of an address.
func botToken(s string) bool {
	id, key, ok := strings.Cut(s, ":")
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return ok && id != "" && strings.Trim(id, "0123456789") == "" && len(key) >= 8 && len(s) <= 200 && strings.Trim(key, letters) == ""
}

func goodPIN(s string) bool {
	return len(s) >= 4 && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// SafeURL reports whether secrets may be sent to an address: it uses TLS, or is on this machine.
func SafeURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return false
	}
	if u.Scheme == "https" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback())
}
