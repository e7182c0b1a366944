package api

import (
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestTheStatusOfSeveralReasonsIsTheHighest(t *testing.T) {
	for _, tt := range []struct {
		codes []chat.Code
		want  int
	}{
		{[]chat.Code{chat.CodeTooLarge, chat.CodeDiskFull, chat.CodeInvalid}, 507},
		{[]chat.Code{chat.CodeInvalid, chat.CodeInternal}, 500},
		{[]chat.Code{chat.CodeUnavailable}, 503},
	} {
		var files []rejectedFile
		for _, code := range tt.codes {
			files = append(files, rejectedFile{Code: code})
		}
		if got := refusedStatus(files); got != tt.want {
			t.Errorf("refusedStatus(%v) = %d, want %d", tt.codes, got, tt.want)
		}
	}
}
