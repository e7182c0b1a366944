package httpio

import "time"

// Limits are the limits per client and request. A zero field means its default.
type Limits struct {
	JSONBody      int64         // bytes of a JSON or form body; 1 MiB
	UploadFile    int64         // bytes of one file; 50 MiB
	UploadRequest int64         // bytes of one upload request; 2 GiB
	UploadFiles   int           // files of one upload request; 1,000
	Streams       int           // open at once; 20,000
	Heartbeat     time.Duration // between comments on a silent stream; 15 s
	WriteTimeout  time.Duration // for each write to a client; 20 s
	ReadTimeout   time.Duration // for each read of a body; 30 s
}

// WithDefaults returns the limits with zero fields replaced by the defaults.
func (l Limits) WithDefaults() Limits {
	fillDefault(&l.JSONBody, 1<<20)
	fillDefault(&l.UploadFile, 50<<20)
	fillDefault(&l.UploadRequest, 2<<30)
	fillDefault(&l.UploadFiles, 1000)
	fillDefault(&l.Streams, 20_000)
	fillDefault(&l.Heartbeat, 15*time.Second)
	fillDefault(&l.WriteTimeout, 20*time.Second)
	fillDefault(&l.ReadTimeout, 30*time.Second)
	return l
}

// fillDefault sets a zero limit to its default.
func fillDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}
