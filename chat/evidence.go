package chat

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/text/locale"
)

// EvidenceFormat identifies the format of Evidence. Readers refuse any other, so an incompatible change needs
// another number.
const EvidenceFormat = "footnote-evidence/1"

// Evidence is an answer with its sources, exported as a file that can be checked later. The check needs no log: each
// citation is looked up by document, hash and offsets. The digest is no signature: a deliberate change can recompute
// it.
type Evidence struct {
	// The file's form: footnote-evidence/1.
	Format string `json:"format"`
	// SHA-256 of the same JSON, compact, with an empty digest.
	//
	// It detects accidental changes only.
	Digest      string             `json:"digest"`
	RunID       string             `json:"run_id"`
	Question    string             `json:"question"`
	Answer      string             `json:"answer"` // Markdown with [N]
	Model       string             `json:"model"`
	Status      RunStatus          `json:"status"`
	StopReason  StopReason         `json:"stop_reason,omitempty"`
	AskedAt     time.Time          `json:"asked_at"`    // When the question was submitted.
	AnsweredAt  time.Time          `json:"answered_at"` // When the run ended.
	Citations   []EvidenceCitation `json:"citations"`
	Unsupported []string           `json:"unsupported"`
	Steps       []EvidenceStep     `json:"steps" api:"shared"` // The steps, in order.
}

// EvidenceCitation is a numbered quote with rune offsets in the text of the document version identified by the hash.
type EvidenceCitation struct {
	Number     int    `json:"number"`
	DocumentID string `json:"document_id"`
	Title      string `json:"title"`
	Filename   string `json:"filename"`
	SHA256     string `json:"sha256"` // of the original file
	Page       int    `json:"page,omitempty"`
	Place      string `json:"place,omitempty"` // as text
	Section    string `json:"section"`
	Start      int    `json:"start"`
	End        int    `json:"end"`
	Quote      string `json:"quote"`
	Claimed    string `json:"claimed,omitempty"`
	Check      Check  `json:"check"`
	SourceURL  string `json:"source_url,omitempty"` // where the document is on the web
	Added      bool   `json:"added,omitempty"`
}

// EvidenceStep is a step without its output.
type EvidenceStep struct {
	Step    string          `json:"step"`           // The name of the tool or phase.
	Tool    string          `json:"tool,omitempty"` // The tool that was called.
	Message string          `json:"message"`
	Input   json.RawMessage `json:"input,omitempty"` // Its arguments.
	Summary string          `json:"summary,omitempty"`
	Status  Status          `json:"status"`
	// When the step ended.
	At         time.Time `json:"at"`
	DurationMS int64     `json:"duration_ms"`
	Error      string    `json:"error,omitempty"`
}

// EvidenceResult is the result of checking a citation. verified: the quote is at its offsets. changed: the document
// or the citation differs. missing: the document or the quote does not exist.
type EvidenceResult struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	// The result for the quote: verified, changed or missing.
	State  string `json:"state"`
	Detail string `json:"detail,omitempty" api:"shared"` // A human-readable message.
}

// The states of an EvidenceResult.
const (
	EvidenceVerified = "verified"
	EvidenceChanged  = "changed"
	EvidenceMissing  = "missing"
)

// EvidenceReport is the result of checking a file.
type EvidenceReport struct {
	OK        bool             `json:"ok"` // The file has no problem, and every quote is verified.
	RunID     string           `json:"run_id"`
	Question  string           `json:"question"`
	Problems  []string         `json:"problems"` // Problems of the file itself, as sentences.
	Citations []EvidenceResult `json:"citations"`
}

// Sealed returns the evidence with its format and digest. The digest is the hexadecimal SHA-256 of this JSON with an
// empty digest. Sealing is idempotent, which Problems uses to validate a file. Step inputs are normalised first, so
// that the JSON survives a round trip through a file.
func (e Evidence) Sealed() (Evidence, error) {
	e.Format, e.Digest = EvidenceFormat, ""
	var err error
	if e.Steps, err = plainInputs(e.Steps); err != nil {
		return e, err
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return e, fmt.Errorf("encode evidence: %w", err)
	}
	sum := sha256.Sum256(raw)
	e.Digest = hex.EncodeToString(sum[:])
	return e, nil
}

// plainInputs returns the steps with their inputs as compact JSON. A file may be indented, which would change the
// raw JSON and so the digest. The given steps are not modified.
func plainInputs(steps []EvidenceStep) ([]EvidenceStep, error) {
	steps = slices.Clone(steps)
	for i, s := range steps {
		if len(s.Input) == 0 {
			continue
		}
		raw, err := json.Marshal(s.Input)
		if err != nil {
			return nil, fmt.Errorf("encode evidence: %w", err)
		}
		steps[i].Input = raw
	}
	return steps, nil
}

// DecodeEvidence decodes the JSON form. Unknown fields and trailing data are errors: the digest would not cover
// them. It fails with CodeInvalid and a user-facing message.
func DecodeEvidence(raw []byte) (Evidence, error) {
	var e Evidence
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return e, &Error{Code: CodeInvalid, Message: locale.Say(
			"The evidence file is invalid or damaged: {1}", err,
		)}
	}
	if decoder.More() || len(bytes.TrimSpace(raw[decoder.InputOffset():])) > 0 {
		return e, &Error{Code: CodeInvalid, Message: "Unexpected data after the evidence."}
	}
	if e.Format != EvidenceFormat {
		return e, &Error{Code: CodeInvalid, Message: locale.Say(
			"Unsupported format “{2}”. Expected {1}.", EvidenceFormat, e.Format,
		)}
	}
	var err error
	e.Steps, err = plainInputs(e.Steps)
	return e, err
}

// Problems validates the evidence file itself: its digest and its citation numbers. It needs no store, so any holder
// of the file can run it. An empty result does not verify the citations: Report does.
func (e Evidence) Problems() []string {
	var out []string
	if sealed, err := e.Sealed(); err != nil || sealed.Digest != e.Digest {
		out = append(out, "The file was changed after its export: its digest does not match its content.")
	}
	var seen []int
	for _, c := range e.Citations {
		if slices.Contains(seen, c.Number) {
			out = append(out, "The number "+strconv.Itoa(c.Number)+" stands for two quotes.")
		}
		seen = append(seen, c.Number)
		if !strings.Contains(e.Answer, "["+strconv.Itoa(c.Number)+"]") {
			out = append(out, "The answer has no ["+strconv.Itoa(c.Number)+"].")
		}
	}
	return out
}

// Report returns the result of a check from the file's problems and the citations' results. Its lists are never nil,
// so that they encode as [] rather than null.
func (e Evidence) Report(problems []string, citations []EvidenceResult) EvidenceReport {
	r := EvidenceReport{RunID: e.RunID, Question: e.Question, Problems: problems, Citations: citations}
	if r.Problems == nil {
		r.Problems = []string{}
	}
	if r.Citations == nil {
		r.Citations = []EvidenceResult{}
	}
	r.OK = len(problems) == 0 &&
		!slices.ContainsFunc(citations, func(c EvidenceResult) bool { return c.State != EvidenceVerified })
	return r
}
