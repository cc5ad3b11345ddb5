package web

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
	"mycelium/internal/web"
	"mycelium/internal/web/certificate"
	"mycelium/internal/web/device"
	"mycelium/internal/web/served"
	"mycelium/internal/web/signature"
)

// keyType and keyDevice are how the file of a key says what it is, and whose.
const (
	keyType   = "PRIVATE KEY"
	keyDevice = "Device"
)

func (a *app) addCmd() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "add NAME", Short: "Make a key for a program of yours", Example: "  myc web devices add backup --key ~/.config/backup/mycelium.pem",
		Long: "Make a key with which a program signs its requests to the API of the pages, and write it into a file that only you can read.\n" +
			"Whoever has the file can answer the calls of your agents in your name, for 90 days, or until you revoke the device.",
		Args: base.ArgRange(1, 1, "the name of one program"),
		RunE: func(c *cobra.Command, args []string) error { return a.addDevice(c.Context(), args[0], file) },
	}
	c.Flags().StringVar(&file, "key", "", "file to write the key into; there must be none")
	return c
}

func (a *app) addDevice(ctx context.Context, name, file string) error {
	if err := a.NeedPerson(actAdd); err != nil {
		return err
	}
	if file == "" {
		return failure.Usagef("web devices add: --key names the file to write the key into")
	}
	root, err := a.root()
	if err != nil {
		return err
	}
	private, public, err := signature.NewPrivate()
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return fmt.Errorf("write a key: %w", err)
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return failure.Hint(fmt.Errorf("web devices add: %w", err), "name a file that is not there yet, in a folder that is")
	}
	book := device.Open(root, nil)
	d, err := book.Add(name, public)
	if err == nil {
		if err = a.record(ctx, root, "cli", web.Sign{Act: "device added", Device: d.ID, Name: d.Name}, "device added: "+d.ID); err != nil {
			_ = book.Revoke(d.ID) // what is not recorded is not done
		}
	}
	if err == nil {
		err = pem.Encode(out, &pem.Block{Type: keyType, Headers: map[string]string{keyDevice: d.ID}, Bytes: der})
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	if a.JSON {
		return a.PrintJSON(map[string]string{"device": d.ID, "key": file})
	}
	fmt.Fprintf(a.Out, "%s is signed in, until %s. Its key is in %s.\n", d.ID, d.Expires.Local().Format("2006-01-02"), file)
	return nil
}

// keyOf reads the file of a key.
func keyOf(file string) (k signature.Key, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return k, failure.Hint(fmt.Errorf("web request: %w", err), "myc web devices add NAME --key FILE makes a key")
	}
	block, _ := pem.Decode(b)
	if block != nil && block.Type == keyType {
		private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if key, is := private.(*ecdsa.PrivateKey); err == nil && is {
			return signature.Key{Device: block.Headers[keyDevice], Private: key}, nil
		}
	}
	return k, failure.Usagef("web request: %s is no key that myc web devices add has made", file)
}

func (a *app) requestCmd() *cobra.Command {
	var file, data string
	c := &cobra.Command{
		Use: "request PATH | METHOD PATH", Short: "Send a request to the API of the pages, signed with a key",
		Example: "  myc web request --key ~/.config/backup/mycelium.pem /api/approvals\n" +
			"  myc web request --key KEY POST /api/approvals/PROJECT/ID --data '{\"allow\":false,\"digest\":\"…\"}'",
		Long: "Sign a request with the key of myc web devices add, send it to the pages that are served on this machine, and print the answer.",
		Args: base.ArgRange(1, 2, "a path, and a method before it"),
		RunE: func(c *cobra.Command, args []string) error {
			method := http.MethodGet
			if len(args) == 2 {
				method = strings.ToUpper(args[0])
			}
			return a.request(c.Context(), file, method, args[len(args)-1], data)
		},
	}
	c.Flags().StringVar(&file, "key", "", "file with the key")
	c.Flags().StringVar(&data, "data", "", "what is sent, as JSON")
	return c
}

func (a *app) request(ctx context.Context, file, method, path, data string) error {
	if err := a.NeedPerson(actRequest); err != nil {
		return err
	}
	if file == "" {
		return failure.Usagef("web request: --key names the file with the key")
	}
	root, err := a.root()
	if err != nil {
		return err
	}
	key, err := keyOf(file)
	if err != nil {
		return err
	}
	n, runs, err := served.Look(root)
	if err == nil && !runs {
		err = failure.New(failure.Unavailable, errors.New("web request: the pages are not served"), "myc web serves them; so does myc serve")
	}
	if err != nil {
		return err
	}
	transport := &http.Transport{}
	scheme := "http"
	if strings.HasPrefix(n.Base, "https:") {
		scheme = "https"
		if n.Fingerprint != "" {
			//nolint:gosec // the server noted the fingerprint of its certificate in the state of the user, and it is compared
			transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(c tls.ConnectionState) error {
				if certificate.Fingerprint(tls.Certificate{Certificate: [][]byte{c.PeerCertificates[0].Raw}}) != n.Fingerprint {
					return errors.New("the certificate is another one than that of the pages")
				}
				return nil
			}}
		}
	}
	_, port, _ := strings.Cut(n.Addr[strings.LastIndex(n.Addr, "]")+1:], ":")
	r, err := http.NewRequestWithContext(ctx, method, scheme+"://127.0.0.1:"+port+path, bytes.NewReader([]byte(data)))
	if err != nil || !strings.HasPrefix(path, "/") {
		return failure.Usagef("web request: %q is no path of the pages: it begins with /", path)
	}
	if data != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	got, err := (&http.Client{Transport: &signature.Transport{Key: key, Next: transport}}).Do(r)
	if err != nil {
		return fmt.Errorf("web request: %w", err)
	}
	defer got.Body.Close()
	if got.StatusCode >= http.StatusBadRequest {
		said, _ := io.ReadAll(io.LimitReader(got.Body, 64<<10))
		return failure.Usagef("web request: %s: %s", got.Status, text.Visible(strings.TrimSpace(string(said))))
	}
	_, err = io.Copy(a.Out, got.Body)
	return err
}
