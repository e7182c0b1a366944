package follow

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestore"
)

func TestLibraryFollowsSource(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	b.remote.fill(5)
	p := b.lookNow(t)
	wantReport(t, p, 5, 0, 0)
	docs := b.documents(t)
	d, there := docs["shelf/folder/page 3.md"]
	if !there || len(docs) != 5 {
		t.Fatalf("documents = %v, want five below shelf/", docs)
	}
	if want := b.remote.URL + "/k00003"; d.SourceURL() != want || d.MetaText(corpus.MetaPlace) != p.ID ||
		d.MetaText(corpus.MetaWatched) != "" {
		t.Errorf("meta = %v, want it to lead back to %s", d.Meta, want)
	}
	if _, told := d.ModelMeta()[corpus.MetaPlace]; told {
		t.Error("metadata for the model has the id of a source")
	}
	if p.NextAt.After(p.CreatedAt) || p.SuccessAt.IsZero() || p.Counts != (placestore.Counts{Items: 5}) {
		t.Errorf("after the look: %+v, want no further one", p)
	}
	fetched := b.remote.fetched
	wantReport(t, b.lookNow(t), 0, 0, 0)
	if b.remote.fetched != fetched {
		t.Errorf("%d items were fetched again, want none", b.remote.fetched-fetched)
	}
	b.remote.put("k00003", page{Version: "2", Name: "folder/page 3.md", Body: "# Page 3\n\nNews."})
	b.remote.put("new", page{Version: "1", Name: "new.md", Body: "# New"})
	b.remote.remove("k00001")
	p = b.lookNow(t)
	wantReport(t, p, 1, 1, 1)
	if len(p.Report.Documents) != 3 {
		t.Errorf("the report names %v, want three documents", p.Report.Documents)
	}
	after := b.documents(t)
	if now := after["shelf/folder/page 3.md"]; now.ID != d.ID || now.SHA256 == d.SHA256 || len(after) != 5 {
		t.Errorf("the changed document is %+v, want a new version of %s", now, d.ID)
	}
}

// TestChecksKeepNetworkPolicy covers looks at a place: each uses the network of the request that set the place
// up.
func TestChecksKeepNetworkPolicy(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	net := b.Net
	var asked []bool
	b.Net = func(kind sources.Kind, local bool) sources.Net {
		asked = append(asked, local)
		return net(kind, local)
	}
	for _, local := range []bool{true, false} {
		b.place.ID, asked = "", nil
		var err error
		b.place, err = b.Create(t.Context(), user, local, Draft{
			Kind: "shelf", Schedule: placestore.OnRequest,
			Settings: map[string]string{"url": b.remote.URL, "password": "open sesame"},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.work(t)
		_, err = b.Change(t.Context(), user, b.place.ID, !local, Change{Settings: map[string]string{}})
		if err != nil {
			t.Fatal(err)
		}
		b.work(t)
		if want := []bool{local, local, !local, !local}; !slices.Equal(asked, want) {
			t.Errorf("created with local = %v: the networks were %v, want %v", local, asked, want)
		}
	}
}

// A document that a person uploaded is neither changed nor removed by a place.
func TestUploadedDocumentIsNotChangedBySource(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	add := func(path, body string) corpus.Document {
		d, _, err := b.Library.Add(t.Context(), corpus.Upload{User: user, Path: path, Body: strings.NewReader(body)})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	same, taken := add("mine.md", "# Same"), add("shelf/taken.md", "# Mine")
	b.remote.put("same", page{Version: "1", Name: "same.md", Body: "# Same"})
	b.remote.put("taken", page{Version: "1", Name: "taken.md", Body: "# Theirs"})
	b.remote.put("other", page{Version: "1", Name: "other.md", Body: "# Other"})
	b.lookNow(t)
	if n := len(b.documents(t)); n != 4 {
		t.Fatalf("%d documents, want the two of before and two new ones", n)
	}
	b.remote.put("same", page{Version: "2", Name: "same.md", Body: "# Otherwise"})
	b.remote.remove("taken")
	b.lookNow(t)
	docs := b.documents(t)
	for _, was := range []corpus.Document{same, taken} {
		if now, there := docs[was.Path]; !there || now.SHA256 != was.SHA256 || now.MetaText(corpus.MetaPlace) != "" {
			t.Errorf("%s is now %+v, want it as it was", was.Path, now)
		}
	}
	if len(docs) != 4 {
		t.Errorf("documents = %v, want same.md and other.md beside them", docs)
	}
}

// Items with the same bytes share a document, and each keeps its content when another one changes or is removed.
func TestIdenticalItemsShareDocument(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	for _, key := range []string{"a", "b", "c"} {
		b.remote.put(key, page{Version: "1", Name: key + ".md", Body: "# Same"})
	}
	b.lookNow(t)
	if n := len(b.documents(t)); n != 1 {
		t.Fatalf("%d documents, want one", n)
	}
	b.remote.put("a", page{Version: "2", Name: "a.md", Body: "# A"})
	b.lookNow(t)
	if n := len(b.documents(t)); n != 2 {
		t.Fatalf("%d documents, want that of a and that of b and c", n)
	}
	b.remote.remove("b")
	b.lookNow(t)
	if n := len(b.documents(t)); n != 2 {
		t.Fatalf("%d documents, want that of a and that of c", n)
	}
	b.remote.remove("c")
	b.lookNow(t)
	if n := len(b.documents(t)); n != 1 {
		t.Errorf("%d documents, want that of a", n)
	}
}

// Nothing is removed when a place is down, returns errors, redirects in a loop or is suddenly empty.
func TestFailingSourceRemovesNothing(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"an empty list": func(w http.ResponseWriter, r *http.Request) bool { return r.URL.RawQuery == "" },
		"all is 404": func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusNotFound)
			return true
		},
		"all is 500": func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		},
		"the password is not taken": func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		},
		"a list that breaks off": func(w http.ResponseWriter, _ *http.Request) bool {
			_, _ = io.WriteString(w, `{"key":"k00000","version":"1","name":"folder/page 0.md"}`+"\n"+`{"key":`)
			return true
		},
		"it redirects in a circle": func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
			return true
		},
		"it leads to a cloud's secrets": func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
			return true
		},
		"other versions, and 404 for each": func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.RawQuery != "" {
				w.WriteHeader(http.StatusNotFound)
				return true
			}
			for i := range 3 {
				fmt.Fprintf(w, `{"key":"k%05d","version":"lie","name":"folder/page %d.md"}`+"\n", i, i)
			}
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newHarness(t, false)
			b.remote.fill(3)
			b.lookNow(t)
			b.remote.breakWith(fails)
			p := b.lookNow(t)
			if p.Failure == nil && p.Note == "" && p.Counts.Refused == 0 {
				t.Errorf("after the look: %+v, want it said", p.Progress)
			}
			if n := len(b.documents(t)); n != 3 {
				t.Errorf("%d documents are left, want 3", n)
			}
			b.remote.breakWith(nil)
			p = b.lookNow(t)
			wantReport(t, p, 0, 0, 0)
			if n := len(b.documents(t)); n != 3 || p.Counts != (placestore.Counts{Items: 3}) {
				t.Errorf("%d documents, %+v; want 3 and nothing refused", n, p.Counts)
			}
		})
	}
}

// Items that can't be read have a refusal each, and the look continues with the others.
func TestRejectedItemsHaveReason(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	b.remote.fill(2)
	b.remote.put(
		"film",
		page{Version: "1", Name: "tool.exe", Body: "MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00"},
	)
	b.remote.put("empty", page{Version: "1", Name: "empty.md"})
	b.remote.put(strings.Repeat("long", 300), page{Version: "1", Name: "long.md", Body: "# Long"})
	b.remote.put("odd", page{Version: "1", Name: "../../../" + strings.Repeat("ä", 300) + "/\x01\u202e.md",
		Body: "# Odd"})
	p := b.lookNow(t)
	wantReport(t, p, 3, 0, 0)
	items, err := b.Store.Items(t.Context(), user, p.ID, true, "", 10)
	if err != nil || len(items) != 3 || p.Counts.Refused != 3 {
		t.Fatalf("refused = %+v, %v; want three", items, err)
	}
	for _, item := range items {
		if item.Refusal.Message == "" || item.Name == "" {
			t.Errorf("item %+v lacks a name or a reason", item)
		}
	}
	for path := range b.documents(t) {
		if !strings.HasPrefix(path, "shelf/") || strings.Contains(path, "..") {
			t.Errorf("path of a document = %q, want one below shelf", path)
		}
	}
	b.remote.put("empty", page{Version: "2", Name: "empty.md", Body: "# Full"})
	p = b.lookNow(t)
	wantReport(t, p, 1, 0, 0)
	if p.Counts.Refused != 2 {
		t.Errorf("%d are refused, want 2", p.Counts.Refused)
	}
}

// A failed item does not block the others.
func TestFailedItemIsRetriedAtNextCheck(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	b.remote.fill(20)
	b.remote.breakWith(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("key") == "k00000" {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
		return false
	})
	p := b.lookNow(t)
	if p.Failure == nil || p.Report.Added != 19 || p.Counts.Waiting != 1 || p.NextAt.IsZero() {
		t.Errorf("the look: %+v; want 19 added, one waiting, and another look soon", p)
	}
	b.remote.breakWith(nil)
	wantReport(t, b.lookNow(t), 1, 0, 0)
}

// The password is in a file that only its user can read, and nowhere else. A place without the file reports that.
func TestSecretsAreStoredSeparately(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	_, err := b.Create(t.Context(), user, true, Draft{
		Kind: "shelf", Settings: map[string]string{"url": b.remote.URL, "password": "wrong"},
	})
	if chat.CodeOf(err) != chat.CodeInvalid || chat.MessageOf(err).String() != "The password is not taken." {
		t.Errorf("a wrong password: %v, want it refused", err)
	}
	b.remote.breakWith(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusGatewayTimeout)
		return true
	})
	_, err = b.Create(t.Context(), user, true, Draft{Kind: "shelf", Settings: map[string]string{"url": b.remote.URL}})
	if chat.CodeOf(err) != chat.CodeUnavailable || chat.MessageOf(err).String() != "The shelf is too slow." {
		t.Errorf("a place that is too slow: %v, want %s", err, chat.CodeUnavailable)
	}
	b.remote.breakWith(nil)
	b.follow(t)
	files, err := filepath.Glob(filepath.Join(b.Secrets, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files = %v, %v; want one", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v; want 0600", info.Mode(), err)
	}
	if _, there := b.place.Settings["password"]; there {
		t.Error("store has the password")
	}
	name := "other"
	p, err := b.Change(
		t.Context(),
		user,
		b.place.ID,
		true,
		Change{Name: &name, Settings: map[string]string{"password": ""}},
	)
	if err != nil || p.Name != name {
		t.Fatalf("a change without a password: %+v, %v; want it kept", p, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if p := b.work(t); p.Failure == nil || p.Failure.Code != chat.CodeUnauthorized {
		t.Errorf("without the file: %+v, want it asked for", p.Failure)
	}
	p, err = b.Change(
		t.Context(),
		user,
		b.place.ID,
		true,
		Change{Settings: map[string]string{"password": "open sesame"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	b.remote.fill(1)
	wantReport(t, b.work(t), 1, 0, 0)
	if err := b.Remove(t.Context(), user, p.ID, placestore.DropDocuments); err != nil {
		t.Fatal(err)
	}
	if did, err := b.workOnce(t.Context()); !did || err != nil {
		t.Fatalf("workOnce = %v, %v", did, err)
	}
	files, _ = filepath.Glob(filepath.Join(b.Secrets, "*"))
	if docs := b.documents(t); len(docs) > 0 || len(files) > 0 {
		t.Errorf("documents %v and files %v are left after the source was removed", docs, files)
	}
}

func TestNothingIsFetchedForRevokedUser(t *testing.T) {
	b := newHarness(t, false)
	b.remote.fill(1)
	b.follow(t)
	gone := true
	b.Gone = func(name string) bool { return gone && name == user }
	p := b.work(t)
	if b.remote.fetched != 0 || p.Failure != nil || p.NextAt.IsZero() || p.State() == "looking" {
		t.Errorf("%d items were fetched, and the place is %s, due %v; want it looked at later", b.remote.fetched,
			p.State(), p.NextAt)
	}
	gone = false
	wantReport(t, b.lookNow(t), 1, 0, 0)
}

func TestScheduleChangeKeepsRunningCheck(t *testing.T) {
	b := newHarness(t, false)
	b.remote.fill(1)
	b.follow(t)
	every := placestore.EveryWeek
	if _, err := b.Change(t.Context(), user, b.place.ID, true, Change{Schedule: &every}); err != nil {
		t.Fatal(err)
	}
	wantReport(t, b.work(t), 1, 0, 0) // the first look, which was still due
}
