package imap

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestest"
)

const password = `pa"ss\wörd`

// mailbox starts a real server with a user who has a mailbox, and returns a way to it under the name example.com, at
// whatever port. implicit: all is said in secret from the begin.
func mailbox(t *testing.T, implicit bool) (*imapmemserver.User, sources.Net) {
	t.Helper()
	web := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	t.Cleanup(web.Close)
	trusting := web.Client().Transport.(*http.Transport).TLSClientConfig
	user := imapmemserver.NewUser("ada@example.com", password)
	memory := imapmemserver.New()
	memory.AddUser(user)
	secret := &tls.Config{Certificates: web.TLS.Certificates}
	server := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return memory.NewSession(), nil, nil
		},
		TLSConfig: secret, Logger: log.New(io.Discard, "", 0),
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr()
	if implicit {
		listener = tls.NewListener(listener, secret)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	n := placestest.Net(t, at)
	n.HTTP = &http.Client{Transport: &http.Transport{TLSClientConfig: trusting}}
	dial := n.Dial
	n.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := dial(ctx, network, at.String())
		return far{conn}, err
	}
	return user, n
}

// far is a connection to another machine, as it looks.
type far struct{ net.Conn }

// RemoteAddr implements net.Conn.
func (far) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 143} }

func settings(port, folder string) sources.Settings {
	return sources.Settings{
		"server": "example.com" + port, "username": "ada@example.com", "password": password, "folder": folder,
	}
}

func add(t *testing.T, u *imapmemserver.User, folder, text string, flags ...imap.Flag) {
	t.Helper()
	text = strings.ReplaceAll(text, "\n", "\r\n")
	options := &imap.AppendOptions{Flags: flags}
	if _, err := u.Append(folder, literal{bytes.NewReader([]byte(text))}, options); err != nil {
		t.Fatal(err)
	}
}

type literal struct{ *bytes.Reader }

func create(t *testing.T, u *imapmemserver.User, folder string) {
	t.Helper()
	if err := u.Create(folder, nil); err != nil {
		t.Fatal(err)
	}
}

// remove removes a mail for good.
func remove(t *testing.T, u *imapmemserver.User, folder string, uid imap.UID) {
	t.Helper()
	s := imapmemserver.NewUserSession(u)
	if _, err := s.Select(folder, &imap.SelectOptions{}); err != nil {
		t.Fatal(err)
	}
	set := imap.UIDSetNum(uid)
	flags := &imap.StoreFlags{Op: imap.StoreFlagsAdd, Silent: true, Flags: []imap.Flag{imap.FlagDeleted}}
	if err := s.Store(nil, set, flags, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Expunge(nil, &set); err != nil {
		t.Fatal(err)
	}
}

const folder = "Verträge & Co/日本 😀"

func TestMailsOfARealServer(t *testing.T) {
	const letter = "From: =?utf-8?q?Ada_L=C3=B6velace?= <ada@example.com>\nSubject: =?iso-8859-1?q?Gr=F6=DFe?= of\n" +
		" a/b: the lease\nDate: Wed, 04 Mar 2026 10:00:00 +0100\n\n"
	large := letter + strings.Repeat("({5}\n\"( a line of a large mail )\n", 20_000)
	for _, way := range []struct {
		port     string
		implicit bool
	}{{"", true}, {":993", true}, {":143", false}} {
		user, n := mailbox(t, way.implicit)
		create(t, user, folder)
		add(t, user, folder, letter+"Three months.\n")
		add(t, user, folder, large)
		add(t, user, folder, "No head at all")
		add(t, user, folder, letter+"Marked as deleted.\n", imap.FlagDeleted)
		for i := range 2*atOnce + 3 { // more than are asked for at once
			add(t, user, folder, fmt.Sprintf("Subject: =?x?b?!?= %d\nFrom: bob at home\n\nText", i))
		}
		p := placestest.Open(t, Kind(), settings(way.port, folder), n)
		if err := p.Check(t.Context()); err != nil {
			t.Fatalf("port %q: %v", way.port, err)
		}
		items, err := placestest.List(t, p)
		if err != nil || len(items) != 2*atOnce+6 {
			t.Fatalf("port %q: %d items, %v, want %d", way.port, len(items), err, 2*atOnce+6)
		}
		first, odd := items["1:1"], items["1:5"]
		if first.Name != "2026-03-04 Größe of a-b- the lease.eml" || first.Version == "" || first.Size < 100 ||
			first.Meta["title"] != "Größe of a/b: the lease" || first.Meta["author"] != "Ada Lövelace" ||
			first.Meta["date"] != "2026-03-04" {
			t.Errorf("a mail is listed as %+v", first)
		}
		if odd.Meta["author"] != "bob at home" || !strings.Contains(odd.Name, " 0.eml") {
			t.Errorf("a mail with an odd head is listed as %+v", odd)
		}
		if bare := items["1:3"]; !strings.HasSuffix(bare.Name, " mail 3.eml") {
			t.Errorf("a mail without a head is listed as %+v", bare)
		}
		for key, want := range map[string]string{"1:1": letter + "Three months.\n", "1:2": large} {
			text, _, err := placestest.Read(t, p, items[key], "")
			if err != nil || text != strings.ReplaceAll(want, "\n", "\r\n") {
				t.Errorf("mail %s has %d bytes, %v, want %d", key, len(text), err, len(want))
			}
		}
		if _, _, err := placestest.Read(t, p, first, first.Version); !errors.Is(err, sources.ErrSame) {
			t.Errorf("the same mail: %v, want ErrSame", err)
		}
		status, err := user.Status(folder, &imap.StatusOptions{NumUnseen: true, NumMessages: true})
		if err != nil || *status.NumUnseen != *status.NumMessages {
			t.Errorf("%d of %d mails are unread, %v, want all", *status.NumUnseen, *status.NumMessages, err)
		}
	}
}

func TestMailsThatAreGone(t *testing.T) {
	user, n := mailbox(t, true)
	create(t, user, "INBOX")
	for range 3 {
		add(t, user, "INBOX", "Subject: a\n\nText")
	}
	p := placestest.Open(t, Kind(), settings("", ""), n)
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 3 {
		t.Fatalf("items = %v, %v, want three", items, err)
	}
	if _, _, err := placestest.Read(t, p, items["1:1"], ""); err != nil { // its connection is kept
		t.Fatal(err)
	}
	remove(t, user, "INBOX", 2)
	for range 2 {
		if _, _, err := placestest.Read(t, p, items["1:2"], ""); !errors.Is(err, sources.ErrGone) {
			t.Errorf("a mail that was removed: %v, want ErrGone", err)
		}
	}
	if text, _, err := placestest.Read(t, p, items["1:3"], ""); err != nil || !strings.HasSuffix(text, "Text") {
		t.Errorf("the next mail = %q, %v", text, err)
	}
	if err := user.Delete("INBOX"); err != nil {
		t.Fatal(err)
	}
	create(t, user, "INBOX")
	add(t, user, "INBOX", "Subject: another\n\nText")
	p = placestest.Open(t, Kind(), settings("", ""), n)
	if _, _, err := placestest.Read(t, p, items["1:1"], ""); !errors.Is(err, sources.ErrGone) {
		t.Errorf("a mail of a folder that was made anew: %v, want ErrGone", err)
	}
	if items, err := placestest.List(t, p); err != nil || len(items) != 1 || items["2:1"].Meta["title"] != "another" {
		t.Errorf("items of a folder that was made anew = %v, %v", items, err)
	}
}

func TestWhatARealServerRefuses(t *testing.T) {
	user, n := mailbox(t, true)
	create(t, user, "INBOX")
	wrong := settings("", "")
	wrong["password"] = "wrong"
	for name, test := range map[string]struct {
		settings sources.Settings
		code     chat.Code
	}{
		"wrong password": {wrong, chat.CodeUnauthorized},
		"no such folder": {settings("", "none"), chat.CodeInvalid},
	} {
		p := placestest.Open(t, Kind(), test.settings, n)
		placestest.WantCode(t, name, p.Check(t.Context()), test.code)
		_, err := placestest.List(t, p)
		placestest.WantCode(t, name, err, test.code)
	}
	n.HTTP = &http.Client{Transport: &http.Transport{}} // which trusts nobody here
	p := placestest.Open(t, Kind(), settings("", ""), n)
	placestest.WantCode(t, "a certificate of nobody", p.Check(t.Context()), chat.CodeUnavailable)
	inside := settings("", "")
	inside["server"] = "169.254.169.254"
	p = placestest.Open(t, Kind(), inside, placestest.Net(t))
	placestest.WantCode(t, "an address inside", p.Check(t.Context()), chat.CodeForbidden)
}
