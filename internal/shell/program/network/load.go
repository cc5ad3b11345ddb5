package network

import (
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// LoadRows are programs that ask a server many times, or in other protocols than those of the web, sorted by name. Each names all options
// of its manual that do no harm; an option that is missing asks.
var LoadRows = []program.Row{
	{Name: "ab", Options: "p=r u=r g=w e=w X=h E=r", Plain: "n=v c=v t=v s=v b=v B=v T=v v=v w i x=v y=v z=v C=v H=v A=v k d S q l r " +
		"m=v f=v h V",
		Operands: "h", Does: effect.Network | effect.Upload},
	{Name: "bombardier", Options: "f|body-file=r cert=r key=r", Plain: "c=v connections=v n=v requests=v d=v duration=v l latencies " +
		"m=v method=v " +
		"H=v header=v b=v body=v t=v timeout=v r=v rate=v k insecure p=v print=v q no-print o=v format=v http1 http2 fasthttp help version",
		Operands: "h*", Does: effect.Network | effect.Upload},
	{Name: "grpcurl", Style: program.Single, Options: "proto=r import-path=r protoset=r cacert=r cert=r key=r", Plain: "plaintext " +
		"insecure d=v H=v " +
		"rpc-header=v reflect-header=v max-time=v connect-timeout=v format=v emit-defaults allow-unknown-fields v vv version help",
		Does: effect.Network | effect.Upload, Handle: remoteProcedure},
	{Name: "hey", Style: program.Single, Options: "D=r x=h", Plain: "n=v c=v q=v z=v o=v m=v H=v t=v A=v d=v T=v a=v h2 " +
		"disable-compression " +
		"disable-keepalive disable-redirects cpus=v", Operands: "h*", Does: effect.Network | effect.Upload},
	{Name: "oha", Options: "D=r", Plain: "n=v c=v z=v q=v p=v no-tui j json output-format=v m=v H=v d=v T=v t=v A=v a=v latency-correction " +
		"disable-keepalive disable-compression insecure fps=v http-version=v http2 r=v redirect=v h help V version", Operands: "h*",
		Does: effect.Network | effect.Upload},
	{Name: "websocat", Plain: "n no-close 1 one-message t text b binary E exit-on-eof U unidirectional v q H=v header=v origin=v " +
		"protocol=v " +
		"no-line h help V version", Does: effect.Network | effect.Upload, Handle: webSocket},
	{Name: "wrk", Options: "s|script=x", Plain: "t=v threads=v c=v connections=v d=v duration=v H=v header=v L latency T=v timeout=v " +
		"R=v rate=v v " +
		"version", Operands: "hv*", Does: effect.Network | effect.Upload},
	{Name: "wscat", Options: "c|connect=h", Plain: "x=v execute=v w=v wait=v H=v header=v n no-check o=v origin=v s=v subprotocol=v P " +
		"show-ping-pong V version h help", Does: effect.Network | effect.Upload},
	{Name: "xh", Plain: "j json f form v verbose h headers b body m meta p=v print=v pretty=v s=v style=v q quiet I ignore-stdin " +
		"timeout=v F " +
		"follow check-status raw=v a=v auth=v A=v auth-type=v curl", Does: effect.Network, Handle: request},
	{Name: "xhs", Same: "xh"},
}

// remoteProcedure handles grpcurl: its first operand is the server, unless files describe what there is.
func remoteProcedure(c *program.Call) {
	if len(c.Operands) == 0 {
		return
	}
	first := c.Operands[0]
	if program.Named("list|describe", first.Text) {
		return
	}
	c.Host(first)
	ourAddress(c, first.Text)
}

// webSocket handles websocat: it takes many kinds of addresses, of which only those of servers are known.
func webSocket(c *program.Call) {
	for _, w := range c.Operands {
		if !strings.HasPrefix(w.Text, "ws://") && !strings.HasPrefix(w.Text, "wss://") || len(c.Operands) > 1 {
			c.Unclear("what websocat connects is not known")
			continue
		}
		c.Host(w)
		ourAddress(c, w.Text)
	}
}
