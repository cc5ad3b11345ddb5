package proxy

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"time"

	"mycelium/internal/text"
)

// SOCKS 5 (RFC 1928): its version, the one command and the one way to log in that are known here, and the kinds of addresses.
const (
	socksVersion = 5
	socksConnect = 1
	socksNoLogin = 0

	socksIPv4 = 1
	socksName = 3
	socksIPv6 = 4
)

// The replies of SOCKS 5.
const (
	socksDone       = 0
	socksFailed     = 1
	socksNotAllowed = 2
	socksNoCommand  = 7
	socksNoKind     = 8
	socksNoMethods  = 0xff
)

// socks answers a connection that speaks SOCKS 5.
func (p *Proxy) socks(conn buffered) {
	_ = conn.SetReadDeadline(time.Now().Add(headerTime))
	ok, err := socksGreet(conn)
	if err != nil || !ok {
		return
	}
	host, port, reply, err := socksRequest(conn)
	if err != nil {
		return
	}
	if reply != socksDone {
		socksReply(conn, reply)
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	name, addr, err := canonical(host)
	t := target{name, addr, port}
	if err != nil {
		_ = p.refuse(text.Visible(host), err.Error())
		socksReply(conn, socksNotAllowed)
		return
	}
	if err := p.allows(t); err != nil {
		socksReply(conn, socksNotAllowed)
		return
	}
	var up net.Conn
	if !p.intercepts(t) {
		if up, err = p.reach(context.Background(), t); err != nil {
			socksReply(conn, socksFailed)
			return
		}
	}
	if !socksReply(conn, socksDone) {
		closeAll(up)
		return
	}
	p.tunnel(conn, up, t)
}

// socksGreet agrees on how to log in: not at all.
func socksGreet(conn buffered) (bool, error) {
	var head [2]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return false, err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(conn, methods); err != nil {
		return false, err
	}
	for _, m := range methods {
		if m == socksNoLogin {
			_, err := conn.Write([]byte{socksVersion, socksNoLogin})
			return true, err
		}
	}
	_, err := conn.Write([]byte{socksVersion, socksNoMethods})
	return false, err
}

// socksRequest reads where the command wants to go. The name is as it came. A reply other than socksDone says why it goes nowhere.
func socksRequest(in io.Reader) (host string, port uint16, reply byte, err error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return "", 0, 0, err
	}
	length := 0
	switch head[3] {
	case socksIPv4:
		length = 4
	case socksIPv6:
		length = 16
	case socksName:
		var n [1]byte
		if _, err := io.ReadFull(in, n[:]); err != nil {
			return "", 0, 0, err
		}
		length = int(n[0])
	default:
		return "", 0, socksNoKind, nil
	}
	rest := make([]byte, length+2)
	if _, err := io.ReadFull(in, rest); err != nil {
		return "", 0, 0, err
	}
	host, port = string(rest[:length]), binary.BigEndian.Uint16(rest[length:])
	if head[3] != socksName {
		addr, _ := netip.AddrFromSlice(rest[:length])
		host = addr.String()
	}
	switch {
	case head[0] != socksVersion:
		return "", 0, socksFailed, nil
	case head[1] != socksConnect:
		return "", 0, socksNoCommand, nil
	}
	return host, port, socksDone, nil
}

func socksReply(conn net.Conn, reply byte) bool {
	_, err := conn.Write([]byte{socksVersion, reply, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
	return err == nil
}
