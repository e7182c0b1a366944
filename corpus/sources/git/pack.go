package git

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
)

// kind is the kind of an object in a pack. The numbers are those of the pack format (gitformat-pack, “pack-*.pack files
// have the following format”).
type kind byte

// The kinds. Differences are objects told by what is other than in another one.
const (
	skipped          kind = 0 // an object that is not kept
	commitObject     kind = 1
	treeObject       kind = 2
	blobObject       kind = 3
	tagObject        kind = 4
	offsetDifference kind = 6
	namedDifference  kind = 7
)

// kindNames are the words that an object's hash begins with. A kind without one is no object of its own.
var kindNames = map[kind]string{commitObject: "commit", treeObject: "tree", blobObject: "blob", tagObject: "tag"}

// overhead is what an object that is kept takes beside its bytes.
const overhead = 256

var (
	// errPack is a pack that can't be.
	errPack = errors.New("the pack is broken")
	// errRoom ends a pack that exceeds one of the bounds of want.
	errRoom = errors.New("the pack takes too much memory")
)

// object is an object of a pack. Its name is the hash of what it holds, in bytes.
//
// A tree's data is a folder, and a blob's the bytes of a file. Kept objects are not changed, since others are made of
// them.
type object struct {
	kind kind
	name string
	data []byte
}

// format says how objects are named.
type format struct {
	name string
	size int // bytes of a name
	new  func() hash.Hash
}

// begin returns the hash of an object before its bytes. An object's name is the hash of its kind, its size and its
// bytes.
func (f format) begin(k kind, size int64) hash.Hash {
	sum := f.new()
	_, _ = fmt.Fprintf(sum, "%s %d\x00", kindNames[k], size)
	return sum
}

// pack reads the objects of a pack as they come, each once. What is kept stays in memory, since others may be told by
// their difference from it; all that it takes is bounded by room. A pack can name an object by its place or its name,
// so both lead to what is kept.
//
// It is used by one goroutine. After an error it can't be used any more, as nobody knows where the next object begins.
type pack struct {
	in     *counter
	format format
	left   uint32            // objects
	keep   func(k kind) bool // objects of other kinds are skipped
	room   int64             // bytes that may still be kept
	most   int64             // bytes of one object that is kept
	skip   int64             // bytes that may still be unpacked without being kept
	at     map[int64]*object
	named  map[string]*object
	zipped unpacker
}

// unpacker is what unpacks objects, one after another.
type unpacker interface {
	io.Reader
	zlib.Resetter
}

// openPack reads a pack's head. The head is “PACK”, a version (2 or 3) and the number of objects. The pack is read
// within the bounds of w.
func openPack(r io.Reader, f format, w want) (*pack, error) {
	p := &pack{
		in: &counter{from: bufio.NewReaderSize(r, 64<<10)}, format: f, keep: w.keep, room: w.room, most: w.most,
		skip: w.skip,
		at:   map[int64]*object{}, named: map[string]*object{},
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

// next reads the next object. It returns io.EOF after the last. An end of the data before the last object is
// io.ErrUnexpectedEOF, so it can't be taken for the end of the pack.
func (p *pack) next() (*object, error) {
	if p.left == 0 {
		return nil, io.EOF
	}
	p.left--
	o, err := p.read()
	return o, brokenOff(err)
}

// read reads an object: its head, what it differs from, then its bytes, which are kept, made whole, or passed. A
// difference whose base was skipped is skipped as well, since it is of the same kind.
func (p *pack) read() (*object, error) {
	start := p.in.count
	k, size, err := p.head()
	if err != nil {
		return nil, err
	}
	base, err := p.base(k, start)
	if err != nil {
		return nil, err
	}
	differs := k == offsetDifference || k == namedDifference
	if differs && base == nil || !differs && !p.keep(k) {
		return &object{}, p.pass(size)
	}
	if differs { // its instructions are unpacked and not kept
		if p.skip -= size; p.skip < 0 {
			return nil, errRoom
		}
	}
	data, err := p.unpack(size)
	if err != nil {
		return nil, err
	}
	if differs {
		k = base.kind
		if data, err = patch(base.data, data, min(p.room, p.most)); err != nil {
			return nil, err
		}
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

// head reads an object's kind and size. Four bits of size in the first byte and seven in each further one; beyond 50
// bits the size can't be true.
func (p *pack) head() (kind, int64, error) {
	b, err := p.in.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	k, size := kind(b>>4&7), int64(b&15)
	for shift := 4; b&0x80 != 0; shift += 7 {
		if b, err = p.in.ReadByte(); err != nil {
			return 0, 0, err
		}
		if shift > 50 {
			return 0, 0, errPack
		}
		size |= int64(b&0x7f) << shift
	}
	if kindNames[k] == "" && k != offsetDifference && k != namedDifference {
		return 0, 0, errPack
	}
	return k, size, nil
}

// base finds the object that one which begins at start differs from; nil where that was skipped. It comes first in what
// Git's own programs send. The offset counts back from this object's own beginning; its coding adds one at each step,
// so no number has two forms.
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

// open begins to unpack what comes.
func (p *pack) open() error {
	if p.zipped != nil {
		return p.zipped.Reset(p.in, nil)
	}
	zipped, err := zlib.NewReader(p.in)
	if err != nil {
		return err
	}
	again, ok := zipped.(unpacker)
	if !ok {
		return errors.New("zlib's reader can't be used again")
	}
	p.zipped = again
	return nil
}

// unpack unpacks so many bytes. The buffer has the size that the pack names, which its bounds hold for.
func (p *pack) unpack(size int64) ([]byte, error) {
	if size > min(p.room, p.most) {
		return nil, errRoom
	}
	if err := p.open(); err != nil {
		return nil, err
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(p.zipped, data); err != nil {
		return nil, err
	}
	return data, atEnd(p.zipped)
}

// pass unpacks so many bytes and drops them.
func (p *pack) pass(size int64) error {
	if p.skip -= size; p.skip < 0 {
		return errRoom
	}
	if err := p.open(); err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, p.zipped, size); err != nil {
		return err
	}
	return atEnd(p.zipped)
}

// atEnd reads the end of what was packed, with its checksum. zlib's checksum is read with the end, so it must be
// reached.
func atEnd(r io.Reader) error {
	var more [1]byte
	n, err := io.ReadFull(r, more[:])
	if n > 0 {
		return errPack
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// counter counts what is read. bufio reads ahead, so places in the pack are counted behind it.
type counter struct {
	from  *bufio.Reader
	count int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.count += int64(n)
	return n, err
}

// ReadByte implements io.ByteReader, so that unpacking takes no byte of what comes behind.
func (c *counter) ReadByte() (byte, error) {
	b, err := c.from.ReadByte()
	if err == nil {
		c.count++
	}
	return b, err
}

// patch makes an object of up to most bytes out of another one and what is different. The two sizes at its beginning
// are checked: the base's, and that of what is made. It can't write beyond the size that it names, nor read beyond the
// base.
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
	difference = difference[n:]
	made := make([]byte, 0, size)
	for len(difference) > 0 {
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

// nextPiece is what the first instruction of a difference adds: bytes of its own, or a part of the base. The
// instructions are “copy from base” and “add new data” of gitformat-pack; a copied length of 0 means 65,536.
func nextPiece(base, difference []byte) (piece, rest []byte, ok bool) {
	first, rest := difference[0], difference[1:]
	if first&0x80 == 0 {
		n := int(first)
		if n == 0 || n > len(rest) {
			return nil, nil, false
		}
		return rest[:n], rest[n:], true
	}
	var numbers [7]int // four bytes of where, three of how much, the lowest first
	for i := range numbers {
		if first>>i&1 == 0 {
			continue
		}
		if len(rest) == 0 {
			return nil, nil, false
		}
		numbers[i], rest = int(rest[0]), rest[1:]
	}
	at := numbers[0] | numbers[1]<<8 | numbers[2]<<16 | numbers[3]<<24
	n := numbers[4] | numbers[5]<<8 | numbers[6]<<16
	if n == 0 {
		n = 1 << 16
	}
	if at > len(base) || n > len(base)-at {
		return nil, nil, false
	}
	return base[at : at+n], rest, true
}
