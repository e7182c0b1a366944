package pdf

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium/webassembly/imports"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

const (
	// A page of WebAssembly memory has 64 KiB.
	wasmPage    = 64 << 10
	memoryLimit = 256 << 20 // bytes of one instance's memory
	nearLimit   = 128 << 20 // bytes; an instance that crashed above this ran out of memory
)

// texts interns the words of a document, since most repeat. It belongs to one instance.
type texts struct {
	all map[string]string
	utf []byte
}

// internRunes returns the interned string of runes. The lookup by bytes doesn't allocate.
func (t *texts) internRunes(runes []rune) string {
	t.utf = t.utf[:0]
	for _, r := range runes {
		t.utf = utf8.AppendRune(t.utf, r)
	}
	s, ok := t.all[string(t.utf)]
	if !ok {
		if s = string(t.utf); t.all == nil {
			t.all = map[string]string{}
		}
		t.all[s] = s
	}
	return s
}

// pdfiumWasm is the library's WebAssembly module of PDFium, compressed: `make generate` makes the file. The library
// does not export it, and its pool doesn't support a custom memory allocator.
//
//go:embed pdfium.wasm.gz
var pdfiumWasm []byte

// unpackPDFium decompresses PDFium: 5 MB, which a compiled module keeps in memory.
func unpackPDFium() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(pdfiumWasm))
	if err != nil {
		return nil, err
	}
	// the last four bytes of a gzip file are the uncompressed size
	b := make([]byte, binary.LittleEndian.Uint32(pdfiumWasm[len(pdfiumWasm)-4:]))
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, r) // validates the checksum
	return b, err
}

// library is PDFium, compiled once for a process. It has no access to files or the network.
type library struct {
	cache    wazero.CompilationCache
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
}

// loadLibrary compiles PDFium, or loads it from the compilation cache in cacheDir. After an error nothing stays
// open. The runtime provides WASI, which the module imports, without any file or clock of the system.
func loadLibrary(ctx context.Context, cacheDir string) (_ *library, err error) {
	rc := wazero.NewRuntimeConfig().WithMemoryLimitPages(memoryLimit / wasmPage)
	wasm, err := unpackPDFium()
	if err != nil {
		return nil, fmt.Errorf("unpack PDFium: %w", err)
	}
	var l library
	if cacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
		if err != nil {
			return nil, fmt.Errorf("open the compilation cache: %w", err)
		}
		l.cache, rc = cache, rc.WithCompilationCache(cache)
	}
	l.runtime = wazero.NewRuntimeWithConfig(ctx, rc)
	if _, err = wasi_snapshot_preview1.Instantiate(ctx, l.runtime); err == nil {
		l.compiled, err = l.runtime.CompileModule(ctx, wasm)
	}
	if err == nil {
		_, err = imports.Instantiate(ctx, l.runtime, l.compiled)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load PDFium: %w", err), l.close(ctx))
	}
	return &l, nil
}

func (l *library) close(ctx context.Context) error {
	err := l.runtime.Close(ctx)
	if l.cache != nil {
		err = errors.Join(err, l.cache.Close(ctx))
	}
	return err
}

// module is one instance of PDFium with its memory. Its functions are called directly. The wrappers of the library
// look up a function and allocate in PDFium for every returned value, 50 ms for the letters of a page. It is not
// safe for concurrent use.
type module struct {
	ctx     context.Context // of the only request of this instance
	mod     api.Module
	fns     map[string]api.Function
	scratch uint32 // address of 64 bytes for values returned by pointer
	texts   texts  // words read so far
	keys    map[string]uint32
}

// newInstance starts an instance: it allocates memory, initialises PDFium, and allocates the buffer for values
// returned by pointer.
func (l *library) newInstance(ctx context.Context) (m *module, err error) {
	config := wazero.NewModuleConfig().WithStartFunctions("_initialize").WithRandSource(rand.Reader).WithName("")
	m = &module{ctx: ctx, fns: map[string]api.Function{}}
	if m.mod, err = l.runtime.InstantiateModule(
		experimental.WithMemoryAllocator(ctx, reserve), l.compiled, config,
	); err != nil {
		return nil, fmt.Errorf("start PDFium: %w", err)
	}
	if _, err = m.callFunction("FPDF_InitLibrary"); err == nil {
		m.scratch, err = m.allocate(64)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start PDFium: %w", err), m.close())
	}
	return m, nil
}

func (m *module) close() error { return m.mod.Close(m.ctx) }

// crash is the error of a PDFium call that trapped. The instance can't be used again. memory means that it most
// likely ran out of memory, which the file's owner can fix.
type crash struct {
	memory bool
	err    error
}

func (c *crash) Error() string { return "PDFium crashed: " + c.err.Error() }

// callFunction calls a PDFium function. Arguments and the result are WebAssembly's 64-bit words. A trap is returned
// as a *crash. Function lookups are cached.
func (m *module) callFunction(name string, args ...uint64) (uint64, error) {
	fn := m.fns[name]
	if fn == nil {
		if fn = m.mod.ExportedFunction(name); fn == nil {
			return 0, fmt.Errorf("PDFium has no function %s", name)
		}
		m.fns[name] = fn
	}
	out, err := fn.Call(m.ctx, args...)
	if err != nil {
		return 0, &crash{memory: m.mod.Memory().Size() >= nearLimit, err: err}
	}
	if len(out) == 0 {
		return 0, nil
	}
	return out[0], nil
}

// callCount calls a function that returns a 32-bit integer. In many of them -1 means “nothing”.
func (m *module) callCount(name string, args ...uint64) (int, error) {
	v, err := m.callFunction(name, args...)
	return int(int32(v)), err
}

// allocate allocates n bytes of PDFium's memory, for the caller to free.
func (m *module) allocate(n int) (uint32, error) {
	p, err := m.callFunction("malloc", uint64(n))
	if err == nil && p == 0 {
		err = &crash{memory: true, err: errors.New("out of memory")}
	}
	return uint32(p), err
}

func (m *module) free(p uint32) error {
	_, err := m.callFunction("free", uint64(p))
	return err
}

// readFloats reads n 32-bit floats at the scratch address.
func (m *module) readFloats(n int) []float64 {
	b, ok := m.mod.Memory().Read(m.scratch, uint32(4*n))
	out := make([]float64, n)
	if ok {
		for i := range out {
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
	}
	return out
}

// readUTF16 calls a function that writes a zero-terminated UTF-16LE string. Its last two arguments are a buffer and
// its size in bytes, and it returns the size needed. Strings of more than limit bytes are dropped. It is called
// twice, first for the size.
func (m *module) readUTF16(limit int, name string, args ...uint64) (string, error) {
	n, err := m.callCount(name, append(args, 0, 0)...)
	if err != nil || n <= 2 || n > limit {
		return "", err
	}
	p, err := m.allocate(n)
	if err != nil {
		return "", err
	}
	if _, err = m.callFunction(name, append(args, uint64(p), uint64(n))...); err != nil {
		return "", err
	}
	b, ok := m.mod.Memory().Read(p, uint32(n-2))
	if !ok {
		return "", errors.New("PDFium returned an address outside its memory")
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units)), m.free(p)
}

// copyString copies a string into PDFium's memory. It is never freed, because the instance ends with the document.
func (m *module) copyString(s string) (uint32, error) {
	p, err := m.allocate(len(s) + 1)
	if err == nil && !m.mod.Memory().Write(p, append([]byte(s), 0)) {
		err = errors.New("PDFium returned an address outside its memory")
	}
	return p, err
}

// Error codes of FPDF_GetLastError.
const (
	errPassword = 4
	errSecurity = 5
)

// openFailed is the error of PDFium for a document that it can't open.
type openFailed struct{ reason int }

func (e *openFailed) Error() string { return fmt.Sprintf("PDFium can't open it: reason %d", e.reason) }

// openFile reads the file directly into PDFium's memory, where it stays while the document is open. A file larger
// than that memory fails like a crash for lack of memory. One that PDFium rejects is an *openFailed.
func (m *module) openFile(path string) (doc uint64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("open the original: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("look at the original: %w", err)
	}
	size := info.Size()
	if size > memoryLimit {
		return 0, &crash{memory: true, err: fmt.Errorf("%d bytes", size)}
	}
	p, err := m.allocate(int(max(size, 1)))
	if err != nil {
		return 0, err
	}
	view, ok := m.mod.Memory().Read(p, uint32(size))
	if !ok {
		return 0, errors.New("PDFium returned an address outside its memory")
	}
	if _, err := io.ReadFull(f, view); err != nil {
		return 0, fmt.Errorf("read the original: %w", err)
	}
	if doc, err = m.callFunction("FPDF_LoadMemDocument", uint64(p), uint64(size), 0); err != nil || doc != 0 {
		return doc, err
	}
	reason, err := m.callCount("FPDF_GetLastError")
	if err != nil {
		return 0, err
	}
	return 0, &openFailed{reason}
}
