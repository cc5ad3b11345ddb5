package audit

import (
	"bytes"
	"crypto/hmac"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// checkpoint is the file beside the key that holds heads of the log, each in a sealed slot that is written in place:
//
//   - Two slots have the head at the last sync, by turns, so that a torn write leaves the other. They are written after the log is synced
//     and are not synced themselves. So after a crash of the machine they may be older than the log, and are never newer.
//   - The third has the head at the last write, synced or not. It is valid until the machine starts again: as long as the kernel lives, it
//     has every byte that was written, so a log that ends before this head was cut.
type checkpoint struct {
	f    *os.File
	seal *sealer
	turn int64
	boot string // which start of the machine this is; "": unknown
	buf  []byte
}

const (
	slotLen     = 256 // bytes; the third slot then lies in one sector of 512 bytes
	writtenSlot = 2
)

func openCheckpoint(dir string, s *sealer, create bool) (*checkpoint, error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	return openCheckpointAs(dir, s, flags)
}

func openCheckpointAs(dir string, s *sealer, flags int) (*checkpoint, error) {
	f, err := os.OpenFile(filepath.Join(dir, checkpointFile), flags|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the checkpoint of the log: %w", err)
	}
	return &checkpoint{f: f, seal: s, boot: bootID()}, nil
}

// write stores the head of a log that is synced.
func (c *checkpoint) write(m mark) error {
	c.turn++
	return c.put(m, "", c.turn%writtenSlot)
}

// wrote stores the head of a log that is written.
func (c *checkpoint) wrote(m mark) error {
	if c.boot == "" {
		return nil
	}
	return c.put(m, c.boot, writtenSlot)
}

func (c *checkpoint) put(m mark, boot string, slot int64) error {
	b := strconv.AppendInt(c.buf[:0], m.seq, 10)
	b = append(append(append(b, ' '), m.mac...), ' ')
	b = append(append(b, m.segment...), ' ')
	b = append(strconv.AppendInt(b, m.offset, 10), ' ')
	if boot != "" {
		b = append(append(b, boot...), ' ')
	}
	b = append(c.seal.appendMac(b, b), '\n')
	for len(b) < slotLen-1 {
		b = append(b, ' ')
	}
	b = append(b, '\n')
	c.buf = b
	if _, err := c.f.WriteAt(c.buf, slot*slotLen); err != nil {
		return fmt.Errorf("write the checkpoint of the log: %w", err)
	}
	return nil
}

var errNoCheckpoint = errors.New("the checkpoint beside the key is missing or was changed")

// read returns the newest head at a sync, and the head at the last write; the second is zero if it is not known.
func (c *checkpoint) read() (synced, written mark, err error) {
	raw := make([]byte, (writtenSlot+1)*slotLen)
	n, err := c.f.ReadAt(raw, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return mark{}, mark{}, fmt.Errorf("read the checkpoint of the log: %w", err)
	}
	raw = raw[:n]
	found := false
	for i := range int64(writtenSlot) {
		if m, _, ok := c.slot(raw, int(i)); ok && (!found || m.seq >= synced.seq) {
			synced, found, c.turn = m, true, i
		}
	}
	if !found {
		return mark{}, mark{}, errNoCheckpoint
	}
	last := raw[min(len(raw), writtenSlot*slotLen):]
	if len(bytes.Trim(last, "\x00")) == 0 { // an earlier version wrote it, or a crash of the machine came before the disk had it
		return synced, mark{}, nil
	}
	written, boot, ok := c.slot(raw, writtenSlot)
	switch {
	case !ok:
		return mark{}, mark{}, errNoCheckpoint
	case boot != c.boot:
		return synced, mark{}, nil
	}
	return synced, written, nil
}

// slot reads one slot. ok is false if its seal does not fit.
func (c *checkpoint) slot(raw []byte, i int) (m mark, boot string, ok bool) {
	slot := raw[min(len(raw), i*slotLen):min(len(raw), (i+1)*slotLen)]
	line, _, _ := bytes.Cut(slot, []byte("\n"))
	end := len(line) - macLen
	if end < 0 || !hmac.Equal(c.seal.appendMac(nil, line[:end]), line[end:]) {
		return mark{}, "", false
	}
	n, err := fmt.Sscan(string(line[:end]), &m.seq, &m.mac, &m.segment, &m.offset, &boot)
	switch {
	case n < 3:
		return mark{}, "", false
	case n == 3: // of an earlier version
		m.offset = -1
	case n == 5 && err != nil:
		return mark{}, "", false
	}
	return m, boot, true
}

// newer returns the mark that is further on.
func newer(a, b mark) mark {
	if b.seq > a.seq {
		return b
	}
	return a
}
