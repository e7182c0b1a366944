package files_test

import "strings"

func badLines() []bad {
	read := func(name, file, text, data string) bad { return bad{name, file, data, "", text} }
	deep := strings.Repeat("[", 1_000_000)
	laughs := "a: &a [x,x]\n"
	for c := 'b'; c <= 'z'; c++ {
		laughs += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",",
			10), ",") + "]\n"
	}
	cell := func(source string) string { return `{"cells":[{"cell_type":"code","source":` + source + `}]}` }
	return []bad{
		{"a JSON of nothing", "bad.json", "", isEmpty, ""},
		{"a JSON of blanks", "bad.json", strings.Repeat(" \n", 100_000), noText, ""},
		read("a JSON that breaks off", "bad.json", "roof", `{"roof": "dry`),
		read("a JSON of brackets", "bad.json", "[[[", deep),
		read("a JSON of one line of 16 MB", "bad.json", "roof", `{"roof": "`+strings.Repeat("x", 16<<20)+`"}`),
		read("a JSON with zero bytes", "bad.json", "roof", "{\"roof\": \"a\x00b\"}"),
		read("a JSON in UTF-16 without a mark", "bad.json", "roof",
			inUTF16(`{"roof": "dry", "walls": "damp", "door": "oak"}`)),
		read("lines of JSON of which none is one", "bad.jsonl", "{", strings.Repeat("{\n", 200_000)),
		read("2 million lines of one number", "bad.jsonl", "1", strings.Repeat("1\n", 2_000_000)),
		read("an XML of a billion laughs", "bad.xml", "lol", `<!DOCTYPE x [<!ENTITY lol "&lol;&lol;">]><x>&lol;</x>`),
		read("an XML with another file", "bad.xml", "passwd",
			`<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]><x>&x;</x>`),
		read("an XML of elements a million deep", "bad.xml", "<x>", strings.Repeat("<x>", 1_000_000)),
		read("a YAML of a billion laughs", "bad.yaml", "*y", laughs),
		read("a YAML of blanks that get deeper", "bad.yaml", "a:", strings.Repeat("a:\n ", 100_000)),
		read("a notebook of brackets", "bad.ipynb", "[[[", `{"cells":`+deep),
		read("a notebook of other types", "bad.ipynb", "cells", `{"cells":{"a":1}}`),
		read("a notebook whose source is a number", "bad.ipynb", "ran", `{"cells":[{"cell_type":"code","source":1},`+
			`{"cell_type":"code","source":"ran"}]}`),
		read("a notebook of 200,000 empty cells", "bad.ipynb", "last", `{"cells":[`+strings.Repeat(`{},`, 200_000)+
			`{"cell_type":"code","source":"last"}]}`),
		read("a notebook whose text is nested", "bad.ipynb", "q", `{"cells":[{"cell_type":"markdown","source":"`+
			strings.Repeat(">", 100_000)+` q"}]}`),
		read("a notebook with a picture of 8 MB", "bad.ipynb", "ran", `{"cells":[{"cell_type":"code","source":"ran",`+
			`"outputs":[{"data":{"image/png":"`+strings.Repeat("A", 8<<20)+`"}}]}]}`),
		read("a notebook whose lines are half characters", "bad.ipynb", "ran", cell(`"ran \ud800 \udc00 \u0000"`)),
	}
}

func badCards() []bad {
	event := func(name, text, inside string) bad {
		return bad{name, "bad.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Roof\n" + inside, "", text}
	}
	const end = "END:VEVENT\nEND:VCALENDAR\n"
	card := func(name, text, inside string) bad {
		return bad{name, "bad.vcf", "BEGIN:VCARD\nFN:Roof\n" + inside, "", text}
	}
	return []bad{
		{"a calendar of nothing", "bad.ics", "", isEmpty, ""},
		event("an entry that never ends", "Roof", ""),
		event("alarms in alarms", "Roof", strings.Repeat("BEGIN:VALARM\n", 100_000)+strings.Repeat("END:VALARM\n",
			100_000)+end),
		event("ends without beginnings", "Roof", strings.Repeat("END:VALARM\n", 100_000)+end),
		event("entries in entries", "Roof", strings.Repeat("BEGIN:VEVENT\nSUMMARY:Roof\n", 50_000)+
			strings.Repeat("END:VEVENT\n", 50_000)),
		event("a line that goes on for 500,000", "Roof", "DESCRIPTION:a\n"+strings.Repeat(" b\n", 500_000)+end),
		event("a value of 8 MB", "Roof", "DESCRIPTION:"+strings.Repeat("x", 8<<20)+"\n"+end),
		event("days that are none", "Roof", "DTSTART:99999999T999999Z\nDTEND:0\nDTSTART;TZID=../../etc:1\n"+end),
		event("a rule that repeats for ever", "Roof", "RRULE:FREQ=SECONDLY;COUNT=2147483647\n"+end),
		event("parameters without end", "Roof", "ATTENDEE"+strings.Repeat(";X=Y", 1_000_000)+":mailto:a\n"+end),
		event("zero bytes", "Roof", "DESCRIPTION:a\x00b\n"+end),
		event("bytes of no encoding", "Roof", "DESCRIPTION:\xff\xfe\xc0\n"+end),
		event("a file from elsewhere", "Roof", "ATTACH:file:///etc/passwd\nURL:http://127.0.0.1:1/x\n"+end),
		card("quoted-printable that breaks off", "Roof", "NOTE;ENCODING=QUOTED-PRINTABLE:=\n=Z=\nEND:VCARD\n"),
		card("a photograph of 8 MB", "Roof", "PHOTO;ENCODING=b:"+strings.Repeat("A", 8<<20)+"\nEND:VCARD\n"),
		card("a thousand groups", "Roof", strings.Repeat("a.", 1000)+"EMAIL:a@example.com\nEND:VCARD\n"),
		card("separators alone", "Roof", "ADR:"+strings.Repeat(";", 1_000_000)+"\nN:"+strings.Repeat(`\`,
			100_000)+"\nEND:VCARD\n"),
		card("100,000 people", "Roof", "END:VCARD\n"+strings.Repeat("BEGIN:VCARD\nFN:x\nEND:VCARD\n", 100_000)),
		{"an address book of ends", "bad.vcf", "BEGIN:VCARD\n" + strings.Repeat("END:VCARD\n", 100_000), "", "END"},
	}
}
