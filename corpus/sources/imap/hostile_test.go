package imap

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestest"
)

// near is a connection to this machine, as it looks.
type near struct{ net.Conn }

// RemoteAddr implements net.Conn.
func (near) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 143} }

const (
	cut     = "cut"  // closes the connection
	silence = "hang" // says nothing more
)

// answers opens a folder on a server that answers each command as said; others are done. T stands for a command's tag.
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
		if strings.Contains(chat.MessageOf(err), "secret") {
			t.Errorf("%s: %q tells what the server said", name, chat.MessageOf(err))
		}
	}
}

func TestAMailThatIsNotTold(t *testing.T) {
	p := answers(t, map[string]string{
		"UID SEARCH": two, "UID FETCH": headOf(9) + headOf(2) + "* 1 FETCH (UID 1 FLAGS ())\r\nT OK done\r\n",
	})
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 2 || items["7:2"].Size != 10 || items["7:1"].Size != -1 {
		t.Errorf("items = %v, %v, want one with its size and one without", items, err)
	}
}

func TestMailsOfHostileServers(t *testing.T) {
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

func TestAServerThatHangs(t *testing.T) {
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

func TestAKeptConnectionThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := answers(t, map[string]string{"UID FETCH 1 ": "* 1 FETCH (BODY[] {2}\r\nhi)\r\nT OK x\r\n" + cut,
			"UID FETCH 2 ": "* 1 FETCH (BODY[] {2}\r\nho)\r\nT OK x\r\n"})
		for _, uid := range []string{"7:1", "7:1", "7:2", "7:2", "7:1"} {
			if text, _, err := placestest.Read(t, p, sources.Item{Key: uid}, ""); err != nil || len(text) != 2 {
				t.Errorf("mail %s = %q, %v", uid, text, err)
			}
		}
	}) // which waits until nothing is left: the connection that is kept ends by itself
}

func TestSettingsThatCantBeRight(t *testing.T) {
	for _, s := range []sources.Settings{
		{}, {"server": "imap://mail.example"}, {"server": "ada@mail.example"}, {"server": "mail.example:0"},
		{"server": "mail.example:x"}, {"server": "a:b:c"}, {"server": "mail.example", "password": "a\r\nb"},
		{"server": "mail.example", "folder": strings.Repeat("x", 2000)},
	} {
		_, err := Kind().Open(s, placestest.Net(t))
		placestest.WantCode(t, fmt.Sprint(s), err, chat.CodeInvalid)
	}
}

func TestNamesOfFolders(t *testing.T) {
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

func TestThePasswordIsNotSentInTheOpen(t *testing.T) {
	n := placestest.Net(t)
	n.Dial = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serve(server, map[string]string{"CAPABILITY": "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\nT OK x\r\n"})
		return far{client}, nil
	}
	p := placestest.Open(t, Kind(), sources.Settings{"server": "mail.example:143", "username": "a", "password": "b"}, n)
	placestest.WantCode(t, "another machine without STARTTLS", p.Check(t.Context()), chat.CodeInvalid)
}
