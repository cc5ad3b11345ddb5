package pin

import (
	"mycelium/internal/backend/catalog"
	"mycelium/internal/scan"
)

// Scanner scans the definitions of one listing. It is prepared at the first definition: most listings have no new one.
type Scanner struct {
	book    *Book
	listing *catalog.Listing
	ready   *scan.Scanner
}

func (s *Scanner) scan(raw []byte) []scan.Finding {
	if s.ready == nil {
		s.ready = s.book.rules().Server(scan.Context{Own: s.listing.ItemNames()})
	}
	return s.ready.Definition(raw)
}

// Scanner makes a scanner for the definitions of a listing.
func (b *Book) Scanner(l *catalog.Listing) *Scanner { return &Scanner{book: b, listing: l} }
