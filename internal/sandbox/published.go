package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/sandbox/jail"
)

// A server that a command starts listens on the command's own loopback. While the command runs, it is reached at the same port of the
// machine's loopback too, as if there were no sandbox, by the person's browser. Its port stands as the name of a file in a folder of the
// session, which is locked as long. Other commands of the session find it at that port of their own loopback.

// lookAtPorts is the time between two looks at the ports of a command. Most commands end before the first.
const lookAtPorts = 250 * time.Millisecond

// published are the servers of a running command that are reached from outside.
type published struct {
	c      *Command
	j      *jail.Jailed
	folder string // of the session
	closed []int  // ports that nobody may take
	err    io.Writer

	open  map[int][]net.Listener
	locks map[int]*atomicfile.Lock // of the files
	local map[int]net.Listener     // those of other commands, on the loopback of this one
	taken map[int]bool             // said to be somebody else's
	conns sync.WaitGroup
}

// publish publishes the servers of a command until end is called, which closes the connections that are left.
func (c *Command) publish(ctx context.Context, j *jail.Jailed) (end func()) {
	if !c.serves() {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	p := &published{c: c, j: j, local: map[int]net.Listener{}, locks: map[int]*atomicfile.Lock{}, folder: c.Serves, closed: c.ClosedPorts, err: c.Err, open: map[int][]net.Listener{}, taken: map[int]bool{}}
	for port, l := range j.Local {
		p.bring(ctx, l, port)
	}
	go func() {
		defer close(done)
		tick := time.NewTicker(lookAtPorts)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				for port := range p.open {
					p.close(port)
				}
				for _, l := range p.local {
					_ = l.Close()
				}
				return
			case <-tick.C:
				p.look(ctx)
			}
		}
	}()
	return func() {
		stop()
		<-done
		p.conns.Wait()
	}
}

// serves reports whether servers of the command are reached, and the command reaches those of its session.
func (c *Command) serves() bool { return c.Serves != "" && !c.Profile.Network && c.Profile.Fork }

// reach connects to a server of the session. Once its command is over, or was killed, another program may have the port.
func (c *Command) reach(port int) (net.Conn, error) {
	if held, err := atomicfile.Locked(filepath.Join(c.Serves, strconv.Itoa(port))); err != nil || !held {
		return nil, errors.Join(err, net.ErrClosed)
	}
	return (&net.Dialer{Timeout: time.Second}).Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

// mostPorts is how many servers of other commands a command finds ([jail.Spec]).
const mostPorts = 64

// ports are those of the servers that other commands of the session have started. A name without a server is of a program that was killed.
func (c *Command) ports() (out []int) {
	if !c.serves() {
		return nil
	}
	for _, port := range c.portNames() {
		if conn, err := c.reach(port); err == nil && len(out) < mostPorts {
			_ = conn.Close()
			out = append(out, port)
		}
	}
	return out
}

// portNames are the ports that stand in the folder of the session.
func (c *Command) portNames() (out []int) {
	entries, err := os.ReadDir(c.Serves)
	if err != nil {
		return nil // none has started one
	}
	for _, e := range entries {
		if port, err := strconv.ParseUint(e.Name(), 10, 16); err == nil && port > 0 {
			out = append(out, int(port))
		}
	}
	return out
}

// look publishes new servers, and takes back those that are gone.
func (p *published) look(ctx context.Context) {
	p.others(ctx)
	ports := p.j.Ports()
	for port := range p.open {
		if !slices.Contains(ports, port) {
			p.close(port)
		}
	}
	for _, port := range ports {
		if p.open[port] == nil && p.local[port] == nil && !p.taken[port] {
			p.publish(ctx, port)
		}
	}
}

// others brings servers of other commands that have started meanwhile, and takes those back that are gone.
func (p *published) others(ctx context.Context) {
	for port, l := range p.local {
		if held, err := atomicfile.Locked(p.file(port)); err != nil || !held {
			_ = l.Close()
			delete(p.local, port)
		}
	}
	for _, port := range p.c.portNames() {
		if p.open[port] != nil || p.local[port] != nil || len(p.local) >= mostPorts {
			continue
		}
		if held, err := atomicfile.Locked(p.file(port)); err != nil || !held {
			continue
		}
		if l, err := p.j.Listen(port); err == nil { // else the command has a server of its own there
			p.bring(ctx, l, port)
		}
	}
}

// bring serves a server of another command on the loopback of this one.
func (p *published) bring(ctx context.Context, l net.Listener, port int) {
	p.local[port] = l
	p.conns.Go(func() { p.serve(ctx, l, func() (net.Conn, error) { return p.c.reach(port) }) })
}

// privileged are the ports below which only root may listen (ip(7), ip_unprivileged_port_start).
const privileged = 1024

// publish publishes a server at a port, or says once why it is not.
func (p *published) publish(ctx context.Context, port int) {
	at := func(host string) (net.Listener, error) {
		return net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	}
	four, err := net.Listener(nil), error(nil)
	switch {
	case port < privileged:
		err = fmt.Errorf("ports below %d are the system's", privileged)
	case slices.Contains(p.closed, port):
		err = errors.New("it is the port of Mycelium")
	default:
		four, err = at("127.0.0.1")
	}
	if err != nil {
		p.taken[port] = true
		if p.err == nil {
			return
		}
		_, _ = fmt.Fprintf(p.err, "myc: the server at port %d is reached inside of the sandbox only: %v\n", port, err)
		return
	}
	p.open[port] = []net.Listener{four}
	if six, err := at("::1"); err == nil { // not every machine has it
		p.open[port] = append(p.open[port], six)
	}
	if err := os.MkdirAll(p.folder, 0o700); err == nil {
		p.locks[port], _ = atomicfile.LockWait(p.file(port), time.Second) // without it, only the machine reaches the server
	}
	for _, l := range p.open[port] {
		p.conns.Go(func() { p.serve(ctx, l, func() (net.Conn, error) { return p.j.Dial(port) }) })
	}
}

// close takes back a server.
func (p *published) close(port int) {
	for _, l := range p.open[port] {
		_ = l.Close()
	}
	delete(p.open, port)
	if lock := p.locks[port]; lock != nil {
		_ = os.Remove(p.file(port))
		_ = lock.Unlock()
	}
	delete(p.locks, port)
}

// file is the file that tells other commands of the session of a port.
func (p *published) file(port int) string { return filepath.Join(p.folder, strconv.Itoa(port)) }

// serve connects whoever comes with a server.
func (p *published) serve(ctx context.Context, l net.Listener, dial func() (net.Conn, error)) {
	for {
		from, err := l.Accept()
		if err != nil {
			return
		}
		p.conns.Go(func() {
			defer from.Close()
			to, err := dial()
			if err != nil {
				return // as if the server had ended the connection
			}
			defer to.Close()
			defer context.AfterFunc(ctx, func() { // the command is over, and its server with it
				_, _ = from.Close(), to.Close()
			})()
			join(from, to)
		})
	}
}

// join copies between two connections until both sides have ended.
func join(a, b net.Conn) {
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			_, _ = io.Copy(way[1], way[0])
			if half, ok := way[1].(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
		})
	}
	both.Wait()
}
