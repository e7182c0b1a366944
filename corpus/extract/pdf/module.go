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
	// WebAssembly counts memory in pages of 64 KiB.
	wasmPage    = 64 << 10
	memoryLimit = 256 << 20 // bytes of one instance's memory
	nearLimit   = 128 << 20 // an instance that crashed with more than this ran out of it
)

// texts keeps one string for each different word: a document repeats most. It belongs to one instance and goes with it.
type texts struct {
	all map[string]string
	utf []byte
}

// internRunes returns the one string of these letters. Looking up by bytes allocates nothing.
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

// pdfiumWasm is PDFium as the library ships it, compressed: `make generate` makes the file. The library does not export
// it, and its own pool can't be told where memory comes from.
//
//go:embed pdfium.wasm.gz
var pdfiumWasm []byte

// unpackPDFium returns PDFium, in memory of its own: 5 MB, which a compiled module keeps.
func unpackPDFium() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(pdfiumWasm))
	if err != nil {
		return nil, err
	}
	// a gzip file ends with the size of what is in it
	b := make([]byte, binary.LittleEndian.Uint32(pdfiumWasm[len(pdfiumWasm)-4:]))
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, r) // checks the sum
	return b, err
}

// library is PDFium, compiled once for a process. Nothing of the disk or the network is visible to it.
type library struct {
	cache    wazero.CompilationCache
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
}

// loadLibrary compiles PDFium, or takes it from cacheDir where an earlier process left it. An error leaves nothing
// open. The runtime is given WASI, which the module imports, without any file or clock of ours.
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

// module is one instance of PDFium with memory of its own. Its functions are called directly: the library's own
// wrappers look a function up and allocate in PDFium for every value they return, 50 ms for the letters of a page. It
// is not safe for concurrent use.
type module struct {
	ctx     context.Context // of the one request this instance serves
	mod     api.Module
	fns     map[string]api.Function
	scratch uint32 // 64 bytes for values returned by pointer
	texts   texts  // of the words read so far
}

// newInstance starts an instance: memory of its own, PDFium's own start, and room for values that it returns by
// pointer.
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

// crash is PDFium stopping in the middle of a call. Its instance is of no further use. memory says that it most likely
// ran out of memory, which its owner can do something about.
type crash struct {
	memory bool
	err    error
}

func (c *crash) Error() string { return "PDFium crashed: " + c.err.Error() }

// callFunction calls a function of PDFium; arguments and the result are WebAssembly's 64-bit words. Whatever stops it
// is a *crash. Functions are looked up once.
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

// callCount calls a function that returns a 32-bit integer. PDFium returns -1 for "nothing" in many of them.
func (m *module) callCount(name string, args ...uint64) (int, error) {
	v, err := m.callFunction(name, args...)
	return int(int32(v)), err
}

// allocate takes n bytes of PDFium's memory, for the caller to free.
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

// readFloats reads n 32-bit numbers at the scratch address.
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

// readUTF16 calls a function whose last two arguments are a buffer for UTF-16LE with a final zero and its size in
// bytes, and which returns the bytes needed. Longer texts than limit bytes are left out. It is called twice, first for
// the size.
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

// copyString copies a string into PDFium's memory. It is never freed: the instance ends with the document.
func (m *module) copyString(s string) (uint32, error) {
	p, err := m.allocate(len(s) + 1)
	if err == nil && !m.mod.Memory().Write(p, append([]byte(s), 0)) {
		err = errors.New("PDFium returned an address outside its memory")
	}
	return p, err
}

// The reasons FPDF_GetLastError gives.
const (
	errPassword = 4
	errSecurity = 5
)

// openFailed is why PDFium did not open a document.
type openFailed struct{ reason int }

func (e *openFailed) Error() string { return fmt.Sprintf("PDFium can't open it: reason %d", e.reason) }

// openFile reads the file straight into PDFium's memory. PDFium reads the bytes for as long as the document is open. A
// file that is larger than its memory fails as a crash for want of memory does; one that PDFium refuses is an
// *openFailed.
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
