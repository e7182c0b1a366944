package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"

	"github.com/footnote/footnote/chat"
)

// MaxBody is how many bytes a message may have. One that would be longer tells of fewer differences.
const MaxBody = 256 << 10

// The types of messages.
const (
	TypeSet     = "webhook.set"      // the address was set
	TypeChanged = "standing.changed" // a kept question's answer says something else
)

// Message is what is sent, as JSON. Receivers read it, so fields may be added and none may change.
type Message struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"` // when it happened
	Data      Data      `json:"data"`
}

// Data is what happened. All but URL is empty of a webhook that was set.
type Data struct {
	ID          string       `json:"id,omitempty"` // the change's
	QuestionID  string       `json:"question_id,omitempty"`
	Question    string       `json:"question,omitempty"`
	RunID       string       `json:"run_id,omitempty"` // whose answer it is
	URL         string       `json:"url"`              // the page of kept questions
	Differences []Difference `json:"differences,omitempty"`
	More        int          `json:"more,omitempty"` // further differences
}

// Difference is what became of a quote.
type Difference struct {
	Kind     chat.DifferenceKind `json:"kind"`
	Text     string              `json:"text"` // it in one sentence
	Document Document            `json:"document"`
	Before   *Quote              `json:"before"` // null: the words are new
	After    *Quote              `json:"after"`  // null: the words are gone
	Was      string              `json:"was,omitempty"`
	Now      string              `json:"now,omitempty"`
}

// Document is a document that a quote is in.
type Document struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	URL     string `json:"url"`
	Removed bool   `json:"removed,omitempty"`
}

// Quote is words of a document.
type Quote struct {
	Quote string `json:"quote"`
	Place string `json:"place,omitempty"`
	URL   string `json:"url"` // opens the document at the words
}

// bodyOf writes what a notice tells, the same each time. It holds no time of its own, since a message that is sent
// again is signed anew but must read the same. Differences are taken off the end until it fits, each with a new
// encoding: messages that are too long are rare.
func (s *Sender) bodyOf(ctx context.Context, n chat.Notice) ([]byte, error) {
	m := Message{Type: TypeSet, Timestamp: n.To.SetAt, Data: Data{URL: n.To.Origin + "/standing"}}
	if n.Change == nil {
		return json.Marshal(m)
	}
	m.Type, m.Timestamp = TypeChanged, n.Change.At
	m.Data = Data{
		ID: n.ID, QuestionID: n.KeptID, Question: n.Question, RunID: n.Change.RunID,
		URL: n.To.Origin + "/standing#kept-" + n.KeptID, More: n.Change.More,
	}
	for _, d := range n.Change.Differences {
		m.Data.Differences = append(m.Data.Differences, Difference{
			Kind: d.Kind, Text: s.cfg.Sentence(ctx, d),
			Document: Document{d.DocumentID, d.Title, n.To.Origin + "/d/" + d.DocumentID, d.Removed},
			Before:   quoteOf(n.To.Origin, d.Before), After: quoteOf(n.To.Origin, d.After), Was: d.Was, Now: d.Now,
		})
	}
	for {
		body, err := json.Marshal(m)
		if err != nil || len(body) <= MaxBody || len(m.Data.Differences) == 0 {
			return body, err
		}
		m.Data.Differences = m.Data.Differences[:len(m.Data.Differences)-1]
		m.Data.More++
	}
}

func quoteOf(origin string, q *chat.MarkedQuote) *Quote {
	if q == nil {
		return nil
	}
	return &Quote{q.Quote, q.Place, origin + q.URL}
}

// sign returns the headers that say which message this is, when it is sent, and that who knows the secret sent it. The
// signed text is "id.timestamp.body", the header "v1," and the MAC in base64, by the Standard Webhooks specification
// (standardwebhooks.com). Receivers may refuse a timestamp that is far off, so each try has its own.
func sign(secret []byte, id string, at time.Time, body []byte) map[string]string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(id + "." + stamp + ".")) // a hash does not fail
	_, _ = mac.Write(body)
	return map[string]string{
		"webhook-id": id, "webhook-timestamp": stamp,
		"webhook-signature": "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)),
	}
}
