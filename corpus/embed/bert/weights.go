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

	"github.com/viterin/vek/vek32"

	"github.com/footnote/footnote/corpus/embed/bert/kernel"
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
	changes *weights // of a model that was trained further; nil: none
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

// tensorFloats returns the tensor with a name and validates its shape, with the changes. It shares the mapped memory
// if possible. With another byte order or alignment the bytes are copied.
func (w *weights) tensorFloats(name string, shape ...int) ([]float32, error) {
	if w.changes != nil {
		if _, replaced := w.changes.tensors[name]; replaced {
			return w.changes.tensorFloats(name, shape...)
		}
		if _, changed := w.changes.tensors[name+".left"]; changed {
			return w.changedFloats(name, shape)
		}
	}
	return w.storedFloats(name, shape)
}

// storedFloats returns a tensor of the file itself.
func (w *weights) storedFloats(name string, shape []int) ([]float32, error) {
	body, count, err := w.tensorBytes(name, "F32", 4, shape)
	if err != nil {
		return nil, err
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

// tensorBytes returns the bytes of a tensor and the number of its values, and validates its type and shape.
func (w *weights) tensorBytes(name, kind string, size int64, shape []int) (body []byte, count int64, err error) {
	t, ok := w.tensors[name]
	if !ok {
		return nil, 0, fmt.Errorf("the tensor %q is missing", name)
	}
	if t.Type != kind {
		return nil, 0, fmt.Errorf("the tensor %q is of type %s: only %s can be used", name, t.Type, kind)
	}
	count, fits := int64(1), len(t.Shape) == len(shape) && len(shape) <= maxDimensions
	for i := 0; fits && i < len(shape); i++ {
		count, fits = count*t.Shape[i], t.Shape[i] == int64(shape[i])
	}
	if !fits {
		return nil, 0, fmt.Errorf("the tensor %q has the shape %v instead of %v", name, t.Shape, shape)
	}
	if body = w.data[t.Offsets[0]:t.Offsets[1]]; int64(len(body)) != size*count {
		return nil, 0, fmt.Errorf("the tensor %q has %d bytes instead of %d", name, len(body), size*count)
	}
	return body, count, nil
}

// changedFloats returns a matrix plus the product of two matrices of low rank (Hu et al. 2021): NAME.left, with a row
// for each of its rows, and NAME.right, with a row for each of its columns. Both have 8-bit codes, and a scale for each
// row.
func (w *weights) changedFloats(name string, shape []int) ([]float32, error) {
	base, err := w.storedFloats(name, shape)
	if err != nil {
		return nil, err
	}
	left := w.changes.tensors[name+".left"]
	if len(shape) != 2 || len(left.Shape) != 2 || left.Shape[1] < 1 || left.Shape[1] > int64(shape[1]) {
		return nil, fmt.Errorf("the change of the tensor %q has the shape %v", name, left.Shape)
	}
	rank := int(left.Shape[1])
	rows, err := w.changes.decodedRows(name+".left", shape[0], rank)
	if err != nil {
		return nil, err
	}
	columns, err := w.changes.decodedRows(name+".right", shape[1], rank)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(base))
	kernel.Multiply(out, rows, columns, make([]float32, shape[1]), new(kernel.Scratch))
	vek32.Add_Inplace(out, base)
	return out, nil
}

// decodedRows returns a matrix of 8-bit codes, each multiplied by the scale of its row.
func (w *weights) decodedRows(name string, rows, columns int) ([]float32, error) {
	codes, _, err := w.tensorBytes(name, "I8", 1, []int{rows, columns})
	if err != nil {
		return nil, err
	}
	scales, err := w.tensorFloats(name+".scale", rows)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(codes))
	for i, code := range codes {
		out[i] = float32(int8(code)) * scales[i/columns]
	}
	return out, nil
}

// littleEndian reports whether the machine's byte order is that of the file.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1
