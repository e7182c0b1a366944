package main_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"testing"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
)

// A mail server may number a folder anew (UIDVALIDITY), and then all its mails have other names: no mail is there
// twice, none is lost, and each goes when it goes there.
func TestAMailFolderThatIsNumberedAnewChangesNothing(t *testing.T) {
	t.Parallel()
	user := imapmemserver.NewUser("ada", "secret")
	address := serveMails(t, user)
	fill := func(from, to int) {
		if err := user.Create("Deeds", nil); err != nil {
			t.Fatal(err)
		}
		for n := from; n < to; n++ {
			mail := fmt.Sprintf("From: ada@example.com\r\nSubject: Deed\r\n"+
				"Date: Wed, 04 Mar 2026 10:00:00 +0100\r\n\r\nThe parcel %d was sold.\r\n", n)
			_, err := user.Append("Deeds", mailText{bytes.NewReader([]byte(mail))}, &imap.AppendOptions{})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(0, 40)
	s := serve(t, newDir(t))
	place := s.followPlace(fmt.Sprintf(`{"kind":"imap","name":"mails","schedule":"request","settings":{
		"server":%q,"username":"ada","password":"secret","folder":"Deeds"}}`, address))
	before := s.byPath()
	if len(before) != 40 {
		t.Fatalf("%d documents, want 40", len(before))
	}
	if err := user.Delete("Deeds"); err != nil {
		t.Fatal(err)
	}
	fill(0, 40)
	state := s.look(place)
	if state.Failure != nil || state.Items != 40 || state.LastLook.Added != 0 || state.LastLook.Removed != 0 {
		t.Errorf("once it is numbered anew: %+v, want 40 items and nothing added or removed", state)
	}
	ids := func(documents map[string]string) map[string]bool {
		all := map[string]bool{}
		for _, id := range documents {
			all[id] = true
		}
		return all
	}
	after := s.byPath()
	if len(after) != 40 || !maps.Equal(ids(after), ids(before)) {
		t.Errorf("%d documents, want the 40 of before", len(after))
	}
	if err := user.Delete("Deeds"); err != nil {
		t.Fatal(err)
	}
	fill(10, 45) // ten went and five came, and all have other numbers
	state = s.look(place)
	if state.Failure != nil || state.LastLook.Added != 5 || state.LastLook.Removed != 10 || len(s.byPath()) != 35 {
		t.Errorf("numbered anew and changed: %+v and %d documents, want 5 added, 10 removed, 35", state,
			len(s.byPath()))
	}
}

// byPath are the ids of all documents by path.
func (s *server) byPath() map[string]string {
	all := map[string]string{}
	for _, d := range s.shelved() {
		all[d.Path] = d.ID
	}
	return all
}

type mailText struct{ *bytes.Reader }

// serveMails starts a mail server for one user, and returns its address.
func serveMails(t *testing.T, user *imapmemserver.User) string {
	t.Helper()
	memory := imapmemserver.New()
	memory.AddUser(user)
	server := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return memory.NewSession(), nil, nil
		},
		InsecureAuth: true, Logger: log.New(io.Discard, "", 0),
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }() // until it is closed
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}
