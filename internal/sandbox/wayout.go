package sandbox

import (
	"errors"
	"net"

	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/proxy"
)

// authorities is the file of the authorities that a command with masks trusts.
const authorities = inside + "/ca.pem"

// wayOut makes the proxy of the command; nil if it needs none.
func (c *Command) wayOut() (*proxy.Proxy, error) {
	none := len(c.Hosts) == 0 && len(c.Masks) == 0
	if none && (!c.Asks || c.Profile.Network) {
		return nil, nil
	}
	if c.Profile.Network {
		return nil, errors.New("the command has the network of the machine: hosts and masks count only without it")
	}
	return proxy.New(c.Hosts, c.Masks, c.outside, c.asksFor())
}

// asksFor says to the command how a host is asked for: an agent is told what it can do itself.
func (c *Command) asksFor() string {
	if c.Asks {
		return "Run the same command again: if a person may allow it, they are asked"
	}
	return "A person allows a host in their own terminal (myc sandbox exec --host NAME) or in the configuration; an agent tells them which"
}

// serve runs a proxy on the listener of the command. The function that it returns ends the proxy, and returns what it refused.
func serve(way *proxy.Proxy, l net.Listener) (end func() []proxy.Refusal) {
	if way == nil || l == nil {
		return func() []proxy.Refusal { return nil }
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		way.Serve(l)
	}()
	return func() []proxy.Refusal {
		refused := way.Close()
		<-done
		return refused
	}
}

// trusted are the parts of the root that the proxy needs.
func trusted(way *proxy.Proxy) []jail.Bind {
	data := way.Authorities()
	if data == nil {
		return nil
	}
	return []jail.Bind{{Kind: jail.File, Target: authorities, Data: data}}
}
