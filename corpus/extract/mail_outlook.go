package extract

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/richardlehane/mscfb"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/rtf"
	"github.com/footnote/footnote/text/locale"
)

// Properties of an Outlook message ([MS-OXPROPS]), by the ids in the names of their streams.
const (
	// A stream name is "__substg1.0_", the property's id and its type, all in hexadecimal ([MS-OXMSG] §2.1.3). The
	// supported types are 001F (UTF-16), 001E (in the code page) and 0102 (bytes), see [MS-OXCDATA] §2.11.1.
	propSubject   = "0037"
	propSender    = "0C1A"
	propAddress   = "0C1F"
	propTo        = "0E04"
	propCc        = "0E03"
	propBody      = "1000"
	propHTML      = "1013"
	propFile      = "3704"
	propLongFile  = "3707"
	propData      = "3701"
	propContentID = "3712"
	propSent      = 0x0039 // in the stream of fixed properties
	propDelivered = 0x0E06
	propCodePage  = 0x3FFD
)

const (
	// Streams above maxStream are skipped. The total limit is maxMail bytes.
	maxStream = 64 << 20 // bytes of a property
	maxNodes  = 20_000   // streams of a message
)

// outlook holds the streams of an Outlook message, and those of its attachments by their storage.
type outlook struct {
	properties map[string][]byte // by id and type: "0037001F"
	fixed      []byte
	files      map[string]map[string][]byte
	order      []string // keys of files
}

// readOutlook parses an Outlook message ([MS-OXMSG]). A library reads the storages of [MS-CFB]; the properties are
// decoded here. Recipient storages are ignored, because the message has the recipients' display names in one
// property.
func readOutlook(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	o, err := openOutlook(ctx, f.Path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	return o.letter().read(ctx, f)
}

// openOutlook reads all streams of a message into memory. It fails for a compound file without properties, such as
// an old Word document named ".msg".
func openOutlook(ctx context.Context, name string) (*outlook, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the original: %w", err)
	}
	defer file.Close()
	damaged := func(err error) error {
		return errors.Join(&corpus.Failure{Code: "broken",
			Detail: "This message is damaged. Open it in Outlook, save it again and add the new file."}, err)
	}
	doc, err := mscfb.New(file)
	if err != nil {
		return nil, damaged(err)
	}
	o := &outlook{properties: map[string][]byte{}, files: map[string]map[string][]byte{}}
	left := int64(maxMail)
	for n := 0; ; n++ {
		entry, err := doc.Next()
		if errors.Is(err, io.EOF) || n > maxNodes {
			break
		}
		if err != nil {
			return nil, damaged(err)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		to := o.at(entry.Path)
		if to == nil || entry.Size <= 0 || entry.Size > min(maxStream, left) {
			continue
		}
		data := make([]byte, entry.Size)
		read, _ := io.ReadFull(entry, data) // a truncated stream is shorter
		left -= int64(read)
		if id, ok := strings.CutPrefix(entry.Name, "__substg1.0_"); ok {
			to[strings.ToUpper(id)] = data[:read]
		} else if entry.Name == "__properties_version1.0" && len(entry.Path) == 0 {
			o.fixed = data[:read]
		}
	}
	if len(o.properties) == 0 && len(o.fixed) == 0 {
		return nil, &corpus.Failure{Code: "unsupported",
			Detail: locale.Say(
				"This is not an Outlook message but another file from an old Office version. {1}", asPDF,
			)}
	}
	return o, nil
}

// at returns the properties of a storage: the message's or an attachment's. It returns nil for recipients and nested
// messages. Attachments that are messages are storages inside an attachment's, and have a longer path.
func (o *outlook) at(path []string) map[string][]byte {
	switch {
	case len(path) == 0:
		return o.properties
	case len(path) == 1 && strings.HasPrefix(path[0], "__attach_version1.0_"):
		if o.files[path[0]] == nil {
			o.files[path[0]] = map[string][]byte{}
			o.order = append(o.order, path[0])
		}
		return o.files[path[0]]
	}
	return nil
}

// letter converts the properties to a mail. The sender's address is added only if it is an Internet address: inside
// a company it is a directory path, "/O=...". The HTML is text in newer messages and bytes in older ones. An
// attachment's long name takes precedence over its short one of 8.3 characters. An attachment without data is a link
// or an object, and is skipped.
func (o *outlook) letter() letter {
	page := rtf.CodePage(o.number(propCodePage))
	said := func(id string) string { return stringProperty(o.properties, id, page) }
	l := letter{
		from: doctext.Line(said(propSender)), to: doctext.Line(said(propTo)), cc: doctext.Line(said(propCc)),
		subject: doctext.Line(said(propSubject)), text: said(propBody), sent: o.time(),
	}
	address := doctext.Line(said(propAddress))
	if strings.Contains(address, "@") && !strings.Contains(l.from, address) {
		l.from = strings.TrimSpace(l.from + " <" + address + ">")
	}
	if l.html = said(propHTML); l.html == "" && o.properties[propHTML+"0102"] != nil {
		l.html = decoded(o.properties[propHTML+"0102"], declaredCharset(o.properties[propHTML+"0102"]), page)
	}
	for _, name := range o.order {
		properties := o.files[name]
		file := cmp.Or(stringProperty(properties, propLongFile, page), stringProperty(properties, propFile, page))
		if data := properties[propData+"0102"]; data != nil {
			id := stringProperty(properties, propContentID, page)
			l.attachments = append(l.attachments, attachment{file, id, data})
		}
	}
	return l
}

// stringProperty returns a text property, decoded from UTF-16 or from the message's code page. Trailing zero
// characters are trimmed.
func stringProperty(properties map[string][]byte, id, page string) string {
	if data, ok := properties[id+"001F"]; ok {
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(data[2*i:])
		}
		return strings.TrimRight(string(utf16.Decode(units)), "\x00")
	}
	return strings.TrimRight(decoded(properties[id+"001E"], page, ""), "\x00")
}

// decoded decodes data with the first of the named encodings that is known, else with a detected one. It never
// fails: undecodable data returns an empty string.
func decoded(data []byte, encodings ...string) string {
	for _, name := range encodings {
		if name == "" {
			continue
		}
		if s, err := decodeText(data, name); err == nil {
			return s
		}
	}
	s, _ := decodeText(data, "")
	return s
}

// number returns a fixed numeric property, 0 without it.
func (o *outlook) number(id uint16) int {
	return int(binary.LittleEndian.Uint32(o.fixedProperty(id, make([]byte, 8))))
}

// fixedProperty returns the 8-byte value of a fixed property, or otherwise, which has 8 bytes too. The stream has a
// header of 32 bytes and 16 bytes for each property: type, id, flags and value. The header is that of the message
// itself ([MS-OXMSG] §2.4.1.1); other storages have shorter ones. An entry is described in §2.4.2.1, and its numbers
// are little-endian.
func (o *outlook) fixedProperty(id uint16, otherwise []byte) []byte {
	for at := 32; at+16 <= len(o.fixed); at += 16 {
		if binary.LittleEndian.Uint16(o.fixed[at+2:]) == id {
			return o.fixed[at+8 : at+16]
		}
	}
	return otherwise
}

// time returns the sent time of a message, else its delivery time. Both are a FILETIME, which counts steps of 100 ns
// from 1601 ([MS-DTYP] §2.3.3). Times before 1970 or after the year 2700 are noise of a damaged stream and are
// ignored.
func (o *outlook) time() time.Time {
	for _, id := range []uint16{propSent, propDelivered} {
		ticks := binary.LittleEndian.Uint64(o.fixedProperty(id, make([]byte, 8)))
		const epoch = 116444736000000000 // 1970
		if ticks > epoch && ticks < epoch*3 {
			return time.UnixMicro(int64(ticks-epoch) / 10).UTC()
		}
	}
	return time.Time{}
}
