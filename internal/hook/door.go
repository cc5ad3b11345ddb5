package hook

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
)

// An agent that runs in the sandbox as a whole reaches no daemon. It has a socket instead, at which the process that started it answers:
// for this agent's session only, and nothing but its events and its gateway (package door). What a client wants is its first line.
const (
	DoorEvent   = "event"   // the rest of the line is a [Request]; the answer is a line with a [Reply]
	DoorGateway = "gateway" // the rest is the stream of an MCP client
)

// askDoor has the process that started the agent answer an event.
func askDoor(path string, r *Request) (Reply, error) {
	c, err := net.Dial("unix", path)
	if err != nil {
		return Reply{}, fmt.Errorf("ask the program that started the agent: %w", err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write(append(r.append([]byte(DoorEvent+" ")), '\n')); err != nil {
		return Reply{}, fmt.Errorf("ask the program that started the agent: %w", err)
	}
	line, err := bufio.NewReader(c).ReadBytes('\n')
	if err != nil {
		return Reply{}, fmt.Errorf("the program that started the agent has not answered: %w", err)
	}
	return parseReply(line[:len(line)-1])
}

// gatewayAt is the MCP server of an agent in the sandbox: it connects the agent with the gateway. It returns the exit code.
func gatewayAt(path string, in *os.File, out, errs io.Writer) int {
	c, err := net.Dial("unix", path)
	if err == nil {
		_, err = io.WriteString(c, DoorGateway+"\n")
	}
	if err != nil {
		_, _ = fmt.Fprintf(errs, "mycelium: the gateway is not reached: %v\n", err)
		return 1
	}
	defer func() { _ = c.Close() }()
	go func() {
		_, _ = io.Copy(c, in)
		_ = c.(*net.UnixConn).CloseWrite()
	}()
	_, _ = io.Copy(out, c)
	return 0
}
