package halyard

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// EventKind is what an [Event] says.
type EventKind int

const (
	StatusChanged EventKind = iota // the client has another status
	FlagsChanged                   // flags were added, changed or removed
	Failure                        // something failed; the client goes on trying
)

// Event is something that happened to a client.
type Event struct {
	Kind   EventKind
	Status Status // the new one, with StatusChanged
	// Changed lists the flags that were added, changed or removed, and
	// Revision is that of the flags or -1, with FlagsChanged.
	Changed  []string
	Revision int64
	Err      error // an *Error, with Failure
}

// listener is one subscription. Each has a queue and a goroutine, so that one
// that is slow or panics disturbs neither the client nor the others.
type listener struct {
	tell  func(Event)
	mu    sync.Mutex
	queue []Event
	wake  chan struct{} // has room for one
	ended chan struct{}
	end   sync.Once
}

// Subscribe calls tell with the status of now and then with each event, one
// after the other, in a goroutine of its own. The flags of an event can be read
// by the time that tell hears of it. It ends with the function that it returns,
// and after the event that the client is closed.
func (c *Client) Subscribe(tell func(Event)) (stop func()) {
	l := &listener{tell: tell, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	l.add(Event{Kind: StatusChanged, Status: c.Status()})
	c.listeners[l] = struct{}{}
	go c.deliver(l)
	return func() {
		l.end.Do(func() { close(l.ended) })
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.listeners, l)
	}
}

// publish hands an event to every listener. It is called with c.mu held.
func (c *Client) publish(event Event) {
	for l := range c.listeners {
		l.add(event)
	}
}

// add puts an event into the queue, which stays short however slow the
// listener is: changes that follow one another become one, and failures are
// left out.
func (l *listener) add(event Event) {
	const room = 64
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.queue) - 1
	switch {
	case last >= 0 && event.Kind == FlagsChanged && l.queue[last].Kind == FlagsChanged:
		keys := slices.Concat(l.queue[last].Changed, event.Changed)
		slices.Sort(keys)
		event.Changed = slices.Compact(keys)
		l.queue[last] = event
	case last < room || event.Kind != Failure:
		l.queue = append(l.queue, event)
	}

	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// deliver calls a listener until it ends.
func (c *Client) deliver(l *listener) {
	for {
		select {
		case <-l.ended:
			return
		case <-l.wake:
		}

		l.mu.Lock()
		events := l.queue
		l.queue = nil
		l.mu.Unlock()

		for _, event := range events {
			select {
			case <-l.ended:
				return
			default:
			}
			c.guard(func() { l.tell(event) })
			if event.Kind == StatusChanged && event.Status == Closed {
				return
			}
		}
	}
}

// guard runs a function of the application; its panic is reported.
func (c *Client) guard(run func()) {
	defer func() {
		if thrown := recover(); thrown != nil {
			message := c.o.redact(fmt.Sprintf("a listener panicked: %v", thrown))
			c.warn(string(ListenerError), &Error{Code: ListenerError, Message: message})
		}
	}()
	run()
}

// tell hands a read to the application's listener.
func (c *Client) tell(result Evaluation) {
	result.Value = copied(result.Value)
	c.guard(func() { c.o.OnRead(result) })
}

// report brings a failure to the listeners and to the log. A closed client
// reports nothing.
func (c *Client) report(err *Error) {
	if c.ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	c.publish(Event{Kind: Failure, Err: err})
	c.mu.Unlock()

	kind := string(err.Code)
	if err.Status != 0 {
		kind = fmt.Sprint(err.Status) // the codes of a server have no end, but its statuses have
	}
	c.warn(kind, err)
}

// reportOnce reports a failure that belongs to a flag once.
func (c *Client) reportOnce(err *Error) {
	if _, isKnown := c.reported.LoadOrStore([2]string{string(err.Code), err.FlagKey}, true); !isKnown {
		c.report(err)
	}
}

// warnUntargeted says once for each flag that its rollout needs a target.
func (c *Client) warnUntargeted(key string) {
	if _, isKnown := c.reported.LoadOrStore(key, true); !isKnown {
		c.o.Logger.Warn("halyard: the flag has a partial rollout: name a target", "flag", key)
	}
}

// warn logs a failure unless one of its kind was logged within a minute.
func (c *Client) warn(kind string, err *Error) {
	c.mu.Lock()
	isQuiet := time.Now().Before(c.quiet[kind])
	if !isQuiet {
		c.quiet[kind] = time.Now().Add(time.Minute)
	}
	c.mu.Unlock()

	if !isQuiet {
		c.o.Logger.Warn(err.Error(), "environment", c.o.Environment, "docs", err.Docs)
	}
}
