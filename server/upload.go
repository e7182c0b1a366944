package server

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/corpus"
)

// maxFieldBytes bounds a text field of an upload, which is held in memory; files are streamed.
const maxFieldBytes = 64 << 10

// uploaded is the answer to an upload: each file is in one of the two lists.
type uploaded struct {
	Documents []uploadedDocument `json:"documents"`
	Rejected  []rejectedFile     `json:"rejected"`
}

type uploadedDocument struct {
	ID          string       `json:"id"`
	Filename    string       `json:"filename"`
	State       corpus.State `json:"state"`
	DuplicateOf string       `json:"duplicate_of,omitempty"`
}

type rejectedFile struct {
	Filename string    `json:"filename"`
	Code     chat.Code `json:"code"`
	Detail   string    `json:"detail"`
}

// upload answers POST /documents: it streams each file of the field "files" into the library. A file that can't be taken is
// listed with its reason and the others go on. The fields namespace and meta (a JSON object) hold for the files after them.
func (s *Server) upload(c echo.Context) error {
	if err := s.limitBody(c, s.limits.UploadTotal); err != nil {
		return err
	}
	parts, err := c.Request().MultipartReader()
	if err != nil {
		return &chat.Error{Code: chat.CodeUnsupported, Message: "Send the files as multipart/form-data in the field \"files\".", Err: err}
	}
	res := uploaded{Documents: []uploadedDocument{}, Rejected: []rejectedFile{}}
	settings := corpus.Upload{User: s.scope(c).User}
	for files := 0; ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s.uploadBroken(err)
		}
		isFile, err := s.uploadField(part, &settings, files)
		if err != nil {
			return err
		}
		if !isFile {
			continue
		}
		if files++; files > s.limits.UploadFiles {
			return &chat.Error{Code: chat.CodeTooLarge, Message: "Too many files at once: send at most " + groupDigits(s.limits.UploadFiles) + " and then the rest. The first ones were taken."}
		}
		if err := s.addFile(c, part, settings, &res); err != nil {
			return err
		}
	}
	if len(res.Documents)+len(res.Rejected) == 0 {
		return invalid("There is no file in the request. Send one or more in the field \"files\".")
	}
	if wantsHTML(c) && c.Request().Header.Get("HX-Request") != "true" {
		return c.Redirect(http.StatusSeeOther, "/documents")
	}
	return c.JSON(http.StatusAccepted, res)
}

// uploadField takes a text field into settings, or reports that the part is a file.
func (s *Server) uploadField(part *multipart.Part, settings *corpus.Upload, files int) (isFile bool, err error) {
	name := part.FormName()
	if name == "files" {
		return true, nil
	}
	if name != "namespace" && name != "meta" {
		return false, invalid("The field " + strconv.Quote(name) + " is not known here. The fields are files, namespace and meta.")
	}
	if files > 0 {
		return false, invalid("The field " + name + " must come before the files it is meant for. The files before it were taken without it.")
	}
	value, err := io.ReadAll(io.LimitReader(part, maxFieldBytes+1))
	if err != nil {
		return false, s.uploadBroken(err)
	}
	if len(value) > maxFieldBytes {
		return false, &chat.Error{Code: chat.CodeTooLarge, Message: "The field " + name + " is too long: at most 64 KiB."}
	}
	if name == "namespace" {
		settings.Namespace = string(value)
		return false, checkNamespace(settings.Namespace)
	}
	if len(value) > 0 && json.Unmarshal(value, &settings.Meta) != nil {
		return false, invalid("The field meta must be a JSON object.")
	}
	return false, nil
}

// addFile puts one file into the library. It fails only when the request can't go on.
func (s *Server) addFile(c echo.Context, part *multipart.Part, settings corpus.Upload, res *uploaded) error {
	reject := func(name string, err error) {
		s.metrics.uploads.WithLabelValues("rejected").Inc()
		e := asError(err)
		res.Rejected = append(res.Rejected, rejectedFile{Filename: name, Code: e.Code, Detail: e.Message})
		s.log.InfoContext(c.Request().Context(), "file rejected", "code", e.Code, "err", err)
	}
	name, ok := uploadPath(part)
	if !ok {
		reject(name, invalid("This file has no usable name. Rename it and send it again."))
		return nil
	}
	body := &limitedFile{r: part, left: s.limits.Upload, limit: s.limits.Upload, name: path.Base(name)}
	settings.Path, settings.Filename, settings.Body = name, path.Base(name), body
	d, duplicate, err := s.library.Add(c.Request().Context(), settings)
	if body.broken != nil {
		return s.uploadBroken(body.broken)
	}
	if err != nil {
		reject(path.Base(name), err)
		return nil
	}
	doc := uploadedDocument{ID: d.ID, Filename: path.Base(name), State: d.State}
	result := "added"
	if duplicate {
		doc.DuplicateOf, result = d.ID, "duplicate"
	}
	s.metrics.uploads.WithLabelValues(result).Inc()
	res.Documents = append(res.Documents, doc)
	return nil
}

// uploadBroken is the error for a body that ended or went wrong before its end.
func (s *Server) uploadBroken(err error) error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &chat.Error{Code: chat.CodeTooLarge, Message: "The upload is larger than " + sizeText(tooLarge.Limit) + " in all. Send fewer files at once."}
	}
	return &chat.Error{Code: chat.CodeInvalid, Message: "The upload broke off or is not a proper form. Send the files again.", Err: err}
}

// limitedFile fails with a sentence for people after limit bytes, and remembers a failure of the request itself.
type limitedFile struct {
	r           io.Reader
	left, limit int64
	name        string
	broken      error
}

func (f *limitedFile) Read(p []byte) (int, error) {
	if int64(len(p)) > f.left+1 {
		p = p[:f.left+1]
	}
	n, err := f.r.Read(p)
	if int64(n) > f.left {
		return 0, &chat.Error{Code: chat.CodeTooLarge, Message: f.name + " is larger than " + sizeText(f.limit) + ", the limit for one file. Split it, or raise the limit in the settings."}
	}
	f.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		f.broken = err
	}
	return n, err
}

// uploadPath is the relative path a part names, cleaned: "/" between its elements, none of them "." or "..", no control
// characters, at most 255 bytes an element. Browsers send such paths when a folder is dropped.
func uploadPath(part *multipart.Part) (string, bool) {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return "", false
	}
	return cleanPath(params["filename"])
}

func cleanPath(raw string) (string, bool) {
	raw = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u202e' || r == '\u202d' { // overrides turn "fdp.exe" around
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(raw, "_"), "\\", "/"))
	var elements []string
	for element := range strings.SplitSeq(raw, "/") {
		element = cutBytes(strings.TrimSpace(element), 255)
		if element != "" && element != "." && element != ".." && !strings.HasSuffix(element, ":") {
			elements = append(elements, element)
		}
	}
	if len(elements) == 0 || strings.HasSuffix(raw, "/") {
		return "", false
	}
	return cutPath(elements, 1024), true
}

// cutPath joins elements, leaving out the first ones when the whole is too long.
func cutPath(elements []string, limit int) string {
	joined := strings.Join(elements, "/")
	for len(joined) > limit && len(elements) > 1 {
		elements = elements[1:]
		joined = strings.Join(elements, "/")
	}
	return joined
}

// cutBytes shortens text to at most limit bytes of whole runes, keeping its file extension.
func cutBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	ext := path.Ext(text)
	if len(ext) > 16 {
		ext = ""
	}
	end := limit - len(ext)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ext
}

// checkNamespace holds a namespace to 1–128 letters, digits, ".", "_" and "-"; empty means the default.
func checkNamespace(name string) error {
	if len(name) > 128 || strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_' && r != '-'
	}) {
		return invalid("A namespace has at most 128 letters, digits, points, underscores and hyphens.")
	}
	return nil
}
