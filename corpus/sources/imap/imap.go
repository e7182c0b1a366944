// Package imap is the kind of place that is a folder of mails on a server that speaks IMAP. It changes nothing there:
// the folder is opened for reading alone, and no mail is marked as read.
//
// It speaks IMAP4rev1 (RFC 3501), which servers of IMAP4rev2 (RFC 9051) speak as well, and only the commands that
// reading needs: CAPABILITY, STARTTLS, LOGIN or AUTHENTICATE PLAIN, EXAMINE, UID SEARCH, UID FETCH with BODY.PEEK,
// LOGOUT. wire.go sends and reads, fetch.go takes answers apart, stop.go continues where a server stopped, mail.go
// reads mails, describe.go names them. A mail is an item: its key is the folder's UIDVALIDITY and the mail's UID (RFC
// 3501 §2.3.1.1), which together never name another mail.
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
// All but the port are choices. A connection is kept for 20 seconds, since mails are fetched one after the other and
// each log-in costs several round trips.
const (
	maxMail  = 512 << 20        // bytes of a mail
	maxNames = 1000             // bytes of a setting
	atOnce   = 200              // mails that are asked for in one command of a list
	idle     = 20 * time.Second // that a connection waits for the next mail that is fetched
	goodbye  = time.Second      // that a server may take to hear the last word

	securePort = "993"   // where all is said in secret from the begin
	version    = "fixed" // mails do not change
)

// Kind is a folder of mails.
//
// Without a port, 993 is taken, where TLS begins at once. At any other port the server has to offer STARTTLS, unless
// it is on this machine.
func Kind() sources.Kind {
	return sources.Kind{
		Name:  "imap",
		Title: locale.T("Mail folder (IMAP)"),
		Help: locale.T("The mails of one folder. Nothing is changed there, and none is marked as read. Many servers " +
			"want an app password."),
		Fields: []sources.Field{{
			Name: "server", Title: locale.T("Mail server"), Required: true, Example: "imap.example.org:993",
			Help: locale.T("Without a port it is 993. At other ports the server must offer STARTTLS, unless it is on " +
				"this machine."),
		}, {
			Name: "username", Title: locale.T("User name"), Required: true, Login: true, Example: "ada@example.org",
		}, {
			Name: "password", Title: locale.T("Password"), Required: true, Secret: true,
		}, {
			Name: "folder", Title: locale.T("Folder"), Example: "Archive/2026",
			Help: locale.T("Leave it empty for the inbox."),
		}},
		Open: open,
	}
}

// box is a folder of mails. kept is the connection of the last Fetch; only one goroutine uses a place.
//
// end is the timer that ends what is kept. The password is in memory for as long as the place is open.
type box struct {
	net                    sources.Net
	host, port             string
	user, password, folder string
	kept                   *session // the connection that fetched last
	end                    *time.Timer
}

// session is a connection with its folder open. validity is the folder's UIDVALIDITY.
//
// Numbers of mails hold only together with validity: a server that makes a folder anew may give them again.
type session struct {
	*wire
	validity uint32
}

// open checks what an owner entered, and connects to nothing. A bare IPv6 address has colons of its own, so it needs
// brackets. Control characters are refused everywhere, as they could end a command and begin another.
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
			Code: chat.CodeInvalid, Err: err, Message: "Mail server: enter its name, like imap.example.org:993.",
		}
	}
	b := &box{
		net: n, host: host, port: port, user: s["username"], password: s["password"],
		folder: cmp.Or(s["folder"], "INBOX"),
	}
	for _, f := range Kind().Fields {
		if value := s[f.Name]; len(value) > maxNames || strings.ContainsFunc(value, unicode.IsControl) {
			return nil, &chat.Error{
				Code: chat.CodeInvalid, Message: "User name, password and folder: enter one line of each.",
			}
		}
	}
	return b, nil
}

var (
	errNoServer = &chat.Error{
		Code: chat.CodeInvalid, Message: "There is no mail server for IMAP at this address. Check it and the port.",
	}
	errOpen = &chat.Error{
		Code:    chat.CodeInvalid,
		Message: "The mail server offers no encryption at this port. Take port 993, or ask who runs it.",
	}
	errNoFolder = &chat.Error{
		Code: chat.CodeInvalid, Message: "There is no folder of this name on the mail server. Check it.",
	}
	errBroken = &chat.Error{
		Code:    chat.CodeUnavailable,
		Message: "What the server says of a folder can't be read. It is asked again later.",
	}
)

// explain makes a sentence of what went wrong. The codes are response codes of RFC 5530. What else a server says is not
// shown.
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

// connect opens the folder. The connection ends with ctx until release is called. AfterFunc closes the connection when
// ctx ends, which wakes any read on it.
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

// enter greets the server and opens the folder. The order is the protocol's: greeting, capabilities, TLS, login,
// folder. Capabilities are asked again after TLS, as those before could have been forged (RFC 3501 §6.2.1).
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
	if err := s.able(); err != nil {
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
	case no.code == "UNAVAILABLE", no.code == "LIMIT", no.code == "INUSE", no.code == "SERVERBUG":
		return request.Failed(http.StatusTooManyRequests)
	default:
		return request.Failed(http.StatusUnauthorized)
	}
	var err error
	s.validity, err = s.examine(b.folder)
	passing := []string{"NOPERM", "LIMIT", "INUSE", "UNAVAILABLE", "SERVERBUG"}
	if errors.As(err, &no) && !slices.Contains(passing, no.code) {
		return errNoFolder
	}
	return err
}

// upgrade begins TLS on a connection without. Only what stays on this machine may go without it. A server may forbid
// passwords without TLS (LOGINDISABLED).
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
	return s.able()
}

// tls trusts whom the net trusts for HTTP. Tests give their own certificate that way.
func (b *box) tls() *tls.Config {
	config := &tls.Config{ServerName: b.host, MinVersion: tls.VersionTLS12}
	if way, ok := b.net.HTTP.Transport.(*http.Transport); ok && way.TLSClientConfig != nil {
		config.RootCAs = way.TLSClientConfig.RootCAs
	}
	return config
}

// Check implements sources.Place. It goes as far as opening the folder, so a wrong folder is told as well as a wrong
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

// leave ends a connection after a whole answer. It waits for no answer.
func (w *wire) leave() {
	_ = w.conn.SetWriteDeadline(time.Now().Add(goodbye))
	_, _ = io.WriteString(w.conn, "f0 LOGOUT\r\n")
	_ = w.conn.Close() // nothing was written to it that matters
}

// List implements sources.Place. The newest mails come first. UIDs grow with time, so the highest are the newest. They
// are asked for in portions, as a line of a command has a bound.
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
				if !ok { // it may have gone this moment: Fetch will tell
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

// keyOf names a mail for as long as its folder lives. When the folder gets another UIDVALIDITY its mails get other
// keys, and are read anew.
func keyOf(validity, uid uint32) string { return fmt.Sprintf("%d:%d", validity, uid) }
