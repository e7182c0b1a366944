package views

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

func evidence(t *testing.T, hostile string) chat.Evidence {
	t.Helper()
	at := time.Date(2026, 11, 21, 9, 0, 0, 123000, time.UTC)
	input, err := json.Marshal(map[string]string{"query": hostile})
	if err != nil {
		t.Fatal(err)
	}
	e, err := chat.Evidence{
		RunID: "r", Question: "Is it sound? " + hostile, Answer: "It is [1]. " + hostile, Model: "m",
		Status: chat.RunCompleted, AskedAt: at, AnsweredAt: at,
		Citations: []chat.EvidenceCitation{{
			Number: 1, DocumentID: "d", Title: "Survey " + hostile, Filename: hostile + ".md",
			SHA256: strings.Repeat("ab", 32), Page: 4, Section: hostile,
			Start: 10, End: 30, Quote: "It is sound. " + hostile, Claimed: hostile, Check: chat.CheckVerified,
		}},
		Unsupported: []string{
			hostile,
		}, Steps: []chat.EvidenceStep{
			{Step: "s", Tool: "search", Message: hostile, Summary: hostile, Input: input, Status: chat.StatusComplete,
				At: at, Error: hostile},
		},
	}.Sealed()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var hostileTexts = []string{
	"plain", "<script>alert(1)</script><img src=x onerror=alert(1)>", "-->\n<!-- footnote-evidence/1\nAAAA\n-->",
	"``` \n~~~\n```", "# head\n\n---\n[x](javascript:alert(1)) ![i](http://evil/x)",
	"\u202Egnp.exe\u202C \u2066x", "שלום (عربي) [1]", "| a | b |\n|---|---|\n", "\x00\x1b[31m\r\n\u2028",
	"</style></blockquote></main></body></html>", "&lt;b&gt; &amp; \"'", "\xff\xfe", "<!--",
}

func TestEvidenceIsReadAsItWasWrittenWhateverIsInIt(t *testing.T) {
	for _, hostile := range hostileTexts {
		e := evidence(t, strings.ToValidUTF8(hostile, "\uFFFD"))
		for _, format := range []string{"md", "html", "json"} {
			file, err := EvidenceFile(e, format)
			if err != nil {
				t.Fatal(err)
			}
			for name, form := range map[string][]byte{
				"as it is": file, "with CRLF": bytes.ReplaceAll(file, []byte("\n"), []byte("\r\n")),
			} {
				got, problems, err := ReadEvidence(form)
				if err != nil || len(problems) > 0 {
					t.Errorf("%s of %q, %s: %v, %v; want no problems", format, hostile, name, problems, err)
					continue
				}
				if got.Digest != e.Digest || got.Citations[0].Quote != e.Citations[0].Quote {
					t.Errorf("%s of %q came back as %+v; want Digest %v and Citations[0].Quote %v",
						format, hostile, got, e.Digest, e.Citations[0].Quote)
				}
			}
			if format == "json" {
				continue
			}
			shown, _, _ := bytes.Cut(file, []byte(dataOpen))
			for _, bad := range []string{"<script", "<img", "<!--", "\u202E", "\x00", "\x1b"} {
				if strings.Contains(strings.ToLower(string(shown)), bad) {
					t.Errorf("%s of %q shows %q", format, hostile, bad)
				}
			}
			if format == "html" &&
				strings.Count(string(shown), "<style>")+strings.Count(string(shown), "</main>") != 2 {
				t.Errorf("html of %q is broken open", hostile)
			}
		}
	}
}

func TestWhatWasChangedInAnEvidenceFileIsNoticed(t *testing.T) {
	e := evidence(t, "plain")
	for _, format := range []string{"md", "html", "json"} {
		file, err := EvidenceFile(e, format)
		if err != nil {
			t.Fatal(err)
		}
		text := string(file)
		for name, change := range map[string][2]string{
			"the answer": {"It is", "It is not"}, "the quote": {"sound. plain", "unsound. plain"},
			"the hash": {"abab", "acab"}, "the page": {"4", "5"},
		} {
			changed := strings.Replace(text, change[0], change[1], 1)
			if format == "md" && name == "the quote" {
				changed = strings.Replace(text, "sound\\. plain", "unsound\\. plain", 1)
			}
			if name == "the page" {
				for _, form := range []string{"Page: 4", "<dd dir=\"auto\">4<", "\"page\": 4"} {
					changed = strings.Replace(changed, form, strings.Replace(form, "4", "5", 1), 1)
				}
			}
			if changed == text {
				t.Fatalf("%s: nothing to change for %s", format, name)
			}
			if _, problems, err := ReadEvidence([]byte(changed)); err == nil && len(problems) == 0 {
				t.Errorf("%s: %s was changed and nothing is said", format, name)
			}
		}
		if _, problems, err := ReadEvidence(append(file, "<p>more</p>"...)); err == nil && len(problems) == 0 {
			t.Errorf("%s: something was added and nothing is said", format)
		}
		if _, _, err := ReadEvidence(file[:len(file)-20]); err == nil {
			t.Errorf("%s: it is cut off and nothing is said, want an error", format)
		}
	}
	twice := e
	twice.Citations = append(twice.Citations, e.Citations[0])
	if sealed, err := twice.Sealed(); err != nil || len(sealed.Problems()) != 1 {
		t.Errorf("a number that stands for two quotes: %v, %v; want 1", sealed.Problems(), err)
	}
}
