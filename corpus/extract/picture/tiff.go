package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/image/tiff"
)

// Tags of a TIFF's directory.
const (
	// Their names in TIFF 6.0 are NewSubfileType and Orientation.
	tagSubfile     = 254
	tagOrientation = 274
)

const (
	tiffHeader = 8
	maxEntries = 4096 // per directory
	reduced    = 1    // the bit of tagSubfile for a reduced copy of another picture
)

// inspectTIFF lists the pictures of a TIFF, which are a linked list of directories. A cycle ends the list. Reduced
// copies of other pictures are skipped. The decoder reads each directory as if it were the file's first.
func inspectTIFF(f *os.File, size int64) ([]frame, error) {
	head := make([]byte, tiffHeader)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, explainError(err)
	}
	order, at := tiffOrder(head)
	var frames []frame
	for seen := map[uint32]bool{}; order != nil && at >= tiffHeader && !seen[at] && len(frames) <= maxPages; {
		seen[at] = true
		entries, next := readDirectory(f, order, at)
		if entries == nil {
			if len(frames) == 0 {
				return nil, broken
			}
			break // an offset outside the file ends the list
		}
		if entries[tagSubfile]&reduced == 0 {
			config, err := tiff.DecodeConfig(&fromFrame{f: f, at: at})
			if err != nil {
				return nil, explainError(err)
			}
			frames = append(frames, frame{
				width: config.Width, height: config.Height, orientation: orientationOf(entries),
				perPixel: 8, at: int64(at),
			})
		}
		at = next
	}
	return frames, nil
}

// tiffOrder returns the byte order of a TIFF and the offset of its first directory. order is nil for other files.
func tiffOrder(head []byte) (order binary.ByteOrder, first uint32) {
	switch {
	case len(head) < tiffHeader:
		return nil, 0
	case bytes.HasPrefix(head, []byte("II*\x00")):
		order = binary.LittleEndian
	case bytes.HasPrefix(head, []byte("MM\x00*")):
		order = binary.BigEndian
	default:
		return nil, 0
	}
	return order, order.Uint32(head[4:])
}

// readDirectory reads the values stored in a directory, and the offset of the next one; nil if it is outside the
// file. A directory is a count, entries of 12 bytes (tag, type, count and value) and the offset of the next (TIFF
// 6.0, section 2). Only values that fit into an entry are read: shorts and longs.
func readDirectory(r io.ReaderAt, order binary.ByteOrder, at uint32) (entries map[uint16]uint32, next uint32) {
	const entry, short = 12, 3
	var b [entry]byte
	if _, err := r.ReadAt(b[:2], int64(at)); err != nil {
		return nil, 0
	}
	n := int64(order.Uint16(b[:2]))
	if n == 0 || n > maxEntries {
		return nil, 0
	}
	all := make([]byte, n*entry+4)
	if _, err := r.ReadAt(all, int64(at)+2); err != nil {
		if !errors.Is(err, io.EOF) {
			return nil, 0
		}
		clear(all[n*entry:]) // the last directory may lack the offset of the next
	}
	entries = map[uint16]uint32{}
	for i := range n {
		e := all[i*entry : (i+1)*entry]
		value := order.Uint32(e[8:])
		if order.Uint16(e[2:]) == short {
			value = uint32(order.Uint16(e[8:]))
		}
		entries[order.Uint16(e)] = value
	}
	return entries, order.Uint32(all[n*entry:])
}

// fromFrame reads a TIFF file with the directory at an offset as its first, since Go's decoder reads only the first
// picture.
type fromFrame struct {
	f  *os.File
	at uint32
	io.Reader
}

// ReadAt implements io.ReaderAt, the only method that the TIFF decoder uses.
func (t *fromFrame) ReadAt(p []byte, off int64) (int, error) {
	n, err := t.f.ReadAt(p, off)
	if off >= tiffHeader || n == 0 {
		return n, err
	}
	var head [tiffHeader]byte
	if _, err := t.f.ReadAt(head[:], 0); err != nil {
		return 0, fmt.Errorf("read the header: %w", err)
	}
	if order, _ := tiffOrder(head[:]); order != nil {
		order.PutUint32(head[4:], t.at)
	}
	copy(p[:n], head[off:])
	return n, err
}

// bytesAt returns a reader of bytes in memory.
func bytesAt(data []byte) io.ReaderAt { return bytes.NewReader(data) }
