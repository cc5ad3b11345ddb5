package mcpclient

import "context"

// Ping asks the server whether it is there, on the connection that stands: no process and no session is made for it. It returns nil
// when anything came from the server meanwhile.
func (c *Conn) Ping(ctx context.Context) error {
	before := c.Received()
	method := "ping"
	if c.modern { // the modern revision has no ping
		method = "server/discover"
	}
	_, _, err := c.Request(ctx, Call{Method: method})
	if c.Received() != before {
		return nil
	}
	return err
}
