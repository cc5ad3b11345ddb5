package web

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// compressible are the media types that are sent compressed. A stream of events is none: each event must leave at once.
var compressible = [...]string{"text/html", "text/css", "text/javascript", "application/json", "application/problem+json",
	"application/yaml", "application/manifest+json", "image/svg+xml"}

// compressed compresses what next writes for clients that take gzip. A page that shows both a secret and a text of a stranger could tell
// the secret by its length, but no other site can have a page made: its requests are not signed.
func compressed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if !takesGzip(r.Header.Values("Accept-Encoding")) || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		c := &compressor{ResponseWriter: w}
		defer c.close()
		next.ServeHTTP(c, r)
	})
}

// takesGzip reports whether a client says that it takes gzip.
func takesGzip(values []string) bool {
	for one := range strings.SplitSeq(strings.Join(values, ","), ",") {
		coding, weight, weighted := strings.Cut(one, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		if !weighted {
			return true
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(weight)), "q="), 64)
		return err == nil && q > 0
	}
	return false
}

// compressor decides with the header of a response whether it is compressed.
type compressor struct {
	http.ResponseWriter
	to   *gzip.Writer // nil: the response is sent as it is
	sent bool         // the header
}

// Unwrap is for [http.ResponseController], by which streams send at once.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader sends the header.
func (c *compressor) WriteHeader(status int) {
	h := c.Header()
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	whole := status >= http.StatusOK && status != http.StatusNotModified && h.Get("Content-Range") == ""
	if !c.sent && whole && h.Get("Content-Encoding") == "" {
		for _, one := range compressible {
			if kind == one {
				h.Set("Content-Encoding", "gzip")
				h.Del("Content-Length")
				c.to = gzip.NewWriter(c.ResponseWriter)
			}
		}
	}
	c.sent = c.sent || status >= http.StatusOK
	c.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (c *compressor) Write(b []byte) (int, error) {
	if !c.sent {
		c.WriteHeader(http.StatusOK)
	}
	if c.to != nil {
		return c.to.Write(b)
	}
	return c.ResponseWriter.Write(b)
}

func (c *compressor) close() {
	if c.to != nil {
		_ = c.to.Close() // a client that has gone reads nothing
	}
}
