package dbcopy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
)

// checksum is a hash of a set of rows that does not depend on their order: the sum of their SHA-256, as a number of 256
// bits. Adding is commutative, so neither side has to be sorted. It finds mistakes and no attacks: sums of hashes can
// be made to collide on purpose, but not by chance.
type checksum struct {
	rows int64
	sum  [4]uint64
}

// The carry goes from word to word and is dropped at the end: the sum is modulo 2^256.
func (s *checksum) addRow(t Table, row Row) error {
	var raw []byte
	for i, column := range t.Columns {
		var err error
		if raw, err = appendValue(raw, column, row[i]); err != nil {
			return fmt.Errorf("column %s: %w", column.Name, err)
		}
	}
	hash := sha256.Sum256(raw)
	var carry uint64
	for i := range s.sum {
		s.sum[i], carry = bits.Add64(s.sum[i], binary.LittleEndian.Uint64(hash[8*i:]), carry)
	}
	s.rows++
	return nil
}

// appendValue writes a value so that no two lists of values look alike. Texts and bytes begin with their lengths. JSON
// is decoded and encoded again, since PostgreSQL's jsonb keeps neither the order of fields nor white space.
func appendValue(raw []byte, column Column, value any) ([]byte, error) {
	switch v := value.(type) {
	case int64:
		return binary.LittleEndian.AppendUint64(raw, uint64(v)), nil
	case bool:
		if v {
			return append(raw, 1), nil
		}
		return append(raw, 0), nil
	case []byte:
		return append(binary.LittleEndian.AppendUint64(raw, uint64(len(v))), v...), nil
	case string:
		if column.Kind == JSON {
			var tree any
			if err := json.Unmarshal([]byte(v), &tree); err != nil {
				return raw, err
			}
			plain, err := json.Marshal(tree)
			if err != nil {
				return raw, err
			}
			v = string(plain)
		}
		return append(binary.LittleEndian.AppendUint64(raw, uint64(len(v))), v...), nil
	}
	return raw, fmt.Errorf("%T is not copied", value)
}
