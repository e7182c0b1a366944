package server

import (
	"bytes"
	"fmt"
	"image/png"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/find"
	"github.com/footnote/footnote/server/httpio/ssetest"
	"github.com/footnote/footnote/views"
)

// form builds an upload with fields and files in order, "name=value" or "@path=content".
func form(t testing.TB, parts ...string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		var err error
		if file, ok := strings.CutPrefix(name, "@"); ok {
			out, createErr := w.CreatePart(map[string][]string{
				"Content-Disposition": {fmt.Sprintf(`form-data; name="files"; filename=%q`, file)},
				"Content-Type":        {"application/octet-stream"},
			})
			if createErr != nil {
				t.Fatal(createErr)
			}
			_, err = out.Write([]byte(value))
		} else {
			err = w.WriteField(name, value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

func (b *harness) uploadFiles(parts ...string) (reply, api.Uploaded) {
	b.t.Helper()
	body, kind := form(b.t, parts...)
	got := b.send("POST", "/documents", body, "Content-Type", kind)
	var res api.Uploaded
	if got.status == http.StatusAccepted || strings.Contains(got.body, `"rejected"`) {
		got.decode(b.t, &res)
	}
	return got, res
}

// settled follows a document's own stream to its end.
func (b *harness) settled(id string) api.DocumentInfo {
	b.t.Helper()
	got := b.send("GET", "/documents/"+id+"/events", "")
	events := ssetest.NewReader(strings.NewReader(got.body)).All(b.t)
	if len(events) == 0 || events[len(events)-1].Name != "document_done" {
		b.t.Fatalf("the document's stream: %d %q", got.status, events)
	}
	var info api.DocumentInfo
	reply{body: events[len(events)-1].Data}.decode(b.t, &info)
	return info
}

const survey = "# Roof survey\n\nThe roof is sound. The gutters leak at the north side.\n"

func TestUploadedFilesAreListedReadAndFound(t *testing.T) {
	b := newHarness(t)
	got, res := b.uploadFiles("namespace=house", `meta={"author":"Ann"}`, "@reports/survey.md="+survey,
		"@broken.pdf=%PDF-1.7 but nothing else", "@copy.md="+survey)
	if got.status != 202 || len(res.Documents)+len(res.Rejected) != 3 {
		t.Fatalf("upload: %d %s, want 202", got.status, got.body)
	}
	first := res.Documents[0]
	if first.Filename != "survey.md" || first.DuplicateOf != "" {
		t.Errorf("first = %+v; want Filename %q and DuplicateOf nothing", first, "survey.md")
	}
	if last := res.Documents[len(res.Documents)-1]; last.DuplicateOf != first.ID || last.ID != first.ID {
		t.Errorf("the same bytes again = %+v; want DuplicateOf %v and ID %v", last, first.ID, first.ID)
	}
	info := b.settled(first.ID)
	if info.State != corpus.StateReady || info.Path != "reports/survey.md" || info.Namespace != "house" ||
		info.Meta["author"] != "Ann" {
		t.Fatalf("document = %+v; want State %v, Path %q, Namespace %q, %q",
			info, corpus.StateReady, "reports/survey.md", "house", "Ann")
	}

	var list struct{ Documents []api.DocumentInfo }
	b.send("GET", "/documents?namespace=house&state=ready&q=survey", "").decode(t, &list)
	if len(list.Documents) != 1 || list.Documents[0].ID != first.ID {
		t.Errorf("list = %+v; want 1 document and %v", list.Documents, first.ID)
	}
	if text := b.send("GET", "/documents/"+first.ID+"/text", ""); !strings.Contains(text.body, "The gutters leak") ||
		text.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("text = %q, want %q in it", text.body, "The gutters leak")
	}
	file := b.send("GET", "/documents/"+first.ID+"/file", "")
	if file.body != survey || file.header.Get("Content-Security-Policy") != api.Inert ||
		!strings.HasPrefix(file.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("file = %v %q; want %q, %v, %q at its beginning",
			file.header, file.body, survey, api.Inert, "attachment")
	}
	if part := b.send("GET", "/documents/"+first.ID+"/file", "", "Range", "bytes=0-5"); part.status != 206 ||
		part.body != survey[:6] {
		t.Errorf("range = %d %q; want 206 and %q", part.status, part.body, survey[:6])
	}

	var found struct {
		Query        string              `json:"query"`
		TotalResults int                 `json:"total_results"`
		Results      []find.SearchResult `json:"results"`
	}
	b.send("POST", "/search", `{"query":"leaking gutters","namespace":"house"}`).decode(t, &found)
	if found.TotalResults != 1 || found.Results[0].Metadata.DocumentID != first.ID || found.Results[0].Rank != 1 ||
		found.Results[0].Score <= 0 {
		t.Errorf("search = %+v; want TotalResults 1, Results[0].Metadata.DocumentID %v, Results[0].Rank 1, "+
			"Results[0].Score more than 0",
			found, first.ID)
	}
	b.send("POST", "/search", `{"query":"leaking gutters","namespace":"default"}`).decode(t, &found)
	if found.TotalResults != 0 || found.Results == nil {
		t.Errorf("search elsewhere = %+v, want TotalResults 0", found)
	}
	var retrieved api.RetrieveResponse
	b.send(
		"POST", "/agent/retrieve", `{"query":"gutters","top_k":3,"filters":{"document_ids":["`+first.ID+`"]}}`,
	).decode(t, &retrieved)
	if len(retrieved.Chunks) != 1 || retrieved.Strategy != "lexical" || len(retrieved.AgentTrace.Steps) != 1 {
		t.Errorf("retrieve = %+v; want 1 chunk, Strategy %q, 1 step", retrieved, "lexical")
	}
}

func TestDeletedDocumentIsHiddenUntilRestored(t *testing.T) {
	b := newHarness(t)
	_, res := b.uploadFiles("@survey.md=" + survey)
	id := res.Documents[0].ID
	b.settled(id)
	for _, tt := range []struct {
		method, path string
		want         int
	}{
		{"DELETE", "/documents/" + id, 204}, {"GET", "/documents/" + id, 404},
		{"GET", "/documents/" + id + "/text", 404},
		{"GET", "/documents/" + id + "/file", 404}, {"GET", "/documents/" + id + "/events", 404},
		{"DELETE", "/documents/" + id, 404},
		{"POST", "/documents/" + id + "/restore", 200}, {"GET", "/documents/" + id, 200},
		{"GET", "/documents/none", 404},
		{"GET", "/documents/" + id + "/pages/1.png", 404}, {"GET", "/documents/" + id + "/pages/x.png", 404},
		{"POST", "/documents/none/cancel", 404},
		{"POST", "/documents/none/retry", 404}, {"GET", "/documents?state=lost", 400},
		{"GET", "/documents?limit=0", 400},
	} {
		if got := b.send(tt.method, tt.path, ""); got.status != tt.want {
			t.Errorf("%s %s = %d %s, want %d", tt.method, tt.path, got.status, got.body, tt.want)
		}
	}
}

func TestInvalidUploadsAreRejected(t *testing.T) {
	b := newHarness(t, func(c *Config) {
		c.Limits.UploadFile, c.Limits.UploadRequest, c.Limits.UploadFiles = 1000, 10_000, 3
	})
	for _, tt := range []struct {
		name   string
		parts  []string
		status int
		part   string // of the answer
	}{
		{"a file over the limit goes, the others stay",
			[]string{"@big.md=" + strings.Repeat("x ", 600), "@ok.md=" + survey}, 202, "the file size limit"},
		{"no file", []string{"namespace=a"}, 400, "no file"},
		{"an unknown field", []string{"folder=a", "@a.md=x"}, 400, `"folder`},
		{"a field after its files", []string{"@late.md=late text", "namespace=a"}, 400, "must precede the files"},
		{"meta that is no object", []string{"meta=[1]", "@a.md=x"}, 400, "JSON object"},
		{"a namespace that can't be", []string{"namespace=../etc", "@a.md=x"}, 400, "namespace"},
		{"more than one request may hold", []string{"@a.md=" + strings.Repeat("x", 11_000)}, 413, "MiB|KiB"},
		{"too many files", []string{"@1.md=one", "@2.md=two", "@3.md=three", "@4.md=four"}, 413, "up to 3 at once"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := b.uploadFiles(tt.parts...)
			ok := false
			for part := range strings.SplitSeq(tt.part, "|") {
				ok = ok || strings.Contains(got.body, part) ||
					strings.Contains(got.body, strings.ReplaceAll(part, `"`, `\"`))
			}
			if got.status != tt.status || !ok {
				t.Errorf("got %d %s, want %d with %q", got.status, got.body, tt.status, tt.part)
			}
		})
	}
	if got := b.send("POST", "/documents", `{"files":[]}`); got.status != 400 {
		t.Errorf("JSON that names no page: %d, want 400", got.status)
	}
	if got := b.send("POST", "/documents", "a roof", "Content-Type", "text/plain"); got.status != 415 {
		t.Errorf("a text instead of a form: %d, want 415", got.status)
	}
	if got := b.send("POST", "/documents", "--x\r\nContent-Disp", "Content-Type",
		"multipart/form-data; boundary=x"); got.status != 400 {
		t.Errorf("a form that breaks off: %d %s, want 400", got.status, got.body)
	}
}

func TestUnreadableNameKeepsEarlierFiles(t *testing.T) {
	b := newHarness(t)
	var body strings.Builder
	for _, name := range []string{"before.md", "ro\x01of.md", "after.md"} {
		fmt.Fprintf(&body,
			"--edge\r\nContent-Disposition: form-data; name=\"files\"; filename=\"%s\"\r\n\r\nWords of %s.\r\n",
			name, name)
	}
	got := b.send("POST", "/documents", body.String()+"--edge--\r\n", "Content-Type",
		"multipart/form-data; boundary=edge")
	if got.status != http.StatusAccepted {
		t.Fatalf("status %d: %s, want %d", got.status, got.body, http.StatusAccepted)
	}
	var res api.Uploaded
	got.decode(t, &res)
	if len(res.Documents) != 1 || res.Documents[0].Filename != "before.md" || len(res.Rejected) != 1 ||
		!strings.Contains(string(res.Rejected[0].Detail), "Rename") {
		t.Errorf("%s", got.body)
	}
}

func TestHostileNamesAreSanitized(t *testing.T) {
	b := newHarness(t)
	for i, name := range []string{
		"../../etc/passwd.md", `C:\Users\x\..\a.md`, "/abs/olute.md", "a/./b//c.md", "x\u202egpj.md", "CON.md",
		strings.Repeat("n", 300) + ".md",
		"semi;colon.md", "<script>.md", "…/ü/日本.md",
	} {
		got, res := b.uploadFiles(fmt.Sprintf("@%s=text number %d", name, i))
		if got.status != 202 || len(res.Documents) != 1 {
			t.Errorf("%q: %d %s, want 202", name, got.status, got.body)
			continue
		}
		info := b.settled(res.Documents[0].ID)
		if strings.HasPrefix(info.Path, "/") || strings.Contains(info.Path, "..") ||
			strings.ContainsAny(info.Path, "\\\u202e") || len(info.Filename) > 255 {
			t.Errorf("%q became %q, want no %q in it", name, info.Path, "..")
		}
		file := b.send("GET", "/documents/"+info.ID+"/file", "")
		if file.status != 200 || !strings.HasPrefix(file.header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%q is sent as %q, want %q at its beginning",
				name, file.header.Get("Content-Disposition"), "attachment")
		}
	}
}

// onePage returns a PDF of one page with a line of text.
func onePage() string {
	var b strings.Builder
	var offsets []int
	b.WriteString("%PDF-1.4\n")
	content := "BT /F1 24 Tf 72 700 Td (The roof is sound) Tj ET"
	for i, object := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R " +
			">> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	} {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return b.String()
}

func TestPDFPageIsImageOfRequestedWidth(t *testing.T) {
	b := newHarness(t)
	_, res := b.uploadFiles("@roof.pdf=" + onePage())
	info := b.settled(res.Documents[0].ID)
	if info.State != corpus.StateReady || info.Pages != 1 {
		t.Fatalf("document = %+v, %+v; want State %v and Pages 1", info, info.Error, corpus.StateReady)
	}
	path := "/documents/" + info.ID + "/pages/1.png"
	for _, tt := range []struct {
		query       string
		status      int
		width       int
		cachePrefix string
	}{
		{"?width=300", 200, 300, "private, no-cache"},
		{"?width=300&dpr=2", 200, 600, "private, no-cache"},
		{"?width=300&v=" + info.SHA256[:12], 200, 300, "private, max-age="},
		{"?width=300&v=00000000", 200, 300, "private, no-cache"},
		{"?width=99", 400, 0, ""}, {"?width=4001", 400, 0, ""}, {"?dpr=9", 400, 0, ""}, {"?dpr=NaN", 400, 0, ""},
	} {
		got := b.send("GET", path+tt.query, "")
		if got.status != tt.status {
			t.Errorf("%s = %d %s, want %d", tt.query, got.status, got.body, tt.status)
			continue
		}
		if tt.status != 200 {
			continue
		}
		img, err := png.DecodeConfig(strings.NewReader(got.body))
		if err != nil || img.Width != tt.width || !strings.HasPrefix(got.header.Get("Cache-Control"), tt.cachePrefix) {
			t.Errorf("%s: width %d, %q, %v; want %d and %q at its beginning",
				tt.query, img.Width, got.header.Get("Cache-Control"), err, tt.width, tt.cachePrefix)
		}
		if again := b.send("GET", path+tt.query, "", "If-None-Match", got.header.Get("ETag")); again.status != 304 {
			t.Errorf("%s again = %d, want 304", tt.query, again.status)
		}
	}
	if got := b.send("GET", "/documents/"+info.ID+"/pages/2.png", ""); got.status != 404 {
		t.Errorf("page 2 of 1 = %d, want 404", got.status)
	}
}

func TestPageRenderErrorIsShown(t *testing.T) {
	b := newHarness(t)
	_, res := b.uploadFiles("@note.pdf=" + string(pdftest.Stamped(12, 10)))
	info := b.settled(res.Documents[0].ID)
	if info.State != corpus.StateReady {
		t.Fatalf("document = %+v, %+v; want State %v", info, info.Error, corpus.StateReady)
	}
	const sentence = "This page is too complex to render. Its text is available."
	path := "/documents/" + info.ID + "/pages/1.png?width=640&v=" + info.SHA256[:12]
	for range 2 {
		got := b.send("GET", path, "", "Accept",
			"image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5")
		if p := got.problem(t); got.status != 422 || p.Code != chat.CodeUndrawable || p.Detail != sentence ||
			got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("the picture = %d %s, Cache-Control %q; want 422 with %q, not to be kept", got.status, got.body,
				got.header.Get("Cache-Control"), sentence)
		}
	}
	page := b.send("GET", "/d/"+info.ID, "", "Accept", "text/html").body
	if !strings.Contains(page, sentence) || !strings.Contains(page, "The text of this page.") ||
		strings.Contains(page, "/pages/1.png") {
		t.Errorf("document page lacks %q and the text instead of the picture:\n%s", sentence, page)
	}
}

func TestUnreadableFileReportsReasonOnStream(t *testing.T) {
	b := newHarness(t)
	_, res := b.uploadFiles("@broken.pdf=%PDF-1.7 but nothing else")
	info := b.settled(res.Documents[0].ID)
	if info.State != corpus.StateFailed || info.Error == nil || info.Error.Detail == "" {
		t.Errorf("document = %+v; want State %v and something", info, corpus.StateFailed)
	}
	if got := b.send("POST", "/documents/"+info.ID+"/retry", ""); got.status != 200 {
		t.Errorf("retry = %d %s, want 200", got.status, got.body)
	}
	b.settled(info.ID)
}

func TestSearchReranks(t *testing.T) {
	b := newHarness(t)
	for name, body := range map[string]string{
		"scattered.md": "# Overview\n\nCost, cost and cost again. The gutter is old. Gutter! Snow clearing is done " +
			"by the town. Clearing is done weekly.\n",
		"together.md": "# Works\n\nThe house was visited on a dry day in spring and all its rooms were seen from the " +
			"inside. The neighbour told of a storm two years ago. " +
			"The cost of clearing the gutter is 180 pounds. The ladder was lent by the owner, who also opened the " +
			"loft, the cellar, the shed and the summer house for us to look around.\n",
	} {
		b.added(name, body)
	}
	for rerank, want := range map[string]string{"false": "scattered.md", "true": "together.md"} {
		var found api.SearchResponse
		b.send("POST", "/search", `{"query":"cost of clearing the gutter","rerank":`+rerank+`}`).decode(t, &found)
		if len(found.Results) != 2 || found.Results[0].Metadata.Filename != want ||
			found.Results[0].Score < found.Results[1].Score || len(found.Notes) != 0 {
			t.Errorf("rerank %s: %+v; want 2 results, Results[0].Metadata.Filename %v, Results[0].Score at least %v, "+
				"no notes",
				rerank, found, want, found.Results[1].Score)
		}
	}
}

// With many slow readers, compressors would take more memory than the parts that are sent.
func TestTextIsNotCompressed(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	_, res := b.uploadFiles("@long.txt=" + strings.Repeat("A line of a text.\n", 500))
	id := b.settled(res.Documents[0].ID).ID
	text := b.send("GET", "/documents/"+id+"/text", "", "Accept-Encoding", "gzip")
	if encoding := text.header.Get("Content-Encoding"); encoding != "" || len(text.body) < 8000 {
		t.Errorf("the text comes as %d bytes in the encoding %q, want about 9,000 in none", len(text.body), encoding)
	}
}

// rows returns the titles and states of the list, "Title: state".
func (b *harness) rows(query string) []string {
	b.t.Helper()
	var out []string
	for _, row := range elements(b.panel("/documents"+query), func(n *html.Node) bool {
		return attribute(n, "data-testid") == "document"
	}) {
		for _, link := range elements(row, func(n *html.Node) bool {
			return n.Data == "a" && strings.HasPrefix(attribute(n, "href"), "/d/")
		}) {
			title := link
			for title.FirstChild != nil {
				title = title.FirstChild
			}
			out = append(out, title.Data+": "+attribute(row, "data-state"))
		}
	}
	return out
}

func TestDocumentListIsSearchedFilteredAndSorted(t *testing.T) {
	b := newHarness(t)
	b.added("alpha.md", "# Alpha\n\nOne.\n")
	b.added("beta.txt", "Beta\n\nTwo.\n")
	_, res := b.uploadFiles("namespace=east", "@gamma.pdf=%PDF-1.4 broken")
	if d := b.settled(res.Documents[0].ID); d.State != corpus.StateFailed {
		t.Fatalf("a broken file is %s, want %s", d.State, corpus.StateFailed)
	}
	for query, want := range map[string]string{
		"":                       "gamma.pdf: failed|beta.txt: ready|Alpha: ready",
		"?q=ALPH":                "Alpha: ready",
		"?kind=md":               "Alpha: ready",
		"?kind=pdf&state=failed": "gamma.pdf: failed",
		"?state=working":         "",
		"?namespace=east":        "gamma.pdf: failed",
		"?sort=oldest":           "Alpha: ready|beta.txt: ready|gamma.pdf: failed",
		"?sort=title&limit=1":    "Alpha: ready",
	} {
		if got := strings.Join(b.rows(query), "|"); got != want {
			t.Errorf("/documents%s lists %q, want %q", query, got, want)
		}
	}
	page := b.send("GET", "/documents", "", "Accept", "text/html").body
	for _, want := range []string{"This PDF is damaged", ">east<", "multipart/form-data", "/retry"} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	for _, query := range []string{"?state=odd", "?kind=odd", "?sort=odd", "?limit=x", "?namespace=a/b"} {
		if got := b.send("GET", "/documents"+query, "", "Accept", "text/html"); got.status != http.StatusBadRequest {
			t.Errorf("/documents%s = %d, want 400", query, got.status)
		}
	}
}

func TestListFormsWorkWithoutScript(t *testing.T) {
	b := newHarness(t)
	d := b.added("alpha.md", "# Alpha\n\nOne.\n")
	post := func(what string) reply {
		return b.send("POST", "/documents/"+d.ID+what, "", "Accept", "text/html", "Content-Type",
			"application/x-www-form-urlencoded")
	}
	got := post("?state=ready&evil=1&_method=DELETE")
	if want := "/documents?deleted=" + d.ID + "&state=ready"; got.status != http.StatusSeeOther ||
		got.header.Get("Location") != want {
		t.Fatalf("delete = %d to %q, want 303 to %q", got.status, got.header.Get("Location"), want)
	}
	if rows := b.rows(""); len(rows) != 0 {
		t.Errorf("after the delete there is %v, want none", rows)
	}
	after := b.send("GET", got.header.Get("Location"), "", "Accept", "text/html").body
	if !strings.Contains(after, `action="/documents/`+d.ID+`/restore"`) {
		t.Error("page lacks the restore form")
	}
	if got := post("/restore"); got.status != http.StatusSeeOther || got.header.Get("Location") != "/documents" {
		t.Errorf("restore = %d to %q; want %d and %q",
			got.status, got.header.Get("Location"), http.StatusSeeOther, "/documents")
	}
	if rows := b.rows(""); len(rows) != 1 {
		t.Errorf("after the restore there is %v, want 1 row", rows)
	}
	if got := post("/retry"); got.status != http.StatusConflict || !strings.Contains(got.body, "can be retried") {
		t.Errorf("retry of a ready document = %d, want %d", got.status, http.StatusConflict)
	}
	if got := b.send("POST", "/documents/"+d.ID+"?_method=DELETE", "", "HX-Request",
		"true"); got.status != http.StatusNoContent {
		t.Errorf("delete by the script = %d, want 204", got.status)
	}
	if got := b.send("POST", "/documents/none?_method=DELETE", "", "HX-Request",
		"true"); got.status != http.StatusNotFound {
		t.Errorf("delete of an unknown document = %d, want 404", got.status)
	}
}

func TestProcessingDocumentShowsProgress(t *testing.T) {
	d := corpus.Document{
		ID: "d1", Filename: "a.pdf", State: corpus.StateParsing, Namespace: chat.DefaultNamespace,
		Progress: corpus.Progress{Stage: "parsing", Done: 12, Total: 80},
	}
	list := views.DocumentsPage{Documents: []corpus.Document{d}, Counts: corpus.Counts{Documents: 1, Working: 1}}
	var b strings.Builder
	if err := views.DocumentsList(list).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Importing page 12 of 80", `max="80" value="12"`, "/documents/d1/cancel", `data-working="1"`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("list lacks %q: %s", want, b.String())
		}
	}
}

func TestPageShowsEmbeddingTime(t *testing.T) {
	d := corpus.Document{
		ID: "d1", Filename: "a.pdf", State: corpus.StateReady, Semantic: corpus.SemanticPending,
		Progress: corpus.Progress{Stage: "embedding", Done: 192, Total: 640},
	}
	for left, want := range map[time.Duration]string{
		0:                "Semantic index: 3,180 passages remaining<",
		20 * time.Second: "3,180 passages remaining, less than a minute left",
		time.Minute:      "about 1 minute left",
		5 * time.Hour:    "about 5 hours left",
	} {
		list := views.DocumentsPage{
			Documents: []corpus.Document{d}, Counts: corpus.Counts{Documents: 1, Ready: 1, Unembedded: 3180},
			Semantic: true, EmbedTime: left,
		}
		var b strings.Builder
		if err := views.DocumentsList(list).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{want, "Semantic index: 192 of 640 passages"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%v: list lacks %q: %s", left, want, b.String())
			}
		}
	}
}

// The page is in the reader's language: the chosen one, else the browser's. Responses to programs are in English.
func TestPageUsesReaderLanguage(t *testing.T) {
	b := newHarness(t)
	const pseudo = "footnote_language=en-XA"
	for _, tt := range []struct {
		path       string
		header     []string
		want, none string
	}{
		{"/", nil, `<html lang="en" dir="ltr">`, ""},
		{"/", []string{"Accept-Language", "fr-CH, fr;q=0.9"}, `<html lang="fr" dir="ltr">`, ""},
		{"/", []string{"Accept-Language", "fr", "Cookie", pseudo}, `<html lang="en-XA" dir="rtl">`, ""},
		{"/c/none", []string{"Cookie", pseudo}, "⟦Session not found.", ">Session not found"},
		{"/docs", []string{"Cookie", pseudo}, `id="api" lang="en" dir="ltr"`, ""},
		{"/signin", []string{"Accept-Language", "ja"}, `<html lang="ja" dir="ltr">`, ""},
	} {
		got := b.send("GET", tt.path, "", append([]string{"Accept", "text/html"}, tt.header...)...)
		if !strings.Contains(got.body, tt.want) || tt.none != "" && strings.Contains(got.body, tt.none) {
			t.Errorf("%s %q: want %s and no %s in %s", tt.path, tt.header, tt.want, tt.none, got.body)
		}
		if !strings.Contains(strings.Join(got.header.Values("Vary"), ","), "Accept-Language") {
			t.Errorf("%s: Vary = %q, want Accept-Language", tt.path, got.header.Values("Vary"))
		}
	}
	for _, tt := range []struct{ page, want string }{
		{"", `"detail":"Run not found.`}, {"true", `"detail":"⟦Run not found.`},
	} {
		got := b.send(
			"GET", "/agent/runs/none", "", "Accept", "application/json", "Cookie", pseudo, "Footnote-Page", tt.page,
		)
		if got.status != http.StatusNotFound || !strings.Contains(got.body, tt.want) {
			t.Errorf("for the page %q: %d %s, want %s", tt.page, got.status, got.body, tt.want)
		}
	}
}

func TestLanguageIsSelectedByForm(t *testing.T) {
	b := newHarness(t)
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
