package picture

import (
	"bytes"
	"errors"
	"image/jpeg"
	"image/png"
	"io"
	"os"

	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/footnote/footnote/corpus"
)

var (
	pngKind  = &kind{png.Decode, single(png.DecodeConfig, lookAtPNG)}
	jpegKind = &kind{jpeg.Decode, single(jpeg.DecodeConfig, lookAtJPEG)}
	webpKind = &kind{webp.Decode, single(webp.DecodeConfig, lookAtWebP)}
	tiffKind = &kind{tiff.Decode, lookAtTIFF}
)

// kindOf tells the kind of a file by its first 32 bytes.
func kindOf(head []byte) *kind {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return pngKind
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return jpegKind
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return webpKind
	case bytes.HasPrefix(head, []byte("II*\x00")), bytes.HasPrefix(head, []byte("MM\x00*")):
		return tiffKind
	}
	return nil
}

var (
	broken = &corpus.Failure{Code: "broken",
		Detail: "This picture is damaged and can't be read. Open it in a picture viewer, save it again and add the " +
			"new file."}
	unusual = &corpus.Failure{Code: "unsupported",
		Detail: "This picture is packed in a way that can't be read. Save it as PNG or JPEG and add that."}
	endless = &corpus.Failure{Code: "too_large",
		Detail: "This picture has more pixels than can be counted. Save it smaller and add that."}
	animated = &corpus.Failure{Code: "unsupported",
		Detail: "This picture is an animation. Save the picture of it that holds text as PNG or JPEG and add that."}
)

// explainError returns the failure of a picture that a decoder refused. A fault of the disk is no failure of the file.
// What the decoder doesn't know is told from what is damaged.
func explainError(err error) error {
	if _, ok := errors.AsType[*os.PathError](err); ok { // the disk, not the file
		return err
	}
	if _, ok := errors.AsType[jpeg.UnsupportedError](err); ok {
		return unusual
	}
	if u, ok := errors.AsType[png.UnsupportedError](err); ok {
		if u == "dimension overflow" {
			return endless
		}
		return unusual
	}
	if _, ok := errors.AsType[tiff.UnsupportedError](err); ok {
		return unusual
	}
	return broken
}

// lookAtPNG says how much memory a pixel takes: a PNG has no orientation that viewers heed.
func lookAtPNG(_ *os.File, fr *frame) error {
	fr.perPixel = 12 // 16 bits of four colours, and as much again for an interlaced one's parts
	return nil
}

// lookAtWebP refuses animations, whose first picture need not be the one that matters. Byte 20 has the flags of the
// extended form (RFC 9649 §2.7).
func lookAtWebP(f *os.File, fr *frame) error {
	head := make([]byte, 21)
	if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	const animation = 0x02
	if string(head[12:16]) == "VP8X" && head[20]&animation != 0 {
		return animated
	}
	fr.perPixel = 8 // of one without losses: its pixels, and its predictions
	return nil
}
