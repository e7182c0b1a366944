// Package bucket implements the kind of place that is a folder in a bucket of an S3-compatible object store.
//
// minio-go implements the protocol and signs requests (AWS Signature Version 4). This package adds network access,
// limits and user-facing errors. An item's key is the object's key, and its version the ETag.
package bucket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/text/locale"
)

// Limits of a bucket. S3 lists at most 1,000 objects in a page, with names of at most 1,024 bytes: about 3.5 MiB and
// 26 tags for each object. A request has at most three attempts.
const (
	maxFile  = 2 << 30 // bytes of an object
	maxPage  = 4 << 20 // bytes of a page of the list
	maxTags  = 50_000  // start and end tags in a page
	maxPages = 5_000   // pages of one list
	tries    = 3       // attempts of a request

	amazon = "https://s3.amazonaws.com"
)

// Kind returns the kind of place for a folder of a bucket.
//
// Keys with permission to list and read are enough; the package never writes to the bucket. The default endpoint is
// Amazon S3.
func Kind() sources.Kind {
	return sources.Kind{
		Name:  "s3",
		Title: locale.T("S3 bucket"),
		Help: locale.T("Files in an Amazon S3, MinIO or other S3-compatible bucket. Requires permission to list and " +
			"read."),
		Fields: []sources.Field{{
			Name: "bucket", Title: locale.T("Bucket"), Example: "contracts", Required: true,
		}, {
			Name: "prefix", Title: locale.T("Folder"), Example: "2026/signed/",
			Help: locale.T("Prefix of the file names. Leave empty for the whole bucket."),
		}, {
			Name: "endpoint", Title: locale.T("Endpoint URL"), Example: "https://minio.example.org:9000",
			Help: locale.T("Leave empty for Amazon S3."),
		}, {
			Name: "region", Title: locale.T("Region"), Example: "eu-central-1",
		}, {
			Name: "key", Title: locale.T("Access key"), Required: true, Login: true,
		}, {
			Name: "secret", Title: locale.T("Secret key"), Required: true, Secret: true,
		}},
		Open: open,
	}
}

// folder is the set of objects with a prefix in a bucket. The prefix need not end at a slash; names are relative to
// the folder that contains it. It is made for one place and has no state between two syncs.
type folder struct {
	client         *minio.Client
	bucket, prefix string
}

// open validates the settings without a request. Amazon's buckets are subdomains of the endpoint. Other storages get
// the bucket in the path, which all of them support. A bucket's name has 3 to 63 characters, as S3 requires;
// characters that would change the URL are rejected.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	endpoint, err := url.Parse(cmp.Or(s["endpoint"], amazon))
	if err != nil || endpoint.Host == "" || endpoint.User != nil || strings.Trim(endpoint.Path, "/") != "" ||
		endpoint.RawQuery != "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Err: err,
			Message: "Endpoint URL: enter a URL like https://minio.example.org:9000, without a path.",
		}
	}
	lookup := minio.BucketLookupDNS
	if s["endpoint"] != "" {
		lookup = minio.BucketLookupPath
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds:  credentials.NewStaticV4(s["key"], s["secret"], ""),
		Secure: endpoint.Scheme == "https", Transport: transport{n.HTTP}, Region: s["region"], BucketLookup: lookup,
		MaxRetries: tries,
	})
	if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Err: err,
			Message: "Endpoint URL: enter a URL like https://minio.example.org:9000, without a path.",
		}
	}
	if name := s["bucket"]; len(name) < 3 || len(name) > 63 || strings.ContainsAny(name, "/ \t\n?#%") {
		return nil, &chat.Error{Code: chat.CodeInvalid, Message: "Bucket: enter a name of 3 to 63 characters."}
	}
	return &folder{client, s["bucket"], strings.TrimPrefix(s["prefix"], "/")}, nil
}

// transport sends requests through a place's Net, follows no redirects and limits the responses. The SDK's default
// client has no check for forbidden addresses.
type transport struct{ http *http.Client }

// RoundTrip implements http.RoundTripper. A counter in the context marks list requests and limits their number of
// pages, since a storage can always return a next page. The SDK decodes whole responses, so lists also have a limit
// on tags.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	way := t.http.Transport
	if way == nil {
		way = http.DefaultTransport // the default of http.Client
	}
	_, isPlace := req.URL.Query()["location"] // the SDK requests a bucket's region itself
	limit, isList := int64(maxFile), isPlace
	if pages, _ := req.Context().Value(pagesKey{}).(*int); pages != nil {
		isList = true
		if *pages++; *pages > maxPages {
			return nil, &chat.Error{
				Code:    chat.CodeInvalid,
				Message: "The bucket's file list is too long. Choose a folder in it.",
			}
		}
	}
	if isList {
		limit = maxPage
	}
	resp, err := request.Guard(req.Context(), limit, func(ctx context.Context) (*http.Response, error) {
		return way.RoundTrip(req.WithContext(ctx))
	})
	if err == nil && isList {
		resp.Body = &tagged{resp.Body, maxTags}
	}
	return resp, err
}

// tagged is an XML response body that fails with sources.ErrTooLarge beyond a number of tags. It counts “<”, since
// encoding/xml only decodes UTF-8.
type tagged struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (t *tagged) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if t.left -= bytes.Count(p[:n], []byte("<")); t.left < 0 {
		return 0, sources.ErrTooLarge
	}
	return n, err
}

// pagesKey is the context key of the counter of a list's requests.
type pagesKey struct{}

// Check implements sources.Place. It lists one object, so keys without list permission fail at once. Missing read
// permission shows at the first file.
func (f *folder) Check(ctx context.Context) error {
	for object := range f.objects(ctx, 1) {
		return f.explain(ctx, object.Err)
	}
	return nil // an empty folder is valid
}

// objects lists objects in pages of atOnce; 0 means the storage's default. Each call has its own page counter.
func (f *folder) objects(ctx context.Context, atOnce int) iter.Seq[minio.ObjectInfo] {
	return f.client.ListObjectsIter(context.WithValue(ctx, pagesKey{}, new(int)), f.bucket, minio.ListObjectsOptions{
		Prefix: f.prefix, Recursive: true, MaxKeys: atOnce,
	})
}

// List implements sources.Place. Keys that end in a slash are skipped: consoles create them as markers of empty
// folders. Objects are listed in the storage's order, by key.
func (f *folder) List(ctx context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		seen, kept := map[string]bool{}, sources.ListBudget(0)
		for object := range f.objects(ctx, 0) {
			if object.Err != nil {
				yield(sources.Item{}, f.explain(ctx, object.Err))
				return
			}
			key := object.Key
			if strings.HasSuffix(key, "/") || key == "" || seen[key] || !strings.HasPrefix(key, f.prefix) {
				continue // a folder's marker, an empty or repeated key, or one outside of the prefix
			}
			seen[key] = true
			if err := kept.Add(key); err != nil {
				yield(sources.Item{}, err)
				return
			}
			if !yield(f.item(object), nil) || len(seen) > sources.MaxItems {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(sources.Item{}, err)
		}
	}
}

// item converts an object into an item. Its name omits the prefix up to the last slash.
func (f *folder) item(object minio.ObjectInfo) sources.Item {
	folder := f.prefix[:strings.LastIndex(f.prefix, "/")+1]
	return sources.Item{
		Key: object.Key, Version: object.ETag, Name: strings.TrimPrefix(object.Key, folder), Size: object.Size,
	}
}

// Fetch implements sources.Place. GetObject sends no request; Stat does, so an error is returned before the body is.
func (f *folder) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	if item.Version != "" && item.Version == known {
		return sources.Content{}, sources.ErrSame
	}
	object, err := f.client.GetObject(ctx, f.bucket, item.Key, minio.GetObjectOptions{})
	if err != nil {
		return sources.Content{}, f.explain(ctx, err)
	}
	about, err := object.Stat() // the first request
	if err != nil {
		_ = object.Close()
		return sources.Content{}, f.explain(ctx, err)
	}
	return sources.Content{Body: body{object, f, ctx}, Version: about.ETag}, nil
}

// body is an object's body that converts read errors with explain. The SDK requests further parts during the read,
// so a read can fail like a request.
type body struct {
	*minio.Object
	folder *folder
	ctx    context.Context
}

// Read implements io.Reader.
func (b body) Read(p []byte) (int, error) {
	n, err := b.Object.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.folder.explain(b.ctx, err)
	}
	return n, err
}

// explain converts a storage's error into a user-facing one. The codes are S3's (“Error responses” in its API
// reference) and minio-go's. A cancelled ctx takes precedence, and a *chat.Error is returned unchanged. The
// storage's own message is untrusted and not shown.
func (f *folder) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	var told *chat.Error
	if errors.As(err, &told) {
		return told
	}
	answer := minio.ToErrorResponse(err)
	switch answer.Code {
	case minio.NoSuchKey:
		return sources.ErrGone
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken":
		return &chat.Error{
			Code: chat.CodeUnauthorized, Message: "Access key or secret key rejected by the storage. Enter them " +
				"again.", Err: err,
		}
	case minio.NoSuchBucket:
		return &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "Bucket not found. Check its name and the endpoint URL.",
			Err:     err,
		}
	case minio.AccessDenied, "AllAccessDisabled":
		return &chat.Error{
			Code:    chat.CodeForbidden,
			Message: "Access denied by the storage. Give the access key permission to list and read.",
			Err:     err,
		}
	case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
		return &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "The bucket is in another region. Enter its region.",
			Err:     err,
		}
	case "RequestTimeTooSkewed":
		return &chat.Error{
			Code: chat.CodeUnavailable,
			Message: "The server's clock differs too much from the storage's clock. Correct the server's " +
				"clock.", Err: err,
		}
	case "InvalidObjectState":
		return &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "This file is in archive storage. Restore it there first.",
			Err:     err,
		}
	}
	if answer.StatusCode >= 400 {
		return &chat.Error{
			Code: chat.CodeUnavailable, Err: err,
			Message: sources.Retried(locale.Say("The server returned status {1}.", answer.StatusCode)),
		}
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: sources.Retried("The connection to the server failed."), Err: err,
	}
}
