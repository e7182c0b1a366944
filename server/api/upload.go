package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"path"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
	"github.com/footnote/footnote/views"
)

// maxFieldBytes is the limit of an upload's text field, which is buffered in memory; files are streamed. It is far
// above the size of a namespace or meta.
const maxFieldBytes = 64 << 10

// Uploaded is the response to an upload: each file is in one of the two lists.
type Uploaded struct {
	Documents []uploadedDocument `json:"documents"` // The documents.
	Rejected  []rejectedFile     `json:"rejected"`  // The rejected files, with the reasons.
}

// uploadedDocument is an accepted file.
type uploadedDocument struct {
	ID          string       `json:"id"`
	Filename    string       `json:"filename"`
	State       corpus.State `json:"state"`
	DuplicateOf string       `json:"duplicate_of,omitempty"` // The existing document with the same bytes.
	// The uploaded file name, if the document was renamed.
	RenamedFrom string `json:"renamed_from,omitempty"`
}

// rejectedFile is a refused file, with the reason.
type rejectedFile struct {
	Filename string         `json:"filename"`
	Code     chat.Code      `json:"code"`
	Detail   locale.Message `json:"detail"` // The reason for the rejection.

	why error
}

// noUploads is an empty response, whose lists are not null.
func noUploads() Uploaded {
	return Uploaded{Documents: []uploadedDocument{}, Rejected: []rejectedFile{}}
}

func uploaded(d corpus.Document, duplicate bool) uploadedDocument {
	doc := uploadedDocument{ID: d.ID, Filename: d.Filename, State: d.State}
	if duplicate {
		doc.DuplicateOf = d.ID
	}
	return doc
}

func rejected(name string, err error) rejectedFile {
	e := httpio.AsError(err)
	return rejectedFile{Filename: name, Code: e.Code, Detail: e.Message, why: err}
}

// upload is the state of one upload request.
type upload struct {
	res   Uploaded
	made  []corpus.Document // created by this request, or restored by it
	words sharedWords
	moved []string // names of existing documents with a new version or new meta
}

// Upload handles POST /documents: it streams each file of the field "files" into the library. A refused file is
// listed with its reason and the others continue. If all are refused, the status is that of the reason; a request
// that is refused leaves no new document behind. The fields namespace and meta (a JSON object) apply to the files
// after them. JSON names a web page.
//
// Browsers without scripts are redirected to the list, or get a page with the refused files. Files are streamed, so
// an upload may exceed the memory. The limits are those of httpio.Limits and of the user.
func (a *Documents) Upload(c httpio.Context) error {
	if httpio.SendsJSON(c) {
		return a.addPage(c)
	}
	up, err := a.readUpload(c, nil)
	if err != nil {
		return err
	}
	if len(up.res.Documents)+len(up.res.Rejected) == 0 {
		return httpio.Invalid("The request has no files. Send one or more in the field \"files\".")
	}
	return a.sendUploadResult(c, up.res)
}

// readUpload streams a request's files into the library. words receives the other fields of a share; nil: no share.
//
// On an error it removes the documents that it created: see undoUpload.
func (a *Documents) readUpload(c httpio.Context, words sharedWords) (*upload, error) {
	if err := httpio.LimitBody(c, a.Limits.UploadRequest); err != nil {
		return nil, err
	}
	parts, err := c.Request().MultipartReader()
	if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeUnsupported, Message: "Send the files as multipart/form-data in the field \"files\".",
			Err: err,
		}
	}
	if words == nil { // words count against no limit
		if err := a.checkUploadQuota(c.Request().Context(), httpio.Scope(c).User); err != nil {
			return nil, err
		}
	}
	up := &upload{res: noUploads(), words: words}
	if err := a.readParts(c, parts, up); err != nil {
		return nil, a.undoUpload(c, up, err)
	}
	return up, nil
}

// sendUploadResult sends the response to an upload. If all files were refused, the status is that of the reason.
func (a *Documents) sendUploadResult(c httpio.Context, res Uploaded) error {
	status := http.StatusAccepted
	if len(res.Documents) == 0 {
		status = refusedStatus(res.Rejected)
		c.Response().Header().Set("Cache-Control", "no-store")
		switch status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusInsufficientStorage:
			c.Response().Header().Set("Retry-After", httpio.RetryAfter(res.Rejected[len(res.Rejected)-1].why, "5"))
		}
	}
	switch {
	case !httpio.ByForm(c):
		for i := range res.Rejected {
			res.Rejected[i].Detail = locale.Message(httpio.ResponseText(c, res.Rejected[i].Detail))
		}
		return c.JSON(status, res)
	case len(res.Rejected) == 0:
		return c.Redirect(http.StatusSeeOther, "/documents")
	}
	var refused []views.RefusedFile
	for _, r := range res.Rejected {
		refused = append(refused, views.RefusedFile{Name: r.Filename, Reason: r.Detail})
	}
	return a.Refused(c, status, len(res.Documents), refused)
}

// refusedStatus returns the status for the refused files, the highest: server errors outrank errors of a file.
func refusedStatus(files []rejectedFile) (status int) {
	for _, f := range files {
		status = max(status, httpio.Status(f.Code))
	}
	return status
}

// readParts streams all files of an upload into the library.
func (a *Documents) readParts(c httpio.Context, parts *multipart.Reader, up *upload) error {
	res := &up.res
	settings := corpus.Upload{User: httpio.Scope(c).User, Batch: &corpus.Batch{}}
	for files := 0; ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		// The parts before the broken one were complete, so their files stay; later parts can't be found.
		if broken, ok := errors.AsType[textproto.ProtocolError](err); ok && len(res.Documents)+len(res.Rejected) > 0 {
			a.Log.InfoContext(c.Request().Context(), "upload cut", "err", broken)
			res.Rejected = append(res.Rejected, rejectedFile{Filename: "?", Code: chat.CodeInvalid,
				Detail: "A file name contains an unsupported character. Rename that file, then add it and the files " +
					"after it again."})
			return nil
		}
		if err != nil {
			return uploadBroken(err)
		}
		if shared, err := readSharedWords(part, up.words); err != nil {
			return err
		} else if shared {
			continue
		}
		isFile, err := uploadField(part, &settings, files)
		if err != nil {
			return err
		}
		if !isFile {
			continue
		}
		if files++; files > a.Limits.UploadFiles {
			return &chat.Error{Code: chat.CodeTooLarge, Message: locale.Say(
				"Too many files. Send up to {1} at once, then the rest.", english.Digits(a.Limits.UploadFiles),
			)}
		}
		if err := a.addFile(c, part, settings, up); err != nil {
			return err
		}
	}
}

// uploadField reads a text field into settings, or reports that the part is a file.
func uploadField(part *multipart.Part, settings *corpus.Upload, files int) (isFile bool, err error) {
	name := part.FormName()
	if name == "files" {
		if _, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition")); err == nil &&
			params["filename"] == "" && !strings.Contains(part.Header.Get("Content-Disposition"), "filename") {
			return false, httpio.Invalid("A part of the field \"files\" has no file name.")
		}
		return true, nil
	}
	if name != "namespace" && name != "meta" {
		return false, httpio.Invalid(
			"The field {1} is not known here. The fields are files, namespace and meta.",
			strconv.Quote(name),
		)
	}
	if files > 0 {
		return false, httpio.Invalid("The field {1} must precede the files it applies to.", name)
	}
	value, err := readField(part, &chat.Error{
		Code: chat.CodeTooLarge, Message: locale.Say("The field {1} exceeds the limit of 64 KiB.", name),
	})
	if err != nil {
		return false, err
	}
	if name == "namespace" {
		settings.Namespace = string(value)
		return false, chat.CheckNamespace(settings.Namespace)
	}
	if len(value) == 0 {
		return false, nil
	}
	if json.Unmarshal(value, &settings.Meta) != nil {
		return false, httpio.Invalid("The field meta must be a JSON object.")
	}
	return false, httpio.CheckJSON(value)
}

// readField reads a text field of at most maxFieldBytes.
func readField(part *multipart.Part, tooLong *chat.Error) ([]byte, error) {
	value, err := io.ReadAll(io.LimitReader(part, maxFieldBytes+1))
	if err != nil {
		return nil, uploadBroken(err)
	}
	if len(value) > maxFieldBytes {
		return nil, tooLong
	}
	return value, nil
}

// addFile adds one file to the library. It fails only if the request can't continue.
//
// It records its changes in up, so that they can be undone.
func (a *Documents) addFile(c httpio.Context, part *multipart.Part, settings corpus.Upload, up *upload) error {
	res := &up.res
	reject := func(name string, err error) {
		a.Metrics.Uploaded("rejected")
		res.Rejected = append(res.Rejected, rejected(name, err))
		a.Log.InfoContext(c.Request().Context(), "file rejected", "code", chat.CodeOf(err), "err", err)
	}
	whole := partPath(part)
	name := path.Base(strings.ReplaceAll(whole, "\\", "/"))
	if err := a.checkUploadQuota(c.Request().Context(), settings.User); err != nil { // before it is read
		reject(name, err)
		return nil
	}
	body := &limitedFile{r: part, left: a.Limits.UploadFile, limit: a.Limits.UploadFile, name: name}
	settings.Path, settings.Filename, settings.Body = whole, name, body
	d, duplicate, err := a.Library.Add(c.Request().Context(), settings)
	if body.broken != nil {
		return uploadBroken(body.broken)
	}
	if err != nil {
		reject(name, err)
		return nil
	}
	doc, result := uploaded(d, duplicate), "added"
	if duplicate {
		result = "duplicate"
	} else if d.Filename != name {
		doc.RenamedFrom = name
	}
	switch {
	case d.Fresh:
		up.made = append(up.made, d)
	case !duplicate, settings.Meta != nil:
		up.moved = append(up.moved, d.Filename)
	}
	a.Metrics.Uploaded(result)
	res.Documents = append(res.Documents, doc)
	return nil
}

// undoUpload deletes the documents that a failed request created, and adds that to its error.
func (a *Documents) undoUpload(c httpio.Context, up *upload, refused error) error {
	if len(up.made)+len(up.moved) == 0 && len(up.res.Documents) == 0 {
		return refused
	}
	// The client may have disconnected, which must not stop the deletion.
	ctx, scope := context.WithoutCancel(c.Request().Context()), httpio.Scope(c)
	for _, d := range up.made {
		if err := a.Library.Delete(ctx, scope.In(d.Namespace), d.ID); err != nil &&
			chat.CodeOf(err) != chat.CodeNotFound {
			return fmt.Errorf("roll back an upload: %w", err)
		}
	}
	e := httpio.AsError(refused)
	told := *e
	kept := locale.Say("Nothing from this upload was saved")
	if len(up.moved) > 0 {
		kept = locale.Say("{1}{2}", kept, locale.Say(
			", but changes to existing documents remain: “{1}”", strings.Join(up.moved, "”, “"),
		))
	}
	told.Message = locale.Say("{1} {2}.", e.Message, kept)
	return &told
}

// uploadBroken returns the error for a truncated or invalid body.
func uploadBroken(err error) error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &chat.Error{Code: chat.CodeTooLarge, Message: locale.Say(
			"The upload exceeds the limit of {1}. Send fewer files at once.", humanize.IBytes(uint64(tooLarge.Limit)),
		)}
	}
	return &chat.Error{
		Code: chat.CodeInvalid, Message: "The upload was interrupted or isn't a valid form. Send the files again.",
		Err: err,
	}
}

// limitedFile fails with a user-facing message after limit bytes, and records an error of the request itself.
type limitedFile struct {
	r           io.Reader
	left, limit int64
	name        string
	broken      error
}

// Read fails at the first byte over the limit, so a file is never stored in part.
func (f *limitedFile) Read(p []byte) (int, error) {
	if int64(len(p)) > f.left+1 {
		p = p[:f.left+1]
	}
	n, err := f.r.Read(p)
	if int64(n) > f.left {
		return 0, httpio.FileTooLarge(f.name, f.limit)
	}
	f.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		f.broken = err
	}
	return n, err
}

// partPath returns the full path in a part, as sent by the client: browsers send one for a dropped folder. The
// library cleans it.
func partPath(part *multipart.Part) string {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(params["filename"], "\ufffd")
}

// checkUploadQuota fails if a user's limits leave no room for a single byte.
func (a *Documents) checkUploadQuota(ctx context.Context, user string) error {
	if err := a.Store.CheckQuota(ctx, user, chat.ResourceUploadFiles); err != nil {
		return err
	}
	return a.Store.CheckQuota(ctx, user, chat.ResourceUploadBytes)
}
