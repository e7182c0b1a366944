package extract

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
)

// What a browser shows is read wherever it stands in the file; what it does not show is read where there is no other
// text.
func TestHiddenPartsOfHTMLStandInForAPageWithoutText(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"the text for browsers without frames", "<html><head><title>Manual</title></head><frameset cols='20%,*'>" +
			"<frame src=left.html><frame src=right.html><noframes><body><h1>Roof</h1><p>It is <b>new</b>.</body>" +
			"</noframes></frameset></html>",
			[]string{"heading1: Roof", "paragraph in Roof: It is new. {strong new}"}},
		{"the text for browsers without scripts", "<body><div id=app></div><noscript><p>The roof is new.</noscript>" +
			"<script src=a.js></script>", []string{"paragraph: The roof is new."}},
		{"beside other text that is left out", "<p>Seen.<noscript>no script</noscript><noframes>no frame</noframes>" +
			"<iframe>no inner frame</iframe><noembed>no player</noembed><template>later</template><img alt=roof>",
			[]string{"paragraph: Seen."}},
		{"the text for browsers without players", "<object data=a.swf><p>The roof in words.</object>",
			[]string{"paragraph: The roof in words."}},
		{"the text of an inner frame for old browsers", "<iframe src=a.html><p>See the roof.</iframe>",
			[]string{"paragraph: See the roof."}},
		{"the document of an inner frame", "<p>Above.<iframe srcdoc='&lt;p&gt;The roof is &lt;i&gt;new&lt;/i&gt;." +
			"'>old</iframe><iframe hidden srcdoc=hidden></iframe><p>Below.",
			[]string{"paragraph: Above.", "paragraph: The roof is new. {em new}", "paragraph: Below."}},
		{"a shadow tree with its slots filled", "<house-card><template shadowrootmode=open><style>b{}</style>" +
			"<h2><slot name=title>Untitled</slot></h2><slot></slot><p>Owner: <slot name=owner>nobody</slot>." +
			"</template><p>Dry walls.</p><b slot=title>Mill Lane</b><p slot=cellar>not shown</p></house-card>",
			[]string{"heading2: Mill Lane {strong Mill Lane}", "paragraph in Mill Lane: Dry walls.",
				"paragraph in Mill Lane: Owner: nobody."}},
		{"a shadow tree inside another", "<x-a><template shadowrootmode=open><x-b><template shadowrootmode=closed>" +
			"<p>Inner: <slot></slot></template><i><slot></slot></i></x-b></template>roof</x-a>",
			[]string{"paragraph: Inner: roof {em roof}"}},
		{"hidden elements", "<div style='display:none'><p>The roof is new.</div><script>show()</script>",
			[]string{"paragraph: The roof is new."}},
		{"a template", "<template><p>The roof is new.</template>", []string{"paragraph: The roof is new."}},
		{"a page of links", "<nav><ul><li><a href=roof.html>Roof</a><li>Cellar</ul></nav>",
			[]string{"list1: Roof", "list1: Cellar"}},
		{"a field", "<form><textarea>The roof is new.</textarea><input value=x></form>",
			[]string{"paragraph: The roof is new."}},
		{"a drawing", "<svg><style>a{}</style><g><text>Roof</text><text>Cellar</text></g></svg>",
			[]string{"paragraph: Roof", "paragraph: Cellar"}},
		{"pictures", "<p><img src=a.png alt='The roof is new.'><img src=b.png title='A cellar'><img src=c.png>",
			[]string{"paragraph: The roof is new.", "paragraph: A cellar"}},
		{"what can be unfolded is always read", "<p>Seen.<details><summary>Roof</summary>It is new.</details>",
			[]string{"paragraph: Seen.", "paragraph: Roof", "paragraph: It is new."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, describe(mustExtract(t, "a.html", tt.src))); diff != "" {
				t.Errorf("blocks of %q (-want +got):\n%s", tt.src, diff)
			}
		})
	}
}

func TestAPageWithoutTextSaysWhatToDo(t *testing.T) {
	for _, tt := range []struct{ name, src, says string }{
		{"frames", "<title>Manual</title><frameset><frame src=left.html><frame src=left.html><frame src=b/right.html>" +
			"</frameset>", "This page only shows other pages in frames. Add left.html, b/right.html."},
		{"scripts", "<title>App</title><div id=root></div><img src=logo.png><script src=a.js></script>",
			"Scripts put the text into this page, and they are not run. Open it in a browser, save it as PDF"},
		{"pictures", "<img src=a.png>", "This page shows pictures without text. Save it as PDF, run text recognition"},
		{"nothing", "<title>Manual</title><p> </p>", "This file holds no text."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := extractBytes(t, "a.html", "text/html", []byte(tt.src))
			f, ok := errors.AsType[*corpus.Failure](err)
			if !ok || f.Code != "no_text" || !strings.HasPrefix(f.Detail, tt.says) {
				t.Errorf("error of %q = %v, want no_text and %q", tt.src, err, tt.says)
			}
		})
	}
}

// The reader that keeps only text finds the same parts.
func TestHiddenPartsStandInWithoutMarkupToo(t *testing.T) {
	for src, want := range map[string]string{
		"<frameset><frame src=a.html><noframes><h1>Roof</h1><p>It is <b>new</b>.</noframes></frameset>": "Roof\n\n" +
			"It is new.",
		"<p>Seen.<noscript>no script</noscript>": "Seen.",
		"<nav>Roof</nav><script>a()</script>":    "Roof",
	} {
		path := filepath.Join(t.TempDir(), "original")
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		file := corpus.File{Path: path, Filename: "a.html", MIME: "text/html", Bytes: int64(len(src))}
		if x, err := New(noPDF{}, noPDF{}).ExtractPlain(t.Context(), file, nil); err != nil || x.Text != want {
			t.Errorf("text of %q = %q, %v; want %q", src, x.Text, err, want)
		}
	}
}
