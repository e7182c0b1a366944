package git

import (
	"bufio"
	"cmp"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
)

// kind is the type of an object in a pack. The numbers are those of the pack format (gitformat-pack, “pack-*.pack
// files have the following format”).
type kind byte

// The kinds of objects. Differences are deltas against a base object.
const (
	skipped          kind = 0 // an object that is not kept
	commitObject     kind = 1
	treeObject       kind = 2
	blobObject       kind = 3
	tagObject        kind = 4
	offsetDifference kind = 6
	namedDifference  kind = 7
)

// kindNames are the names that are hashed before an object's bytes. A delta has no name.
var kindNames = map[kind]string{commitObject: "commit", treeObject: "tree", blobObject: "blob", tagObject: "tag"}

// overhead is the estimated memory of a kept object beside its bytes.
const overhead = 256

var (
	// errPack is returned for an invalid pack.
	errPack = errors.New("the pack is corrupt")
	// errRoom is returned for a pack that exceeds one of the limits of want.
	errRoom = errors.New("the pack exceeds the memory limit")
)

// object is an object of a pack. Its name is its hash in bytes.
//
// A tree's data is an encoded folder, and a blob's the bytes of a file. Kept objects are never modified, since they
// are bases of deltas.
type object struct {
	kind kind
	name string
	data []byte
}

// format is the hash function of object names.
type format struct {
	name string
	size int // bytes of a name
	new  func() hash.Hash
}

// formats are the known object formats.
var formats = map[string]format{
	"sha1": {"sha1", sha1.Size, sha1.New}, "sha256": {"sha256", sha256.Size, sha256.New},
}

// begin returns a hash with the header of an object: its kind and size. The object's bytes follow.
func (f format) begin(k kind, size int64) hash.Hash {
	sum := f.new()
	_, _ = fmt.Fprintf(sum, "%s %d\x00", kindNames[k], size)
	return sum
}

// pack parses the objects of a pack from a stream, each once. Kept objects are buffered in memory as bases of later
// deltas, within the limit room. A delta can refer to its base by offset or by name, so kept objects are indexed by
// both. room and skip become what remains of them.
//
// It is used by one goroutine. It is unusable after an error, as the offset of the next object is unknown. Closing it
// within the stream ends the connection.
type pack struct {
	io.Closer
	want
	from   *counter
	in     *bufio.Reader
	format format
	left   uint32 // remaining objects
	at     map[int64]*object
	named  map[string]*object
	zipped io.Reader // zlib's, used again for each object
}

// openPack parses a pack's header: “PACK”, a version (2 or 3) and the number of objects. The limits are those of w.
func openPack(r io.Reader, f format, w want) (*pack, error) {
	from := &counter{Reader: r}
	p := &pack{
		want: w, from: from, in: bufio.NewReaderSize(from, 64<<10), format: f,
		at: map[int64]*object{}, named: map[string]*object{},
	}
	var head [12]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		return nil, err
	}
	if version := binary.BigEndian.Uint32(head[4:]); string(head[:4]) != "PACK" || version != 2 && version != 3 {
		return nil, errPack
	}
	p.left = binary.BigEndian.Uint32(head[8:])
	return p, nil
}

// next returns the next object, and io.EOF after the last. If the stream ends early, it returns io.ErrUnexpectedEOF.
func (p *pack) next() (*object, error) {
	if p.left == 0 {
		return nil, io.EOF
	}
	p.left--
	o, err := p.read()
	return o, brokenOff(err)
}

// read parses an object: its header, its delta base if any, then its bytes, which are kept, patched, or discarded. A
// delta whose base was skipped is skipped as well, since it is of the same kind.
func (p *pack) read() (*object, error) {
	start := p.from.count - int64(p.in.Buffered())
	k, size, err := p.head()
	if err != nil {
		return nil, err
	}
	base, err := p.base(k, start)
	if err != nil {
		return nil, err
	}
	differs := kindNames[k] == ""
	keep := base != nil || !differs && p.keep(k)
	if differs || !keep { // a delta's instructions are discarded as well
		if p.skip -= size; p.skip < 0 {
			return nil, errRoom
		}
	}
	data, err := p.unpack(size, keep)
	if err == nil && base != nil {
		k = base.kind
		data, err = patch(base.data, data, min(p.room, p.most))
	}
	if err != nil || !keep {
		return &object{}, err
	}
	if p.room -= int64(len(data)) + overhead; p.room < 0 {
		return nil, errRoom
	}
	sum := p.format.begin(k, int64(len(data)))
	_, _ = sum.Write(data)
	o := &object{k, string(sum.Sum(nil)), data}
	p.at[start], p.named[o.name] = o, o
	return o, nil
}

// head decodes an object's kind and size. The size has four bits in the first byte and seven in each further one.
// Sizes beyond 54 bits are invalid.
func (p *pack) head() (kind, int64, error) {
	b, err := p.in.ReadByte()
	var more uint64
	if err == nil && b&0x80 != 0 {
		more, err = binary.ReadUvarint(p.in)
	}
	k := kind(b >> 4 & 7)
	if err == nil && (more >= 1<<50 || kindNames[k] == "" && k != offsetDifference && k != namedDifference) {
		err = errPack
	}
	return k, int64(more<<4 | uint64(b&15)), err
}

// base returns the base object of a delta at offset start; nil if it was skipped. Git's own servers send the base
// first. The offset is relative to the delta's own start. Its encoding adds one at each step, so each number has one
// form.
func (p *pack) base(k kind, start int64) (*object, error) {
	switch k {
	case offsetDifference:
		b, err := p.in.ReadByte()
		back := int64(b & 0x7f)
		for err == nil && b&0x80 != 0 {
			if b, err = p.in.ReadByte(); back > start {
				return nil, errPack
			}
			back = (back+1)<<7 | int64(b&0x7f)
		}
		return p.at[start-back], err
	case namedDifference:
		name := make([]byte, p.format.size)
		_, err := io.ReadFull(p.in, name)
		return p.named[string(name)], err
	default:
		return nil, nil
	}
}

// open starts to decompress the next object.
func (p *pack) open() (err error) {
	if again, ok := p.zipped.(zlib.Resetter); ok {
		return again.Reset(p.in, nil)
	}
	p.zipped, err = zlib.NewReader(p.in)
	return err
}

// unpack decompresses an object of this size, into a buffer if it is kept. A size beyond the limits fails first.
func (p *pack) unpack(size int64, keep bool) (data []byte, err error) {
	if keep && size > min(p.room, p.most) {
		return nil, errRoom
	}
	if err := p.open(); err != nil {
		return nil, err
	}
	if keep {
		data = make([]byte, size)
		_, err = io.ReadFull(p.zipped, data)
	} else {
		_, err = io.CopyN(io.Discard, p.zipped, size)
	}
	if err != nil {
		return nil, err
	}
	return data, p.atEnd()
}

// atEnd reads the end of a compressed object. zlib verifies its checksum there.
func (p *pack) atEnd() error {
	switch n, err := io.CopyN(io.Discard, p.zipped, 1); {
	case n > 0:
		return errPack
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

// counter counts the bytes that were read.
type counter struct {
	io.Reader
	count int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.count += int64(n)
	return n, err
}

// patch applies a delta to its base and returns an object of up to most bytes. It validates the two sizes in the
// delta's header: the base's and the result's. Reads stay within the base and writes within the declared size.
func patch(base, difference []byte, most int64) ([]byte, error) {
	from, n := binary.Uvarint(difference)
	if n <= 0 || from != uint64(len(base)) {
		return nil, errPack
	}
	difference = difference[n:]
	size, n := binary.Uvarint(difference)
	switch {
	case n <= 0:
		return nil, errPack
	case size > uint64(max(most, 0)):
		return nil, errRoom
	}
	made := make([]byte, 0, size)
	for difference = difference[n:]; len(difference) > 0; {
		piece, rest, ok := nextPiece(base, difference)
		if !ok || uint64(len(made)+len(piece)) > size {
			return nil, errPack
		}
		made, difference = append(made, piece...), rest
	}
	if uint64(len(made)) != size {
		return nil, errPack
	}
	return made, nil
}

// nextPiece decodes the first instruction of a delta: new bytes, or a range of the base. The instructions are “copy
// from base” and “add new data” of gitformat-pack; a copied length of 0 means 65,536.
func nextPiece(base, difference []byte) (piece, rest []byte, ok bool) {
	first, rest := difference[0], difference[1:]
	if first&0x80 == 0 {
		n := int(first)
		if n == 0 || n > len(rest) {
			return nil, nil, false
		}
		return rest[:n], rest[n:], true
	}
	var number uint64 // four bytes of offset and three of length, little-endian
	for i := range 7 {
		if first>>i&1 == 0 {
			continue
		}
		if len(rest) == 0 {
			return nil, nil, false
		}
		number, rest = number|uint64(rest[0])<<(8*i), rest[1:]
	}
	at, n := number&math.MaxUint32, cmp.Or(number>>32, 1<<16)
	if at+n > uint64(len(base)) {
		return nil, nil, false
	}
	return base[at : at+n], rest, true
}
