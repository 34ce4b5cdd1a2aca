// Package halyard reads feature flags of Halyard from memory. A [Client]
// follows the flags of one environment over a stream, so that a read is a look
// into a map: it never waits, never fails and allocates nothing.
//
//	flags := halyard.New(halyard.Options{APIKey: os.Getenv("HALYARD_KEY"), Environment: "production"})
//	defer flags.Close()
//	if err := flags.Ready(ctx); err != nil {
//		slog.Warn("starting with defaults", "error", err)
//	}
//	if flags.Enabled("new-checkout", halyard.For(user.ID)) {
//		...
//	}
//
// The client never stops trying: whatever happens to the service or the
// network, it reconnects on its own, and reads go on with the flags that it
// has. The package provider beside this one makes it a provider of OpenFeature.
package halyard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Status is where a client stands.
type Status int32

const (
	Connecting Status = iota // no flags yet, the first load is under way
	Ready                    // the flags are current
	Stale                    // the flags may be out of date, and the client is reconnecting
	Failed                   // the first load failed, and there are still no flags
	Closed                   // the client is closed
)

// String gives the name of the status.
func (s Status) String() string {
	if s < Connecting || s > Closed {
		return fmt.Sprintf("Status(%d)", int32(s))
	}
	return [...]string{"connecting", "ready", "stale", "failed", "closed"}[s]
}

// Client holds the flags of one environment. Make it with [New]; all methods
// may be called from any goroutine.
type Client struct {
	o       Options
	invalid *Error // what is wrong with the options

	flags    atomic.Pointer[flagMap] // nil until there are any
	status   atomic.Int32
	revision atomic.Int64
	failure  atomic.Pointer[Error] // the last one, until something succeeds
	usage    usage

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	work    sync.WaitGroup // every goroutine but those of listeners
	hasSeed bool           // whether there were flags before the first load

	isLoaded atomic.Bool // whether the server has sent flags

	mu        sync.Mutex // guards what follows, and the order of events
	settled   chan struct{}
	listeners map[*listener]struct{}
	quiet     map[string]time.Time // kinds of warnings, by when they may be logged again
	reported  sync.Map             // what is reported once for each flag
}

// New makes a client, which connects at once. It never fails: a client whose
// options cannot work is [Failed], and [Client.Ready] says why.
func New(options Options) *Client {
	c := &Client{
		o: options, settled: make(chan struct{}),
		listeners: map[*listener]struct{}{}, quiet: map[string]time.Time{},
	}
	c.invalid = c.o.resolve()
	c.revision.Store(noRevision)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.usage.client = c

	if c.invalid != nil {
		c.status.Store(int32(Failed))
		c.report(c.invalid)
		return c
	}

	if seed := c.loadSeed(); seed != nil {
		c.flags.Store(&seed)
		c.hasSeed = true
		c.status.Store(int32(Stale))
	}
	follow(c)
	return c
}

// Ready waits for the first load, at most Options.ReadyTimeout. It returns nil
// as soon as there are flags, also those of an earlier run or a bootstrap: then
// the status is [Stale]. After an error the client goes on trying.
func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.o.ReadyTimeout)
	defer cancel()
	c.mu.Lock()
	settled := c.settled
	c.mu.Unlock()

	if c.invalid == nil && c.flags.Load() == nil {
		select {
		case <-settled:
		case <-c.ctx.Done():
		case <-ctx.Done():
		}
	}

	failure := c.failure.Load()
	switch status := c.Status(); {
	case c.invalid != nil:
		return c.invalid
	case status == Closed:
		return &Error{Code: ClientClosed, Message: "the client is closed"}
	case c.flags.Load() != nil:
		return nil
	case status == Failed && failure != nil:
		return failure
	case failure != nil:
		return &Error{Code: Timeout, Message: "no flags in time: " + failure.Message, cause: errors.Join(failure, ctx.Err())}
	}
	return &Error{Code: Timeout, Message: "no flags in time", cause: ctx.Err()}
}

// Status tells where the client stands.
func (c *Client) Status() Status { return Status(c.status.Load()) }

// Revision gives the revision of the flags; it is not ok until the server has
// sent flags, and where it does not number them.
func (c *Client) Revision() (revision int64, ok bool) {
	revision = c.revision.Load()
	return revision, revision != noRevision
}

// Environment gives the environment that the client reads.
func (c *Client) Environment() string { return c.o.Environment }

// Close ends everything: connections, timers, goroutines. It sends the last
// report of reads, if the project asks for reports, and waits a second for it
// at most. Reads go on with the flags that the client has. It always returns nil.
func (c *Client) Close() error {
	c.become(Closed)
	c.cancel()

	ended := make(chan struct{})
	go func() {
		c.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(2 * time.Second): // a transport that ignores its context holds up nothing
	}
	if c.o.ownsTransport {
		c.o.HTTPClient.CloseIdleConnections()
	}
	return nil
}

// Format prints the client without its key, whatever the verb.
func (c *Client) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "halyard.Client(environment=%s, status=%s)", c.o.Environment, c.Status())
}

// LogValue gives a logger the client without its key.
func (c *Client) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// become changes the status. A client that had flags at the start is Stale
// where another one would be Failed.
func (c *Client) become(status Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if status == Failed && c.hasSeed {
		status = Stale
	}
	if before := c.Status(); before == status || before == Closed {
		return
	}
	c.status.Store(int32(status))
	close(c.settled)
	c.settled = make(chan struct{})
	c.publish(Event{Kind: StatusChanged, Status: status})
}
