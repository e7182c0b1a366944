package files_test

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

const (
	sector     = 512
	endOfChain = 0xFFFFFFFE
	noEntry    = 0xFFFFFFFF
)

// compound writes an OLE compound file ([MS-CFB]) whose streams lie in the root: name, content, name, content… change
// may spoil its sectors before they are written: the first is the file allocation table, the directory follows.
func compound(change func(header, table []byte, directory [][]byte), streams ...string) string {
	content, table := []byte{}, []uint32{0xFFFFFFFD, endOfChain}
	names := len(streams)/2 + 1
	for i := 1; i < (names+3)/4; i++ { // the directory has four entries in a sector
		table[len(table)-1] = uint32(len(table))
		table = append(table, endOfChain)
	}
	directory := make([][]byte, 0, names)
	entry := func(name string, kind byte, child, right, start uint32, size int) {
		e := make([]byte, 128)
		units := utf16.Encode([]rune(name))
		for i, u := range units {
			binary.LittleEndian.PutUint16(e[2*i:], u)
		}
		binary.LittleEndian.PutUint16(e[64:], uint16(2*len(units)+2))
		e[66], e[67] = kind, 1
		for i, at := range []uint32{noEntry, right, child} {
			binary.LittleEndian.PutUint32(e[68+4*i:], at)
		}
		binary.LittleEndian.PutUint32(e[116:], start)
		binary.LittleEndian.PutUint32(e[120:], uint32(size))
		directory = append(directory, e)
	}
	entry("Root Entry", 5, 1, noEntry, endOfChain, 0)
	for i := 0; i < len(streams); i += 2 {
		data := streams[i+1] + strings.Repeat("\x00", max(0, 4096-len(streams[i+1]))) // no stream is a small one
		right, start := uint32(i/2+2), uint32(len(table))
		if i+2 == len(streams) {
			right = noEntry
		}
		for at := 0; at < len(data); at += sector {
			piece := make([]byte, sector)
			copy(piece, data[at:])
			content, table = append(content, piece...), append(table, uint32(len(table)+1))
		}
		table[len(table)-1] = endOfChain
		entry(streams[i], 2, noEntry, right, start, len(data))
	}
	header := make([]byte, sector)
	copy(header, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	for at, v := range map[int]uint16{24: 0x3E, 26: 3, 28: 0xFFFE, 30: 9, 32: 6} {
		binary.LittleEndian.PutUint16(header[at:], v)
	}
	for at, v := range map[int]uint32{44: 1, 48: 1, 56: 4096, 60: endOfChain, 68: endOfChain} {
		binary.LittleEndian.PutUint32(header[at:], v)
	}
	for at := 80; at < sector; at += 4 {
		binary.LittleEndian.PutUint32(header[at:], noEntry)
	}
	chains := make([]byte, sector)
	for i := range sector / 4 {
		next := uint32(noEntry)
		if i < len(table) {
			next = table[i]
		}
		binary.LittleEndian.PutUint32(chains[4*i:], next)
	}
	if change != nil {
		change(header, chains, directory)
	}
	all := append(append([]byte{}, header...), chains...)
	for _, e := range directory {
		all = append(all, e...)
	}
	for (len(all)-sector)%sector != 0 {
		all = append(all, 0)
	}
	return string(append(all, content...))
}

func badOutlook() []bad {
	const damagedMessage = "This message is damaged."
	letter := []string{
		"__substg1.0_0037001F", inUTF16("Roof"), "__substg1.0_1000001F", inUTF16("The roof is dry."),
		"__properties_version1.0", "",
	}
	read := func(name, text, data string) bad { return bad{name, "bad.msg", data, "", text} }
	fails := func(name, fate, data string) bad { return bad{name, "bad.msg", data, fate, ""} }
	whole := compound(nil, letter...)
	put := binary.LittleEndian.PutUint32
	spoilt := func(change func(header, table []byte, directory [][]byte)) string { return compound(change, letter...) }
	return []bad{
		read("a whole one", "The roof is dry.", whole),
		fails("nothing", misnamed, ""),
		fails("words", misnamed, "The roof is dry."),
		fails("its first bytes alone", damagedMessage, whole[:8]),
		fails("its header alone", damagedMessage, whole[:sector]),
		fails("without its directory", damagedMessage, whole[:2*sector]),
		read("without its last streams", "Roof", whole[:4*sector+4096]),
		read("a chain that comes back", "oof", spoilt(func(_, table []byte, _ [][]byte) { put(table[4*2:], 2) })),
		read("a chain that leads outside", "oof", spoilt(func(_, table []byte, _ [][]byte) {
			put(table[4*4:],
				1<<30)
		})),
		fails("a directory whose chain comes back", damagedMessage, spoilt(func(_, table []byte,
			_ [][]byte) {
			put(table[4:], 1)
		})),
		fails("a storage that is its own child", damagedMessage, spoilt(func(_, _ []byte,
			d [][]byte) {
			d[1][66] = 1
			put(d[1][76:], 1)
		})),
		fails("a stream whose sibling is itself", damagedMessage, spoilt(func(_, _ []byte,
			d [][]byte) {
			put(d[1][72:], 1)
		})),
		fails("the root among its own children", damagedMessage, spoilt(func(_, _ []byte,
			d [][]byte) {
			put(d[1][72:], 0)
		})),
		fails("a sibling outside", damagedMessage, spoilt(func(_, _ []byte, d [][]byte) { put(d[1][72:], 1<<20) })),
		read("a stream of 4 GB", "oof", spoilt(func(_, _ []byte, d [][]byte) { put(d[1][120:], 1<<32-1) })),
		fails("sectors of 2⁶⁴ bytes", damagedMessage, spoilt(func(h, _ []byte, _ [][]byte) { h[30] = 64 })),
		read("a table of 4 billion sectors", "oof", spoilt(func(h, _ []byte, _ [][]byte) { put(h[44:], 1<<32-1) })),
		fails("a table of tables that is its own", damagedMessage, spoilt(func(h, _ []byte,
			_ [][]byte) {
			put(h[68:], 0)
			put(h[72:], 1<<31)
		})),
		read("a name longer than its place", "oof", spoilt(func(_, _ []byte, d [][]byte) {
			d[1][64],
				d[1][65] = 0xFF, 0xFF
		})),
		fails("another kind of old file", "This is no Outlook message", compound(nil, "WordDocument", "x")),
		read("text of half characters", "Roof", compound(nil, "__substg1.0_0037001F", inUTF16("Roof"),
			"__substg1.0_1000001F",
			strings.Repeat("\x00\xd8", 5000)+"\x41")),
		read("a number that is cut", "Roof", compound(nil, "__substg1.0_0037001F", inUTF16("Roof"),
			"__properties_version1.0",
			strings.Repeat("\xff", 4097))),
	}
}
