package halyard

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"time"
)

// pollIn asks REST in d, but not before the time that REST itself has named.
func (f *follower) pollIn(d time.Duration) { f.poll.set(max(d, time.Until(f.restAt))) }

// interval is how long until REST is asked again: a tenth more or less, so
// that clients spread.
func (f *follower) interval(err *Error) time.Duration {
	d := pollEvery
	if err.isRefusal() {
		d = refusedPoll
	}
	return time.Duration(float64(f.o.scaled(d)) * (0.9 + rand.Float64()/5))
}

// askREST asks for all flags, and plans the next time.
func (f *follower) askREST() {
	asked := 0 // the stream that was open
	if f.isOpen {
		asked = f.streams
	}
	f.isAsked = true
	tick, etag := f.gate.tick(), f.etag
	f.work.Go(func() {
		answer, err := f.load(etag)
		f.post(func() { f.takeAnswer(answer, err, tick, asked) })
	})
}

// answer is what REST says.
type answer struct {
	flags    flagMap // nil if nothing has changed
	rejected []string
	revision int64
	etag     string
	isStale  bool // whether the node said that it cannot know whether this is current
}

// load reads all flags of the environment. (C2.9)
func (c *Client) load(etag string) (result answer, err error) {
	err = c.get(c.ctx, "/v1/flags", etag, func(response *http.Response, open *body) error {
		result.revision, result.etag = revisionOf(response), response.Header.Get("ETag")
		result.isStale = len(response.Header.Values("X-Flags-Stale")) > 0
		if response.StatusCode == http.StatusNotModified {
			return nil
		}

		data, err := open.all()
		if err != nil {
			return err
		}
		var failure *Error
		if result.flags, result.rejected, failure = parseAnswer(data, c.o.Environment); failure != nil {
			return failure
		}
		return nil
	})
	return result, err
}

// parseAnswer reads the flags of an answer; one for another environment is refused.
func parseAnswer(data []byte, environment string) (flagMap, []string, *Error) {
	var members map[string]json.RawMessage
	var named any
	if json.Unmarshal(data, &members) != nil || members["flags"] == nil {
		return nil, nil, &Error{Code: InvalidResponse, Message: "it is not a flag map"}
	}
	if name, ok := members["environment"]; ok && (json.Unmarshal(name, &named) != nil || named != nil && named != environment) {
		return nil, nil, &Error{Code: InvalidResponse, Message: "it is of another environment"}
	}
	return parseMap(members["flags"])
}

// takeAnswer takes in what REST said to a request that was made while the
// stream asked was open.
func (f *follower) takeAnswer(a answer, thrown error, tick, asked int) {
	var err *Error
	if thrown != nil {
		err = f.o.safe(thrown, NetworkError)
		f.isCurrent = false
		if f.streamErr == nil || err.Code != f.streamErr.Code {
			f.fail(err)
		}
		f.restAt = time.Now().Add(err.RetryAfter)
	} else {
		f.o.Logger.Debug("halyard: flags loaded", "environment", f.o.Environment, "revision", a.revision)
		offered := offer{revision: a.revision, askedAt: tick, isSighting: !f.isLive && !a.isStale}
		isCurrent := f.offer(a.flags, a.rejected, offered, a.etag) != keep && !a.isStale
		f.isCurrent = isCurrent || f.isLive
		if !f.isLive {
			// An answer says that the map is current, but only for a while.
			if isCurrent {
				f.confirm()
			}
			f.lapseIn(f.o.StaleAfter + 2*f.o.scaled(pollEvery))
		}
	}
	if f.isLive {
		return
	}

	isRepeated := f.hasFailed
	f.hasFailed = err != nil
	switch {
	case f.isCurrent && asked != 0 && f.isOpen && asked == f.streams:
		f.goLive()
	// The stream may have asked for another poll since, which came before REST's own delay was known.
	case !f.poll.isSet || err != nil && err.RetryAfter > 0:
		f.pollIn(f.interval(err))
	}

	// A stream that is open may bring nothing for ever, so REST's second failure in a row is enough by itself.
	if err != nil && (f.streamErr != nil || isRepeated) {
		f.giveUp()
	}
}
