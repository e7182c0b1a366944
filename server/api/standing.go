package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// Standing serves the kept questions, their feed and their webhook.
type Standing struct {
	Store     chat.Store
	Scheduler QuestionScheduler
	Webhooks  Webhooks
	Guard     *httpio.Guard
	Bodies    httpio.Bodies
}

// QuestionScheduler keeps questions and asks them again.
type QuestionScheduler interface {
	// Add keeps the question of an answered run. It fails with chat.CodeNotFound for a run that the user does not
	// have, and chat.CodeConflict for a question that can't be kept or already is, in which case it is returned.
	Add(ctx context.Context, s chat.Scope, runID string) (chat.Standing, error)
	// AddNew keeps a new question.
	AddNew(ctx context.Context, s chat.Scope, req chat.RunRequest) (chat.Standing, error)
	// AskNow asks a question again. It fails with chat.CodeConflict for a paused one and chat.CodeTooMany for one
	// asked too often.
	AskNow(ctx context.Context, s chat.Scope, id string) (chat.Standing, error)
	// Pause pauses or resumes a question.
	Pause(ctx context.Context, s chat.Scope, id string, paused bool) (chat.Standing, error)
	// MarkSeen marks the question's changes as seen.
	MarkSeen(ctx context.Context, s chat.Scope, id string) error
}

// NewStanding is the body of POST /standing: the question of a run, or a new one.
type NewStanding struct {
	// The run whose question to monitor. Without it, question is required.
	RunID string `json:"run_id" api:"form=maybe"`
	// A new question, which runs immediately.
	Question    string   `json:"question" api:"max=chat.MaxQuestion"`
	Namespace   string   `json:"namespace" api:"form=namespace"`
	DocumentIDs []string `json:"document_ids" api:"max=chat.MaxDocumentIDs"` // Restricts the search to these documents.
}

// StandingChange is the body of PATCH /standing/{id}. Omitted fields are unchanged.
type StandingChange struct {
	Paused *bool `json:"paused"` // true: stop asking it again; false: resume.
	Seen   *bool `json:"seen"`   // true: mark the changes as seen.
}

// KeptQuestion is a kept question: it is asked again when documents change.
type KeptQuestion struct {
	ID       string `json:"id"` // The ID of the monitored question.
	Question string `json:"question"`
	// The namespace; without it, documents are added to "default" and all namespaces are searched.
	Namespace string             `json:"namespace,omitempty"`
	State     chat.StandingState `json:"state"`             // The state of the question and its answer.
	Trouble   string             `json:"trouble,omitempty"` // Why the last attempt failed.
	RunID     string             `json:"run_id"`            // The run of the last answer; empty before the first.
	SessionID string             `json:"session_id"`        // The conversation with its runs.
	Answer    string             `json:"answer"`
	Citations []chat.Citation    `json:"citations"`
	RestsOn   []RestsOn          `json:"rests_on"` // The documents of the last answer.
	CreatedAt time.Time          `json:"created_at"`
	AskedAt   *time.Time         `json:"asked_at"` // The time of the last rerun; null: never.
	Unseen    bool               `json:"unseen"`   // Whether there are unseen changes.
	Changes   []chat.Change      `json:"changes"`  // The changes, newest first, at most 20.
}

// RestsOn is a source document of an answer.
type RestsOn struct {
	DocumentID string `json:"document_id"`
	Title      string `json:"title"`
}

// KeptList is the response of GET /standing.
type KeptList struct {
	Questions []KeptQuestion `json:"questions"` // The monitored questions.
}

// Lists are never null; asked_at is null until the question was asked again.
func newKeptQuestion(s chat.Standing) KeptQuestion {
	q := KeptQuestion{
		ID: s.ID, Question: s.Request.Message, Namespace: s.Request.Namespace, State: s.State(),
		Trouble: s.Trouble.String(), RunID: s.Basis.RunID, SessionID: s.Request.SessionID, Answer: s.Basis.Answer,
		Citations: httpio.NotNil(s.Basis.Citations), RestsOn: []RestsOn{},
		CreatedAt: s.CreatedAt, AskedAt: httpio.Known(s.AskedAt), Unseen: s.Unseen(),
		Changes: httpio.NotNil(s.Changes),
	}
	for _, d := range s.Basis.Documents {
		q.RestsOn = append(q.RestsOn, RestsOn{d.ID, d.Title})
	}
	return q
}

// List handles GET /standing. Unlike the page, it does not mark changes as seen.
func (a *Standing) List(c httpio.Context) (KeptList, error) {
	all, err := a.Store.AllStanding(c.Request().Context(), httpio.Scope(c))
	return KeptList{httpio.Each(all, newKeptQuestion)}, err
}

// Keep handles POST /standing: 201, or 409 for a question that is kept already. A new question is asked at once.
//
// A form names a run and is redirected to its question (303), also if that is kept already.
func (a *Standing) Keep(c httpio.Context) error {
	var body NewStanding
	if err := a.Bodies.ReadFields(c, &body); err != nil {
		return err
	}
	form := httpio.MediaType(c) != httpio.TypeJSON
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	var kept chat.Standing
	var err error
	switch {
	case !form && (body.RunID == "") == (body.Question == ""):
		return httpio.Invalid(
			"Send either run_id, the run whose question to monitor, or question, a new question.",
		)
	case !form && body.RunID != "" && (body.Namespace != "" || len(body.DocumentIDs) > 0):
		return httpio.Invalid("namespace and document_ids are not allowed with run_id: the run defines them.")
	case form || body.RunID != "":
		kept, err = a.Scheduler.Add(ctx, scope, body.RunID)
	default:
		kept, err = a.Scheduler.AddNew(ctx, scope, chat.RunRequest{
			Message: body.Question, Namespace: body.Namespace, DocumentIDs: body.DocumentIDs,
		})
	}
	switch {
	case form && kept.ID != "":
		return c.Redirect(http.StatusSeeOther, "/standing#kept-"+kept.ID)
	case err != nil:
		return err
	}
	return c.JSON(http.StatusCreated, newKeptQuestion(kept))
}

// Get handles GET /standing/{id}.
func (a *Standing) Get(c httpio.Context) (KeptQuestion, error) {
	kept, err := a.Store.Standing(c.Request().Context(), httpio.Scope(c), c.Param("id"))
	return newKeptQuestion(kept), err
}

// Change handles PATCH /standing/{id}. seen: false has no effect.
func (a *Standing) Change(c httpio.Context, body StandingChange) (KeptQuestion, error) {
	ctx, scope, id := c.Request().Context(), httpio.Scope(c), c.Param("id")
	if body.Seen != nil && *body.Seen {
		if err := a.Scheduler.MarkSeen(ctx, scope, id); err != nil {
			return KeptQuestion{}, err
		}
	}
	if body.Paused != nil {
		if _, err := a.Scheduler.Pause(ctx, scope, id, *body.Paused); err != nil {
			return KeptQuestion{}, err
		}
	}
	return a.Get(c)
}

// Ask handles POST /standing/{id}/ask: 409 while the question is paused, and 429 if it was asked too often.
func (a *Standing) Ask(c httpio.Context) (KeptQuestion, error) {
	kept, err := a.Scheduler.AskNow(c.Request().Context(), httpio.Scope(c), c.Param("id"))
	return newKeptQuestion(kept), err
}

// maxEntries is the number of changes in a feed, newest first.
const maxEntries = 50

// atomFeed is a feed in RFC 4287.
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Entries []atomEntry `xml:"entry"`
}

type atomEntry struct {
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Link    atomLink `xml:"link"`
	Content atomText `xml:"content"`
}

type atomLink struct {
	Href string `xml:"href,attr"`
}

type atomText struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// Feed handles GET /standing/feed/{token}: the changes of the token's user.
//
// It needs no key, since feed readers can't send one. Therefore it ends with the user's last key (404), the token is
// looked up by its hash, and search engines are told not to index it. It answers 304 to a reader with the current
// ETag, the hash of the body.
func (a *Standing) Feed(c httpio.Context) error {
	ctx := c.Request().Context()
	scope, err := a.Store.StandingFeed(ctx, sha256.Sum256([]byte(c.Param("token"))))
	if err == nil && a.Guard.Gone(scope.User) {
		err = chat.NoSuch("feed")
	}
	if err != nil {
		return err
	}
	all, err := a.Store.AllStanding(ctx, scope)
	if err != nil {
		return err
	}
	feed := atomFeed{ID: "urn:footnote:kept", Title: views.KeptTitle.In(ctx), Author: "Footnote"}
	// Atom requires a time even for a feed without entries (RFC 4287, section 4.1.1).
	newest := time.Unix(0, 0)
	for _, kept := range all {
		for _, change := range kept.Changes {
			feed.Entries = append(feed.Entries, entryOf(c, kept, change))
			if change.At.After(newest) {
				newest = change.At
			}
		}
	}
	slices.SortFunc(feed.Entries, func(x, y atomEntry) int { return strings.Compare(y.Updated, x.Updated) })
	feed.Entries = feed.Entries[:min(len(feed.Entries), maxEntries)]
	feed.Updated = newest.UTC().Format(time.RFC3339)
	var body bytes.Buffer
	body.WriteString(xml.Header)
	if err := xml.NewEncoder(&body).Encode(feed); err != nil {
		return err
	}
	sum := sha256.Sum256(body.Bytes())
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	head := c.Response().Header()
	head.Set("ETag", tag)
	head.Set("Cache-Control", "private, no-cache")
	head.Set("X-Robots-Tag", "noindex")
	if c.Request().Header.Get("If-None-Match") == tag {
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, "application/atom+xml; charset=utf-8", body.Bytes())
}

// entryOf converts a change to an entry: the sentence as its title, and each difference as a line.
func entryOf(c httpio.Context, kept chat.Standing, change chat.Change) atomEntry {
	ctx := c.Request().Context()
	lines := []string{kept.Request.Message}
	for _, d := range change.Differences {
		lines = append(lines, views.ChangeSentence(ctx, d))
	}
	return atomEntry{
		ID: "urn:uuid:" + change.ID, Title: lines[min(1, len(lines)-1)],
		Updated: change.At.UTC().Format(time.RFC3339),
		Link:    atomLink{httpio.Origin(c) + "/standing#kept-" + kept.ID},
		Content: atomText{"text", strings.Join(lines, "\n\n")},
	}
}

// DropFeed handles DELETE /standing/feed: it deletes the feed's address.
func (a *Standing) DropFeed(ctx context.Context, s chat.Scope, _ string) error {
	return a.Store.SetStandingFeed(ctx, s, nil)
}
