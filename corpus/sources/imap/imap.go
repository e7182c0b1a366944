// Package imap implements the kind of place that is a mail folder on an IMAP server. It changes nothing there: the
// folder is opened read-only, and no mail is marked as read.
//
// It uses IMAP4rev1 (RFC 3501), which IMAP4rev2 servers (RFC 9051) also support, with the commands for reading:
// CAPABILITY, STARTTLS, LOGIN or AUTHENTICATE PLAIN, EXAMINE, UID SEARCH, UID FETCH with BODY.PEEK, LOGOUT.
//
// wire.go implements the connection, fetch.go parses responses, stop.go continues after a server's message limit,
// mail.go streams mails, describe.go names them. A mail is an item. Its key is the folder's UIDVALIDITY and the
// mail's UID (RFC 3501 §2.3.1.1), which together are never reused.
package imap

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/text/locale"
)

// Limits of a folder.
//
// Port 993 is IMAP over TLS (RFC 8314 §3.2).
//
// All values but the port are estimates. A connection is cached for 20 seconds, since mails are fetched one after
// the other and each login costs several round trips.
const (
	maxMail  = 512 << 20        // bytes of a mail
	maxNames = 1000             // bytes of a setting
	atOnce   = 200              // mails in a batch of a list
	idle     = 20 * time.Second // time for which a connection is cached for the next Fetch
	goodbye  = time.Second      // timeout for sending LOGOUT

	securePort = "993"   // TLS from the start
	version    = "fixed" // mails do not change
)

// Kind returns the kind of place for a mail folder.
//
// The default port is 993, with TLS from the start. At any other port the server must support STARTTLS, unless it is
// on this machine.
func Kind() sources.Kind {
	return sources.Kind{
		Name:  "imap",
		Title: locale.T("Mailbox folder (IMAP)"),
		Help: locale.T("Mail from one mailbox folder. Nothing is changed or marked as read. Many servers require an " +
			"app password."),
		Fields: []sources.Field{{
			Name: "server", Title: locale.T("Mail server"), Required: true, Example: "imap.example.org:993",
			Help: locale.T("The default port is 993. Other ports must support STARTTLS, unless the server is on this " +
				"machine."),
		}, {
			Name: "username", Title: locale.T("Username"), Required: true, Login: true, Example: "ada@example.org",
		}, {
			Name: "password", Title: locale.T("Password"), Required: true, Secret: true,
		}, {
			Name: "folder", Title: locale.T("Folder"), Example: "Archive/2026",
			Help: locale.T("Leave empty for the inbox."),
		}},
		Open: open,
	}
}

// box is a mail folder. kept is the cached connection of the last Fetch. A place is used by one goroutine.
//
// end is the timer that closes the cached connection. The password is in memory while the place is open.
type box struct {
	net                    sources.Net
	host, port             string
	user, password, folder string
	kept                   *session // the cached connection of the last Fetch
	end                    *time.Timer
}

// session is a connection with an open folder. validity is the folder's UIDVALIDITY.
//
// UIDs are only valid together with validity: a server that recreates a folder may reuse them.
type session struct {
	*wire
	validity uint32
}

// open validates the settings without a connection. An IPv6 address with a port needs brackets. Control characters
// are rejected in all fields, as they could inject a command.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	server := s["server"]
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		host, port = strings.Trim(server, "[]"), securePort
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 || host == "" || len(host) > 255 || strings.ContainsAny(host, "/@?#[] \t") ||
		strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Err: err, Message: "Mail server: enter an address like imap.example.org:993.",
		}
	}
	b := &box{
		net: n, host: host, port: port, user: s["username"], password: s["password"],
		folder: cmp.Or(s["folder"], "INBOX"),
	}
	for _, f := range Kind().Fields {
		if value := s[f.Name]; len(value) > maxNames || strings.ContainsFunc(value, unicode.IsControl) {
			return nil, &chat.Error{
				Code: chat.CodeInvalid, Message: "Username, password and folder: enter one line each.",
			}
		}
	}
	return b, nil
}

var (
	errNoServer = &chat.Error{
		Code: chat.CodeInvalid, Message: "No IMAP server found at this address. Check the address and port.",
	}
	errOpen = &chat.Error{
		Code:    chat.CodeInvalid,
		Message: "The mail server doesn't support encryption on this port. Use port 993, or contact its administrator.",
	}
	errNoFolder = &chat.Error{
		Code: chat.CodeInvalid, Message: "Folder not found on the mail server. Check its name.",
	}
	errBroken = &chat.Error{
		Code:    chat.CodeUnavailable,
		Message: sources.Retried("The server returned an unexpected response."),
	}
)

// explain converts an error into a user-facing one. The codes are response codes of RFC 5530. The server's own
// message is untrusted and not shown.
func explain(ctx context.Context, err error) error {
	var no *refusal
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &no):
		switch no.code {
		case "NOPERM":
			return request.Failed(http.StatusForbidden)
		case "LIMIT", "INUSE":
			return request.Failed(http.StatusTooManyRequests)
		}
		return errBroken
	case errors.Is(err, errBye):
		return request.Failed(http.StatusTooManyRequests)
	case errors.Is(err, errForm), errors.Is(err, errLong):
		return errBroken
	}
	return request.Explain(ctx, err)
}

// connect opens a connection and the folder. context.AfterFunc closes the connection when ctx is cancelled, which
// unblocks reads, until release is called.
func (b *box) connect(ctx context.Context) (s *session, release func() bool, err error) {
	dialing, cancel := context.WithTimeout(ctx, sources.CallTime)
	defer cancel()
	conn, err := b.net.Dial(dialing, "tcp", net.JoinHostPort(b.host, b.port))
	if err != nil {
		return nil, nil, explain(ctx, err)
	}
	release = context.AfterFunc(ctx, func() { _ = conn.Close() })
	s = &session{wire: newWire(conn)}
	if err := b.enter(ctx, s); err != nil {
		release()
		_ = conn.Close()
		return nil, nil, explain(ctx, err)
	}
	return s, release, nil
}

// enter logs in and opens the folder. The order is the protocol's: greeting, capabilities, TLS, login, folder.
// Capabilities are requested again after TLS, as earlier ones could have been forged (RFC 3501 §6.2.1).
func (b *box) enter(ctx context.Context, s *session) error {
	if b.port == securePort {
		if err := s.secure(ctx, b.tls()); err != nil {
			return err
		}
	}
	switch hello, err := s.response(); {
	case errors.Is(err, errForm), err == nil && hello.tag != "*":
		return errNoServer
	case err != nil:
		return err
	case hello.word == "BYE":
		return errBye
	case hello.word != "OK":
		return errNoServer
	}
	if err := s.readCapabilities(); err != nil {
		return err
	}
	if b.port != securePort {
		if err := b.upgrade(ctx, s); err != nil {
			return err
		}
	}
	var no *refusal
	switch err := s.login(b.user, b.password); {
	case !errors.As(err, &no):
		if err != nil {
			return err
		}
	case slices.Contains(temporary, no.code):
		return request.Failed(http.StatusTooManyRequests)
	default:
		return request.Failed(http.StatusUnauthorized)
	}
	var err error
	s.validity, err = s.examine(b.folder)
	if errors.As(err, &no) && no.code != "NOPERM" && !slices.Contains(temporary, no.code) {
		return errNoFolder
	}
	return err
}

// temporary are the response codes of RFC 5530 for a refusal that may end by itself.
var temporary = []string{"LIMIT", "INUSE", "UNAVAILABLE", "SERVERBUG"}

// upgrade starts TLS with STARTTLS. A connection without TLS is allowed on the loopback interface only, unless the
// server forbids passwords without TLS (LOGINDISABLED).
func (b *box) upgrade(ctx context.Context, s *session) error {
	at, ok := s.conn.RemoteAddr().(*net.TCPAddr)
	switch {
	case ok && at.IP.IsLoopback() && !s.can["LOGINDISABLED"]:
		return nil
	case !s.can["STARTTLS"]:
		return errOpen
	}
	if err := s.run("STARTTLS", nil); err != nil {
		return err
	}
	if err := s.secure(ctx, b.tls()); err != nil {
		return err
	}
	return s.readCapabilities()
}

// tls returns a configuration with the root certificates of the Net's HTTP transport. Tests set their own
// certificate there.
func (b *box) tls() *tls.Config {
	config := &tls.Config{ServerName: b.host, MinVersion: tls.VersionTLS12}
	if way, ok := b.net.HTTP.Transport.(*http.Transport); ok && way.TLSClientConfig != nil {
		config.RootCAs = way.TLSClientConfig.RootCAs
	}
	return config
}

// Check implements sources.Place. It logs in and opens the folder, so a wrong folder fails as well as a wrong
// password.
func (b *box) Check(ctx context.Context) error {
	s, release, err := b.connect(ctx)
	if err != nil {
		return err
	}
	release()
	s.leave()
	return nil
}

// leave logs out after a complete response and closes the connection. It does not wait for the server's response.
func (w *wire) leave() {
	_ = w.conn.SetWriteDeadline(time.Now().Add(goodbye))
	_, _ = io.WriteString(w.conn, "f0 LOGOUT\r\n")
	_ = w.conn.Close() // all data was read
}

// List implements sources.Place. UIDs grow with time, so the highest are listed first as the newest. They are
// requested in batches, since servers limit the length of a command line.
func (b *box) List(ctx context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		s, release, err := b.connect(ctx)
		if err != nil {
			yield(sources.Item{}, err)
			return
		}
		defer func() {
			release()
			_ = s.conn.Close()
		}()
		uids, err := s.search()
		if err != nil {
			yield(sources.Item{}, explain(ctx, err))
			return
		}
		slices.Sort(uids)
		uids = slices.Compact(uids)
		slices.Reverse(uids)
		for some := range slices.Chunk(uids[:min(len(uids), sources.MaxItems+1)], atOnce) {
			told, err := s.headers(some)
			if err != nil {
				yield(sources.Item{}, explain(ctx, err))
				return
			}
			for _, uid := range some {
				a, ok := told[uid]
				if !ok { // it may be deleted: Fetch returns the error
					a = about{uid: uid, size: -1}
				}
				if !yield(a.item(s.validity), nil) {
					return
				}
			}
		}
		s.leave()
	}
}

// keyOf returns the key of a mail, which is valid while its folder exists. A new UIDVALIDITY changes the keys, so
// the mails are fetched again.
func keyOf(validity, uid uint32) string { return fmt.Sprintf("%d:%d", validity, uid) }
