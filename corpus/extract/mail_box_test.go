package extract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMailboxVariants(t *testing.T) {
	mail := func(n int, header, body string) string {
		return fmt.Sprintf("From a@example.com Mon Jun  1 10:00:00 2009\nSubject: %d\n%s\n%s\n", n, header, body)
	}
	const commitOf = "0123456789abcdef0123456789abcdef01234567"
	patch := func(subject string) string {
		return "From " + commitOf + " Mon Sep 17 00:00:00 2001\nSubject: " + subject + "\n\n"
	}
	whole := "Line\n\nFrom a@example.com Mon Jun  1 10:00:00 2009\nSubject: inside\n\nend\n"
	for _, tt := range []struct {
		name, box string
		want      []string
	}{
		{"mboxo", mail(1, "", "\n>From here\n") + mail(2, "", "\nx\n"),
			[]string{"1", "From here", "2", "x"}},
		{"mboxrd", mail(1, "", "\n>>From here\n") + mail(2, "", "\nx\n"), []string{"1", "From here", "2", "x"}},
		{"a line that begins so in the text",
			mail(1, "", "a\n\nFrom here on it is dry.\nThe roof\n") + mail(2, "", "x\n"),
			[]string{"1", "a", "From here on it is dry.\nThe roof", "2", "x"}},
		{"mboxcl", mail(1, fmt.Sprintf("Content-Length: %d\n", len(whole)), whole) + mail(2, "", "x\n"),
			[]string{"1", "Line", "From a@example.com Mon Jun 1 10:00:00 2009 Subject: inside", "end", "2", "x"}},
		{"mboxcl with a wrong length", mail(1, "Content-Length: 9999\n", "a\n") + mail(2, "Content-Length: 1\n", "x\n"),
			[]string{"1", "a", "2", "x"}},
		{"lines that end with CR LF", strings.ReplaceAll(mail(1, "", "a\n")+mail(2, "", "x\n"), "\n", "\r\n"),
			[]string{"1", "a", "2", "x"}},
		{"times in the text", mail(1, "", "a\n\nFrom 10:30 to 12:00 it is dry.\n\nb\n") + mail(2, "", "x\n"),
			[]string{"1", "a", "From 10:30 to 12:00 it is dry.", "b", "2", "x"}},
		{"a header in the text", mail(1, "", "a\n\nFrom my end some remarks;\nNote: it is dry.\n") + mail(2, "", "x\n"),
			[]string{"1", "a", "From my end some remarks;\nNote: it is dry.", "2", "x"}},
		{"a patch in the text", mail(1, "", "a\n\n"+patch("b")+"c\n") + mail(2, "", "x\n"),
			[]string{"1", "a", "From " + commitOf + " Mon Sep 17 00:00:00 2001 Subject: b", "c", "2", "x"}},
		{"patches", patch("1") + "a\n\n" + patch("2") + "x\n", []string{"1", "a", "2", "x"}},
		{"bare lines", "From \nSubject: 1\n\na\nFrom \nSubject: 2\n\nx\n\nFrom\n",
			[]string{"1", "a", "2", "x", "From"}},
		{"dates of Google", strings.ReplaceAll(mail(1, "", "a\n")+mail(2, "", "x\n"), "10:00:00 2009",
			"10:00:00 +0000 2009"), []string{"1", "a", "2", "x"}},
		{"dates of RFC 822", strings.ReplaceAll(mail(1, "", "a\n")+mail(2, "", "x\n"), "Mon Jun  1 10:00:00 2009",
			"Mon, 1 Jun 2009 10:00"), []string{"1", "a", "2", "x"}},
		{"Thunderbird", "From - Mon Jun  1 10:00:00 2009\nX-Mozilla-Status: 0001\nSubject: 1\n\n" +
			"a\n\nFrom \nSubject: 2\n\nx\n",
			[]string{"1", "a", "2", "x"}},
	} {
		x, _, err := extractFile(t, "a.mbox", tt.box)
		var got []string
		for _, line := range blockLines(x) {
			if kind, text, _ := strings.Cut(line, " "); kind != "row" {
				got = append(got, strings.TrimPrefix(text, "> "))
			}
		}
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, blocks (-want +got):\n%s", tt.name, err, diff)
		}
	}
}
