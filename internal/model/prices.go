package model

import "strings"

// Usage is the tokens that one answer used.
type Usage struct {
	Input          int64 // without reads from and writes to the cache
	Output         int64 // including thinking
	CacheRead      int64
	CacheWrite     int64 // of any lifetime, CacheWriteHour included
	CacheWriteHour int64 // the part of CacheWrite that is kept for an hour
	Searches       int64 // web searches by the API
	Fast           bool  // in the fast mode of the larger models
}

// Plus returns the sum of two usages. It is fast if either is.
func (u Usage) Plus(v Usage) Usage {
	return Usage{Input: u.Input + v.Input, Output: u.Output + v.Output, CacheRead: u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite, CacheWriteHour: u.CacheWriteHour + v.CacheWriteHour, Searches: u.Searches + v.Searches,
		Fast: u.Fast || v.Fast}
}

// Prompt is how many tokens the question had.
func (u Usage) Prompt() int { return int(u.Input + u.CacheRead + u.CacheWrite) }

// price is the price of a million tokens in USD.
type price struct {
	family        string // prefix of the names of its models
	input, output float64
	read          float64
	write, hour   float64 // cache writes for five minutes, and for an hour
	fast          float64 // factor of the fast mode; 0: unknown, and the highest is used
	above         int64   // longer prompts, in tokens, cost times as much; 0: no such limit
	times         float64
	thinks        thinks
}

// thinks is how a model is told to think before it answers.
type thinks int

const (
	never    thinks = iota
	budgeted        // with a number of tokens
	adaptive        // as much as it finds right
)

// prices is the price table of this program. The first family that is a prefix of the name counts.
//
// As of 2026-11-22, from https://platform.claude.com/docs/en/about-claude/pricing and the pages of the models there. The prices of the
// fast mode, and all up to Opus 4.8, agree with total_cost_usd of Claude Code 2.1.197. How a model thinks is from
// https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking. The first of a family (opus, sonnet …) is its newest.
var prices = []price{
	{family: "claude-fable-5-1", input: 10, output: 50, read: 0.25, write: 12.50, hour: 20, thinks: adaptive},
	{family: "claude-mythos-5-1", input: 10, output: 50, read: 0.25, write: 12.50, hour: 20, thinks: adaptive},
	{family: "claude-fable-5", input: 10, output: 50, read: 1, write: 12.50, hour: 20, thinks: adaptive},
	{family: "claude-mythos-5", input: 10, output: 50, read: 1, write: 12.50, hour: 20, thinks: adaptive},
	{family: "claude-opus-5-5", input: 4, output: 20, read: 0.20, write: 5, hour: 8, thinks: adaptive},
	{family: "claude-opus-5", input: 5, output: 25, read: 0.50, write: 6.25, hour: 10, thinks: adaptive},
	{family: "claude-opus-4-8", input: 5, output: 25, read: 0.50, write: 6.25, hour: 10, fast: 2, thinks: adaptive},
	{family: "claude-opus-4-7", input: 5, output: 25, read: 0.50, write: 6.25, hour: 10, thinks: adaptive},
	{family: "claude-opus-4-6", input: 5, output: 25, read: 0.50, write: 6.25, hour: 10, thinks: adaptive},
	{family: "claude-opus-4-5", input: 5, output: 25, read: 0.50, write: 6.25, hour: 10, thinks: budgeted},
	{family: "claude-opus-4-1", input: 15, output: 75, read: 1.50, write: 18.75, hour: 30, thinks: budgeted},
	{family: "claude-opus-4", input: 15, output: 75, read: 1.50, write: 18.75, hour: 30, thinks: budgeted},
	{family: "claude-3-opus", input: 15, output: 75, read: 1.50, write: 18.75, hour: 30},
	{family: "claude-sonnet-5-5", input: 2, output: 10, read: 0.10, write: 2.50, hour: 4, thinks: adaptive},
	{family: "claude-sonnet-5", input: 2, output: 10, read: 0.20, write: 2.50, hour: 4, thinks: adaptive},
	{family: "claude-sonnet-4-6", input: 3, output: 15, read: 0.30, write: 3.75, hour: 6, thinks: adaptive},
	{family: "claude-sonnet-4-5", input: 3, output: 15, read: 0.30, write: 3.75, hour: 6, thinks: budgeted},
	{family: "claude-sonnet-4", input: 3, output: 15, read: 0.30, write: 3.75, hour: 6, thinks: budgeted},
	{family: "claude-3-7-sonnet", input: 3, output: 15, read: 0.30, write: 3.75, hour: 6},
	{family: "claude-3-5-sonnet", input: 3, output: 15, read: 0.30, write: 3.75, hour: 6},
	{family: "claude-haiku-5-5", input: 0.10, output: 0.50, read: 0.01, write: 0.125, hour: 0.20, above: 100_000, times: 5, thinks: adaptive},
	{family: "claude-haiku-4-5", input: 1, output: 5, read: 0.10, write: 1.25, hour: 2, thinks: budgeted},
	{family: "claude-3-5-haiku", input: 0.80, output: 4, read: 0.08, write: 1, hour: 1.60},
	{family: "claude-3-haiku", input: 0.25, output: 1.25, read: 0.03, write: 0.30, hour: 0.50},
}

const (
	searchPrice = 0.01 // USD for one web search
	fastMost    = 6    // of the fast mode of Opus 4.6, the highest so far
)

// Cost returns the cost of a usage in USD. For an unknown model it returns the cost of the most expensive known model, and known is
// false: a budget is then used up too early rather than too late. A name may have the additions of clouds and clients: a provider before
// it; a date, a version or a context size after it.
func Cost(model string, u Usage) (usd float64, known bool) {
	p, known := priceOf(model)
	// A transcript of an agent may contain any value. A negative count must not offset other costs.
	u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Searches = max(u.Input, 0), max(u.Output, 0), max(u.CacheRead, 0), max(u.CacheWrite, 0),
		max(u.Searches, 0)
	hour := min(max(u.CacheWriteHour, 0), u.CacheWrite)
	usd = float64(u.Input)*p.input + float64(u.Output)*p.output + float64(u.CacheRead)*p.read + float64(u.CacheWrite-hour)*p.write +
		float64(hour)*p.hour
	usd /= 1e6
	if p.above > 0 && float64(u.Input)+float64(u.CacheRead)+float64(u.CacheWrite) > float64(p.above) {
		usd *= p.times
	}
	if u.Fast {
		times := p.fast
		if times == 0 {
			times = fastMost
		}
		usd *= times
	}
	return usd + float64(u.Searches)*searchPrice, known
}

func priceOf(model string) (price, bool) {
	model = strings.ToLower(model)
	if i := strings.Index(model, "claude-"); i >= 0 {
		for _, p := range prices {
			if rest, ok := strings.CutPrefix(model[i:], p.family); ok && sameModel(rest) {
				return p, true
			}
		}
	}
	return dearest(), false
}

// sameModel reports whether the rest of a name leaves the model the same: a date, a word, or an addition of a cloud. Another version
// number is another model.
func sameModel(rest string) bool {
	if rest == "" || strings.IndexByte("@[:", rest[0]) >= 0 {
		return true
	}
	word, ok := strings.CutPrefix(rest, "-")
	if !ok || word == "" {
		return false
	}
	digits := 0
	for digits < len(word) && word[digits] >= '0' && word[digits] <= '9' {
		digits++
	}
	return digits == 0 || digits == len("20060102")
}

// dearest returns the highest price of every column.
func dearest() price {
	d := price{}
	for _, p := range prices {
		d.input, d.output, d.read = max(d.input, p.input), max(d.output, p.output), max(d.read, p.read)
		d.write, d.hour = max(d.write, p.write), max(d.hour, p.hour)
	}
	return d
}
