package office

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// rtf is a Rich Text Format file that is being rewritten (RTF 1.9.1). A group with an external reference is dropped
// up to its closing brace.
type rtf struct {
	in      *bufio.Reader
	out     *bufio.Writer
	depth   int
	dropped int              // depth of the dropped group; 0: none
	code    *strings.Builder // of the field whose instruction is dropped; nil: the dropped group is another
	picture int              // depth of the picture's group; 0: none
	magic   string           // the first hexadecimal digits of the picture
}

// detachRTF rewrites a Rich Text Format file.
func detachRTF(in io.Reader, out io.Writer) error {
	left := int64(maxOther)
	r := rtf{in: bufio.NewReader(&limited{r: in, left: &left}), out: bufio.NewWriter(out)}
	for {
		c, err := r.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return r.out.Flush()
		}
		if err == nil {
			err = r.next(c)
		}
		if err != nil {
			return err
		}
	}
}

// next rewrites the token that begins with a byte.
func (r *rtf) next(c byte) error {
	switch c {
	case '{':
		r.depth++
	case '}':
		if err := r.endGroup(); err != nil {
			return err
		}
	case '\\':
		return r.control()
	default:
		return r.text(c)
	}
	return r.write(string(c))
}

// write writes s unless it is in a dropped group.
func (r *rtf) write(s string) error {
	if r.dropped > 0 {
		return nil
	}
	_, err := r.out.WriteString(s)
	return err
}

// endGroup ends the state of a group. A harmless field code is written back without its formatting.
func (r *rtf) endGroup() error {
	if r.dropped == r.depth {
		r.dropped = 0
		if r.code != nil {
			if code := r.code.String(); isHarmlessField(code) {
				if err := r.write(" " + code); err != nil {
					return err
				}
			}
			r.code = nil
		}
	}
	if r.picture == r.depth {
		r.picture = 0
	}
	r.depth--
	return nil
}

const maxCode = 1 << 10 // bytes of a field code or of a control word

// text rewrites a byte of text. The bytes of a picture are encoded in hexadecimal.
func (r *rtf) text(c byte) error {
	if r.code != nil && r.code.Len() < maxCode && c >= ' ' && c < 0x7f {
		r.code.WriteByte(c)
	}
	if r.picture > 0 && r.dropped == 0 && len(r.magic) < 4 && c > ' ' {
		if r.magic += strings.ToLower(string(c)); len(r.magic) < 4 {
			return nil
		}
		if !slices.Contains(pictures, r.magic) {
			r.dropped = r.depth
		}
		return r.write(r.magic)
	}
	return r.write(string(c))
}

// pictures holds the first bytes, in hexadecimal, of picture formats without external references: PNG, JPEG, WMF,
// EMF, BMP, TIFF and GIF.
var pictures = []string{"8950", "ffd8", "0100", "d7cd", "424d", "2800", "4949", "4d4d", "4749"}

// outer holds the control words of groups that contain or reference something outside of the text.
var outer = []string{
	"objdata", "objalias", "objsect", "objclass", "objname", "template", "hlinkbase", "filetbl", "file", "datafield",
	"mailmerge", "datastore", "oleclsid", "nextfile", "htmltag",
}

// control rewrites a control word or symbol.
func (r *rtf) control() error {
	c, err := r.in.ReadByte()
	if err != nil {
		return err
	}
	if !isLetter(c) {
		if c == '*' && r.picture > 0 && r.dropped == 0 { // of a picture, only its bytes are kept
			r.dropped = r.depth
		}
		return r.write(`\` + string(c))
	}
	word, err := r.while(c, isLetter)
	if err != nil {
		return err
	}
	number, err := r.while(0, func(c byte) bool { return c == '-' || c >= '0' && c <= '9' })
	if err != nil {
		return err
	}
	switch name := strings.ToLower(word); {
	case name == "bin":
		return r.binary(number)
	case r.dropped > 0:
	case name == "fldinst":
		r.dropped, r.code = r.depth, &strings.Builder{}
	case slices.Contains(outer, name):
		r.dropped = r.depth
	case name == "pict":
		r.picture, r.magic = r.depth, ""
	}
	return r.write(`\` + word + number)
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// while reads bytes that match kind, after an optional first one.
func (r *rtf) while(first byte, kind func(byte) bool) (string, error) {
	var read []byte
	if first != 0 {
		read = append(read, first)
	}
	for len(read) < maxCode {
		c, err := r.in.ReadByte()
		if err != nil {
			return string(read), ignoreEnd(err)
		}
		if !kind(c) {
			return string(read), r.in.UnreadByte()
		}
		read = append(read, c)
	}
	return "", tooLarge
}

// ignoreEnd returns err, but nil for the end of the file, which the next read returns again.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// binary drops the bytes after \binN, which are a binary picture or object.
func (r *rtf) binary(number string) error {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 {
		return nil //nolint:nilerr // no bytes follow
	}
	if c, err := r.in.ReadByte(); err != nil {
		return ignoreEnd(err)
	} else if c != ' ' {
		if err := r.in.UnreadByte(); err != nil {
			return err
		}
	}
	_, err = io.CopyN(io.Discard, r.in, n)
	return ignoreEnd(err)
}
