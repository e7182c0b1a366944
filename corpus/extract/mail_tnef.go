package extract

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"
)

// tnefMagic begins a message in Outlook's own format, a file "winmail.dat" in a mail ([MS-OXTNEF] §2.1.3.1).
var tnefMagic = []byte("\x78\x9f\x3e\x22")

// Attributes of [MS-OXTNEF] §2.1.3.2, without their types.
const (
	tnefStart      = 0x0006 // of a meeting
	tnefEnd        = 0x0007
	tnefSubject    = 0x8004
	tnefClass      = 0x8008
	tnefBody       = 0x800C
	tnefData       = 0x800F
	tnefTitle      = 0x8010
	tnefBegins     = 0x9002 // an attachment
	tnefProperties = 0x9003
	tnefAttachment = 0x9005 // the properties of an attachment
	tnefCodePage   = 0x9007
)

// openTNEF reads a file "winmail.dat".
func openTNEF(name string) (*outlook, error) {
	data, err := readAll(name, maxMail)
	if err != nil {
		return nil, err
	}
	if o := decodeTNEF(data); o != nil {
		return o, nil
	}
	return nil, damagedMessage
}

// decodeTNEF parses a message in the Transport Neutral Encapsulation Format. Its properties are those of an Outlook
// message. It returns nil for data without any. Damaged data is read up to the damage, checksums are ignored, and all
// values are slices of data. Old programs write some values as attributes of their own, which properties precede.
func decodeTNEF(data []byte) *outlook {
	o := newOutlook()
	r := tnefReader{data: data[min(len(tnefMagic)+2, len(data)):]}
	to := o.properties
	set := func(key string, value []byte) {
		if _, ok := to[key]; !ok {
			to[key] = value
		}
	}
	for n := 0; len(r.data) > 0 && n < maxNodes; n++ {
		level, id := r.take(1), r.number16()
		r.take(2) // type
		value := r.take(r.number32())
		r.take(2) // checksum
		if r.short {
			break
		}
		if level[0] == 1 {
			to = o.properties
		} else if id == tnefBegins || len(o.order) == 0 {
			to = o.at([]string{fmt.Sprint("__attach_version1.0_", len(o.order))})
		}
		switch id {
		case tnefStart:
			set(propStart+"0040", tnefTime(value))
		case tnefEnd:
			set(propEnd+"0040", tnefTime(value))
		case tnefClass:
			set(propClass+"001E", value)
		case tnefSubject:
			set(propSubject+"001E", value)
		case tnefBody:
			set(propBody+"001E", value)
		case tnefCodePage:
			set(propCodePage+"0003", value)
		case tnefData:
			set(propData+"0102", value)
		case tnefTitle:
			set(propFile+"001E", value)
		case tnefProperties, tnefAttachment:
			(&tnefReader{data: value}).properties(to)
		}
	}
	if len(o.properties)+len(o.files) == 0 {
		return nil
	}
	return o
}

// tnefTime returns a time of an attribute, which has seven 16-bit numbers, as a FILETIME.
func tnefTime(value []byte) []byte {
	r := tnefReader{data: value}
	var n [6]int
	for i := range n {
		n[i] = int(r.number16())
	}
	t := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.UTC)
	return binary.LittleEndian.AppendUint64(nil, uint64(t.UnixMicro()*10+fileTimeEpoch))
}

// tnefReader reads little-endian values. short is set at the end of the data, and every further value is empty.
type tnefReader struct {
	data  []byte
	short bool
}

// take returns the next n bytes.
func (r *tnefReader) take(n int) []byte {
	if r.short = r.short || n < 0 || n > len(r.data); r.short {
		return make([]byte, min(max(n, 0), 4))
	}
	value := r.data[:n]
	r.data = r.data[n:]
	return value
}

func (r *tnefReader) number16() uint16 { return binary.LittleEndian.Uint16(r.take(2)) }

// number32 returns a size or a count. One above 2 GB is negative, so that take fails.
func (r *tnefReader) number32() int { return int(int32(binary.LittleEndian.Uint32(r.take(4)))) }

// pad skips the padding of a value of n bytes to a multiple of four.
func (r *tnefReader) pad(n int) { r.take(min(-n&3, len(r.data))) }

// properties reads a list of properties ([MS-OXTNEF] §2.1.3.4). Of several values the first is used. A property with
// a name has a GUID and a number or a name before its value; its id has no meaning outside of the message.
func (r *tnefReader) properties(to map[string][]byte) {
	for n := r.number32(); n > 0 && !r.short && len(to) < maxNodes; n-- {
		kind, id := r.number16(), r.number16()
		if id >= 0x8000 {
			r.take(16)
			if r.number32() == 0 {
				r.take(4)
			} else {
				name := r.take(r.number32())
				r.pad(len(name))
			}
		}
		const several = 0x1000
		values, size := 1, fixedSize(kind&^several)
		if kind&several != 0 || size == 0 {
			values = r.number32()
		}
		for i := 0; i < values && !r.short; i++ {
			length := size
			if size == 0 {
				length = r.number32()
			}
			value := r.take(length)
			if size == 0 {
				r.pad(length)
			} else if i == values-1 {
				r.pad(size * values)
			}
			if i > 0 || r.short || id >= 0x8000 {
				continue
			}
			if kind == 0x0D && len(value) > 16 { // an object: its class, then the data
				value, kind = value[16:], 0x0102
			}
			to[propertyKey(id, kind)] = value
		}
	}
}

// rtfDictionary begins the dictionary of compressed RTF ([MS-OXRTFCP] §2.1.2.1).
const rtfDictionary = `{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript ` +
	`\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0` + "\r\n" + `\par ` +
	`\pard\plain\f0\fs20\b\i\u\tab\tx`

// decompressRTF returns RTF compressed by Outlook ([MS-OXRTFCP] §3.1), nil if it is damaged at its beginning. The
// output is at most nine times as long as the input: a reference of two bytes expands to at most 17.
func decompressRTF(data []byte) []byte {
	const header, window = 16, 4096
	if len(data) < header {
		return nil
	}
	kind, data := data[8:12], data[header:]
	switch {
	case bytes.Equal(kind, []byte("MELA")):
		return data
	case !bytes.Equal(kind, []byte("LZFu")):
		return nil
	}
	out := append(make([]byte, 0, min(len(data)*3, maxStream)), rtfDictionary...)
	for len(data) > 0 && len(out) < maxStream {
		flags := data[0]
		data = data[1:]
		for bit := 0; bit < 8 && len(data) > 0; bit++ {
			if flags>>bit&1 == 0 {
				out, data = append(out, data[0]), data[1:]
				continue
			}
			if len(data) < 2 {
				return out[len(rtfDictionary):]
			}
			reference := int(binary.BigEndian.Uint16(data))
			data = data[2:]
			// The offset is one of a ring buffer, and the end of the data refers to the position of writing.
			back := (len(out) - reference>>4) & (window - 1)
			if back == 0 {
				return out[len(rtfDictionary):]
			}
			for range reference&15 + 2 {
				if c := byte(' '); back <= len(out) {
					c = out[len(out)-back]
					out = append(out, c)
				} else {
					out = append(out, c)
				}
			}
		}
	}
	return out[len(rtfDictionary):]
}
