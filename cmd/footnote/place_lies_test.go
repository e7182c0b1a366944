package main_test

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync/atomic"
)

// tags are the versions in a list of WebDAV.
var tags = regexp.MustCompile(`<[a-zA-Z0-9]+:getetag>[^<]*</[a-zA-Z0-9]+:getetag>|<[a-zA-Z0-9]+:getetag */>`)

// allLies are what servers of places do when they lie about dates or are out of order.
func allLies() []lies {
	return []lies{
		{what: "has one date for all, and tags of files only", changes: true, sees: true,
			alters: func(r *http.Response) error {
				r.Header.Set("Last-Modified", "Thu, 01 Jan 2015 00:00:00 GMT")
				return withoutTags(r)
			}},
		{what: "has dates in the future, and no tags", changes: true, sees: true,
			alters: func(r *http.Response) error {
				r.Header.Set("Last-Modified", "Sat, 01 Jan 2061 00:00:00 GMT")
				r.Header.Del("ETag")
				return withoutTags(r)
			}},
		{what: "is full of 404 for files", changes: true,
			answers: some(3, http.MethodGet, http.StatusNotFound)},
		{what: "is full of 500 for files", changes: true,
			answers: some(3, http.MethodGet, http.StatusInternalServerError)},
		{what: "is full of 503 for files", changes: true,
			answers: some(2, http.MethodGet, http.StatusServiceUnavailable)},
		{what: "is full of 403 for files", changes: true,
			answers: some(2, http.MethodGet, http.StatusForbidden)},
		{what: "is full of 404 for folders", answers: some(3, "PROPFIND", http.StatusNotFound)},
		{what: "is full of 500 for folders", answers: some(3, "PROPFIND", http.StatusInternalServerError)},
		{what: "is down", answers: some(1, "", http.StatusBadGateway)},
		{what: "forgot its password", answers: some(1, "", http.StatusUnauthorized)},
		{what: "breaks every connection off", answers: func(http.ResponseWriter, *http.Request) bool {
			panic(http.ErrAbortHandler)
		}},
		{what: "says that nothing is there", answers: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != "PROPFIND" {
				return false
			}
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusMultiStatus)
			_, _ = io.WriteString(w, emptyList) // whoever asked may be gone
			return true
		}},
		{what: "breaks its lists off", alters: func(r *http.Response) error {
			if r.StatusCode != http.StatusMultiStatus {
				return nil
			}
			return edit(r, func(body []byte) []byte { return body[:len(body)*2/3] })
		}},
	}
}

const emptyList = `<d:multistatus xmlns:d="DAV:"><d:response><d:href>/dav/</d:href><d:propstat><d:prop>
	<d:resourcetype><d:collection/></d:resourcetype></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>
	</d:response></d:multistatus>`

// withoutTags takes the versions out of a list.
func withoutTags(r *http.Response) error {
	if r.StatusCode != http.StatusMultiStatus {
		return nil
	}
	return edit(r, func(body []byte) []byte { return tags.ReplaceAll(body, nil) })
}

// edit changes the body of an answer.
func edit(r *http.Response, change func([]byte) []byte) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	body = change(body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// some answers one of so many requests of a method, or of any if that is empty, with a status.
func some(every int64, method string, status int) func(http.ResponseWriter, *http.Request) bool {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) bool {
		if method != "" && r.Method != method || n.Add(1)%every != 0 {
			return false
		}
		w.WriteHeader(status)
		return true
	}
}
