package sse

import (
	"bytes"
	"strconv"
)

// Append appends one event. An id of 0 and an empty name are omitted. Each line of data gets its own "data:", whatever
// its line ending, so that data can neither start a field nor end the event. name must not contain a line break.
func Append(dst []byte, id int64, name string, data []byte) []byte {
	if id > 0 {
		dst = append(dst, "id: "...)
		dst = strconv.AppendInt(dst, id, 10)
		dst = append(dst, '\n')
	}
	if name != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	for more := true; more; {
		line := data
		if end := lineEnd(data); end < 0 {
			more = false
		} else {
			line, data = data[:end], bytes.TrimPrefix(data[end:], []byte("\r"))
			data = bytes.TrimPrefix(data, []byte("\n"))
		}
		dst = append(dst, "data: "...)
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}
