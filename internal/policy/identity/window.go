package identity

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// minutesADay is the end of a day, 24:00, in minutes.
const minutesADay = 24 * 60

// window is a context, ready to be asked. Its minutes are those of the wall clock of its zone.
type window struct {
	from, to int     // minutes since midnight; to is not in the window. from > to: it runs over midnight
	days     [7]bool // on which it may begin, by time.Weekday
	zone     *time.Location
}

// contextError is a fault of a context.
type contextError struct{ key, message, hint string }

// window reads a context.
func (c *Context) window(zone Zone) (w window, bad *contextError) {
	w = window{to: minutesADay, days: [7]bool{true, true, true, true, true, true, true}, zone: time.UTC}
	if c.AllowedTime != "" {
		from, to, found := strings.Cut(c.AllowedTime, "-")
		var okFrom, okTo bool
		w.from, okFrom = minutes(from)
		w.to, okTo = minutes(to)
		if !found || !okFrom || !okTo || w.from == minutesADay || w.from == w.to {
			return w, &contextError{"context.allowedTime", fmt.Sprintf("is %q", c.AllowedTime),
				"write HH:MM-HH:MM, such as 09:00-17:30, 22:00-06:00 or 00:00-24:00"}
		}
	}
	if c.AllowedDays != nil {
		w.days = [7]bool{}
		for _, d := range c.AllowedDays {
			if d < 0 || d > 6 {
				return w, &contextError{"context.allowedDays", fmt.Sprintf("has %d", d), "write numbers from 0 (Sunday) to 6 (Saturday)"}
			}
			w.days[d] = true
		}
		if len(c.AllowedDays) == 0 {
			return w, &contextError{"context.allowedDays", "is empty: the rule never applies", "name a day, or leave the key out for every day"}
		}
	}
	if c.Timezone != "" {
		loc, err := zone(c.Timezone)
		if err != nil || c.Timezone == "Local" { // Local differs from machine to machine
			return w, &contextError{"context.timezone", fmt.Sprintf("is %q, which is no time zone", c.Timezone),
				"write a name of the IANA database, such as Europe/Berlin or Asia/Tokyo"}
		}
		w.zone = loc
	}
	return w, nil
}

// minutes reads HH:MM, 00:00 to 24:00.
func minutes(s string) (int, bool) {
	s = strings.TrimSpace(s)
	if len(s) != 5 || s[2] != ':' {
		return 0, false
	}
	h, err := strconv.ParseUint(s[:2], 10, 8)
	m, err2 := strconv.ParseUint(s[3:], 10, 8)
	n := int(h)*60 + int(m)
	return n, err == nil && err2 == nil && m < 60 && n <= minutesADay
}

// holds reports whether a time is in the window, and when the window ends that it is in.
func (w *window) holds(at time.Time) (end time.Time, ok bool) {
	at = at.In(w.zone)
	now, today := at.Hour()*60+at.Minute(), at.Weekday()
	late := 0 // days until the window ends
	switch {
	case w.from < w.to:
		ok = now >= w.from && now < w.to && w.days[today]
	case now >= w.from:
		ok, late = w.days[today], 1
	default:
		ok = now < w.to && w.days[(today+6)%7] // it began yesterday
	}
	if !ok {
		return time.Time{}, false
	}
	y, m, d := at.Date()
	end = time.Date(y, m, d+late, w.to/60, w.to%60, 0, 0, w.zone)
	if !end.After(at) { // the hour comes twice, and this is the second time
		end = end.Add(time.Hour)
	}
	return end, true
}

// until is holds with the end of the last of the windows that follow each other without a gap, a week ahead at most.
func (w *window) until(at time.Time) (end time.Time, ok bool) {
	if end, ok = w.holds(at); !ok {
		return end, false
	}
	for range 7 {
		next, more := w.holds(end)
		if !more {
			break
		}
		end = next
	}
	return end, true
}

// String says when the window is open.
func (w *window) String() string {
	var days []string
	for d, in := range w.days {
		if in {
			days = append(days, time.Weekday(d).String()[:3])
		}
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d %s, %s", w.from/60, w.from%60, w.to/60, w.to%60, w.zone, strings.Join(days, " "))
}
