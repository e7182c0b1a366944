// Package s3 keeps originals in a bucket of an S3-compatible storage, each under the SHA-256 of its bytes.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	gcaws "gocloud.dev/aws"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/blobs"
)

// Scheme begins the URL of a bucket.
const Scheme = "s3://"

const (
	tries      = 3 // of a request that failed
	pauseLimit = 500 * time.Millisecond
	silence    = 10 * time.Second // before an answer begins, or between two reads of a body
	shortTime  = 15 * time.Second // for a request without a body, its retries included
	slowest    = 256 << 10        // bytes per second that an upload may take
	partBytes  = 5 << 20          // of a large file; one part is in memory at a time
)

// Store is a corpus.Blobs in a bucket.
type Store struct {
	bucket *blob.Bucket
	prefix string
}

var _ corpus.Blobs = (*Store)(nil)

// Open returns the blobs at an address like s3://bucket/folder?region=eu-central-1&endpoint=https://host:9000&use_path_style=true. The rest of the
// query is as gocloud.dev/aws has it. Keys come from where AWS tools have them: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or
// the machine. Nothing is sent yet. An address that can't be one fails with chat.CodeInvalid.
func Open(ctx context.Context, address string) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme+"://" != Scheme || u.Host == "" || u.User != nil {
		return nil, errBadURL
	}
	query := u.Query()
	pathStyle := query.Get("endpoint") != "" // what servers other than Amazon's understand without a host name for each bucket
	if given := query.Get("use_path_style"); given != "" {
		if pathStyle, err = strconv.ParseBool(given); err != nil {
			return nil, errBadURL
		}
		query.Del("use_path_style")
	}
	if !query.Has("request_checksum_calculation") {
		query.Set("request_checksum_calculation", "when_required") // many servers know no others
	}
	config, err := gcaws.V2ConfigFromURLParams(ctx, query)
	if err != nil {
		return nil, &chat.Error{Code: chat.CodeInvalid, Message: errBadURL.Message, Err: err}
	}
	config.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = silence })
	config.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = tries, pauseLimit })
	}
	client := awss3.NewFromConfig(config, func(o *awss3.Options) { o.UsePathStyle = pathStyle })
	bucket, err := s3blob.OpenBucket(ctx, client, u.Host, &s3blob.Options{RequestChecksumCalculation: config.RequestChecksumCalculation})
	if err != nil {
		return nil, fmt.Errorf("open the storage of originals: %w", err)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Store{bucket, prefix}, nil
}

var errBadURL = &chat.Error{Code: chat.CodeInvalid,
	Message: "FOOTNOTE_BLOBS is not a URL like s3://bucket?region=eu-central-1, with &endpoint=https://host:9000 for a storage other than Amazon's"}

// Close gives connections back.
func (s *Store) Close() error { return s.bucket.Close() }

// Reach reports whether the bucket answers.
func (s *Store) Reach(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, shortTime)
	defer cancel()
	ok, err := s.bucket.IsAccessible(limited)
	if err == nil && !ok {
		return &chat.Error{Code: chat.CodeUnavailable, Message: "The bucket of the originals is not there, or may not be read."}
	}
	return failure(ctx, err)
}

// Put stores what r yields; see corpus.Blobs. It waits in a temporary file until all of it is there: so its name is known, a body that breaks off never
// reaches the storage, and what fails on the way can be sent again.
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
	if err := s.send(ctx, hash, size, f); err != nil {
		return "", 0, fmt.Errorf("store a file: %w", err)
	}
	return hash, size, nil
}

// send uploads a file unless its bytes are there.
func (s *Store) send(ctx context.Context, hash string, size int64, f io.Reader) error {
	name, _ := blobs.Name(hash)
	limited, cancel := context.WithTimeout(ctx, shortTime+time.Duration(size/slowest)*time.Second)
	defer cancel()
	there, err := s.bucket.Attributes(limited, s.prefix+name)
	if err == nil && there.Size == size {
		return nil
	}
	if err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return failure(ctx, err)
	}
	return failure(ctx, s.bucket.Upload(limited, s.prefix+name, f, &blob.WriterOptions{
		ContentType: "application/octet-stream", BufferSize: partBytes, MaxConcurrency: 1,
	}))
}

// Open opens a blob; see corpus.Blobs. It can be read until ctx ends.
func (s *Store) Open(ctx context.Context, hash string) (io.ReadSeekCloser, error) {
	name, ok := blobs.Name(hash)
	if !ok {
		return nil, blobs.ErrNone
	}
	reading, cancel := context.WithCancel(ctx)
	idle := time.AfterFunc(shortTime, cancel)
	r, err := s.bucket.NewReader(reading, s.prefix+name, nil)
	if err != nil {
		idle.Stop()
		cancel()
		if gcerrors.Code(err) == gcerrors.NotFound {
			return nil, blobs.ErrNone
		}
		return nil, fmt.Errorf("open a file: %w", failure(ctx, err))
	}
	idle.Stop()
	return &reader{Reader: r, ctx: ctx, idle: idle, cancel: cancel}, nil
}

// reader gives up on a body that has stopped coming.
type reader struct {
	*blob.Reader
	ctx    context.Context
	idle   *time.Timer
	cancel context.CancelFunc
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	r.idle.Reset(silence)
	n, err := r.Reader.Read(p)
	r.idle.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = failure(r.ctx, err)
	}
	return n, err
}

// WriteTo implements io.WriterTo by Read, whose patience it needs.
func (r *reader) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, struct{ io.Reader }{r}) }

// Close implements io.Closer.
func (r *reader) Close() error {
	defer r.cancel()
	return r.Reader.Close()
}

// Delete removes a blob; see corpus.Blobs. One that is not there is no error.
func (s *Store) Delete(ctx context.Context, hash string) error {
	name, ok := blobs.Name(hash)
	if !ok {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, shortTime)
	defer cancel()
	if err := s.bucket.Delete(limited, s.prefix+name); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("remove a file: %w", failure(ctx, err))
	}
	return nil
}

// failure gives an error of the storage the code and the sentence that people need. The end of the caller's own ctx stays what it is.
func failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("%w: %w", cause, err)
	}
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		switch e.ErrorCode() {
		case "XMinioStorageFull", "QuotaExceeded", "InsufficientStorage":
			return &chat.Error{Code: chat.CodeDiskFull, Message: "The storage of the originals is full. Free some space and try again.", Err: err}
		case "NoSuchBucket":
			return &chat.Error{Code: chat.CodeUnavailable, Message: "The bucket of the originals is not there.", Hint: "Make it, or correct FOOTNOTE_BLOBS.", Err: err}
		case "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "Forbidden":
			return &chat.Error{Code: chat.CodeUnavailable, Message: "The storage of the originals refuses its keys.", Hint: "Correct them and start Footnote again.", Err: err}
		}
	}
	return &chat.Error{Code: chat.CodeUnavailable, Message: "The storage of the originals does not answer. Try again in a moment.", Err: err}
}
