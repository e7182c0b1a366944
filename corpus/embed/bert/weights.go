package bert

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"unsafe"
)

const (
	maxHeader     = 16 << 20 // bytes; that of a model with 24 layers has some 40 KB
	maxDimensions = 4
)

// tensor is an entry of a safetensors header. Offsets are half-open.
type tensor struct {
	Type    string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"` // in the file's data
}

// weights is a memory-mapped safetensors file: unread pages use no memory, and the system may evict others. The
// file has the length of its header in 8 bytes, little-endian, the header as JSON, and then the data of all
// tensors.
type weights struct {
	file    []byte
	data    []byte // the part of file after its header
	tensors map[string]tensor
	unmap   func() error
}

// openWeights maps a safetensors file and validates its header. It must be a regular file, since a pipe can't be
// mapped. The caller closes the result.
func openWeights(path string) (_ *weights, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", path)
	}
	if info.Size() < 8 || info.Size() > math.MaxInt {
		return nil, fmt.Errorf("%s is no safetensors file: it has %d bytes", path, info.Size())
	}
	w := &weights{}
	if w.file, w.unmap, err = mapFile(f, int(info.Size())); err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	if err := w.readHeader(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is no safetensors file that can be used: %w", path, err), w.close())
	}
	return w, nil
}

func (w *weights) close() error { return w.unmap() }

// readHeader parses the offsets of the tensors. Shapes are validated later, when tensors are loaded.
func (w *weights) readHeader() error {
	size := binary.LittleEndian.Uint64(w.file)
	if size > maxHeader || size > uint64(len(w.file)-8) {
		return fmt.Errorf("its header has %d bytes of %d", size, len(w.file))
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(w.file[8:8+size], &entries); err != nil {
		return fmt.Errorf("its header: %w", err)
	}
	delete(entries, "__metadata__")
	w.data = w.file[8+size:]
	w.tensors = make(map[string]tensor, len(entries))
	for name, raw := range entries {
		var t tensor
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		if len(t.Offsets) != 2 || t.Offsets[0] < 0 || t.Offsets[1] < t.Offsets[0] || t.Offsets[1] > int64(len(w.data)) {
			return fmt.Errorf("tensor %q lies at %v of %d bytes", name, t.Offsets, len(w.data))
		}
		w.tensors[name] = t
	}
	return nil
}

// prefixOf returns the name prefix of the network's tensors. Files of classifiers have the prefix "bert." or
// "roberta.", those of encoders none.
func (w *weights) prefixOf(modelType string) string {
	prefix := strings.TrimPrefix(modelType, "xlm-") + "."
	if _, ok := w.tensors[prefix+"embeddings.word_embeddings.weight"]; ok {
		return prefix
	}
	return ""
}

// tensorFloats returns the tensor with a name and validates its shape. It shares the mapped memory if possible.
// With another byte order or alignment the bytes are copied.
func (w *weights) tensorFloats(name string, shape ...int) ([]float32, error) {
	t, ok := w.tensors[name]
	if !ok {
		return nil, fmt.Errorf("the tensor %q is missing", name)
	}
	if t.Type != "F32" {
		return nil, fmt.Errorf("the tensor %q is of type %s: only F32 can be used", name, t.Type)
	}
	count, fits := int64(1), len(t.Shape) == len(shape) && len(shape) <= maxDimensions
	for i := 0; fits && i < len(shape); i++ {
		count, fits = count*t.Shape[i], t.Shape[i] == int64(shape[i])
	}
	if !fits {
		return nil, fmt.Errorf("the tensor %q has the shape %v instead of %v", name, t.Shape, shape)
	}
	body := w.data[t.Offsets[0]:t.Offsets[1]]
	if int64(len(body)) != 4*count {
		return nil, fmt.Errorf("the tensor %q has %d bytes instead of %d", name, len(body), 4*count)
	}
	if start := unsafe.SliceData(body); littleEndian && uintptr(unsafe.Pointer(start))%4 == 0 {
		return unsafe.Slice((*float32)(unsafe.Pointer(start)), count), nil
	}
	values := make([]float32, count)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:]))
	}
	return values, nil
}

// littleEndian reports whether the machine's byte order is that of the file.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1
