package halyard

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// Durations of following. (C2.11, C2.12, C2.15, C2.20)
const (
	firstPoll   = time.Second      // how long the first stream may take before REST is asked
	nextPoll    = 5 * time.Second  // the same for the stream that follows a live one
	pollEvery   = 30 * time.Second // between two answers of REST while there is no stream
	refusedPoll = 4 * time.Minute  // the same after REST has refused the key or the environment
	behind      = 4 * time.Second  // how long to stay with a node that is behind, and up to half as much again
	healthy     = time.Minute      // a stream that was open for this long makes the next failure a first one
)

// errLeft is why a stream ends that was left on purpose: its node is behind.
var errLeft = &Error{Code: StreamError, Message: "left"}

// timer is a timer that knows whether it runs.
type timer struct {
	*time.Timer
	isSet bool
}

func newTimer() timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return timer{Timer: t}
}

func (t *timer) set(d time.Duration) {
	t.Reset(d)
	t.isSet = true
}

func (t *timer) stop() {
	t.Stop()
	t.isSet = false
}

// follower keeps the flags of a client new until it is closed. One goroutine
// runs the loop and owns every member; requests and the stream have goroutines
// of their own, which post what they bring to the loop.
//
// There are two ways, and each has its own waits: whatever a server says about
// one of them never stops the other. The stream brings each change at once. It
// is live when its last map is the newest one. REST is asked while the stream
// is not live.
type follower struct {
	*Client
	inbox   chan func()
	gate    gate
	backoff backoff
	state   state

	poll, open, leave, lapse, save timer

	isAsked, hasFailed bool      // whether REST has been asked yet, and whether it failed the last time
	restAt             time.Time // when REST may be asked again, by its own Retry-After
	etag               string
	isCurrent          bool // whether the last answer, or the stream, left the newest flags

	streams     int  // how many streams were opened
	isOpen      bool // whether one is
	isLive      bool
	streamErr   *Error // why the last one ended, until one is live again
	leaveStream context.CancelCauseFunc
	rejected    map[string]bool
}

// follow starts to follow.
func follow(c *Client) {
	f := &follower{
		Client: c, inbox: make(chan func()), rejected: map[string]bool{}, state: state{client: c},
		gate:    gate{scaled: c.o.scaled},
		backoff: backoff{scaled: c.o.scaled, first: c.o.scaled(time.Second)},
		poll:    newTimer(), open: newTimer(), leave: newTimer(), lapse: newTimer(), save: newTimer(),
	}
	c.work.Go(f.run)
}

func (f *follower) run() {
	f.poll.set(f.o.scaled(firstPoll))
	f.openStream()
	for {
		select {
		case <-f.ctx.Done():
			f.saveNow(false)
			return
		case work := <-f.inbox:
			work()
		case <-f.poll.C:
			f.poll.isSet = false
			f.askREST()
		case <-f.open.C:
			f.openStream()
		case <-f.leave.C:
			f.leaveStream(errLeft)
		case <-f.lapse.C:
			f.lapse.isSet = false
			f.become(Stale)
			f.saveNow(false)
		case <-f.save.C:
			f.saveNow(true)
		}
	}
}

// post hands work to the loop, unless the client is closed.
func (f *follower) post(work func()) {
	select {
	case f.inbox <- work:
	case <-f.ctx.Done():
	}
}

// openStream opens a stream; its end is handed to the loop.
func (f *follower) openStream() {
	ctx, cancel := context.WithCancelCause(f.ctx)
	f.leaveStream = cancel
	f.work.Go(func() {
		defer cancel(nil)
		var opened time.Time
		err := f.runStream(ctx, &opened)
		f.post(func() { f.lose(err, opened) })
	})
}

func (f *follower) streamOpened(revision int64) {
	f.o.Logger.Debug("halyard: stream opened", "environment", f.o.Environment, "revision", revision)
	f.streams++
	f.isOpen = true
	if revision == noRevision {
		f.pollIn(0) // no first frame is promised
	}
}

func (f *follower) takeFrame(flags flagMap, rejected []string, offered offer) {
	if f.offer(flags, rejected, offered, "") != keep {
		f.leave.stop()
		f.goLive()
	} else if !f.leave.isSet {
		f.leave.set(time.Duration(float64(f.o.scaled(behind)) * (1 + rand.Float64()/2)))
	}
}

// goLive notes that the stream's last map is the newest one.
func (f *follower) goLive() {
	f.isLive, f.isAsked, f.hasFailed, f.streamErr = true, true, false, nil
	f.poll.stop()
	f.confirm()
}

// lose handles the end of a stream, and plans the next one. err is nil if the
// server closed it in good order.
func (f *follower) lose(err error, opened time.Time) {
	f.o.Logger.Debug("halyard: stream ended", "environment", f.o.Environment)
	wasLive := f.isLive
	f.isLive, f.isOpen = false, false
	f.leave.stop()
	f.lapseIn(f.o.StaleAfter)

	if err == errLeft {
		if !f.poll.isSet {
			f.pollIn(f.interval(nil))
		}
		f.open.set(0)
		return
	}

	isHealthy := !opened.IsZero() && time.Since(opened) >= f.o.scaled(healthy)
	failure := &Error{Code: StreamError, Message: "the stream ended"}
	if err != nil {
		failure = f.o.safe(err, NetworkError)
	}
	f.streamErr = failure

	switch {
	case !f.isAsked:
		f.pollIn(0)
	case !f.poll.isSet && wasLive:
		f.pollIn(f.o.scaled(nextPoll))
	case !f.poll.isSet:
		f.pollIn(f.interval(nil))
	}

	// Silence was slow enough by itself to begin again quickly.
	if isHealthy || !opened.IsZero() && failure.Code == Timeout {
		f.backoff.failures = 0
	}
	f.open.set(f.backoff.after(failure))

	// A long stream that the server closes is not an error.
	if !isHealthy || err != nil {
		f.fail(failure)
	}
	if f.hasFailed {
		f.giveUp()
	}
}

// offer takes a map unless the one at hand is newer. Without a map, the one at
// hand has that revision, too. (C2.19)
func (f *follower) offer(flags flagMap, rejected []string, offered offer, etag string) verdict {
	result := f.gate.judge(offered, time.Now())
	if result == keep {
		return keep
	}
	if offered.revision != noRevision {
		f.revision.Store(offered.revision)
	}
	if flags == nil {
		return result
	}

	var before flagMap
	if flags := f.flags.Load(); flags != nil {
		before = *flags
	}
	changed := reconcile(before, flags)
	f.usage.count(flags)
	if len(changed) > 0 || before == nil {
		f.flags.Store(&flags)
	}
	f.failure.Store(nil)
	f.etag = etag

	if len(changed) > 0 {
		slices.Sort(changed)
		f.mu.Lock()
		f.publish(Event{Kind: FlagsChanged, Changed: changed, Revision: offered.revision})
		f.mu.Unlock()
		f.saveSoon()
	}
	if !f.isLoaded.Swap(true) {
		if offered.isSighting {
			f.confirm()
		} else {
			f.become(Stale)
		}
	}

	if result == reset {
		f.report(&Error{Code: RevisionReset, Message: "the revisions restarted lower"})
	}
	for _, key := range rejected {
		if !f.rejected[key] {
			f.rejected[key] = true
			f.report(&Error{Code: InvalidResponse, Message: "it is not a flag state", FlagKey: key})
		}
	}
	return result
}

// confirm marks the map current until lapseIn.
func (f *follower) confirm() {
	f.lapse.stop()
	if f.Status() != Ready {
		f.become(Ready)
		f.saveNow(true)
	}
}

// lapseIn marks the map stale in d, counted from the first call, unless it is
// confirmed. (C3.3)
func (f *follower) lapseIn(d time.Duration) {
	if f.Status() == Ready && !f.lapse.isSet {
		f.lapse.set(d)
	}
}

// giveUp marks the first load as failed, unless there is a map.
func (f *follower) giveUp() {
	if f.Status() == Connecting {
		f.become(Failed)
	}
}

// fail notes a failure and reports it.
func (f *follower) fail(err *Error) {
	f.failure.Store(err)
	f.report(err)
}
