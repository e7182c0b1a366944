package imap

import (
	"bufio"
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
	"testing/synctest"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestest"
)

// near is a connection that appears to be to this machine.
type near struct{ net.Conn }

// RemoteAddr implements net.Conn.
func (near) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 143} }

const (
	cut     = "cut"  // closes the connection
	silence = "hang" // blocks
)

// answers opens a folder on a server with fixed responses by command; others succeed. T stands for a command's tag.
func answers(t *testing.T, said map[string]string) sources.Place {
	t.Helper()
	n := placestest.Net(t)
	n.Dial = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serve(server, said)
		return near{client}, nil
	}
	return placestest.Open(t, Kind(), sources.Settings{
		"server": "mail.example:143", "username": "ada", "password": "secret",
	}, n)
}

func serve(conn net.Conn, said map[string]string) {
	defer conn.Close()
	say := func(text string) bool {
		text, ends := strings.CutSuffix(text, cut)
		text, hangs := strings.CutSuffix(text, silence)
		if _, err := io.WriteString(conn, text); err != nil || ends {
			return false
		}
		if hangs {
			_, _ = io.Copy(io.Discard, conn)
		}
		return !hangs
	}
	hello, ok := said["hello"]
	if !ok {
		hello = "* OK hello\r\n"
	}
	if !say(hello) {
		return
	}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		tag, command, _ := strings.Cut(lines.Text(), " ")
		answer := "T OK done\r\n"
		if strings.HasPrefix(command, "EXAMINE") {
			answer = "* OK [UIDVALIDITY 7] valid\r\nT OK done\r\n"
		}
		for begin, text := range said {
			if strings.HasPrefix(command, begin) {
				answer = text
			}
		}
		if !say(strings.ReplaceAll(answer, "T ", tag+" ")) {
			return
		}
	}
}

const two = "* SEARCH 1 2\r\nT OK done\r\n"

func headOf(uid int) string {
	return fmt.Sprintf("* %d FETCH (FLAGS (\\Seen) UID %d X-ODD ((a) {2}\r\n(() RFC822.SIZE 10 "+
		"BODY[HEADER.FIELDS (SUBJECT FROM DATE)] {14}\r\nSubject: x\r\n\r\n)\r\n", uid, uid)
}

func TestHostileServersEnd(t *testing.T) {
	nested := "* 1 FETCH (BODYSTRUCTURE " + strings.Repeat("(", maxReply+10)
	for name, test := range map[string]struct {
		said map[string]string
		code chat.Code
	}{
		"nobody speaks":            {map[string]string{"hello": cut}, chat.CodeUnavailable},
		"another protocol":         {map[string]string{"hello": "220 mail.example ESMTP\r\n"}, chat.CodeInvalid},
		"a line without end":       {map[string]string{"hello": strings.Repeat("x", 200)}, chat.CodeInvalid},
		"goodbye":                  {map[string]string{"hello": "* BYE too many\r\n"}, chat.CodeUnavailable},
		"a login that is no login": {map[string]string{"LOGIN": "T BAD what\r\n"}, chat.CodeUnauthorized},
		"too many logins":          {map[string]string{"LOGIN": "T NO [LIMIT] wait\r\n"}, chat.CodeUnavailable},
		"no numbers":               {map[string]string{"EXAMINE": "T OK done\r\n"}, chat.CodeUnavailable},
		"no right":                 {map[string]string{"EXAMINE": "T NO [NOPERM] secret\r\n"}, chat.CodeForbidden},
		"no words for it":          {map[string]string{"EXAMINE": "T NO gone\r\n"}, chat.CodeInvalid},
		"no encryption": {map[string]string{
			"CAPABILITY": "* CAPABILITY LOGINDISABLED\r\nT OK x\r\n",
		}, chat.CodeInvalid},
		"words before the encryption": {map[string]string{
			"CAPABILITY": "* CAPABILITY LOGINDISABLED STARTTLS\r\nT OK x\r\n",
			"STARTTLS":   "T OK go\r\n* CAPABILITY AUTH=PLAIN\r\n",
		}, chat.CodeUnavailable},
		"a list that breaks off": {map[string]string{"UID SEARCH": "* SEARCH 1 2" + cut}, chat.CodeUnavailable},
		"a list of words":        {map[string]string{"UID SEARCH": "* SEARCH a\r\nT OK x\r\n"}, chat.CodeUnavailable},
		"heads that break off": {map[string]string{
			"UID SEARCH": two, "UID FETCH": headOf(2) + cut,
		}, chat.CodeUnavailable},
		"a head that breaks off": {map[string]string{
			"UID SEARCH": two, "UID FETCH": headOf(2)[:90] + cut,
		}, chat.CodeUnavailable},
		"heads that are refused": {map[string]string{
			"UID SEARCH": two, "UID FETCH": "T NO x\r\n",
		}, chat.CodeUnavailable},
		"lists in lists":      {map[string]string{"UID SEARCH": nested}, chat.CodeUnavailable},
		"an answer to nobody": {map[string]string{"UID SEARCH": "other OK done\r\n"}, chat.CodeUnavailable},
		"a literal of no size": {map[string]string{
			"UID SEARCH": two, "UID FETCH": "* 1 FETCH (UID {-1}\r\n)\r\nT OK x\r\n",
		}, chat.CodeUnavailable},
		"a literal without end": {map[string]string{
			"UID SEARCH": two, "UID FETCH": "* 1 FETCH (UID {99999999999}\r\n" + strings.Repeat("1", maxReply),
		}, chat.CodeUnavailable},
	} {
		_, err := placestest.List(t, answers(t, test.said))
		placestest.WantCode(t, name, err, test.code)
		if strings.Contains(chat.MessageOf(err).String(), "secret") {
			t.Errorf("%s: message %q has the server's text", name, chat.MessageOf(err).String())
		}
	}
}

func TestMailWithoutSize(t *testing.T) {
	p := answers(t, map[string]string{
		"UID SEARCH": two, "UID FETCH": headOf(9) + headOf(2) + "* 1 FETCH (UID 1 FLAGS ())\r\nT OK done\r\n",
	})
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 2 || items["7:2"].Size != 10 || items["7:1"].Size != -1 {
		t.Errorf("items = %v, %v, want one with its size and one without", items, err)
	}
}

func TestHostileMails(t *testing.T) {
	for name, test := range map[string]struct {
		said string
		code chat.Code
	}{
		"breaks off":         {"* 1 FETCH (UID 1 BODY[] {100}\r\nSubject:" + cut, chat.CodeUnavailable},
		"no end":             {"* 1 FETCH (UID 1 BODY[] {2}\r\nhi" + cut, chat.CodeUnavailable},
		"refused in the end": {"* 1 FETCH (UID 1 BODY[] {2}\r\nhi)\r\nT NO x\r\n", chat.CodeUnavailable},
		"too large":          {"* 1 FETCH (BODY[] {9999999999}\r\n" + silence, chat.CodeTooLarge},
		"lists in lists":     {"* 1 FETCH (BODY " + strings.Repeat("(", maxReply), chat.CodeUnavailable},
		"goodbye":            {"* BYE\r\n", chat.CodeUnavailable},
	} {
		p := answers(t, map[string]string{"UID FETCH": test.said})
		_, _, err := placestest.Read(t, p, sources.Item{Key: "7:1", Version: version, Size: -1}, "")
		placestest.WantCode(t, name, err, test.code)
	}
	for name, said := range map[string]string{
		"nothing": "T OK done\r\n", "refused": "T NO [EXPUNGEISSUED] gone\r\n",
		"nil": "* 1 FETCH (BODY[] NIL)\r\nT OK x\r\n",
	} {
		p := answers(t, map[string]string{"UID FETCH": said})
		_, _, err := placestest.Read(t, p, sources.Item{Key: "7:1"}, "")
		if !errors.Is(err, sources.ErrGone) {
			t.Errorf("%s: %v, want ErrGone", name, err)
		}
	}
	p := answers(t, map[string]string{"UID FETCH": "* 1 FETCH (BODY[] \"Subject: \\\"x\" UID 1)\r\nT OK x\r\n"})
	if text, _, err := placestest.Read(t, p, sources.Item{Key: "7:1"}, ""); err != nil || text != `Subject: "x` {
		t.Errorf("a mail as a string = %q, %v", text, err)
	}
}

func TestHangingServer(t *testing.T) {
	for _, when := range []string{"hello", "CAPABILITY", "LOGIN", "EXAMINE", "UID SEARCH", "UID FETCH"} {
		synctest.Test(t, func(t *testing.T) {
			said := map[string]string{"UID SEARCH": two}
			said[when] = silence
			_, err := placestest.List(t, answers(t, said))
			placestest.WantCode(t, when, err, chat.CodeTimeout)
		})
		synctest.Test(t, func(t *testing.T) {
			said := map[string]string{"UID SEARCH": two}
			said[when] = silence
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				synctest.Wait()
				cancel()
			}()
			for _, err := range answers(t, said).List(ctx) {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v, want the end of the context", when, err)
				}
			}
		})
	}
}

func TestClosedConnectionIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := answers(t, map[string]string{"UID FETCH 1 ": "* 1 FETCH (BODY[] {2}\r\nhi)\r\nT OK x\r\n" + cut,
			"UID FETCH 2 ": "* 1 FETCH (BODY[] {2}\r\nho)\r\nT OK x\r\n"})
		for _, uid := range []string{"7:1", "7:1", "7:2", "7:2", "7:1"} {
			if text, _, err := placestest.Read(t, p, sources.Item{Key: uid}, ""); err != nil || len(text) != 2 {
				t.Errorf("mail %s = %q, %v", uid, text, err)
			}
		}
	}) // synctest waits until the cached connection has closed itself
}

func TestInvalidSettingsAreRejected(t *testing.T) {
	for _, s := range []sources.Settings{
		{}, {"server": "imap://mail.example"}, {"server": "ada@mail.example"}, {"server": "mail.example:0"},
		{"server": "mail.example:x"}, {"server": "a:b:c"}, {"server": "mail.example", "password": "a\r\nb"},
		{"server": "mail.example", "folder": strings.Repeat("x", 2000)},
	} {
		_, err := Kind().Open(s, placestest.Net(t))
		placestest.WantCode(t, fmt.Sprint(s), err, chat.CodeInvalid)
	}
}

func TestFolderNames(t *testing.T) {
	for name, want := range map[string]string{
		"INBOX": "INBOX", "A & B": "A &- B", "Entwürfe": "Entw&APw-rfe", "台北": "&U,BTFw-", "😀": "&2D3eAA-",
	} {
		if got := encodedFolder(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add(headOf(2) + "f1 OK done\r\n")
	f.Add("* SEARCH 1\r\n+ go\r\n* 1 FETCH (BODY[] \"a\")\r\nf1 NO [X y] z\r\n")
	f.Fuzz(func(_ *testing.T, raw string) {
		for _, ask := range []func(*wire){
			func(w *wire) { _, _ = w.headers([]uint32{1, 2}) },
			func(w *wire) { _, _ = w.search() },
			func(w *wire) { _, _ = w.mail(1) },
		} {
			client, server := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, server) }()
			go func() {
				_, _ = io.WriteString(server, raw)
				_ = server.Close()
			}()
			ask(newWire(client))
			_ = client.Close()
		}
		_, _, _ = readHead(raw)
	})
}

func TestPasswordRequiresTLS(t *testing.T) {
	n := placestest.Net(t)
	n.Dial = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serve(server, map[string]string{"CAPABILITY": "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\nT OK x\r\n"})
		return far{client}, nil
	}
	p := placestest.Open(t, Kind(), sources.Settings{"server": "mail.example:143", "username": "a", "password": "b"}, n)
	placestest.WantCode(t, "another machine without STARTTLS", p.Check(t.Context()), chat.CodeInvalid)
}

const password = `pa"ss\wörd`

// mailbox starts a real server with a user's mailbox, and returns a Net that reaches it as example.com, at any port.
// implicit means TLS from the start.
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

// far is a connection that appears to be to another machine.
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

// remove deletes a mail permanently.
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

func TestRealServerMails(t *testing.T) {
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
		for i := range 2*atOnce + 3 { // more than one batch
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
			t.Errorf("item of a mail = %+v", first)
		}
		if odd.Meta["author"] != "bob at home" || !strings.Contains(odd.Name, " 0.eml") {
			t.Errorf("item of a mail with an unusual header = %+v", odd)
		}
		if bare := items["1:3"]; !strings.HasSuffix(bare.Name, " mail 3.eml") {
			t.Errorf("item of a mail without a header = %+v", bare)
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

func TestDeletedMails(t *testing.T) {
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
	if _, _, err := placestest.Read(t, p, items["1:1"], ""); err != nil { // its connection is cached
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

func TestRealServerErrors(t *testing.T) {
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
	n.HTTP = &http.Client{Transport: &http.Transport{}} // without trusted certificates
	p := placestest.Open(t, Kind(), settings("", ""), n)
	placestest.WantCode(t, "a certificate of nobody", p.Check(t.Context()), chat.CodeUnavailable)
	inside := settings("", "")
	inside["server"] = "169.254.169.254"
	p = placestest.Open(t, Kind(), inside, placestest.Net(t))
	placestest.WantCode(t, "an address inside", p.Check(t.Context()), chat.CodeForbidden)
}
