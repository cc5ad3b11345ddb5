package approval

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// DefaultBotServer is where bots live.
const DefaultBotServer = "https://api.telegram.org"

// TelegramConfig is approval.telegram. Token and PIN may be ${VAR} or ${secret:NAME}.
type TelegramConfig struct {
	Token   string       `yaml:"token" json:"token,omitempty"`     // of the bot, from BotFather
	Chat    int64        `yaml:"chat" json:"chat,omitempty"`       // where it asks; 0: the private chat with the first user
	Users   []int64      `yaml:"users" json:"users,omitempty"`     // who may answer; nobody else is heard
	PIN     string       `yaml:"pin" json:"pin,omitempty"`         // asked before something critical is approved; empty: never
	Notices []NoticeKind `yaml:"notices" json:"notices,omitempty"` // which ones are sent; empty: all
	Server  string       `yaml:"server" json:"server,omitempty"`   // a Bot API server of one's own; empty: Telegram's
}

// NotifyConfig is approval.notify: where people are told that something waits. Nothing can be answered there.
type NotifyConfig struct {
	Ntfy    *WebhookConfig `yaml:"ntfy" json:"ntfy,omitzero"`       // the address of a topic: https://ntfy.sh/TOPIC
	Slack   *WebhookConfig `yaml:"slack" json:"slack,omitzero"`     // an incoming webhook
	Desktop bool           `yaml:"desktop" json:"desktop,omitzero"` // a notice on this machine's screen
	Bell    *bool          `yaml:"bell" json:"bell,omitzero"`       // a bell before the name of the agent's tmux window; absent: yes
}

// WebhookConfig is one address to post to. Both may be ${VAR} or ${secret:NAME}.
type WebhookConfig struct {
	URL   string `yaml:"url" json:"url,omitempty"`
	Token string `yaml:"token" json:"token,omitempty"` // of ntfy, if the topic needs one
}

// NoticeKinds are the kinds of notices.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{Started, Completed, Errored, Aborted, DenialAlert, BudgetAlert, Waits}
}

// Check finds what cannot be meant, before secrets are put in. bad gets the key below approval.telegram.
func (c *TelegramConfig) Check(bad func(key, message, hint string)) {
	if c.Token == "" {
		bad("token", "token is missing", "write token: ${TELEGRAM_BOT_TOKEN}; BotFather gives it (docs/telegram.md)")
	} else if !strings.Contains(c.Token, "${") && !botToken(c.Token) {
		bad("token", "token is none of BotFather's", "it looks like 123456:ABC-DEF; write token: ${TELEGRAM_BOT_TOKEN} and keep the token out of the file")
	}
	if len(c.Users) == 0 {
		bad("users", "users is empty: nobody could answer", "write the number of each person, such as users: [123456789]; docs/telegram.md says how to find it")
	}
	for i, u := range c.Users {
		if u <= 0 {
			bad(fmt.Sprintf("users[%d]", i), fmt.Sprintf("users holds %d", u), "the number of a person is positive; groups are negative and go under chat")
		}
	}
	if c.PIN != "" && !strings.Contains(c.PIN, "${") && !goodPIN(c.PIN) {
		bad("pin", "pin is too short or too long", "use 4 to 32 letters or digits")
	}
	for i, k := range c.Notices {
		if !slices.Contains(NoticeKinds(), k) {
			bad(fmt.Sprintf("notices[%d]", i), fmt.Sprintf("notices names %q", string(k)), "choose from started, completed, errored, aborted, denial-alert, budget-alert, waits")
		}
	}
	if c.Server != "" && !SafeURL(c.Server) {
		bad("server", "server is no address that a token may be sent to", "write https://HOST, or http:// for this machine only; the token is part of every address")
	}
}

// Check finds what cannot be meant. bad gets the key below approval.notify.
func (c *NotifyConfig) Check(bad func(key, message, hint string)) {
	for name, w := range map[string]*WebhookConfig{"ntfy": c.Ntfy, "slack": c.Slack} {
		switch {
		case w == nil:
		case w.URL == "":
			bad(name, name+" says no url", map[string]string{"ntfy": "write url: https://ntfy.sh/TOPIC", "slack": "write url: ${SLACK_WEBHOOK}"}[name])
		case !strings.Contains(w.URL, "${") && !SafeURL(w.URL):
			bad(name+".url", name+".url is no address that secrets may be sent to", "write an https address, or http:// for this machine only")
		}
	}
	if c.Slack != nil && c.Slack.Token != "" {
		bad("slack.token", "slack.token has no meaning", "the address of the webhook is its own secret; leave token out")
	}
}

// Validate is Check of a configuration whose secrets are in, as one error that tells none of them.
func (c *TelegramConfig) Validate() error {
	var problems []error
	c.Check(func(key, message, hint string) {
		problems = append(problems, fmt.Errorf("approval.telegram.%s: %s: %s", key, message, hint))
	})
	if len(problems) == 0 && !botToken(c.Token) {
		problems = append(problems, errors.New("approval.telegram.token: it is none of BotFather's: it looks like 123456:ABC-DEF"))
	}
	if c.PIN != "" && !goodPIN(c.PIN) {
		problems = append(problems, errors.New("approval.telegram.pin: use 4 to 32 letters or digits"))
	}
	return errors.Join(problems...)
}

// botToken reports whether a text looks like a bot's token. Nothing else may get into the path of an address.
func botToken(s string) bool {
	id, key, ok := strings.Cut(s, ":")
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return ok && id != "" && strings.Trim(id, "0123456789") == "" && len(key) >= 8 && len(s) <= 200 && strings.Trim(key, letters) == ""
}

func goodPIN(s string) bool {
	return len(s) >= 4 && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// SafeURL reports whether secrets may be sent to an address: over TLS, or to this machine.
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
