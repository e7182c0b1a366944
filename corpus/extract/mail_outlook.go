package extract

import (
	"bytes"
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
	propRTF       = "1009" // compressed
	propFile      = "3704"
	propLongFile  = "3707"
	propData      = "3701"
	propContentID = "3712"
	propDisplay   = "3001"
	propSent      = "0039"
	propStart     = "0060"
	propEnd       = "0061"
	propClass     = "001A"
	propDelivered = "0E06"
	propCodePage  = "3FFD"
	propHTMLPage  = "3FDE"
	typeNumber    = 0x0003
	typeTime      = 0x0040
)

const (
	// Streams above maxStream are skipped. The total limit is maxMail bytes.
	maxStream = 64 << 20 // bytes of a property
	maxNodes  = 20_000   // streams of a message
	// Files are extracted at most two deep, so that deeper mails could not be read.
	maxDeepMails = 3
)

// outlook holds the streams of an Outlook message, and those of its attachments by their storage.
type outlook struct {
	properties map[string][]byte // by id and type: "0037001F"
	files      map[string]map[string][]byte
	order      []string            // keys of files
	mails      map[string]*outlook // attached messages, by the keys of files
}

var damagedMessage = &corpus.Failure{
	Code: "broken", Detail: "This message is damaged. Open it in Outlook, save it again and add the new file.",
}

// readOutlook parses an Outlook message ([MS-OXMSG]), or one in TNEF. A library reads the storages of [MS-CFB]; the
// properties are decoded here. Recipient storages are ignored, because the message has the recipients' display names
// in one property.
func readOutlook(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	o, err := openOutlook(ctx, f.Path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	return o.letter(ctx).read(ctx, f)
}

// openOutlook reads all streams of a message into memory. It fails for a compound file without properties, such as
// an old Word document named ".msg".
func openOutlook(ctx context.Context, name string) (*outlook, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the original: %w", err)
	}
	defer file.Close()
	magic := make([]byte, len(tnefMagic))
	if _, err := file.ReadAt(magic, 0); err == nil && bytes.Equal(magic, tnefMagic) {
		return openTNEF(name)
	}
	doc, err := mscfb.New(file)
	if err != nil {
		return nil, errors.Join(damagedMessage, err)
	}
	o := newOutlook()
	left := int64(maxMail)
	for n := 0; ; n++ {
		entry, err := doc.Next()
		if errors.Is(err, io.EOF) || n > maxNodes {
			break
		}
		if err != nil {
			return nil, errors.Join(damagedMessage, err)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		one, path := o.within(entry.Path)
		to := one.at(path)
		if to == nil || entry.Size <= 0 || entry.Size > min(maxStream, left) {
			continue
		}
		data := make([]byte, entry.Size)
		read, _ := io.ReadFull(entry, data) // a truncated stream is shorter
		left -= int64(read)
		if id, ok := strings.CutPrefix(entry.Name, "__substg1.0_"); ok {
			to[strings.ToUpper(id)] = data[:read]
		} else if entry.Name == "__properties_version1.0" && len(path) == 0 {
			one.readFixed(data[:read])
		}
	}
	if len(o.properties) == 0 {
		return nil, &corpus.Failure{Code: "unsupported",
			Detail: locale.Say(
				"This is not an Outlook message but another file from an old Office version. {1}", asPDF,
			)}
	}
	return o, nil
}

func newOutlook() *outlook {
	return &outlook{
		properties: map[string][]byte{}, files: map[string]map[string][]byte{}, mails: map[string]*outlook{},
	}
}

// within returns the message that holds a storage, and the rest of its path. An attached message is a storage inside
// an attachment's.
func (o *outlook) within(path []string) (*outlook, []string) {
	for depth := 0; len(path) >= 2 && path[1] == "__substg1.0_"+propData+"000D" && depth < maxDeepMails; depth++ {
		if o.at(path[:1]) == nil {
			break
		}
		if o.mails[path[0]] == nil {
			o.mails[path[0]] = newOutlook()
		}
		o, path = o.mails[path[0]], path[2:]
	}
	return o, path
}

// at returns the properties of a storage: the message's or an attachment's. It returns nil for recipients.
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
// a company it is a directory path, "/O=...". The HTML is text in newer messages, bytes in older ones, or converted to
// RTF, which is read if there is no other text. An attachment's long name takes precedence over its short one of 8.3
// characters. An attachment without data is a link or an object, and is skipped.
func (o *outlook) letter(ctx context.Context) letter {
	page := rtf.CodePage(o.number(propCodePage))
	said := func(id string) string { return stringProperty(o.properties, id, page) }
	l := letter{
		from: doctext.Line(said(propSender)), to: doctext.Line(said(propTo)), cc: doctext.Line(said(propCc)),
		subject: doctext.Line(said(propSubject)), sent: o.time(propSent, propDelivered),
	}
	address := doctext.Line(said(propAddress))
	if strings.Contains(address, "@") && !strings.Contains(l.from, address) {
		l.from = strings.TrimSpace(l.from + " <" + address + ">")
	}
	text, src, formatted := said(propBody), said(propHTML), []byte(nil)
	if data := o.properties[propHTML+"0102"]; src == "" && data != nil {
		src = decoded(data, declaredCharset(data), rtf.CodePage(o.number(propHTMLPage)), page)
	}
	if strings.TrimSpace(src+text) == "" {
		formatted = decompressRTF(o.properties[propRTF+"0102"])
		src = rtf.HTML(ctx, formatted)
	}
	all := []body{{plainBody, text}, {htmlBody, src}}
	if strings.TrimSpace(text+src) == "" && len(formatted) > 0 {
		all = []body{{rtfBody, string(formatted)}}
	}
	if start := o.time(propStart); !start.IsZero() {
		all = append(all, appointment(strings.ToLower(said(propClass)), l.subject, start, o.time(propEnd)))
	}
	l.bodies, l.shown = chooseAlternative(ctx, all), shownParts(src)
	for _, name := range o.order {
		properties := o.files[name]
		file := cmp.Or(stringProperty(properties, propLongFile, page), stringProperty(properties, propFile, page))
		if data, ok := properties[propData+"0102"]; ok {
			id := stringProperty(properties, propContentID, page)
			l.attachments = append(l.attachments, attachment{file, id, data})
		} else if one := o.mails[name]; one != nil && len(one.properties) > 0 {
			file = cmp.Or(file, stringProperty(properties, propDisplay, page), "message") + ".eml"
			l.attachments = append(l.attachments, attachment{name: file, data: one.letter(ctx).file()})
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

// number returns a numeric property, 0 without it.
func (o *outlook) number(id string) int {
	if data := o.properties[id+"0003"]; len(data) >= 4 {
		return int(binary.LittleEndian.Uint32(data))
	}
	return 0
}

// readFixed adds the properties of fixed size to the others. The stream has a header of 32 bytes, or 24 in an attached
// message ([MS-OXMSG] §2.4.1), and 16 bytes for each property: type, id, flags and value. An entry is described in
// §2.4.2.1, and its numbers are little-endian.
func (o *outlook) readFixed(data []byte) {
	const header, entry = 32, 16
	for data = data[min(len(data), header-len(data)%entry):]; len(data) >= entry; data = data[entry:] {
		kind, id := binary.LittleEndian.Uint16(data), binary.LittleEndian.Uint16(data[2:])
		if kind == typeNumber || kind == typeTime {
			o.properties[propertyKey(id, kind)] = data[8:entry]
		}
	}
}

// propertyKey returns the key of a property in outlook.properties.
func propertyKey(id, kind uint16) string {
	const digits = "0123456789ABCDEF"
	key := [8]byte{}
	for i, n := 0, uint32(id)<<16|uint32(kind); i < len(key); i, n = i+1, n<<4 {
		key[i] = digits[n>>28]
	}
	return string(key[:])
}

// fixedSize returns the size of a type's values in bytes, 0 for types of variable size ([MS-OXCDATA] §2.11.1).
func fixedSize(kind uint16) int {
	switch kind {
	case 0x02, 0x0B: // 16-bit integer, Boolean
		return 2
	case 0x03, 0x04, 0x0A: // 32-bit integer, float, error
		return 4
	case 0x05, 0x06, 0x07, 0x14, 0x40: // double, currency, times, 64-bit integer
		return 8
	case 0x48: // GUID
		return 16
	}
	return 0
}

// appointment returns the times of a meeting as a calendar. The message's class gives the method.
func appointment(class, subject string, start, end time.Time) body {
	const layout = localTime + "Z"
	method := ""
	switch {
	case strings.Contains(class, "meeting.request"), strings.Contains(class, "mtgreq"):
		method = "REQUEST"
	case strings.Contains(class, "meeting.cancel"), strings.Contains(class, "mtgcncl"):
		method = "CANCEL"
	case strings.Contains(class, "meeting.resp"), strings.Contains(class, "mtgresp"):
		method = "REPLY"
	}
	text := "METHOD:" + method + "\nBEGIN:VEVENT\nSUMMARY:" + subject + "\nDTSTART:" + start.Format(layout)
	if !end.IsZero() {
		text += "\nDTEND:" + end.Format(layout)
	}
	return body{cardBody, text + "\nEND:VEVENT\n"}
}

const fileTimeEpoch = 116444736000000000 // 1970 as a FILETIME

// time returns the first of the times that the message has. They are a FILETIME, which counts steps of 100 ns from
// 1601 ([MS-DTYP] §2.3.3). Times before 1970 or after the year 2700 are noise of a damaged stream and are ignored.
func (o *outlook) time(ids ...string) time.Time {
	for _, id := range ids {
		data := o.properties[id+"0040"]
		if len(data) < 8 {
			continue
		}
		ticks := binary.LittleEndian.Uint64(data)
		if ticks > fileTimeEpoch && ticks < fileTimeEpoch*3 {
			return time.UnixMicro(int64(ticks-fileTimeEpoch) / 10).UTC()
		}
	}
	return time.Time{}
}
