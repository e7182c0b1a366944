// Package backup writes all data of an embedded Footnote into one tar file, and restores it.
//
// [Writer] and [Reader] are the format: a header, the database, the originals, and at the end a list with the size
// and SHA-256 of each file. A reader returns bytes before all files are verified; only the io.EOF of [Reader.Next]
// confirms that every file is intact. Nothing may be moved into place before that. [Command] takes a backup of a
// running server. [Restore] unpacks one beside its target and moves it into place as the last step: a kill at any
// moment leaves either the old data or the whole backup.
package backup

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/text/locale"
)

// A backup is a tar archive: "footnote-backup.json" first, then the database and the originals, and "contents.json"
// last, with the size and SHA-256 of each file. So it can be streamed, and a truncated one is detected by its
// missing end.
const (
	archiveHead   = "footnote-backup.json"
	archiveList   = "contents.json"
	archiveFormat = 1
	maxListBytes  = 1 << 30 // of contents.json: about 8 million originals
)

// archiveName matches the allowed file names of a backup, relative to the data directory. Names in an archive
// decide where a restore writes, so all others are refused: no other folder, no “..”, no link.
var archiveName = regexp.MustCompile(`^(footnote\.db|blobs/[0-9a-f]{2}/[0-9a-f]{62})$`)

// Head identifies a backup. Format is incremented when an older program could not read a newer backup; such a
// backup is refused.
type Head struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of the program that wrote it
	MadeAt  time.Time `json:"made_at"`
}

// File is one file of a backup.
// Name is its path below the data directory, with slashes on every system, and SHA256 is in hexadecimal.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Writer writes a backup to a stream. It is not safe for concurrent use. After an error the stream is unusable,
// since an archive can't be repaired.
type Writer struct {
	tar  *tar.Writer
	list []File
}

// NewWriter starts a backup with its header: the program's version and the time.
func NewWriter(w io.Writer, version string, now time.Time) (*Writer, error) {
	a := &Writer{tar: tar.NewWriter(w)}
	return a, a.addJSON(archiveHead, Head{Format: archiveFormat, Version: version, MadeAt: now.UTC()})
}

// addJSON writes a small file. It is encoded in memory, since a tar header needs the size first.
func (a *Writer) addJSON(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := a.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(raw))}); err != nil {
		return err
	}
	_, err = a.tar.Write(raw)
	return err
}

// Add writes exactly size bytes of r as a file and returns their SHA-256. It fails with io.EOF if r has fewer
// bytes, since a tar header precedes them with the size. name must match archiveName; a reader refuses others.
func (a *Writer) Add(name string, size int64, r io.Reader) (string, error) {
	if err := a.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size}); err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(a.tar, sum), r, size); err != nil {
		return "", err
	}
	// Files are listed in the order in which they were added: checkFile compares them one by one.
	file := File{name, size, hex.EncodeToString(sum.Sum(nil))}
	a.list = append(a.list, file)
	return file.SHA256, nil
}

// Close writes the list of all files. Without it the backup is incomplete. Nothing may be added after it.
func (a *Writer) Close() error {
	return errors.Join(a.addJSON(archiveList, a.list), a.tar.Close())
}

// Reader reads a backup from a stream and verifies it. It is not safe for concurrent use. The input is untrusted:
// names must match archiveName, small files are limited, and each file is compared with the list at the end.
type Reader struct {
	Head
	tar  *tar.Reader
	read []File
}

// brokenBackup returns the error for an unusable backup; says completes the sentence. The message ends with advice
// for the user.
func brokenBackup(says string, err error) error {
	return &chat.Error{
		Code:    chat.CodeInvalid,
		Message: locale.Message("The backup " + says + "; nothing was restored. Use another one."),
		Err:     err,
	}
}

// damagedBackup distinguishes a truncated or damaged backup from other read errors. Those, such as a disk error,
// may not occur on a retry.
func damagedBackup(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return brokenBackup("is incomplete", nil)
	}
	if errors.Is(err, tar.ErrHeader) {
		return brokenBackup("is damaged", nil)
	}
	return fmt.Errorf("read the backup: %w", err)
}

// NewReader parses the header of a backup. It fails for other files, and for a backup of a newer version. Errors
// about the backup are a *chat.Error with CodeInvalid, others are read errors of r.
func NewReader(r io.Reader) (*Reader, error) {
	a := &Reader{tar: tar.NewReader(r)}
	header, err := a.tar.Next()
	if err != nil || header.Name != archiveHead || header.Size > 1<<20 {
		return nil, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "The file is not a backup made by 'footnote backup'; nothing was restored.",
		}
	}
	raw, err := io.ReadAll(a.tar)
	if err != nil {
		return nil, damagedBackup(err)
	}
	if err := json.Unmarshal(raw, &a.Head); err != nil {
		return nil, brokenBackup("is damaged", nil)
	}
	if a.Format > archiveFormat {
		return nil, brokenBackup("was made by a newer Footnote ("+a.Version+")", nil)
	}
	return a, nil
}

// Next returns the name and bytes of the next file, or io.EOF after the last one, once all files match the list.
// The bytes must be read to their end before the next call. Each name is validated with archiveName. Files are in
// archive order.
func (a *Reader) Next() (string, io.Reader, error) {
	header, err := a.tar.Next()
	if err != nil {
		return "", nil, damagedBackup(err) // the list precedes the end
	}
	if header.Name == archiveList {
		if err := a.checkFile(header.Size); err != nil {
			return "", nil, err
		}
		return "", nil, io.EOF
	}
	if header.Typeflag != tar.TypeReg || !archiveName.MatchString(header.Name) {
		return "", nil, brokenBackup(fmt.Sprintf("is damaged: it contains the unexpected file %.80q", header.Name), nil)
	}
	return header.Name, &archivedBytes{
		a: a, sum: sha256.New(), file: File{Name: header.Name, Bytes: header.Size},
	}, nil
}

// archivedBytes hashes a file while it is read. A file counts as read once its end is reached.
type archivedBytes struct {
	a    *Reader
	sum  hash.Hash
	file File
}

// Read hashes the bytes, so that a file is verified while it is unpacked. It is not safe for concurrent use, like
// the archive.
func (b *archivedBytes) Read(p []byte) (int, error) {
	n, err := b.a.tar.Read(p)
	b.sum.Write(p[:n])
	if errors.Is(err, io.EOF) {
		b.file.SHA256 = hex.EncodeToString(b.sum.Sum(nil))
		b.a.read = append(b.a.read, b.file)
	} else if err != nil {
		err = damagedBackup(err)
	}
	return n, err
}

// checkFile compares the read files with the list. Both must have the same order. An original's name must equal its
// own hash, so that a list that was changed along with a file is detected.
func (a *Reader) checkFile(size int64) error {
	if size > maxListBytes {
		return brokenBackup("is damaged", nil)
	}
	var list []File
	raw, err := io.ReadAll(a.tar)
	if err != nil {
		return damagedBackup(err)
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return brokenBackup("is damaged", nil)
	}
	for i, file := range list {
		if i >= len(a.read) {
			return brokenBackup("is damaged: "+file.Name+" is missing", nil)
		}
		// An original is named by its hash, so that a list that was changed along with the file is detected.
		if hash, original := strings.CutPrefix(file.Name, "blobs/"); a.read[i] != file ||
			original && strings.ReplaceAll(hash, "/", "") != file.SHA256 {
			return brokenBackup("is damaged: "+file.Name+" was changed", nil)
		}
	}
	if len(list) != len(a.read) || len(list) == 0 || list[0].Name != datadir.Database {
		return brokenBackup("is damaged: its list of files does not match", nil)
	}
	return nil
}
