package halyard

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of reports. (C7.2, C7.4)
const (
	leastUsage    = time.Minute // between two reports, whatever the server says
	maxUsageFlags = 1_000
	maxUsageCount = 1_000_000_000
	lastUsage     = time.Second // how long the last report may take
)

// usage counts reads and reports them, once the server has asked for it.
type usage struct {
	client   *Client
	isAsked  atomic.Bool
	interval atomic.Int64
	mu       sync.Mutex
	counts   map[string]*reads
	isOn     bool // whether the goroutine runs
}

// count lets the flags of a map have their counts; those of a key last as long
// as the client. Only the loop calls it, before reads see the map.
func (u *usage) count(flags flagMap) {
	if u.client.o.DisableUsage {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.counts == nil {
		u.counts = make(map[string]*reads, len(flags))
	}
	for key, state := range flags {
		if state.reads != nil {
			continue
		}
		if u.counts[key] == nil {
			u.counts[key] = new(reads)
		}
		state.reads = u.counts[key]
	}
}

func (f *flag) count(isOn bool) {
	switch {
	case f.reads == nil:
	case isOn:
		f.reads.on.Add(1)
	default:
		f.reads.off.Add(1)
	}
}

// hear notes that the server asks for reports, so many seconds apart.
func (u *usage) hear(text string) {
	if text == "" || u.client.o.DisableUsage {
		return
	}
	seconds, _ := strconv.ParseUint(text, 10, 24)
	u.interval.Store(int64(max(time.Duration(seconds)*time.Second, leastUsage)))

	u.mu.Lock()
	defer u.mu.Unlock()
	u.isAsked.Store(true)
	if !u.isOn && u.client.ctx.Err() == nil {
		u.isOn = true
		u.client.work.Go(u.run)
	}
}

// run sends reports until the server wants no more, and the last one when the
// client is closed.
func (u *usage) run() {
	c := u.client
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(c.ctx, func() { time.AfterFunc(lastUsage, cancel) })()

	for isOver := false; !isOver; {
		// A tenth later at most, so that clients spread.
		pause := float64(c.o.scaled(time.Duration(u.interval.Load()))) * (1 + rand.Float64()/10)
		select {
		case <-time.After(time.Duration(pause)):
		case <-c.ctx.Done():
			isOver = true
		}
		if !u.send(ctx) {
			return
		}
	}
}

// counted is how often a flag was read.
type counted struct {
	On  int64 `json:"on"`
	Off int64 `json:"off"`
}

// send sends what was counted, in reports of a size that servers accept. It is
// false when the server wants no more.
func (u *usage) send(ctx context.Context) bool {
	for more := true; more; {
		var flags map[string]counted
		flags, more = u.collect()
		if len(flags) == 0 {
			return true
		}

		switch u.post(ctx, flags) {
		case http.StatusNoContent, http.StatusBadRequest: // one that is refused would be refused again
		case http.StatusUnauthorized, http.StatusNotFound, http.StatusMethodNotAllowed:
			u.mu.Lock()
			defer u.mu.Unlock()
			u.isAsked.Store(false)
			u.isOn = false
			return false
		default:
			u.giveBack(flags)
			return true
		}
	}
	return true
}

// collect takes the counts of a report.
func (u *usage) collect() (flags map[string]counted, more bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	flags = map[string]counted{}
	for key, reads := range u.counts {
		if reads.on.Load() == 0 && reads.off.Load() == 0 {
			continue
		}
		if len(flags) == maxUsageFlags {
			return flags, true
		}
		flags[key] = counted{On: min(reads.on.Swap(0), maxUsageCount), Off: min(reads.off.Swap(0), maxUsageCount)}
	}
	return flags, false
}

// giveBack puts counts that were not accepted into the next report.
func (u *usage) giveBack(flags map[string]counted) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for key, count := range flags {
		u.counts[key].on.Add(count.On)
		u.counts[key].off.Add(count.Off)
	}
}

// post sends one report; it gives the status of the answer, 0 without one.
func (u *usage) post(ctx context.Context, flags map[string]counted) int {
	c := u.client
	ctx, cancel := context.WithTimeout(ctx, c.o.RequestTimeout)
	defer cancel()
	report, _ := json.Marshal(map[string]any{"env": c.o.Environment, "flags": flags}) // strings and numbers
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.BaseURL+"/usage/v1", bytes.NewReader(report))
	if err != nil {
		return 0
	}

	c.setHeaders(request)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.o.HTTPClient.Do(request)
	if err != nil {
		return 0
	}

	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 4<<10)
	c.o.Logger.Debug("halyard: usage reported", "environment", c.o.Environment, "status", response.StatusCode)
	return response.StatusCode
}
