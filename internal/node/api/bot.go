package api

import (
	"mycelium/internal/approval"
	"mycelium/internal/policy/sign"
)

// The requests of a daemon that runs a Telegram bot, to the daemon of another project for which that bot asks. Each names the bot: a
// project answers only the bot that asks for it.
var (
	BotWatch    = Method[Bot, None]{"bot/watch", actOfBot} // then: one BotEvent a line
	BotShow     = Method[BotRequest, BotShown]{"bot/show", actOfBot}
	BotSettle   = Method[BotAnswer, BotShown]{"bot/settle", actOfBot}
	BotAdopt    = Method[BotReply, string]{"bot/adopt", actOfBot} // what was written
	BotPast     = Method[BotRequest, []string]{"bot/past", actOfBot}
	BotAgents   = Method[Bot, BotSessions]{"bot/agents", actOfBot}
	BotSummary  = Method[BotSession, string]{"bot/summary", actOfBot}
	BotSend     = Method[BotText, string]{"bot/send", actOfBot} // why the text is kept; empty: it was typed
	BotAbort    = Method[BotSession, None]{"bot/abort", actOfBot}
	BotQuestion = Method[BotRequest, BotShown]{"bot/question", actOfBot}  // of an agent's own terminal
	BotThere    = Method[BotAnswer, string]{"bot/answer-there", actOfBot} // what was chosen
	BotMode     = Method[BotModeParams, string]{"bot/mode", actOfBot}     // who is asked, in words
	BotCosts    = Method[Bot, approval.Costs]{"bot/costs", actOfBot}
)

const actOfBot = "answer for a person through a chat"

// Bot is a Telegram bot: the digest of its token, and of who may answer through it (see state.Bot).
type Bot struct {
	Digest string `json:"digest"`
	Terms  string `json:"terms"`
}

// BotEvent is what a bot is told: a request that waits, has changed or is settled, or a notice.
type BotEvent struct {
	Request *approval.Request `json:"request,omitzero"`
	Notice  *approval.Notice  `json:"notice,omitzero"`
}

// BotRequest names a request.
type BotRequest struct {
	Bot
	ID string `json:"id"`
}

// BotShown is a request, if it is known.
type BotShown struct {
	Request approval.Request `json:"request,omitzero"`
	Known   bool             `json:"known"`
	Late    bool             `json:"late,omitzero"` // the answer came when the request was settled already
}

// BotAnswer is the answer of a person in the chat.
type BotAnswer struct {
	BotRequest
	Answer approval.Answer `json:"answer"` // its Via is not read
	Sign   sign.Sign       `json:"sign,omitempty"`
}

// BotReply is a policy or a rule that a person gave in a reply to a request.
type BotReply struct {
	BotRequest
	Reply approval.Reply `json:"reply"`
	By    string         `json:"by"`
}

// BotSessions are the sessions of agents, at work and past.
type BotSessions struct {
	Now  []approval.AgentSession `json:"now"`
	Past []approval.AgentSession `json:"past"`
}

// BotSession is a session of an agent.
type BotSession struct {
	Bot
	Session approval.AgentSession `json:"session"`
}

// BotText is a text for an agent.
type BotText struct {
	BotSession
	Text string `json:"text"`
}

// BotModeParams set who is asked, if Mode is not empty.
type BotModeParams struct {
	Bot
	Mode approval.Mode `json:"mode,omitempty"`
}

// Is returns the bot that makes a request.
func (b Bot) Is() Bot { return b }
