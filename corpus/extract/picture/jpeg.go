package picture

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

const (
	// A JPEG has a few dozen segments before its pixels; Exif data fit into one segment.
	maxMarkers = 2000 // of a JPEG that are looked at
	maxExif    = 64 << 10
)

// The markers of a JPEG.
const (
	// Their names in the standard (ITU-T T.81, table B.1) are SOS, EOI, APP1 and SOF2.
	jpegScan        = 0xDA
	jpegEnd         = 0xD9
	jpegApp1        = 0xE1
	jpegProgressive = 0xC2
)

// lookAtJPEG finds out how a photograph is turned, and how much memory a pixel of it takes. A damaged one is found out
// by the decoder. It goes from segment to segment, each of which has its length behind its marker. A progressive
// picture takes more, as all coefficients are kept until its last pass.
func lookAtJPEG(f *os.File, fr *frame) error {
	fr.perPixel = 3
	at := int64(2)
	head := make([]byte, 10)
	for range maxMarkers {
		if _, err := f.ReadAt(head[:4], at); err != nil {
			return atEnd(err)
		}
		marker, length := head[1], int64(binary.BigEndian.Uint16(head[2:]))
		switch {
		case head[0] != 0xFF:
			return nil
		case marker == 0xFF: // padding
			at++
			continue
		case marker == jpegScan || marker == jpegEnd || length < 2:
			return nil
		case marker == jpegProgressive:
			if _, err := f.ReadAt(head, at); err != nil {
				return atEnd(err)
			}
			fr.perPixel += 4 * int(head[9]) // of each colour, all coefficients of all passes
		case marker == jpegApp1:
			data := make([]byte, min(length-2, maxExif))
			if _, err := f.ReadAt(data, at+4); err != nil {
				return atEnd(err)
			}
			if len(data) > 6 && string(data[:6]) == "Exif\x00\x00" {
				fr.orientation = exifOrientation(data[6:])
			}
		}
		at += 2 + length
	}
	return nil
}

// atEnd leaves a file that ends too soon to the decoder.
func atEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// exifOrientation reads how a picture is turned from its Exif data, which are a TIFF without pixels. 1 is upright. The
// directory is that of the main picture, the first one.
func exifOrientation(data []byte) int {
	order, first := tiffOrder(data)
	if order == nil {
		return 1
	}
	entries, _ := readDirectory(bytesAt(data), order, first)
	return orientationOf(entries)
}

// orientationOf returns the orientation among a directory's entries, 1 where there is none.
func orientationOf(entries map[uint16]uint32) int {
	if o := entries[tagOrientation]; o >= 1 && o <= 8 {
		return int(o)
	}
	return 1
}
