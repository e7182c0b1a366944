package extract

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text/lazy"
)

// timeZone is the definition of a time zone in a calendar (RFC 5545 §3.6.5).
type timeZone struct {
	location    string // the name in programs whose ids are their own
	observances []observance
}

// observance is the standard time or the daylight time of a zone. It begins at each of begins, and each year by a
// rule, if there is one.
type observance struct {
	begins []time.Time
	rule   map[string]string
	offset string
}

const (
	localTime = "20060102T150405"
	// Some programs write each year's daylight time as an observance.
	maxObservances = 100
	maxOnsets      = 20
)

// timeZones holds the zones of a calendar by their ids.
type timeZones map[string]*timeZone

// set adds a property of a definition, or of its last observance.
func (z *timeZone) set(p property) {
	if p.name == "X-LIC-LOCATION" {
		z.location = p.value
	}
	if len(z.observances) == 0 {
		return
	}
	o := &z.observances[len(z.observances)-1]
	switch p.name {
	case "DTSTART", "RDATE":
		for one := range strings.SplitSeq(p.value, ",") {
			if t, err := time.Parse(localTime, one); err == nil && len(o.begins) < maxOnsets {
				o.begins = append(o.begins, t)
			}
		}
	case "RRULE":
		o.rule = ruleParts(p.value)
	case "TZOFFSETTO":
		if t, err := time.Parse("-0700", p.value[:min(len(p.value), len("-0700"))]); err == nil {
			o.offset = "UTC" + t.Format("-07:00")
		}
	}
}

// offset returns the difference of a local time to UTC, "" if the zone doesn't define it.
func (z *timeZone) offset(at time.Time) (offset string) {
	var latest time.Time
	for _, o := range z.observances {
		begins := o.begins
		for year := at.Year() - 1; year <= at.Year() && len(begins) > 0; year++ {
			if t := o.onset(year); !t.Before(o.begins[0]) {
				begins = append(begins[:len(begins):len(begins)], t)
			}
		}
		for _, t := range begins {
			if !t.After(at) && !t.Before(latest) {
				latest, offset = t, o.offset
			}
		}
	}
	return offset
}

// onset returns the time at which an observance begins in a year by a rule such as "the last Sunday of March". It is
// zero for rules of another form, and after the end of a rule.
func (o observance) onset(year int) time.Time {
	month, _ := strconv.Atoi(o.rule["BYMONTH"])
	day, n, ok := weekday(o.rule["BYDAY"])
	if until := o.rule["UNTIL"]; !ok || month < 1 || month > 12 || until != "" && until < strconv.Itoa(year+1) {
		return time.Time{}
	}
	from := 7*n - 6 // the day from which the weekday is searched
	if first, _, _ := strings.Cut(o.rule["BYMONTHDAY"], ","); n == 0 {
		if from, _ = strconv.Atoi(first); from < 1 {
			return time.Time{}
		}
	}
	if n < 0 { // from the end of the month
		month, from = month+1, from+7
	}
	clock := o.begins[0]
	t := time.Date(year, time.Month(month), from, clock.Hour(), clock.Minute(), clock.Second(), 0, time.UTC)
	return t.AddDate(0, 0, int(day-t.Weekday()+7)%7)
}

// name returns the name of the zone with an id at a local time. An id that begins with a slash has its maker before
// the name (RFC 5545 §3.2.19). Other names than those of places are followed by the difference to UTC.
func (all timeZones) name(id string, at time.Time) string {
	if len(id) >= 3 && strings.EqualFold(id[len(id)-3:], "UTC") {
		return "UTC"
	}
	name, zone := id, all[id]
	if strings.HasPrefix(id, "/") {
		name = strings.TrimPrefix(cmp.Or(zonePlace().FindString(id), id), "/")
	}
	if zone == nil {
		return name
	}
	name = cmp.Or(zone.location, name)
	if offset := zone.offset(at); offset != "" && !strings.Contains(name, "/") {
		name += ", " + offset
	}
	return name
}

// zonePlace matches the place at the end of an id with its maker.
var zonePlace = lazy.Regexp(`(/[A-Za-z_-]+)+$`)

// cardClock formats the times of an entry. A zone is named at the first of the times that have it.
type cardClock struct {
	zones timeZones
	zone  string    // of the time before
	start time.Time // of an event that lasts whole days
}

// text returns the times of a property, such as "2026-03-04 10:15 (Europe/Berlin)", as they are written: none is
// converted. A value that doesn't parse is returned on one line. An event of whole days ends on the day before its
// end (RFC 5545 §3.6.1). The end of an event of one day is not shown.
func (c *cardClock) text(p property) string {
	var all []string
	zone := ""
	for value := range strings.SplitSeq(p.value, ",") {
		t, err := time.Parse("20060102", value)
		switch {
		case err == nil && p.name == "DTEND":
			if t = t.AddDate(0, 0, -1); !t.After(c.start) && !c.start.IsZero() {
				return ""
			}
		case err == nil && p.name == "DTSTART":
			c.start = t
		}
		if err == nil {
			all = append(all, t.Format(time.DateOnly))
			continue
		}
		local, utc := strings.CutSuffix(value, "Z")
		if t, err = time.Parse(localTime, local); err != nil {
			all, zone = append(all, value), ""
			continue
		}
		if utc {
			zone = "UTC"
		} else if id := p.parameter("tzid"); zone == "" && id != "" {
			zone = c.zones.name(id, t)
		}
		all = append(all, t.Format("2006-01-02 15:04"))
	}
	text := strings.Join(all, ", ")
	if zone != "" && zone != c.zone {
		c.zone = zone
		if zone != "UTC" {
			zone = "(" + zone + ")"
		}
		text += " " + zone
	}
	return doctext.Line(text)
}

var ordinals = map[int]string{
	1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last", -2: "second to last",
}

// frequencies maps the frequencies of RFC 5545 §3.3.10 to their units.
var frequencies = map[string]string{
	"HOURLY": "hour", "DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year",
}

// recurrence returns a rule in words, such as "every 2 weeks on Monday, 10 times" (RFC 5545 §3.3.10). A rule with
// other parts is returned as it is.
func (c *cardClock) recurrence(value string) string {
	rule := ruleParts(value)
	unit := frequencies[rule["FREQ"]]
	words := "every " + unit
	if n := rule["INTERVAL"]; n != "" && n != "1" {
		words = "every " + n + " " + unit + "s"
	}
	ok := unit != "" && (rule["BYDAY"] == "" || rule["BYMONTHDAY"] == "")
	joint := func(list, before string, word func(one string) string) {
		var all []string
		for one := range strings.SplitSeq(list, ",") {
			all = append(all, word(one))
			ok = ok && all[len(all)-1] != ""
		}
		words += before + strings.Join(all, ", ")
	}
	for _, part := range []string{"BYDAY", "BYMONTHDAY", "BYMONTH", "COUNT", "UNTIL"} {
		list := rule[part]
		delete(rule, part)
		switch {
		case list == "":
		case part == "BYDAY":
			before := " on "
			if nth, _ := strconv.Atoi(rule["BYSETPOS"]); ordinals[nth] != "" {
				before += "the " + ordinals[nth] + " "
				if strings.Contains(list, ",") {
					before += "of "
				}
				delete(rule, "BYSETPOS")
			}
			joint(list, before, weekdayWords)
		case part == "BYMONTHDAY":
			joint(list, " on ", func(one string) string {
				if one == "-1" {
					return "the last day"
				}
				return "day " + one
			})
		case part == "BYMONTH":
			joint(list, " in ", func(one string) string {
				if t, err := time.Parse("1", one); err == nil {
					return t.Month().String()
				}
				return ""
			})
		case part == "COUNT":
			words += ", " + list + " times"
		case part == "UNTIL":
			words += ", until " + c.text(property{value: list})
		}
	}
	for _, known := range []string{"FREQ", "INTERVAL", "WKST"} {
		delete(rule, known)
	}
	if !ok || len(rule) > 0 {
		return doctext.Line(value)
	}
	return doctext.Line(words)
}

// ruleParts parses a rule of recurrence into its parts.
func ruleParts(value string) map[string]string {
	parts := map[string]string{}
	for part := range strings.SplitSeq(strings.ToUpper(strings.TrimSpace(value)), ";") {
		if name, value, _ := strings.Cut(part, "="); name != "" {
			parts[name] = value
		}
	}
	return parts
}

// weekday parses a day such as "MO", or "-1FR" for the last Friday.
func weekday(s string) (day time.Weekday, n int, ok bool) {
	number := strings.TrimRight(s, "ADEFHMORSTUW")
	if n, _ = strconv.Atoi(number); n == 0 && number != "" || n < -5 || n > 5 {
		return 0, 0, false
	}
	for day = range 7 {
		if name := day.String(); strings.EqualFold(name[:2], s[len(number):]) {
			return day, n, true
		}
	}
	return 0, 0, false
}

func weekdayWords(s string) string {
	day, n, ok := weekday(s)
	switch {
	case !ok || n != 0 && ordinals[n] == "":
		return ""
	case n != 0:
		return "the " + ordinals[n] + " " + day.String()
	}
	return day.String()
}

var durationPart = lazy.Regexp(`(\d+)([WDHMS])`)

// duration returns a duration such as "PT1H30M" in words (RFC 5545 §3.3.6).
func duration(value string) string {
	var all []string
	units := map[string]string{"W": "week", "D": "day", "H": "hour", "M": "minute", "S": "second"}
	for _, m := range durationPart().FindAllStringSubmatch(value, -1) {
		n, _ := strconv.Atoi(m[1])
		switch n {
		case 0:
			continue
		case 1:
			all = append(all, "1 "+units[m[2]])
		default:
			all = append(all, fmt.Sprint(n, " ", units[m[2]], "s"))
		}
	}
	return cmp.Or(strings.Join(all, " "), doctext.Line(value))
}
