package extract

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

const sampleMail = `From: =?utf-8?q?Ren=C3=A9e_Harrow?= <renee@example.com>
To: Judith <judith@example.com>
Date: Wed, 4 Mar 2026 10:15:00 +0100
Subject: =?iso-8859-1?q?Re:_Roof_f=FCr_May?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Dear Judith,

the slates cost 4=2E500 =A4 f=FCr alles.

> What did the slates cost?
>> And the gutter?

-- =20
Harrow Ltd
--inner
Content-Type: text/html

<p>not this one</p>
--inner--
--outer
Content-Type: text/csv; name="prices.csv"
Content-Disposition: attachment; filename="prices.csv"
Content-Transfer-Encoding: base64

aXRlbSxwcmljZQpzbGF0ZSw0NTAwCg==
--outer
Content-Type: application/octet-stream
Content-Disposition: attachment; filename="../../prices.csv"

other
--outer--
`

// extractFile reads a file of that name, with a directory for the files inside it.
func extractFile(t *testing.T, name, body string) (corpus.Extracted, string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "original")
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	inside := t.TempDir()
	x, err := New(nil, nil).Extract(t.Context(), corpus.File{
		Path: path, Filename: name, Bytes: int64(len(body)), Members: inside,
	}, nil)
	if err == nil {
		if err := doctext.Check(x); err != nil {
			t.Fatal(err)
		}
	}
	return x, inside, err
}

// blockLines are the blocks of a text, a line each.
func blockLines(x corpus.Extracted) (lines []string) {
	for _, b := range x.Blocks {
		quoted := ""
		if b.Quote {
			quoted = "> "
		}
		lines = append(lines, string(b.Kind)+" "+quoted+doctext.Slice(x.Text, b.Start, b.End))
	}
	return lines
}

func TestAMailIsItsTextItsHeadAndItsFiles(t *testing.T) {
	x, inside, err := extractFile(t, "roof.eml", sampleMail)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"heading Re: Roof für May, 4 March 2026",
		`row From: Renée Harrow <renee@example.com> · To: Judith <judith@example.com> · ` +
			`Date: Wed, 4 Mar 2026 10:15 +0100 · Subject: Re: Roof für May`,
		"paragraph Dear Judith,", "paragraph the slates cost 4.500 ¤ für alles.",
		"paragraph > What did the slates cost?\nAnd the gutter?", "paragraph Harrow Ltd",
		"row Attachments: prices.csv, prices.csv",
	}
	if diff := cmp.Diff(want, blockLines(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if x.Title != "Re: Roof für May" || x.Meta["date"] != "2026-03-04" {
		t.Errorf("title %q, date %v; want the subject and 2026-03-04", x.Title, x.Meta["date"])
	}
	files := map[string]string{}
	for _, m := range x.Members {
		body, err := os.ReadFile(filepath.Join(inside, m.File))
		if err != nil {
			t.Fatal(err)
		}
		files[m.Path] = strings.TrimSpace(string(body))
	}
	if diff := cmp.Diff(
		map[string]string{"prices.csv": "item,price\nslate,4500", "1-2/prices.csv": "other"},
		files,
	); diff != "" {
		t.Errorf("files inside (-want +got):\n%s", diff)
	}
}

func TestAMailWithoutTextIsItsHTML(t *testing.T) {
	x, _, err := extractFile(t, "a.eml", "From: a@example.com\nSubject: Hi\nContent-Type: text/html; charset=utf-8\n\n"+
		"<style>p{}</style><p>The <b>roof</b> is dry.<img src=\"https://example.com/pixel\"></p><script>1</script>")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"heading Hi", "row From: a@example.com · Subject: Hi", "paragraph The roof is dry."}
	if diff := cmp.Diff(want, blockLines(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestAMailboxIsItsMails(t *testing.T) {
	var box strings.Builder
	for i := range 3 {
		fmt.Fprintf(
			&box,
			"From sender Mon Jun 01 10:00:00 2009\nSubject: Letter %d\n\nBody %d\n>From here on\n\n",
			i+1,
			i+1,
		)
	}
	x, _, err := extractFile(t, "letters.mbox", box.String())
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 3 {
		want = append(want, fmt.Sprintf("heading Letter %d", i+1), fmt.Sprintf("row Subject: Letter %d", i+1),
			fmt.Sprintf("paragraph Body %d\nFrom here on", i+1))
	}
	if diff := cmp.Diff(want, blockLines(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestBrokenMailsCostLittle(t *testing.T) {
	deep := "Subject: deep\n"
	for i := range 2000 {
		deep += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	for name, body := range map[string]string{
		"parts in each other": deep,
		"a part that never ends": "Subject: cut\nContent-Type: multipart/mixed; " +
			"boundary=x\n\n--x\nContent-Type: text/plain\n\nhalf",
		"an encoding that is none": "Subject: =?nonsense?q?a?=\nContent-Transfer-Encoding: uucode\n\ntext",
		"a thousand empty parts": "Subject: many\nContent-Type: multipart/mixed; " +
			"boundary=x\n\n" + strings.Repeat("--x\n\n", 1000),
		"a header of a million runs": "Subject: " + strings.Repeat("=?utf-8?q?a?= ", 100_000) + "\n\ntext",
	} {
		t.Run(name, func(t *testing.T) {
			x, _, err := extractFile(t, "a.eml", body)
			if err != nil && !strings.Contains(err.Error(), "This ") {
				t.Errorf("error = %v, want a sentence about the file", err)
			}
			if len(x.Text) > 20_000 {
				t.Errorf("%d bytes of text, want less than there was", len(x.Text))
			}
		})
	}
}
