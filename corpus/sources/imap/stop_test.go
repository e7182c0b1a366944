package imap

import (
	"maps"
	"slices"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources/placestest"
)

func TestMessageLimitIsFollowed(t *testing.T) {
	p := answers(t, map[string]string{
		"UID SEARCH NOT":     "* SEARCH 9 8\r\nT OK [messagelimit 2 8] some\r\n",
		"UID SEARCH UID 1:7": "* SEARCH 5\r\n* NO [messagelimit 2 4] some\r\nT OK done\r\n",
		"UID SEARCH UID 1:3": "* SEARCH 2\r\nT OK done\r\n",
		"UID FETCH 9,8,5,2 ": headOf(9) + headOf(8) + "T OK [messagelimit 2 8] some\r\n",
		"UID FETCH 5,2 ":     headOf(5) + headOf(2) + "T OK done\r\n",
	})
	items, err := placestest.List(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(items)); !slices.Equal(got, []string{"7:2", "7:5", "7:8", "7:9"}) {
		t.Errorf("mails = %v, want those that the server looked at later, too", got)
	}
	for key, item := range items {
		if item.Meta["title"] != "x" {
			t.Errorf("mail %s = %+v, want its subject", key, item)
		}
	}
}

func TestInvalidMessageLimitIsError(t *testing.T) {
	for name, said := range map[string]map[string]string{
		"nowhere":  {"UID SEARCH": "* SEARCH 9 8\r\nT OK [messagelimit 2] some\r\n"},
		"no mail":  {"UID SEARCH": "* SEARCH 9 8\r\nT OK [messagelimit 2 x] some\r\n"},
		"the same": {"UID SEARCH": "* SEARCH 9 8\r\nT OK [messagelimit 2 8] some\r\n"},
		"of heads": {"UID SEARCH": two, "UID FETCH": headOf(2) + "T OK [messagelimit 1 3] some\r\n"},
	} {
		_, err := placestest.List(t, answers(t, said))
		placestest.WantCode(t, name, err, chat.CodeUnavailable)
	}
}
