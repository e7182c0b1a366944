// Package picturetest creates picture files for tests, including malicious ones.
package picturetest

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
)

// PNG encodes a picture as PNG.
func PNG(img image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // a test's own picture
	}
	return b.Bytes()
}

// Noise returns a deterministic grey picture that compresses badly, from a linear congruential generator.
func Noise(w, h int) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, w, h))
	seed := uint32(1)
	for i := range img.Pix {
		seed = seed*1664525 + 1013904223
		img.Pix[i] = byte(seed >> 24)
	}
	return img
}

// Resized returns a PNG with another size in its header, and a valid checksum.
func Resized(file []byte, w, h uint32) []byte {
	out := bytes.Clone(file)
	binary.BigEndian.PutUint32(out[16:], w)
	binary.BigEndian.PutUint32(out[20:], h)
	binary.BigEndian.PutUint32(out[29:], crc32.ChecksumIEEE(out[12:29]))
	return out
}

// Resize returns a JPEG with another size in its first frame.
func Resize(file []byte, w, h uint16) []byte {
	out := bytes.Clone(file)
	at := bytes.Index(out, []byte{0xFF, 0xC0})
	binary.BigEndian.PutUint16(out[at+5:], h)
	binary.BigEndian.PutUint16(out[at+7:], w)
	return out
}

// WithExif adds Exif data with an orientation to a JPEG, as cameras do. next is the offset of the next directory.
// The directory has one entry, the orientation.
func WithExif(file []byte, orientation uint16, next uint32) []byte {
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
	exif = binary.BigEndian.AppendUint16(exif, orientation)
	exif = binary.BigEndian.AppendUint32(append(exif, 0, 0), next)
	segment := binary.BigEndian.AppendUint16([]byte{0xFF, 0xE1}, uint16(len(exif)+2))
	return append(append(append([]byte{0xFF, 0xD8}, segment...), exif...), file[2:]...)
}

// Frame is a picture of a TIFF.
type Frame struct {
	Picture       *image.Gray
	Width, Height int // in the header; 0: the picture's size
	Orientation   int // 0: no such tag
	Compression   int // 0: none
}

// TIFF returns an uncompressed TIFF of some pictures. last is the offset of the next directory in the last one: 0
// ends the list, 1 is replaced by the first directory's offset. Numbers are little-endian, and each picture's
// directory follows its pixels.
func TIFF(last uint32, frames ...Frame) []byte {
	out := []byte("II*\x00\x00\x00\x00\x00")
	link := 4 // position of the next directory's offset
	first := uint32(0)
	for _, f := range frames {
		b := f.Picture.Bounds()
		w, h, compression := b.Dx(), b.Dy(), max(f.Compression, 1)
		if f.Width > 0 {
			w, h = f.Width, f.Height
		}
		pixels := uint32(len(out))
		out = append(out, f.Picture.Pix...)
		if len(out)%2 != 0 {
			out = append(out, 0)
		}
		at := uint32(len(out))
		if first == 0 {
			first = at
		}
		binary.LittleEndian.PutUint32(out[link:], at)
		entries := [][2]uint32{{256, uint32(w)}, {257, uint32(h)}, {258, 8}, {259, uint32(compression)}, {262, 1},
			{273, pixels}}
		if f.Orientation > 0 {
			entries = append(entries, [2]uint32{274, uint32(f.Orientation)})
		}
		entries = append(entries, [2]uint32{277, 1}, [2]uint32{278, uint32(h)},
			[2]uint32{279, uint32(len(f.Picture.Pix))})
		out = binary.LittleEndian.AppendUint16(out, uint16(len(entries)))
		for _, e := range entries {
			out = binary.LittleEndian.AppendUint16(out, uint16(e[0]))
			out = binary.LittleEndian.AppendUint16(out, 4) // a long
			out = binary.LittleEndian.AppendUint32(out, 1)
			out = binary.LittleEndian.AppendUint32(out, e[1])
		}
		link = len(out)
		out = append(out, 0, 0, 0, 0)
	}
	if last == 1 {
		last = first
	}
	binary.LittleEndian.PutUint32(out[link:], last)
	return out
}

// WebP returns the start of a WebP: a header of the extended form with flags and a size, and a chunk after it.
func WebP(flags byte, w, h uint32, chunk string) []byte {
	body := []byte("WEBPVP8X\x0a\x00\x00\x00")
	body = append(body, flags, 0, 0, 0, byte(w-1), byte((w-1)>>8), byte((w-1)>>16), byte(h-1), byte((h-1)>>8),
		byte((h-1)>>16))
	body = append(body, chunk...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// Corners returns a picture with four grey corners, clockwise from the top left: 0, 80, 160 and 255.
func Corners(w, h int) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			grey := [2][2]uint8{{0, 80}, {255, 160}}[2*y/h][2*x/w]
			img.SetGray(x, y, color.Gray{Y: grey})
		}
	}
	return img
}
