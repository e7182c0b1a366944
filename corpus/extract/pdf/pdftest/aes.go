package pdftest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
)

// AES256 returns a PDF of one page with the encryption of current programs (AES-256, revision 6). It opens with the
// password. An empty password is what printers and offices set to forbid changes.
func AES256(password, content string) []byte {
	// The key, the salts and the first block are fixed, so that the file is deterministic. It keeps no secret.
	key := bytes.Repeat([]byte{7}, 32)
	salt := func(b byte) []byte { return bytes.Repeat([]byte{b}, 8) }
	wrap := func(with []byte) []byte { return cbc(with, make([]byte, 16), key) }
	// U and O are a hash with its two salts, 48 bytes; UE and OE are the file's key, encrypted with the password
	// (ISO 32000-2, algorithms 8 and 9). Those of the owner hash U as well.
	entry := func(password string, check, lock, user []byte) (value, wrapped []byte) {
		value = append(append(hash6(password, check, user), check...), lock...)
		return value, wrap(hash6(password, lock, user))
	}
	u, ue := entry(password, salt(1), salt(2), nil)
	o, oe := entry("owner", salt(3), salt(4), u)
	permissions := int32(-4)
	// Algorithm 10: the permissions, four bytes of ones, "T" for encrypted metadata, "adb", and four arbitrary
	// bytes.
	perms := binary.LittleEndian.AppendUint32(nil, uint32(permissions))
	perms = append(perms, "\xff\xff\xff\xffTadbabcd"...)
	sealed := make([]byte, 16)
	block(key).Encrypt(sealed, perms)

	m := Maker{Trailer: fmt.Sprintf("/ID [<00> <00>] /Encrypt <</Filter /Standard /V 5 /R 6 /Length 256 /P %d "+
		"/U <%x> /UE <%x> /O <%x> /OE <%x> /Perms <%x> /StmF /StdCF /StrF /StdCF "+
		"/CF <</StdCF <</AuthEvent /DocOpen /CFM /AESV3 /Length 32>> >> >>", permissions, u, ue, o, oe, sealed)}
	// A stream begins with its first block and is padded as in PKCS #7.
	iv := bytes.Repeat([]byte{9}, 16)
	pad := 16 - len(content)%16
	body := append([]byte(content), bytes.Repeat([]byte{byte(pad)}, pad)...)
	return m.Document("", Sheet{Content: string(append(iv, cbc(key, iv, body)...))})
}

// hash6 implements algorithm 2.B of ISO 32000-2.
func hash6(password string, salt, user []byte) []byte {
	first := sha256.Sum256(append(append([]byte(password), salt...), user...))
	k := first[:]
	for round := 0; ; round++ {
		// Each round encrypts 64 copies of this, and the remainder of its first 16 bytes by 3 chooses the next hash.
		// The sum of the bytes has the same remainder, since 256 modulo 3 is 1.
		part := append(append([]byte(password), k...), user...)
		e := cbc(k[:16], k[16:32], bytes.Repeat(part, 64))
		sum := 0
		for _, b := range e[:16] {
			sum += int(b)
		}
		switch sum % 3 {
		case 0:
			s := sha256.Sum256(e)
			k = s[:]
		case 1:
			s := sha512.Sum384(e)
			k = s[:]
		default:
			s := sha512.Sum512(e)
			k = s[:]
		}
		// At least 64 rounds, and then until the last byte is at most the round's number, from 1, less 32.
		if round >= 63 && int(e[len(e)-1]) <= round-31 {
			return bytes.Clone(k[:32])
		}
	}
}

// cbc encrypts whole blocks in CBC mode.
func cbc(key, iv, data []byte) []byte {
	out := make([]byte, len(data))
	cipher.NewCBCEncrypter(block(key), iv).CryptBlocks(out, data)
	return out
}

// block returns an AES cipher.
func block(key []byte) cipher.Block {
	b, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the keys here have 16 or 32 bytes
	}
	return b
}
