// Package s3 stores originals in a bucket of an S3-compatible storage, named by the SHA-256 of their bytes.
//
// Object names are those of package blobs below a prefix. Objects are immutable, so no locking is needed, and a
// second upload of the same bytes is skipped.
package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/blobs"
)

// Scheme is the URL scheme of a bucket. The rest is a bucket name, a folder and options, see Open.
const Scheme = "s3://"

const (
	// The upload timeout depends on the size, since a large file over a slow line is no failure. Parts have the
	// minimum size of S3.
	tries     = 3                // attempts of a request
	silence   = 10 * time.Second // read timeout: before a response begins, or between two reads of a body
	shortTime = 15 * time.Second // timeout of a request without a body, including retries
	slowest   = 256 << 10        // minimum upload rate in bytes per second
	partBytes = 5 << 20          // part size of a large file; parts are uploaded sequentially

	amazon = "https://s3.amazonaws.com"
)

// Store is a corpus.Blobs in a bucket. It is safe for concurrent use. prefix ends with a slash, or is empty.
type Store struct {
	client    *minio.Client
	transport *http.Transport
	bucket    string
	prefix    string
}

var _ corpus.Blobs = (*Store)(nil)

// Open returns the blobs at a URL like
// s3://bucket/folder?region=eu-central-1&endpoint=https://host:9000&use_path_style=true. The default region is
// looked up for the bucket. Credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, from AWS_PROFILE in
// ~/.aws/credentials, or from the machine (IAM). Open sends no request. It returns chat.CodeInvalid for an invalid
// URL.
func Open(_ context.Context, address string) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme+"://" != Scheme || u.Host == "" || u.User != nil {
		return nil, errBadURL
	}
	query := u.Query()
	for name := range query {
		if !slices.Contains([]string{"region", "endpoint", "use_path_style"}, name) {
			return nil, errBadURL
		}
	}
	endpoint, err := url.Parse(cmp.Or(query.Get("endpoint"), amazon))
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" ||
		strings.Trim(endpoint.Path, "/") != "" {
		return nil, errBadURL
	}
	lookup := minio.BucketLookupDNS
	if query.Get("endpoint") != "" { // supported by servers other than Amazon's without a host name for each bucket
		lookup = minio.BucketLookupPath
	}
	if given := query.Get("use_path_style"); given != "" {
		byPath, err := strconv.ParseBool(given)
		if err != nil {
			return nil, errBadURL
		}
		lookup = minio.BucketLookupDNS
		if byPath {
			lookup = minio.BucketLookupPath
		}
	}
	secure := endpoint.Scheme == "https"
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("open the storage of originals: %w", err)
	}
	transport.ResponseHeaderTimeout = silence
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds: credentials.NewChainCredentials(
			[]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{}},
		),
		Secure: secure, Transport: transport, Region: query.Get("region"), BucketLookup: lookup, MaxRetries: tries,
	})
	if err != nil {
		return nil, &chat.Error{Code: chat.CodeInvalid, Message: errBadURL.Message, Err: err}
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Store{client, transport, u.Host, prefix}, nil
}

var errBadURL = &chat.Error{Code: chat.CodeInvalid,
	Message: "FOOTNOTE_BLOBS must be a URL like s3://bucket?region=eu-central-1, with &endpoint=https://host:9000 " +
		"for storage other than Amazon S3"}

// Close closes idle connections.
func (s *Store) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// Ping returns an error unless the bucket responds. It is for the server's health check.
func (s *Store) Ping(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, shortTime)
	defer cancel()
	ok, err := s.client.BucketExists(limited, s.bucket)
	if err == nil && !ok {
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "The bucket for original files was not found or is not accessible.",
		}
	}
	return translateError(ctx, err)
}

// Put stores the bytes of r; see corpus.Blobs. It buffers them in a temporary file: this gives the name, an
// interrupted body never reaches the storage, and failed requests can be retried.
func (s *Store) Put(ctx context.Context, r io.Reader, limit int64) (hash string, size int64, err error) {
	f, err := os.CreateTemp("", "footnote-upload-*")
	if err != nil {
		return "", 0, fmt.Errorf("store a file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if hash, size, err = blobs.Write(ctx, f, r, limit); err != nil {
		return "", 0, fmt.Errorf("store a file: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", 0, fmt.Errorf("store a file: %w", err)
	}
	if err := s.sendFile(ctx, hash, size, f); err != nil {
		return "", 0, fmt.Errorf("store a file: %w", err)
	}
	return hash, size, nil
}

// sendFile uploads a file unless its object exists. An object of another size, which an interrupted upload could
// have left, is replaced.
func (s *Store) sendFile(ctx context.Context, hash string, size int64, f io.Reader) error {
	name, _ := blobs.Name(hash)
	limited, cancel := context.WithTimeout(ctx, shortTime+time.Duration(size/slowest)*time.Second)
	defer cancel()
	there, err := s.client.StatObject(limited, s.bucket, s.prefix+name, minio.StatObjectOptions{})
	if err == nil && there.Size == size {
		return nil
	}
	if err != nil && !isMissing(err) {
		return translateError(ctx, err)
	}
	_, err = s.client.PutObject(limited, s.bucket, s.prefix+name, f, size, minio.PutObjectOptions{
		ContentType: "application/octet-stream", PartSize: partBytes, NumThreads: 1,
		// every server supports MD5, but not every one chunked signatures
		SendContentMd5: true, DisableContentSha256: true,
	})
	return translateError(ctx, err)
}

// Open opens a blob; see corpus.Blobs. It can be read until ctx ends. Open makes the first request, so that a
// missing object is reported immediately; later requests follow Seek.
func (s *Store) Open(ctx context.Context, hash string) (io.ReadSeekCloser, error) {
	name, ok := blobs.Name(hash)
	if !ok {
		return nil, blobs.ErrNone
	}
	reading, cancel := context.WithCancel(ctx)
	idle := time.AfterFunc(shortTime, cancel)
	object, err := s.client.GetObject(reading, s.bucket, s.prefix+name, minio.GetObjectOptions{})
	if err == nil {
		_, err = object.Stat() // the first request
	}
	idle.Stop()
	if err != nil {
		cancel()
		if isMissing(err) {
			return nil, blobs.ErrNone
		}
		return nil, fmt.Errorf("open a file: %w", translateError(ctx, err))
	}
	return &reader{object: object, ctx: ctx, idle: idle, cancel: cancel}, nil
}

// reader enforces a read timeout. The timer runs only during reads from the storage, not while the caller is slow.
type reader struct {
	object *minio.Object
	ctx    context.Context
	idle   *time.Timer
	cancel context.CancelFunc
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	r.idle.Reset(silence)
	n, err := r.object.Read(p)
	r.idle.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = translateError(r.ctx, err)
	}
	return n, err
}

// Seek implements io.Seeker.
func (r *reader) Seek(offset int64, whence int) (int64, error) { return r.object.Seek(offset, whence) }

// Close implements io.Closer.
func (r *reader) Close() error {
	defer r.cancel()
	return r.object.Close()
}

// isMissing reports whether the error means that the object does not exist.
func isMissing(err error) bool { return minio.ToErrorResponse(err).Code == minio.NoSuchKey }

// Delete removes a blob; see corpus.Blobs. A missing blob is not an error.
func (s *Store) Delete(ctx context.Context, hash string) error {
	name, ok := blobs.Name(hash)
	if !ok {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, shortTime)
	defer cancel()
	if err := s.client.RemoveObject(limited, s.bucket, s.prefix+name, minio.RemoveObjectOptions{}); err != nil &&
		!isMissing(err) {
		return fmt.Errorf("remove a file: %w", translateError(ctx, err))
	}
	return nil
}

// translateError maps storage errors to a *chat.Error with a code and a user-facing message. It keeps the caller's
// context errors. Codes are those of S3's error responses and of MinIO's.
func translateError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("%w: %w", cause, err)
	}
	switch minio.ToErrorResponse(err).Code {
	case "XMinioStorageFull", "QuotaExceeded", "InsufficientStorage":
		return &chat.Error{
			Code: chat.CodeDiskFull, Message: "The storage for original files is full. Free some space and try again.",
			Err: err,
		}
	case "NoSuchBucket":
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "The bucket for original files was not found.",
			Hint: "Create it, or correct FOOTNOTE_BLOBS.", Err: err,
		}
	case "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "Forbidden":
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "Access denied by the storage for original files.",
			Hint: "Correct them and restart Footnote.", Err: err,
		}
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: "The storage for original files is not responding. Try again in a moment.",
		Err: err,
	}
}
