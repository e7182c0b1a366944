package worker

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/footnote/footnote/corpus"
)

// Handler reads and renders files in a worker process, one at a time. Package files implements it for all formats;
// tests of this package have another.
type Handler interface {
	// Begin loads what a request needs before its file is read.
	Begin(ctx context.Context, req Request) (Start, error)
	// Extract reads the text of req.File. report is called with the number of finished pages and of all pages.
	Extract(ctx context.Context, req Request, report func(done, total int)) (corpus.Extracted, error)
	// Render renders page req.Page of req.File as PNG.
	Render(ctx context.Context, req Request) ([]byte, error)
	Close(ctx context.Context) error
}

// Serve handles the requests of one Pool until in or ctx ends. The command of Config.Command runs it. It returns at
// once when its parent has exited, even while a file is being read, since the process must then end. It limits the
// memory of the whole process. The error is nil when in has ended between two requests.
func Serve(ctx context.Context, in io.Reader, out io.Writer, h Handler) error {
	limitMemory()
	limitData()
	return serve(ctx, in, out, h)
}

// serve is Serve without the process limits, which must not be set in a test's process. One goroutine decodes
// requests, so that the end of the input is detected while a file is being read. Another handles one request.
func serve(ctx context.Context, in io.Reader, out io.Writer, h Handler) error {
	requests := make(chan Request)
	gone := make(chan error, 1)
	go func() { // ends with the process: a read of standard input can't be cancelled
		dec := gob.NewDecoder(in)
		for {
			var req Request
			if err := dec.Decode(&req); err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				gone <- err
				return
			}
			select {
			case requests <- req:
			case <-ctx.Done():
				return
			}
		}
	}()
	s := session{enc: gob.NewEncoder(out), handler: h}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-gone:
			return errors.Join(err, h.Close(ctx))
		case req := <-requests:
			served := make(chan error, 1)
			go func() { served <- s.serve(ctx, req) }()
			select {
			case err := <-served:
				if err != nil || s.last {
					return err
				}
			case err := <-gone:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// session is the worker's side of the connection.
type session struct {
	enc     *gob.Encoder
	handler Handler
	last    bool // the process has used too much memory for another request
}

// serve handles one request. It returns only errors of the connection. Memory is watched only during a request,
// because nothing is allocated between requests.
func (s *session) serve(ctx context.Context, req Request) error {
	defer watchMemory()()
	start, err := s.handler.Begin(ctx, req)
	if err != nil {
		return s.finish(failed(err))
	}
	if err := s.send(reply{Started: &start}); err != nil {
		return err
	}
	switch {
	case req.Ready:
		return s.finish(reply{Ready: true})
	case req.Page > 0:
		picture, err := s.handler.Render(ctx, req)
		if err != nil {
			return s.finish(failed(err))
		}
		return s.finish(reply{PNG: picture})
	default:
		return s.extract(ctx, req)
	}
}

// extract reads a file and sends its contents. After a connection error the file is still read to its end, as a
// parser can't be cancelled.
func (s *session) extract(ctx context.Context, req Request) error {
	var broken error
	x, err := s.handler.Extract(ctx, req, func(done, total int) {
		if broken == nil {
			broken = s.send(reply{Done: done, Total: total})
		}
	})
	if broken != nil {
		return broken
	}
	if err == nil {
		err = checkSize(x)
	}
	if err != nil {
		return s.finish(failed(err))
	}
	meta, err := json.Marshal(x.Meta)
	if err != nil {
		return s.finish(reply{Internal: "encode what the file says about itself: " + err.Error()})
	}
	if err := pieces(x, s.send); err != nil {
		return err
	}
	x.Text, x.Blocks, x.Meta = "", nil, nil
	return s.finish(reply{Extracted: &x, Meta: meta})
}

// failed returns the reply for an error: a failure of the file, or an internal error.
func failed(err error) reply {
	if f, ok := errors.AsType[*corpus.Failure](err); ok {
		return reply{Failure: f}
	}
	return reply{Internal: err.Error()}
}

// send encodes one message.
func (s *session) send(r reply) error {
	if err := s.enc.Encode(r); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// finish sends the last reply to a request.
func (s *session) finish(r reply) error {
	s.last = heapGrew()
	r.Last = s.last
	return s.send(r)
}
