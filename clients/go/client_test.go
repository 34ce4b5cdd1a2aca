package halyard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/open-feature/go-sdk/openfeature"
	"github.com/open-feature/go-sdk/openfeature/hooks"

	halyard "github.com/halyard-flags/halyard/clients/go"
	"github.com/halyard-flags/halyard/clients/go/provider"
)

const key = "proj_live_a_secret_of_the_tests"

var quiet = slog.New(slog.DiscardHandler)

// service is a flag service whose map is the text that was sent to it last.
func service(t testing.TB, frame string) (options halyard.Options, next func(string)) {
	t.Helper()
	var mu sync.Mutex
	frames, changed := []string{frame}, make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/stream" {
			http.Error(w, "{}", http.StatusNotFound)
			return
		}
		mu.Lock()
		sent := len(frames) - 1
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Flags-Revision", fmt.Sprint(sent+1))
		for {
			mu.Lock()
			more, wake := frames[sent:], changed
			mu.Unlock()
			for _, frame := range more {
				fmt.Fprintf(w, "data: %s\n\n", frame)
			}
			sent += len(more)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-wake:
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	next = func(frame string) {
		mu.Lock()
		defer mu.Unlock()
		frames = append(frames, frame)
		close(changed)
		changed = make(chan struct{})
	}
	return halyard.Options{APIKey: key, Environment: "production", BaseURL: server.URL, Logger: quiet}, next
}

// open makes a client that is ready.
func open(t testing.TB, options halyard.Options) *halyard.Client {
	t.Helper()
	client := halyard.New(options)
	t.Cleanup(func() { _ = client.Close() })
	if err := client.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	return client
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	if until(5*time.Second, func() string {
		if holds() {
			return ""
		}
		return what
	}) != "" {
		t.Fatal(what)
	}
}

const allKinds = `{"on":{"enabled":true},"off":{"enabled":false,"value":"x"},"text":{"enabled":true,"value":"x"},
"whole":{"enabled":true,"value":7},"half":{"enabled":true,"value":7.5},"huge":{"enabled":true,"value":1e300},
"null":{"enabled":true,"value":null},"object":{"enabled":true,"value":{"list":[1,{"a":true}]}},
"list":{"enabled":true,"value":[1]},"false":{"enabled":true,"value":false},"split":{"enabled":true,"rolloutPct":50},
"__proto__":{"enabled":true,"value":"p"}}`

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "") }

func TestReads(t *testing.T) {
	options, _ := service(t, oneLine(allKinds))
	client := open(t, options)
	check := func(what string, found, want any) {
		t.Helper()
		if fmt.Sprintf("%T %v", found, found) != fmt.Sprintf("%T %v", want, want) {
			t.Errorf("%s is %v, want %v", what, found, want)
		}
	}
	check("on", client.Enabled("on"), true)
	check("off", client.Enabled("off"), false)
	check("none", client.Enabled("none"), false)
	check("text", halyard.Value(client, "text", ""), "x")
	check("text that is off", halyard.Value(client, "off", "d"), "d")
	check("__proto__", halyard.Value(client, "__proto__", ""), "p")
	check("whole", halyard.Value(client, "whole", 1), 7)
	check("whole as int64", halyard.Value(client, "whole", int64(1)), int64(7))
	check("whole as float", halyard.Value(client, "whole", 1.5), 7.0)
	check("half", halyard.Value(client, "half", 1.5), 7.5)
	check("half as int", halyard.Value(client, "half", 1), 1)
	check("huge as int", halyard.Value(client, "huge", 1), 1)
	check("text as int", halyard.Value(client, "text", 1), 1)
	check("false", halyard.Value(client, "false", true), false)
	check("null", halyard.Value(client, "null", "d"), "d")
	check("no value", halyard.Value(client, "on", "d"), "d")
	check("object", halyard.Value(client, "object", map[string]any{})["list"], []any{1.0, map[string]any{"a": true}})
	check("list", halyard.Value(client, "list", []any{}), []any{1.0})
	check("ana", client.Enabled("split", halyard.For("ana")), client.Enabled("split", halyard.For("ana")))
	check("untargeted", client.Evaluate("split").Reason, halyard.ReasonUntargeted)
	check("untargeted is on", client.Enabled("split"), true)
	check("anonymous", client.Enabled("split", halyard.Anonymous()), false)
	null := client.Evaluate("null")
	check("null", fmt.Sprint(null.Value, null.HasValue), "<nil> true")
	check("none", client.Evaluate("none").Reason, halyard.ReasonNotFound)
}

// What a read gives out cannot change the map in memory. (C1.11)
func TestValuesAreCopies(t *testing.T) {
	options, _ := service(t, oneLine(allKinds))
	client := open(t, options)
	damage := func(value any) {
		object := value.(map[string]any)
		object["list"].([]any)[1].(map[string]any)["a"] = false
		delete(object, "list")
	}
	damage(halyard.Value(client, "object", map[string]any{}))
	damage(client.Evaluate("object").Value)
	if text := fmt.Sprint(client.Evaluate("object").Value); text != "map[list:[1 map[a:true]]]" {
		t.Error(text)
	}
}

func TestReadsAllocateNothing(t *testing.T) {
	options, _ := service(t, oneLine(allKinds))
	client := open(t, options)
	for name, read := range map[string]func(){
		"Enabled":            func() { client.Enabled("on") },
		"Enabled for a user": func() { client.Enabled("split", halyard.For("ana")) },
		"Value, text":        func() { halyard.Value(client, "text", "") },
		"Value, number":      func() { halyard.Value(client, "half", 1.5) },
		"Value, whole":       func() { halyard.Value(client, "whole", 1) },
		"Evaluate":           func() { client.Evaluate("text", halyard.For("ana")) },
	} {
		if count := testing.AllocsPerRun(100, read); count != 0 {
			t.Errorf("%s: %v allocations", name, count)
		}
	}
}

func TestTenThousandTargets(t *testing.T) {
	var targets []struct {
		FlagKey, TargetingKey string
		RolloutPct            float64
		IsIn                  bool
	}
	ask(t, "GET", "/targets?seed=1&count=10000", &targets)
	wrong := 0
	for _, target := range targets {
		if halyard.IsInRollout(target.FlagKey, target.TargetingKey, target.RolloutPct) != target.IsIn {
			wrong++
		}
	}
	if len(targets) != 10_000 || wrong > 0 {
		t.Errorf("%d of %d targets have another answer", wrong, len(targets))
	}
}

// The key is in nothing that is printed, logged or encoded. (C5.1)
func TestTheKeyIsShownNowhere(t *testing.T) {
	var log bytes.Buffer
	options := halyard.Options{APIKey: " " + key + "\n", Environment: "production", BaseURL: "http://127.0.0.1:1"}
	options.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	options.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("cannot send %v", r.Header)
	})}
	client := halyard.New(options)
	err := client.Ready(context.Background())
	_ = client.Close()
	of := provider.New(options)
	options.Logger.Warn("all of it", "options", options, "client", client, "provider", of, "error", err)
	slog.New(slog.NewTextHandler(&log, nil)).Warn("all of it", "options", options, "client", client, "provider", of)
	encoded, _ := json.Marshal([]any{client, of, err})
	text := log.String() + string(encoded)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		text += fmt.Sprintf(verb+verb+verb+verb+verb, options, &options, client, of, err)
	}
	if err == nil || strings.Contains(text, key) || strings.Contains(text, fmt.Sprintf("%x", key)) {
		t.Error(text)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestErrorsAreKnownByTheirCodes(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	client := halyard.New(halyard.Scaled(halyard.Options{
		APIKey: key, Environment: "production", BaseURL: closed.URL, Logger: quiet, ReadyTimeout: 5 * time.Second}, 0.02))
	defer client.Close()
	err := client.Ready(context.Background())
	var failure *halyard.Error
	if !errors.Is(err, halyard.NetworkError) || !errors.Is(err, syscall.ECONNREFUSED) || !errors.As(err, &failure) {
		t.Errorf("%v", err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	waiting := halyard.New(halyard.Options{APIKey: key, Environment: "production", BaseURL: closed.URL, Logger: quiet})
	defer waiting.Close()
	if err := waiting.Ready(ctx); !errors.Is(err, halyard.Timeout) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	for _, options := range []halyard.Options{
		{Environment: "production"},
		{APIKey: "a b", Environment: "production"},
		{APIKey: key},
		{APIKey: key, Environment: "\xff"},
		{APIKey: key, Environment: "production", BaseURL: "flags.example.com"},
		{APIKey: key, Environment: "production", BaseURL: "ftp://127.0.0.1"},
		{APIKey: key, Environment: "production", BaseURL: "http://flags.example.com"},
		{APIKey: key, Environment: "production", BaseURL: "http://127.0.0.1.example.com"},
		{APIKey: key, Environment: "production", BaseURL: "https://user:secret@127.0.0.1"},
		{APIKey: key, Environment: "production", BaseURL: "https://127.0.0.1/?a"},
	} {
		options.Logger = quiet
		client := halyard.New(options)
		err := client.Ready(context.Background())
		if !errors.Is(err, halyard.InvalidOptions) || client.Status() != halyard.Failed || client.Enabled("a") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %v", options, err)
		}
		if err := openfeature.SetNamedProviderAndWait(t.Name(), provider.New(options)); err == nil {
			t.Error("the provider is ready")
		}
		_ = client.Close()
	}
}

// A proxy of the environment gets no plain request with the key. (C5.4) The
// variables are read once in a process, so this takes one of its own.
func TestProxiesOfTheEnvironment(t *testing.T) {
	const inside = "HALYARD_TEST_INSIDE"
	if os.Getenv(inside) == "" {
		self := exec.Command(os.Args[0], "-test.run=^TestProxiesOfTheEnvironment$")
		self.Env = append(os.Environ(), inside+"=1", "HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=")
		if output, err := self.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, output)
		}
		return
	}
	for address, isDirect := range map[string]bool{"http://flags.example.com": true, "https://flags.example.com": false} {
		target, _ := url.Parse(address)
		proxy, err := halyard.DefaultTransport().Proxy(&http.Request{URL: target})
		if err != nil || (proxy == nil) != isDirect {
			t.Errorf("%s goes through %v, %v", address, proxy, err)
		}
	}
}

// A listener that panics or is slow disturbs neither the client nor others,
// and one may close the client. (C3.7, C8.1)
func TestListeners(t *testing.T) {
	options, next := service(t, `{"a":{"enabled":true,"value":1}}`)
	panics := false
	options.OnRead = func(read halyard.Evaluation) {
		if panics {
			panic(read.Key)
		}
	}
	client := open(t, options)
	block := make(chan struct{})
	client.Subscribe(func(halyard.Event) { <-block })
	client.Subscribe(func(halyard.Event) { panic("a listener") })
	changes := make(chan halyard.Event, 64)
	stop := client.Subscribe(func(event halyard.Event) { changes <- event })
	if first := <-changes; first.Kind != halyard.StatusChanged || first.Status != halyard.Ready {
		t.Errorf("first %v", first)
	}
	for i := range 3 {
		next(fmt.Sprintf(`{"a":{"enabled":true,"value":%d},"b%d":{"enabled":true}}`, i+2, i))
		for event := range changes {
			if value := halyard.Value(client, "a", 0); value >= i+2 {
				if event.Kind != halyard.FlagsChanged || event.Changed[0] != "a" || event.Revision != int64(i+2) {
					t.Errorf("%v", event)
				}
				break
			}
		}
	}
	panics = true
	if !client.Enabled("a") {
		t.Error("a listener of reads disturbs them")
	}
	panics = false

	stop()
	closed := make(chan struct{})
	client.Subscribe(func(event halyard.Event) {
		if event.Status == halyard.Closed {
			close(closed)
		} else if event.Kind == halyard.StatusChanged {
			_ = client.Close()
		}
	})
	<-closed
	if client.Status() != halyard.Closed || !client.Enabled("a") || !errors.Is(client.Ready(context.Background()), halyard.ClientClosed) {
		t.Error("a closed client goes on reading, and is not ready")
	}
	close(block)
}

// Every goroutine ends with Close.
func TestNothingIsLeft(t *testing.T) {
	http.DefaultClient.CloseIdleConnections()
	before := runtime.NumGoroutine()
	for range 5 {
		options, _ := service(t, `{"a":{"enabled":true}}`)
		options.StatePath = filepath.Join(t.TempDir(), "flags")
		client := halyard.New(options)
		client.Subscribe(func(halyard.Event) {})
		if err := client.Ready(context.Background()); err != nil {
			t.Fatal(err)
		}
		of := provider.New(options)
		if err := of.Init(openfeature.EvaluationContext{}); err != nil {
			t.Fatal(err)
		}
		of.Shutdown()
		of.Shutdown()
		_, _ = client.Close(), client.Close()
	}
	// Goroutines of this package: those of the test's own servers end later.
	eventually(t, "goroutines are left", func() bool {
		stacks := make([]byte, 1<<20)
		text := string(stacks[:runtime.Stack(stacks, true)])
		return !strings.Contains(text, "halyard.(*") || runtime.NumGoroutine() <= before
	})
}

// One flag service for many readers and writers at once, for the race detector.
func TestReadsWhileFlagsChange(t *testing.T) {
	options, next := service(t, `{"a":{"enabled":true,"value":0}}`)
	client := open(t, options)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for last := 0; last < 50; {
				value := halyard.Value(client, "a", -1)
				if value < last {
					t.Errorf("%d after %d", value, last)
					return
				}
				last = value
				runtime.Gosched()
			}
		})
	}
	for i := range 50 {
		next(fmt.Sprintf(`{"a":{"enabled":true,"value":%d}}`, i+1))
	}
	readers.Wait()
}

// A program that imports only the client compiles nothing but the standard library in.
func TestTheClientHasNoDependency(t *testing.T) {
	output, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if found := strings.TrimSpace(string(output)); err != nil || found != "github.com/halyard-flags/halyard/clients/go" {
		t.Errorf("%v %s", err, found)
	}
}

// OpenFeature's hooks hear of each read. (C1.10)
func TestHooks(t *testing.T) {
	options, _ := service(t, `{"a":{"enabled":true}}`)
	heard := ""
	options.OnRead = func(read halyard.Evaluation) { heard = fmt.Sprint(read.Key, read.On, read.Reason) }
	of := provider.New(options)
	if err := openfeature.SetNamedProviderWithContextAndWait(context.Background(), t.Name(), of); err != nil {
		t.Fatal(err)
	}
	defer of.Shutdown()
	flags := openfeature.NewClient(t.Name())
	var log bytes.Buffer
	flags.AddHooks(hooks.NewLoggingHook(false, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	if !flags.Boolean(context.Background(), "a", false, openfeature.EvaluationContext{}) {
		t.Error("it is on")
	}
	if !strings.Contains(log.String(), "After stage") || heard != "a true static" && heard != "atruestatic" {
		t.Errorf("%s %s", log.String(), heard)
	}
}

// The file of the last flags is the owner's alone, and the same text as in other languages. (C6.1)
func TestStateFile(t *testing.T) {
	options, _ := service(t, `{"a":{"enabled":true,"value":"<ü>","rolloutPct":12.5},"b":{"enabled":false}}`)
	options.StatePath = filepath.Join(t.TempDir(), "flags")
	client := open(t, options)
	eventually(t, "no file", func() bool { _, err := os.Stat(options.StatePath); return err == nil })
	_ = client.Close()
	info, _ := os.Stat(options.StatePath)
	text, _ := os.ReadFile(options.StatePath)
	const flags = ` {"environment":"production","flags":{"a":{"enabled":true,"rolloutPct":12.5,"value":"<ü>"},"b":{"enabled":false}}}`
	if info.Mode() != 0o600 || !strings.HasPrefix(string(text), "halyard/1 ") || !strings.HasSuffix(string(text), flags) {
		t.Errorf("%v %s", info.Mode(), text)
	}

	options.BaseURL = "http://127.0.0.1:1"
	offline := open(t, options)
	if value := halyard.Value(offline, "a", "", halyard.For("user-7")); offline.Status() != halyard.Stale {
		t.Errorf("%s %q", offline.Status(), value)
	}
	if found := offline.Evaluate("b"); !found.Cached || found.Reason != halyard.ReasonDisabled {
		t.Errorf("%+v", found)
	}
}

// A file that cannot be used counts as nothing; one that cannot be written is
// reported and does no other harm. (C6.4)
func TestStateFileThatCannotBeUsed(t *testing.T) {
	options, _ := service(t, `{"a":{"enabled":true}}`)
	options.StatePath = filepath.Join(t.TempDir(), "flags")
	_ = open(t, options).Close()
	text, err := os.ReadFile(options.StatePath)
	if err != nil {
		t.Fatal(err)
	}
	options.BaseURL = "http://127.0.0.1:1"
	hasFlags := func(environment, text string) bool {
		t.Helper()
		if err := os.WriteFile(options.StatePath, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		options := options
		options.Environment = environment
		client := halyard.New(options)
		defer client.Close()
		return client.Enabled("a")
	}
	good := string(text)
	if !hasFlags("production", good) {
		t.Error("the file is good")
	}
	for _, damaged := range []string{"", good[:len(good)-1], strings.Replace(good, "true", "True", 1), "halyard/2" + good[9:]} {
		if hasFlags("production", damaged) {
			t.Errorf("%s is damaged", damaged)
		}
	}
	if hasFlags("staging", good) {
		t.Error("the file is of another environment")
	}

	options, _ = service(t, `{"a":{"enabled":true}}`)
	options.StatePath = filepath.Join(t.TempDir(), "no folder", "flags")
	log := make(logged, 64)
	options.Logger = slog.New(slog.NewTextHandler(log, nil))
	client := open(t, options)
	if line := <-log; !client.Enabled("a") || !strings.Contains(line, "state_error") {
		t.Error(line)
	}
}

// logged gives the lines of a log.
type logged chan string

func (l logged) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// A Ready that waits ends with Close. (C8.2)
func TestReadyEndsWithClose(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	client := halyard.New(halyard.Options{APIKey: key, Environment: "production", BaseURL: server.URL, Logger: quiet, ReadyTimeout: time.Hour})
	ended := make(chan error)
	go func() { ended <- client.Ready(context.Background()) }()
	time.AfterFunc(20*time.Millisecond, func() { _ = client.Close() })
	if err := <-ended; !errors.Is(err, halyard.ClientClosed) {
		t.Error(err)
	}
}

// REST is not asked again before the time that it has named, whatever the
// stream does meanwhile. (C2.14)
func TestRetryAfterOfREST(t *testing.T) {
	var asked, streams atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/stream" {
			streams.Add(1)
		} else {
			asked.Add(1)
			w.Header().Set("Retry-After", "3600")
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	client := halyard.New(halyard.Scaled(halyard.Options{
		APIKey: key, Environment: "production", BaseURL: server.URL, Logger: quiet, RequestTimeout: 5 * time.Second}, 0.0005))
	defer client.Close()
	// Fifteen milliseconds at most between two streams, and between two answers of REST if it had not asked for more.
	eventually(t, "the stream is tried on", func() bool { return streams.Load() > 25 })
	// More than one may be asked before the first answer has come.
	if count := asked.Load(); count > 3 {
		t.Errorf("REST was asked %d times", count)
	}
}

// An answer that nothing has changed is asked for, and is no failure. (C2.11)
func TestUnchangedFlags(t *testing.T) {
	var unchanged atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"7"`)
		w.Header().Set("X-Flags-Revision", "7")
		switch {
		case r.URL.Path == "/v1/stream":
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.Header.Get("If-None-Match") == `"7"`:
			unchanged.Add(1)
			w.WriteHeader(http.StatusNotModified)
		default:
			fmt.Fprint(w, `{"environment":"production","flags":{"a":{"enabled":true}}}`)
		}
	}))
	defer server.Close()
	client := open(t, halyard.Scaled(halyard.Options{APIKey: key, Environment: "production", BaseURL: server.URL, Logger: quiet,
		RequestTimeout: 5 * time.Second, ReadyTimeout: 5 * time.Second}, 0.001))
	var failed atomic.Int32
	client.Subscribe(func(event halyard.Event) {
		var failure *halyard.Error
		if errors.As(event.Err, &failure) && failure.Status == http.StatusNotModified {
			failed.Add(1)
		}
	})
	eventually(t, "the flags are asked for again", func() bool { return unchanged.Load() > 3 })
	if failed.Load() > 0 || !client.Enabled("a") {
		t.Error("that nothing has changed is a failure")
	}
}
