package halyard

import (
	"math/rand/v2"
	"time"
)

// verdict is what becomes of a map: keep the newer one at hand, take it, or
// take it because the revisions have started again.
type verdict int

const (
	keep verdict = iota
	take
	reset
)

// noRevision stands for a map that the server does not number.
const noRevision = int64(-1)

// offer is a map offered to the gate.
type offer struct {
	revision int64
	// askedAt is the tick of the request that the map answers; 0 for a frame.
	askedAt int
	// isSighting tells whether the map speaks for the present of the service:
	// the first of a connection, from a node that follows the log.
	isSighting bool
}

// gate decides whether a map may replace the one at hand: never an older one
// over a newer one, but after a restore. (C2.19, C2.21)
type gate struct {
	scaled     func(time.Duration) time.Duration
	isNumbered bool
	known      int64
	ticks      int
	takenAt    int
	lowerSince time.Time
	sightings  int
}

// tick gives the place of a request in the order of requests and frames.
func (g *gate) tick() int {
	g.ticks++
	return g.ticks
}

// judge judges an offer and takes note of it unless it is kept out.
func (g *gate) judge(o offer, now time.Time) verdict {
	if o.askedAt == 0 {
		o.askedAt = g.tick()
	}
	result := take
	if o.revision == noRevision || !g.isNumbered {
		if o.askedAt < g.takenAt {
			return keep
		}
	} else if o.revision < g.known {
		if !o.isSighting || !g.isReset(now) {
			return keep
		}
		result = reset
	}

	if o.revision != noRevision {
		g.known, g.isNumbered = o.revision, true
	}
	g.takenAt = max(g.takenAt, o.askedAt)
	g.sightings = 0
	return result
}

// isReset believes lower revisions once every answer of three connections or
// more over a minute or more has been lower: a single one is a node that lags.
func (g *gate) isReset(now time.Time) bool {
	if g.sightings == 0 {
		g.lowerSince = now
	}
	g.sightings++
	return g.sightings >= 3 && now.Sub(g.lowerSince) >= g.scaled(time.Minute)
}

// backoff says how long to wait before the stream is tried again. (C2.12 to C2.15)
type backoff struct {
	scaled   func(time.Duration) time.Duration
	first    time.Duration // the first delay, which the server may set
	failures int
}

// after gives the wait after one more failure: full jitter on a delay that
// doubles to 30 s; after a refusal, one to 5 min of which the upper half is
// random. It comes on top of what the server asked for.
func (b *backoff) after(err *Error) time.Duration {
	double := func(first, limit time.Duration) float64 {
		return float64(min(first<<min(b.failures, 16), limit))
	}
	var delay float64
	if err.isRefusal() {
		delay = double(b.scaled(time.Minute), b.scaled(5*time.Minute)) * (0.5 + rand.Float64()/2)
	} else {
		delay = double(b.first, b.scaled(30*time.Second)) * rand.Float64()
	}
	b.failures++
	return err.RetryAfter + time.Duration(delay)
}
