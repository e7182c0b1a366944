package pdf

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"footnote/corpus"
)

// request asks a worker for one thing.
type request struct {
	Path     string
	CacheDir string
	Page     int // from 1, to be drawn; 0 extracts the text
	Width    int
	Ready    bool // only load PDFium
}

// reply is one message of a worker. A request is answered by one with Started, any number with Done and Total or with
// Blocks, and one with anything else.
type reply struct {
	Started     bool // PDFium is loaded; from here on a death is the file's doing
	Done, Total int
	Blocks      []corpus.Block
	Extracted   *corpus.Extracted // without its blocks, which came before
	Meta        []byte            // of Extracted, as JSON
	PNG         []byte
	Ready       bool // PDFium is loaded, and that was all
	Failure     *corpus.Failure
	Internal    string // what went wrong, for the log, when it was not the file
}

func (r *reply) final() bool {
	return r.Extracted != nil || r.PNG != nil || r.Ready || r.Failure != nil || r.Internal != ""
}

// workerLimit is where the collector of a worker begins to work harder: what PDFium takes and what is made of a document's pages share
// the 512 MiB of a worker.
const workerLimit = 320 << 20

// Worker serves requests for one Reader until in ends or ctx does; it is what the command of Config.Command runs. It
// returns at once when its parent is gone, even in the middle of a file: the process must end then.
func Worker(ctx context.Context, in io.Reader, out io.Writer) error {
	requests := make(chan request)
	gone := make(chan error, 1)
	go func() { // ends with the process: a read of standard input can't be interrupted
		dec := gob.NewDecoder(in)
		for {
			var req request
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
	debug.SetMemoryLimit(workerLimit)
	s := session{enc: gob.NewEncoder(out)}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-gone:
			return errors.Join(err, s.close(ctx))
		case req := <-requests:
			served := make(chan error, 1)
			go func() { served <- s.serve(ctx, req) }()
			select {
			case err := <-served:
				if err != nil {
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

// session is a worker's state between requests.
type session struct {
	enc   *gob.Encoder
	lib   *library
	spare *module // made ahead, for whatever comes next
	drawn drawn
}

func (s *session) close(ctx context.Context) error {
	err := s.drawn.close()
	if s.spare != nil {
		err = errors.Join(err, s.spare.close())
	}
	if s.lib != nil {
		err = errors.Join(err, s.lib.close(ctx))
	}
	return err
}

// serve answers one request. Only an error of the connection is returned.
func (s *session) serve(ctx context.Context, req request) error {
	if s.lib == nil {
		percent := debug.SetGCPercent(-1) // all that loading brings in stays: collecting meanwhile finds nothing
		lib, err := load(ctx, req.CacheDir)
		debug.SetGCPercent(percent)
		if err != nil {
			return s.enc.Encode(reply{Internal: err.Error()})
		}
		s.lib = lib
	}
	if err := s.enc.Encode(reply{Started: true}); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	r, err := s.answer(ctx, req)
	if err != nil {
		if f := failure(err); f != nil {
			r = reply{Failure: f}
		} else {
			r = reply{Internal: err.Error()}
		}
	}
	if err := s.enc.Encode(r); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

func (s *session) answer(ctx context.Context, req request) (reply, error) {
	if req.Ready {
		return reply{Ready: true}, s.makeSpare(ctx)
	}
	if req.Page > 0 {
		return s.draw(ctx, req)
	}
	if err := s.drawn.close(); err != nil {
		return reply{}, fmt.Errorf("close the last file: %w", err)
	}
	m, err := s.instance(ctx)
	if err != nil {
		return reply{}, err
	}
	defer debug.FreeOSMemory() // a long document leaves hundreds of megabytes, and the worker may wait for a minute
	defer m.close()            // its memory is dropped whatever state it is in
	x, err := m.extract(req.Path, func(done, total int) error {
		return s.enc.Encode(reply{Done: done, Total: total})
	}, s.sendBlocks)
	if err != nil {
		return reply{}, err
	}
	meta, err := json.Marshal(x.Meta)
	if err != nil {
		return reply{}, fmt.Errorf("encode what the file says about itself: %w", err)
	}
	x.Meta = nil
	return reply{Extracted: &x, Meta: meta}, nil
}

func (s *session) makeSpare(ctx context.Context) (err error) {
	if s.spare == nil && s.drawn.m == nil {
		s.spare, err = s.lib.instance(ctx)
	}
	return err
}

func (s *session) instance(ctx context.Context) (m *module, err error) {
	if err := s.makeSpare(ctx); err != nil {
		return nil, err
	}
	m, s.spare = s.spare, nil
	return m, nil
}

func (s *session) sendBlocks(blocks []corpus.Block) error {
	if len(blocks) == 0 {
		return nil
	}
	return s.enc.Encode(reply{Blocks: blocks})
}

func (s *session) draw(ctx context.Context, req request) (reply, error) {
	info, err := os.Stat(req.Path)
	if err != nil {
		return reply{}, fmt.Errorf("look at the original: %w", err)
	}
	if !s.drawn.same(req.Path, info) {
		if err := s.drawn.close(); err != nil {
			return reply{}, fmt.Errorf("close the last file: %w", err)
		}
		m, err := s.instance(ctx)
		if err != nil {
			return reply{}, err
		}
		s.drawn = drawn{m: m, path: req.Path, info: info}
		if s.drawn.doc, err = m.open(req.Path); err != nil {
			return reply{}, errors.Join(err, s.drawn.close())
		}
	}
	picture, err := s.drawn.m.render(s.drawn.doc, req.Page, req.Width)
	if err != nil {
		return reply{}, errors.Join(err, s.drawn.close())
	}
	return reply{PNG: picture}, nil
}
