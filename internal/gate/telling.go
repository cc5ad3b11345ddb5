package gate

import (
	"strconv"
	"sync"
	"time"

	"mycelium/internal/gate/view"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// The bounds of what a client is told while a script or a sub-agent runs: the answer has all of it.
const (
	tellEvery = 100 * time.Millisecond // lines in between are not told
	maxTold   = 1000                   // bytes of a line
)

// telling returns what passes lines on to the caller as progress. Of many lines it passes some.
func (a *Admission) telling() func(line string) {
	token := progressToken(a.Params)
	if a.Peer == nil || token == nil {
		return func(string) {}
	}
	var mu sync.Mutex
	var last time.Time
	lines := 0
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		lines++
		now := a.gate.now()
		if now.Sub(last) < tellEvery {
			return
		}
		last = now
		b := append([]byte(`{"progressToken":`), token...)
		b = strconv.AppendInt(append(b, `,"progress":`...), int64(lines), 10)
		b = append(append(b, `,"message":`...), view.Marshal(text.Truncate(line, maxTold))...)
		a.Peer.Notify("notifications/progress", append(b, '}'))
	}
}

// budgetIn is what the params of a call say that its work may cost, in USD: "mycelium/budget" of _meta. 0: they say nothing.
func budgetIn(params []byte) float64 {
	usd, err := strconv.ParseFloat(string(rawjson.Path(params, "_meta", "mycelium/budget")), 64)
	if err != nil || !(usd > 0) {
		return 0
	}
	return usd
}
