package api

import (
	"mycelium/internal/approval"
	"mycelium/internal/op"
	"mycelium/internal/policy/sign"
)

// The requests of a daemon that runs a Telegram bot, to the daemon of another project for which that bot asks. Each names the bot: a
// project answers only the bot that asks for it.
var (
	BotWatch    = op.Op[Bot, op.None]{Name: "bot/watch", Act: actOfBot} // then: one BotEvent a line
	BotShow     = op.Op[BotRequest, BotShown]{Name: "bot/show", Act: actOfBot}
	BotSettle   = op.Op[BotAnswer, BotShown]{Name: "bot/settle", Act: actOfBot}
	BotAdopt    = op.Op[BotReply, string]{Name: "bot/adopt", Act: actOfBot} // what was written
	BotPast     = op.Op[BotRequest, []string]{Name: "bot/past", Act: actOfBot}
	BotAgents   = op.Op[Bot, BotSessions]{Name: "bot/agents", Act: actOfBot}
	BotSummary  = op.Op[BotSession, string]{Name: "bot/summary", Act: actOfBot}
	BotSend     = op.Op[BotText, string]{Name: "bot/send", Act: actOfBot} // why the text is kept; empty: it was typed
	BotAbort    = op.Op[BotSession, op.None]{Name: "bot/abort", Act: actOfBot}
	BotQuestion = op.Op[BotRequest, BotShown]{Name: "bot/question", Act: actOfBot}  // of an agent's own terminal
	BotThere    = op.Op[BotAnswer, string]{Name: "bot/answer-there", Act: actOfBot} // what was chosen
	BotMode     = op.Op[BotModeParams, string]{Name: "bot/mode", Act: actOfBot}     // who is asked, in words
	BotCosts    = op.Op[Bot, approval.Costs]{Name: "bot/costs", Act: actOfBot}
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
