package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// intercepts reports whether the proxy itself speaks with a host inside of its tunnel: HTTP without TLS, whose header Host it must see, and
// hosts that have a mask or are those of a registry.
func (p *Proxy) intercepts(t target) bool {
	return t.port == httpPort || len(p.masksFor(t, "https")) > 0 || p.isRegistry(t)
}

// openTunnel connects to the host of a tunnel. It returns nil if the connection is made later, for each request.
func (p *Proxy) openTunnel(r *http.Request, t target) (net.Conn, error) {
	if p.intercepts(t) {
		if p.isRegistry(t) {
			return nil, nil // the packages that the command asks for are decided on
		}
		return nil, p.allows(t)
	}
	return p.reach(r.Context(), t)
}

func closeAll(conns ...net.Conn) {
	for _, c := range conns {
		if c != nil {
			_ = c.Close()
		}
	}
}

// tunnel carries a connection to a host. On port 443 it must begin with the name of that host, in TLS; on another port, which a person
// named, only TLS is looked at, because the host may speak first.
func (p *Proxy) tunnel(conn buffered, up net.Conn, t target) {
	defer closeAll(up)
	switch {
	case t.port == httpPort:
		serveHTTP(conn, p.inTunnel("http", t))
		return
	case up == nil:
		p.intercept(conn, t)
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(conn, up)
		_ = conn.CloseWrite()
	})
	if raw, err := p.begin(conn, t); err == nil {
		if _, err := up.Write(raw); err == nil {
			_, _ = io.Copy(up, conn)
			if err := closeWrite(up); err == nil {
				back.Wait() // the host may still answer
			}
		}
	}
	closeAll(up, conn)
	back.Wait()
}

// begin reads the beginning of a tunnel, and checks it.
func (p *Proxy) begin(conn buffered, t target) ([]byte, error) {
	if t.port == httpsPort {
		_ = conn.SetReadDeadline(time.Now().Add(headerTime))
	}
	first, err := conn.in.Peek(1)
	if err != nil {
		return nil, err
	}
	if first[0] != recordHandshake {
		if t.port == httpsPort {
			return nil, p.refuse(t.String(), "what came on its port 443 is not TLS")
		}
		return nil, nil
	}
	_ = conn.SetReadDeadline(time.Now().Add(headerTime))
	raw, err := p.greeting(conn, t)
	_ = conn.SetReadDeadline(time.Time{})
	if err != nil {
		_, _ = conn.Write(unrecognizedName)
	}
	return raw, err
}

// greeting reads the first message of TLS, and checks that it is for the host of the tunnel.
func (p *Proxy) greeting(in io.Reader, t target) ([]byte, error) {
	h, raw, err := readHello(in)
	switch {
	case err != nil:
		return nil, p.refuse(t.String(), "its TLS does not begin as it must: "+err.Error())
	case h.hidden:
		return nil, p.refuse(t.String(), "its TLS hides the name of the host (encrypted client hello)")
	case h.name == "" && !t.addr.IsValid():
		return nil, p.refuse(t.String(), "its TLS does not name the host")
	case h.name == "":
		return raw, nil
	}
	name, _, err := canonical(h.name)
	if err != nil || name != t.name {
		return nil, p.refuse(t.String(), "its TLS names another host")
	}
	return raw, nil
}

const recordHandshake = 22 // the type of a TLS record (RFC 8446, section 5.1)

// unrecognizedName is the alert with which TLS says that nobody of that name is there (RFC 6066, section 3).
var unrecognizedName = []byte{21, 3, 1, 0, 2, 2, 112}

// hello is what the first message of TLS says.
type hello struct {
	name   string // "": it names nobody
	hidden bool   // the true name may be in an encrypted part
}

// Extensions that hide the name: encrypted client hello (RFC 9849), and the draft before it.
const (
	extensionECH  = 0xfe0d
	extensionESNI = 0xffce
)

var errRead = errors.New("read")

// readHello reads the first message of TLS, and returns it as it came as well.
func readHello(in io.Reader) (hello, []byte, error) {
	var raw bytes.Buffer
	var h *hello
	server := tls.Server(&reading{in: io.TeeReader(in, &raw)}, &tls.Config{ //nolint:gosec // the connection is not made
		MinVersion: tls.VersionTLS10,
		GetConfigForClient: func(i *tls.ClientHelloInfo) (*tls.Config, error) {
			h = &hello{i.ServerName, slices.Contains(i.Extensions, extensionECH) || slices.Contains(i.Extensions, extensionESNI)}
			return nil, errRead
		},
	})
	err := server.HandshakeContext(context.Background())
	if h == nil {
		return hello{}, nil, err
	}
	return *h, raw.Bytes(), nil
}

// reading is a connection that is only read.
type reading struct {
	net.Conn // nil: what is not below is not called
	in       io.Reader
}

// Read reads.
func (r *reading) Read(to []byte) (int, error) { return r.in.Read(to) }

// Write drops the alert that ends a handshake.
func (*reading) Write(b []byte) (int, error) { return len(b), nil }

// Close does nothing.
func (*reading) Close() error { return nil }

// SetWriteDeadline does nothing: nothing is written.
func (*reading) SetWriteDeadline(time.Time) error { return nil }

// intercept speaks TLS with the command in the name of a host that has a mask or is that of a registry.
func (p *Proxy) intercept(conn buffered, t target) {
	raw, err := p.begin(conn, t)
	if err == nil && raw == nil {
		err = p.refuse(t.String(), "its TLS is opened here, and what came is not TLS")
	}
	if err != nil {
		return
	}
	again := buffered{conn.Conn, bufio.NewReader(io.MultiReader(bytes.NewReader(raw), conn.in))}
	secure := tls.Server(again, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.authority.certify(t) },
	})
	ctx, cancel := context.WithTimeout(context.Background(), headerTime)
	err = secure.HandshakeContext(ctx)
	cancel()
	if err != nil {
		return // a client that does not trust the authority of the run ends here, and says so itself
	}
	serveHTTP(secure, p.inTunnel("https", t))
}
