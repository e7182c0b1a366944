package server

import (
	"net/http"
	"strings"
	"testing"
)

// The page is in the reader's language: the chosen one, else the browser's. Programs are told in English.
func TestThePageIsInTheReadersLanguage(t *testing.T) {
	b := newBench(t)
	const pseudo = "footnote_language=en-XA"
	for _, tt := range []struct {
		path       string
		header     []string
		want, none string
	}{
		{"/", nil, `<html lang="en" dir="ltr">`, ""},
		{"/", []string{"Accept-Language", "fr-CH, fr;q=0.9"}, `<html lang="fr" dir="ltr">`, ""},
		{"/", []string{"Accept-Language", "fr", "Cookie", pseudo}, `<html lang="en-XA" dir="rtl">`, ""},
		{"/c/none", []string{"Cookie", pseudo}, "⟦There is no such session.", ">There is no such"},
		{"/docs", []string{"Cookie", pseudo}, `id="api" lang="en" dir="ltr"`, ""},
		{"/signin", []string{"Accept-Language", "ja"}, `<html lang="ja" dir="ltr">`, ""},
	} {
		got := b.send("GET", tt.path, "", append([]string{"Accept", "text/html"}, tt.header...)...)
		if !strings.Contains(got.body, tt.want) || tt.none != "" && strings.Contains(got.body, tt.none) {
			t.Errorf("%s %q: no %s, or %s, in %s", tt.path, tt.header, tt.want, tt.none, got.body)
		}
		if !strings.Contains(strings.Join(got.header.Values("Vary"), ","), "Accept-Language") {
			t.Errorf("%s: Vary is %q", tt.path, got.header.Values("Vary"))
		}
	}
	for _, tt := range []struct{ page, want string }{
		{"", `"detail":"There is no such run.`}, {"true", `"detail":"⟦There is no such run.`},
	} {
		got := b.send(
			"GET", "/agent/runs/none", "", "Accept", "application/json", "Cookie", pseudo, "Footnote-Page", tt.page,
		)
		if got.status != http.StatusNotFound || !strings.Contains(got.body, tt.want) {
			t.Errorf("for the page %q: %d %s, want %s", tt.page, got.status, got.body, tt.want)
		}
	}
}

func TestALanguageIsChosenWithAForm(t *testing.T) {
	b := newBench(t)
	const kind = "application/x-www-form-urlencoded"
	for _, tt := range []struct {
		form     string
		status   int
		to, kept string
	}{
		{
			"language=de&to=%2Fdocuments%3Fq%3Dx", 303, "/documents?q=x",
			"footnote_language=de; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax",
		},
		{"language=zh-Hans&to=https%3A%2F%2Felsewhere.example", 303, "/", "footnote_language=zh-Hans;"},
		{"language=&to=%2F", 400, "", ""},
		{"language=de%0d%0aX: y", 400, "", ""},
	} {
		got := b.send("POST", "/language", tt.form, "Content-Type", kind, "Accept", "text/html")
		to, kept := got.header.Get("Location"), got.header.Get("Set-Cookie")
		if got.status != tt.status || to != tt.to || !strings.HasPrefix(kept, tt.kept) || tt.kept == "" && kept != "" {
			t.Errorf("%s: %d to %q, cookie %q; want %d to %q, cookie %q",
				tt.form, got.status, to, kept, tt.status, tt.to, tt.kept)
		}
	}
}
