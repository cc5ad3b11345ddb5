package rest

import (
	"net/http"
	"time"

	"mycelium/internal/audit/index"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// logParams are the filters of the log, those of myc audit query. In a name, * stands for any text.
type logParams struct {
	site.OfProject

	Tool         string    `query:"tool" about:"name of the tool; * stands for any text"`
	Role         string    `query:"role" about:"* stands for any text"`
	Session      string    `query:"session" about:"id of the session; * stands for any text"`
	Effect       string    `query:"effect" of:"allow,ask,deny" about:"what the policy said"`
	Outcome      string    `query:"outcome" of:"ok,error,denied,unfinished" about:"how the call ended"`
	Rule         string    `query:"rule" about:"the rule that decided"`
	By           string    `query:"by" of:"policy,limit,person,model,deadline,caller,agent" about:"who decided"`
	Agent        string    `query:"agent" about:"the agent whose own tool it is, the surface, or the id of a sub-agent"`
	Program      string    `query:"program" about:"that some part of the call would run"`
	Host         string    `query:"host" about:"that some part of the call would reach"`
	Path         string    `query:"path" about:"that some part of the call names: all of it, or its end from a slash on"`
	Since        time.Time `query:"since" about:"not older"`
	Until        time.Time `query:"until" about:"older than this"`
	Thinking     *bool     `query:"thinking" about:"only calls with reasoning, or only those without"`
	ThinkingType string    `query:"thinkingType" of:"extended_thinking,chain_of_thought,reasoning"`
	Text         string    `query:"text" about:"words of the reasoning"`
	Limit        int       `query:"limit" most:"1000" about:"at most this many; left out: 100"`
	Offset       int       `query:"offset" most:"10000000" about:"skip this many"`
}

// logged are recorded calls.
type logged struct {
	Project string        `json:"project"`
	Calls   []index.Entry `json:"calls" about:"the newest first"`
}

func (s room) log(r *http.Request, _ device.Device, p logParams) (logged, error) {
	at, err := s.Named(p.Project)
	if err != nil {
		return logged{}, err
	}
	found, err := s.Records(r.Context(), at, index.Query{Role: p.Role, Tool: p.Tool, Session: p.Session, Outcome: p.Outcome, Effect: p.Effect,
		Rule: p.Rule, By: p.By, Filter: index.Filter{Agent: p.Agent, Program: p.Program, Host: p.Host, Path: p.Path}, Since: p.Since,
		Until: p.Until, HasThinking: p.Thinking, ThinkingType: p.ThinkingType, Text: p.Text, Limit: p.Limit, Offset: p.Offset})
	return logged{site.Key(at), found}, err
}
