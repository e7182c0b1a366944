package page

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
)

const (
	// maxChecked is the maximum number of files in a check.
	maxChecked = 100
	// maxCheckedBytes is the maximum size of a file's part of the request: its first bytes, its size and its name.
	maxCheckedBytes = corpus.SniffBytes + 4096
)

// checked is the response to a check: the files that would be refused.
type checked struct {
	Refused []refusedFile `json:"refused"`
}

// refusedFile is a file that would be refused.
type refusedFile struct {
	At     int    `json:"at"` // its index in the request, from 0
	Detail string `json:"detail"`
}

// CheckFiles handles POST /documents/check: it validates files before their upload. For each file the form has a
// field "size", in bytes, followed by a field "files" with its name and its first corpus.SniffBytes.
//
// Only the page's script calls it, to avoid the upload of a large file that would be refused. It answers 200 with
// the files that would be refused, possibly none; the others may still be refused later. Messages are in the
// reader's language.
func (h *Handlers) CheckFiles(c httpio.Context) error {
	if err := httpio.LimitBody(c, maxChecked*maxCheckedBytes); err != nil {
		return err
	}
	parts, err := c.Request().MultipartReader()
	if err != nil {
		return &chat.Error{
			Code: chat.CodeUnsupported, Message: "Send the beginnings of the files as multipart/form-data.", Err: err,
		}
	}
	// Refused is never nil, so that it encodes as a list.
	answer := checked{Refused: []refusedFile{}}
	// The size of the next file; its field precedes the file's.
	var size int64
	for files := 0; ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return c.JSON(http.StatusOK, answer)
		}
		if err != nil {
			return checkBroken(err)
		}
		body, err := io.ReadAll(io.LimitReader(part, corpus.SniffBytes))
		if err != nil {
			return checkBroken(err)
		}
		if part.FormName() == "size" {
			if size, err = strconv.ParseInt(string(body), 10, 64); err != nil {
				return httpio.Invalid("The field size must be a number of bytes.")
			}
			continue
		}
		// The body is limited as well, but it could hold many small parts.
		if files == maxChecked {
			return httpio.Invalid("Too many files. Up to {1} can be checked at once.", maxChecked)
		}
		if err := h.checkFile(part, body, size); err != nil {
			why := httpio.ResponseText(c, httpio.AsError(err).Message)
			answer.Refused = append(answer.Refused, refusedFile{files, why})
		}
		files++
	}
}

// checkFile fails for a file that would be refused.
func (h *Handlers) checkFile(part *multipart.Part, head []byte, size int64) error {
	if size > h.MaxFile {
		return httpio.FileTooLarge(part.FileName(), h.MaxFile)
	}
	return h.Library.Check(part.FileName(), head)
}

func checkBroken(err error) error {
	return &chat.Error{Code: chat.CodeInvalid, Message: "The form is invalid or too large.", Err: err}
}
