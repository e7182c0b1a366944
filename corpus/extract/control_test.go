package extract

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

// logOf is a log of so many lines.
func logOf(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "2026-03-01 12:%02d:%02d worker %d stored register %d\n", i/60%60, i%60, i%7, i)
	}
	return b.String()
}

// noise is what compressed data looks like.
func noise(n int) string {
	random, b := rand.New(rand.NewPCG(1, 2)), make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return string(b)
}

// numbers are n numbers of four bytes each.
func numbers(n int, value func(i int) uint32) string {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, value(i))
	}
	return string(b)
}

func encoded(t *testing.T, enc interface{ String(string) (string, error) }, s string) string {
	t.Helper()
	out, err := enc.String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A text is read although it has bytes that are none, whatever it is called, and without them.
func TestWhatIsMostlyTextIsRead(t *testing.T) {
	russian := strings.Repeat("Крыша дома была осмотрена, стены сухие.\n", 40)
	for _, tt := range []struct{ name, file, data, want string }{
		{"a log with stray zero bytes", "a.log", strings.ReplaceAll(logOf(200), "worker", "wor\x00ker"+
			"\x00"), logOf(200)},
		{"zero bytes at its beginning", "a.log", "\x00\x00\x00" + logOf(3), logOf(3)},
		{"a zero in its first word", "a.log", "ERR\x00OR: the disk is full\nretried\n", "ERROR: the disk is " +
			"full\nretried\n"},
		{"a row of zeros ahead of it", "app.out", strings.Repeat("\x00", 9000) + logOf(50), logOf(50)},
		{"a row of zeros inside", "app", logOf(50) + strings.Repeat("\x00", 1<<20) + logOf(50), logOf(50) + logOf(50)},
		{"a row of zeros inside a legacy encoding", "a.txt",
			encoded(t, charmap.Windows1251.NewEncoder(), russian+"!!!") + strings.Repeat("\x00", 4096) +
				encoded(t, charmap.Windows1251.NewEncoder(), russian), russian + "!!!" + russian},
		{"more stray control characters than one in a hundred", "a.dat",
			strings.ReplaceAll(logOf(200), "stored", "\x01stored\x02"), logOf(200)},
		{"stray control characters of all kinds", "a.log", func() string {
			var b strings.Builder
			for i, r := range logOf(400) {
				if b.WriteRune(r); i%79 == 0 {
					b.WriteByte(byte(i / 79 % 9))
				}
			}
			return b.String()
		}(), logOf(400)},
		{"colours and titles of a terminal", "ci.log",
			"\x1b]0;build\x07\x1b[1;31mERROR\x1b[0m the \x1b[4mroof\x1b[24m leaks\x1b(B\n" + logOf(3),
			"ERROR the roof leaks\n" + logOf(3)},
		{"bold and underlined words of a manual page", "ls.txt", "N\bNA\bAM\bME\bE\n\n" +
			strings.Repeat("list _\bf_\bi_\bl_\be_\bs of größe\be\n", 30), "NAME\n\n" +
			strings.Repeat("list files of größe\n", 30)},
		{"a binary end", "a.log", logOf(400) + noise(8000), logOf(400)},
		{"a binary part inside", "a.log", logOf(400) + noise(8000) + "\n" + logOf(400), logOf(400) + logOf(400)},
		{"a few bytes that are no UTF-8", "a.log", strings.Repeat("größe ", 40) + "caf\xe9 " + "\x00" + "ende",
			strings.Repeat("größe ", 40) + "café ende"},
		{"UTF-16 without a " +
			"mark", "a.log", encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder(),
			logOf(20)), logOf(20)},
		{"the first letters of a picture", "a.txt", "BM25 scores words.", "BM25 scores words."},
		{"the first letters of a font", "a.txt", "OTTO VON BISMARCK", "OTTO VON BISMARCK"},
		{"the first letters of a song", "a.md", "ID3 tags name songs.", "ID3 tags name songs."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			head := tt.data[:min(len(tt.data), corpus.SniffBytes)]
			if _, err := Formats.Sniff([]byte(head), tt.file); err != nil {
				t.Errorf("Sniff fails with %q, want no error", chat.MessageOf(err))
			}
			decoded, err := decodeText([]byte(tt.data), "")
			got := strings.Map(func(r rune) rune {
				if doctext.Dropped(r) {
					return -1
				}
				return r
			}, decoded)
			// a few bytes between binary data may look like a text
			if !holdsLines(got, tt.want) || len(got) > len(tt.want)+len(tt.want)/100+200 || err != nil {
				t.Errorf("decode(%.80q) = %.300q (%d bytes), %v; want %.300q (%d bytes)", tt.data, got, len(got), err,
					tt.want, len(tt.want))
			}
			if strings.ContainsRune(decoded, 0) {
				t.Errorf("the text holds zeros")
			}
		})
	}
}

// holdsLines reports whether a text has the lines of another one, in their order, with at most some between them.
func holdsLines(text, lines string) bool {
	for line := range strings.Lines(lines) {
		_, after, ok := strings.Cut(text, line)
		if !ok {
			return false
		}
		text = after
	}
	return true
}

// What is mostly no text is refused in the same words when it comes in and when it is read.
func TestWhatIsMostlyNoTextIsRefused(t *testing.T) {
	const notText = "holds binary data, not text. Save it as PDF and add that."
	for _, tt := range []struct{ name, file, data, says string }{
		{"compressed data", "a.log", noise(9000), notText},
		{"a text behind more binary data", "a.txt", noise(9000) + logOf(100), notText},
		{"numbers", "a.dat", numbers(3000, func(i int) uint32 { return math.Float32bits(float32(i)) }), notText},
		{"small numbers", "a", numbers(3000, func(i int) uint32 { return uint32(i % 127) }), notText},
		{"letters between control characters", "a.txt", strings.Repeat("ab\x00\x01cd", 50), notText},
		{"a song", "a.txt", "ID3\x03\x00\x00" + noise(5000),
			"is a sound recording, which can't be read. Add documents only."},
		{"a bitmap", "a.log", "BM\x36\x10\x00\x00\x00\x00" + noise(5000), "is a picture of another kind, which can't " +
			"be read. Save it as PNG or JPEG"},
		{"a video", "a.mp4", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom" + noise(5000),
			"is a video, which can't be"},
		{"a TAR archive", "a.tar", "a.txt" + strings.Repeat("\x00", 252) + "ustar\x0000" + logOf(9),
			"is a TAR archive, which"},
		{"PostScript", "a.ps", "%!PS-Adobe-3.0\n%%Title: a\n", "is a PostScript file, which can't be read. Save it " +
			"as PDF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			head := tt.data[:min(len(tt.data), corpus.SniffBytes)]
			_, err := Formats.Sniff([]byte(head), tt.file)
			if want := "“" + tt.file + "” " + tt.says; err == nil || !strings.HasPrefix(chat.MessageOf(err), want) {
				t.Errorf("Sniff fails with %v, want %q", err, want)
			}
			_, err = extractBytes(t, tt.file, "text/plain", []byte(tt.data))
			f, ok := errors.AsType[*corpus.Failure](err)
			if want := "This file " + tt.says; !ok || f.Code != "unsupported" || !strings.HasPrefix(f.Detail, want) {
				t.Errorf("Extract fails with %v, want %q", err, want)
			}
		})
	}
}

func TestAFileOfZerosHoldsNoText(t *testing.T) {
	_, err := extractBytes(t, "a.log", "text/plain", make([]byte, 1<<20))
	if f, ok := errors.AsType[*corpus.Failure](err); !ok || f.Code != "no_text" {
		t.Errorf("error = %v, want no_text", err)
	}
}
