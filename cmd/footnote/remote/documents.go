package remote

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// Add uploads one file by POST /documents, with a relative path and its form fields. refused is the library's
// reason to reject the file. The file is streamed, not buffered in memory. Exactly one of doc, refused and err is
// set. It returns when the server has stored the file, before the file is parsed.
func (r *Server) Add(
	ctx context.Context, fields [][2]string, path string, file io.Reader,
) (doc Document, refused *chat.Error, err error) {
	body, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	// Ends when the request has read or closed the pipe.
	go func() { writer.CloseWithError(writeForm(form, fields, path, file)) }()
	resp, err := r.Do(ctx, http.MethodPost, "/documents", map[string]string{
		"Content-Type": form.FormDataContentType(), "Accept": "application/json",
	}, body)
	_ = body.Close() // ends the writer if the server responded early
	if err != nil {
		return doc, nil, err
	}
	defer resp.Body.Close()
	var answer struct {
		Documents []Document `json:"documents"`
		Rejected  []struct {
			Code   chat.Code `json:"code"`
			Detail string    `json:"detail"`
		} `json:"rejected"`
	}
	if err := decodeReply(resp, &answer); err != nil {
		return doc, nil, err
	}
	if len(answer.Rejected) > 0 {
		return doc, &chat.Error{Code: answer.Rejected[0].Code, Message: locale.Message(answer.Rejected[0].Detail)}, nil
	}
	if len(answer.Documents) != 1 {
		return doc, nil, errors.New("the server returned no result")
	}
	return answer.Documents[0], nil, nil
}

// writeForm encodes one file as a form of POST /documents. The file is streamed, so it can have any size. Its name
// is sent unchanged, even with a path in it: the library keeps it.
func writeForm(form *multipart.Writer, fields [][2]string, path string, file io.Reader) error {
	for _, field := range fields {
		if err := form.WriteField(field[0], field[1]); err != nil {
			return err
		}
	}
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {
			mime.FormatMediaType("form-data", map[string]string{"name": "files", "filename": path}),
		},
		"Content-Type": {"application/octet-stream"},
	})
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, file); err != nil {
		return err
	}
	return form.Close()
}

// Document is a file that the library accepted. Of is the id of an existing document with the same bytes, or empty.
// Progress is 0 of 0 while it is unknown, and Error is nil unless the state is failed.
type Document struct {
	ID       string `json:"id"`
	Filename string `json:"filename"`
	State    string `json:"state"`
	Of       string `json:"duplicate_of"`
	Progress struct {
		Stage string `json:"stage"`
		Done  int    `json:"done"`
		Total int    `json:"total"`
	} `json:"progress"`
	Error *struct {
		Detail string `json:"detail"`
	} `json:"error"`
}

// Settled waits until the document is ready or has failed, and calls report with its state until then. It polls ten
// times a second. A ready document may have no embeddings yet.
func (r *Server) Settled(ctx context.Context, doc Document, report func(Document)) (Document, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := r.JSON(ctx, http.MethodGet, "/documents/"+doc.ID, nil, &doc); err != nil {
			return doc, err
		}
		switch doc.State {
		case "ready", "failed", "cancelled":
			return doc, nil
		}
		report(doc)
		select {
		case <-ctx.Done():
			return doc, ctx.Err()
		case <-tick.C:
		}
	}
}

// Delete deletes a document. A missing document is not an error.
func (r *Server) Delete(ctx context.Context, id string) error {
	err := r.JSON(ctx, http.MethodDelete, "/documents/"+url.PathEscape(id), nil, nil)
	if chat.CodeOf(err) == chat.CodeNotFound {
		return nil
	}
	return err
}
