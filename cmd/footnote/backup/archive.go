// Package backup writes everything that an embedded Footnote keeps into one tar file, and brings it back.
//
// [Writer] and [Reader] are the format: a head, the database, the originals, and a list with the size and the SHA-256
// of each file at the end. A reader hands out bytes before they are all checked; only the io.EOF of [Reader.Next] says
// that every file was as it was saved, so nothing may be put into its place before that. [Command] takes a backup
// while a server goes on, [Restore] unpacks one beside its place and moves it there as the last step: a kill at any
// moment leaves either what was there before or the whole backup.
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
)

// A backup is a tar archive: "footnote-backup.json" first, then the database and the originals, and "contents.json"
// last, with the size and the SHA-256 of each file. So it is written in one go, and one that was cut off is known by
// its missing end.
const (
	archiveHead   = "footnote-backup.json"
	archiveList   = "contents.json"
	archiveFormat = 1
	maxListBytes  = 1 << 30 // of contents.json: about 8 million originals
)

// archiveName is what a backup may hold, below the data directory. Names in an archive decide where a restore writes,
// so nothing else is taken: no other folder, no “..”, no link.
var archiveName = regexp.MustCompile(`^(footnote\.db|blobs/[0-9a-f]{2}/[0-9a-f]{62})$`)

// Head says what a backup is.
// Format grows when an older program could not read what a newer one writes; such a backup is refused, not guessed at.
type Head struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of the program that made it
	MadeAt  time.Time `json:"made_at"`
}

// File is one file of a backup.
// Name is its path below the data directory, with slashes on every system, and SHA256 is in hexadecimal.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Writer writes a backup to a stream.
// It is used by one goroutine. After a failure the stream is of no use, since an archive can't be mended.
type Writer struct {
	tar  *tar.Writer
	list []File
}

// NewWriter begins a backup with its head, which says by which version it was made, and when.
func NewWriter(w io.Writer, version string, now time.Time) (*Writer, error) {
	a := &Writer{tar: tar.NewWriter(w)}
	return a, a.addJSON(archiveHead, Head{Format: archiveFormat, Version: version, MadeAt: now.UTC()})
}

// addJSON writes a small file. Its size has to be known before it is written, so all of it is in memory.
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

// Add writes exactly size bytes of r as a file and returns their SHA-256.
// It fails with io.EOF when r has fewer bytes: a tar header says the size before them. name is one of those that
// archiveName allows; a reader refuses others.
func (a *Writer) Add(name string, size int64, r io.Reader) (string, error) {
	if err := a.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size}); err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(a.tar, sum), r, size); err != nil {
		return "", err
	}
	// the order in which files were added is the order of the list: checkFile compares them one by one
	file := File{name, size, hex.EncodeToString(sum.Sum(nil))}
	a.list = append(a.list, file)
	return file.SHA256, nil
}

// Close writes the list of all files. Without it the backup is not whole. After that nothing may be added.
func (a *Writer) Close() error {
	return errors.Join(a.addJSON(archiveList, a.list), a.tar.Close())
}

// Reader reads a backup from a stream and checks it.
// It is used by one goroutine, and trusts nothing that it reads: names are those of archiveName, small files have
// bounds, and each file is compared with the list at the end.
type Reader struct {
	Head
	tar  *tar.Reader
	read []File
}

// brokenBackup is the error for a backup that can't be used; says completes the sentence. The message ends with what
// to do, since a restore is done by somebody in need.
func brokenBackup(says string, err error) error {
	return &chat.Error{
		Code: chat.CodeInvalid, Message: "The backup " + says + "; nothing was restored. Use another one.", Err: err,
	}
}

// damagedBackup tells a backup that ends too soon from other faults of reading it. Others, such as a disk that can't
// be read, may be gone the next time.
func damagedBackup(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return brokenBackup("is cut off", nil)
	}
	if errors.Is(err, tar.ErrHeader) {
		return brokenBackup("is damaged", nil)
	}
	return fmt.Errorf("read the backup: %w", err)
}

// NewReader reads the head of a backup. It fails for anything else than a backup, and for one of a newer version.
// Errors about the backup are a *chat.Error with CodeInvalid, others are those of reading r.
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

// Next returns the name of the next file and its bytes, or io.EOF after the last one, when all files proved to be as
// listed. The bytes must be read to their end before the next call. Each name is told only once it fits archiveName.
// The order is that of the archive.
func (a *Reader) Next() (string, io.Reader, error) {
	header, err := a.tar.Next()
	if err != nil {
		return "", nil, damagedBackup(err) // the list comes before the end
	}
	if header.Name == archiveList {
		if err := a.checkFile(header.Size); err != nil {
			return "", nil, err
		}
		return "", nil, io.EOF
	}
	if header.Typeflag != tar.TypeReg || !archiveName.MatchString(header.Name) {
		return "", nil, brokenBackup(fmt.Sprintf("holds %.80q, which belongs in none", header.Name), nil)
	}
	return header.Name, &archivedBytes{
		a: a, sum: sha256.New(), file: File{Name: header.Name, Bytes: header.Size},
	}, nil
}

// archivedBytes notes the hash of a file as it is read. A file counts as read when its end was reached.
type archivedBytes struct {
	a    *Reader
	sum  hash.Hash
	file File
}

// Read sums up the bytes on the way, so that a file is checked while it is unpacked. It is not safe for two
// goroutines, as the archive is not.
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

// checkFile compares what was read with the list. Files have to be in the same order. An original's name has to be its
// own hash, so that a list that somebody changed along with a file does not help.
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
		// an original is named by its hash, so that a list that was changed along with the file does not help
		if hash, original := strings.CutPrefix(file.Name, "blobs/"); a.read[i] != file ||
			original && strings.ReplaceAll(hash, "/", "") != file.SHA256 {
			return brokenBackup("is damaged: "+file.Name+" is not as it was", nil)
		}
	}
	if len(list) != len(a.read) || len(list) == 0 || list[0].Name != datadir.Database {
		return brokenBackup("is damaged: its list of files does not fit", nil)
	}
	return nil
}
