// Package provider makes a Halyard client a provider of OpenFeature.
//
//	flags := provider.New(halyard.Options{APIKey: os.Getenv("HALYARD_KEY"), Environment: "production"})
//	err := openfeature.SetProviderAndWait(flags)
package provider

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/open-feature/go-sdk/openfeature"

	halyard "github.com/halyard-flags/halyard/clients/go"
)

// Provider answers OpenFeature's reads from the memory of a client.
type Provider struct {
	options *halyard.Options // nil if the client is the application's
	events  chan openfeature.Event

	mu     sync.RWMutex
	client *halyard.Client
	end    func() // ends what Init began; nil before it
}

var (
	_ openfeature.FeatureProvider          = (*Provider)(nil)
	_ openfeature.ContextAwareStateHandler = (*Provider)(nil)
	_ openfeature.EventHandler             = (*Provider)(nil)
)

// New makes a provider with a client of its own, which connects when the
// provider is set and is closed when it is shut down.
func New(options halyard.Options) *Provider {
	return &Provider{options: &options, events: make(chan openfeature.Event)}
}

// Wrap makes a provider of a client that stays the application's, which closes it.
func Wrap(client *halyard.Client) *Provider {
	return &Provider{client: client, events: make(chan openfeature.Event)}
}

// Client gives the client below the provider; nil before the provider is set.
func (p *Provider) Client() *halyard.Client {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.client
}

// Format prints the provider without the key, whatever the verb.
func (p *Provider) Format(state fmt.State, _ rune) { fmt.Fprint(state, "halyard.Provider") }

// Metadata names the provider.
func (p *Provider) Metadata() openfeature.Metadata { return openfeature.Metadata{Name: "halyard"} }

// Hooks gives none: those of the API, of clients and of reads hear of each read.
func (p *Provider) Hooks() []openfeature.Hook { return nil }

// EventChannel gives the channel of the provider's events.
func (p *Provider) EventChannel() <-chan openfeature.Event { return p.events }

// Init is InitWithContext without a context.
func (p *Provider) Init(evaluation openfeature.EvaluationContext) error {
	return p.InitWithContext(context.Background(), evaluation)
}

// InitWithContext waits for the first load, at most Options.ReadyTimeout. After
// an error the provider becomes ready later, if the cause passes. (C3.6)
func (p *Provider) InitWithContext(ctx context.Context, _ openfeature.EvaluationContext) error {
	p.stop()
	events := &emitter{provider: p, settled: make(chan struct{}), ended: make(chan struct{})}
	p.mu.Lock()
	if p.options != nil {
		p.client = halyard.New(*p.options)
	}

	client := p.client
	unsubscribe := client.Subscribe(events.hear)
	p.end = sync.OnceFunc(func() {
		unsubscribe()
		close(events.ended)
	})
	p.mu.Unlock()

	err := client.Ready(ctx)
	if err == nil || client.Status() != halyard.Connecting {
		events.wait() // for the status that ended the load
	}
	if status := events.begin(); status == halyard.Ready || status == halyard.Stale {
		return nil
	}
	for _, fatal := range []error{halyard.InvalidAPIKey, halyard.EnvironmentNotFound, halyard.InvalidOptions} {
		if errors.Is(err, fatal) {
			return &openfeature.ProviderInitError{ErrorCode: openfeature.ProviderFatalCode, Message: err.Error()}
		}
	}
	return err
}

// Shutdown ends the provider, and its client if the provider made it.
func (p *Provider) Shutdown() {
	p.stop()
	if client := p.Client(); p.options != nil && client != nil {
		_ = client.Close() // always nil
	}
}

// ShutdownWithContext is Shutdown, which waits no longer than the context.
func (p *Provider) ShutdownWithContext(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		p.Shutdown()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop ends what an earlier Init began.
func (p *Provider) stop() {
	p.mu.Lock()
	end := p.end
	p.end = nil
	p.mu.Unlock()
	if end != nil {
		end()
	}
}

// emitter turns the events of a client into those of the provider. What it
// hears during the initialization says how that ended; the SDK itself tells.
type emitter struct {
	provider *Provider
	settled  chan struct{} // closed when the first load has ended
	ended    chan struct{}

	mu       sync.Mutex
	hasBegun bool
	status   halyard.Status
}

func (e *emitter) hear(event halyard.Event) {
	e.mu.Lock()
	hasBegun := e.hasBegun
	if event.Kind == halyard.StatusChanged {
		e.status = event.Status
		if !hasBegun && event.Status != halyard.Connecting {
			e.hasBegun = true
			close(e.settled)
		}
	}
	e.mu.Unlock()

	switch {
	case !hasBegun:
	case event.Kind == halyard.StatusChanged:
		e.tell(event.Status)
	case event.Kind == halyard.FlagsChanged:
		e.emit(openfeature.ProviderConfigChange, openfeature.ProviderEventDetails{FlagChanges: event.Changed})
	}
}

// wait waits until the first load has ended, or the provider.
func (e *emitter) wait() {
	select {
	case <-e.settled:
	case <-e.ended:
	}
}

// begin ends the initialization, and gives the status that was heard in it. A
// bootstrap ends it while the client is still stale, which the SDK concludes to
// be ready: that is put right once the SDK has told so.
func (e *emitter) begin() halyard.Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hasBegun = true
	if e.status == halyard.Stale {
		time.AfterFunc(50*time.Millisecond, func() {
			e.mu.Lock()
			isStale := e.status == halyard.Stale
			e.mu.Unlock()
			if isStale {
				e.tell(halyard.Stale)
			}
		})
	}
	return e.status
}

func (e *emitter) tell(status halyard.Status) {
	switch status {
	case halyard.Ready:
		e.emit(openfeature.ProviderReady, openfeature.ProviderEventDetails{})
	case halyard.Stale:
		e.emit(openfeature.ProviderStale, openfeature.ProviderEventDetails{})
	case halyard.Failed:
		e.emit(openfeature.ProviderError, openfeature.ProviderEventDetails{
			Message: "no flags have been loaded", ErrorCode: openfeature.GeneralCode})
	case halyard.Closed: // the application closed its client; reads go on with the flags that it had
		e.emit(openfeature.ProviderStale, openfeature.ProviderEventDetails{Message: "the client is closed"})
	}
}

func (e *emitter) emit(kind openfeature.EventType, details openfeature.ProviderEventDetails) {
	event := openfeature.Event{ProviderName: "halyard", EventType: kind, ProviderEventDetails: details}
	select {
	case e.provider.events <- event:
	case <-e.ended:
	}
}
