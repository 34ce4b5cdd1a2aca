package halyard

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// Options says what a client reads and how. APIKey and Environment are
// required. Printing or logging Options never shows the key.
type Options struct {
	// APIKey is the project key, which starts with proj_live_.
	APIKey string `json:"-"`
	// Environment is the one environment that the client reads.
	Environment string
	// BaseURL is the address of the service. Default: the variable
	// HALYARD_URL, or http://127.0.0.1:7070 without it.
	BaseURL string
	// AllowInsecureHTTP lets the key go to another machine over plain http.
	AllowInsecureHTTP bool

	// Target is the target of reads that name none.
	Target Target
	// Bootstrap holds flags to answer with until the first load, as the JSON
	// of a flag map: what GET /v1/flags answers, or its member "flags".
	Bootstrap []byte
	// StatePath is a file for the last flags, which the next start answers
	// with until its first load. One file for one environment.
	StatePath string
	// StateMaxAge keeps flags out that were last known to be current longer
	// ago. Default: no limit.
	StateMaxAge time.Duration
	// DisableUsage turns reports of reads off, which a project can ask for:
	// how often each flag was on and off, without targeting keys.
	DisableUsage bool

	// RequestTimeout limits the wait for the headers of an answer. Default 5 s.
	RequestTimeout time.Duration
	// ReadyTimeout limits Ready. Default 5 s.
	ReadyTimeout time.Duration
	// StaleAfter is how long after its connection was lost a client becomes
	// Stale. Default 30 s.
	StaleAfter time.Duration

	// HTTPClient sends the requests with its Transport; redirects are not
	// followed, and its Timeout, which would cut streams off, does not count.
	// The default transport uses the proxies of the environment for https only.
	HTTPClient *http.Client
	// Header is sent with every request.
	Header http.Header
	// Logger gets warnings, each kind at most once a minute, and what the
	// connection does at level Debug. Default slog.Default().
	Logger *slog.Logger
	// OnRead hears of each read, in the goroutine that reads.
	OnRead func(Evaluation)

	ownsTransport bool    // whether the transport is the client's alone
	timeScale     float64 // multiplies every built-in duration, for tests
}

// Format prints the options without the key, whatever the verb.
func (o Options) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "halyard.Options(environment=%s, url=%s)", o.Environment, o.redact(o.BaseURL))
}

// LogValue gives a logger the options without the key.
func (o Options) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(o)) }

// scaled gives a duration that is built into the client.
func (o *Options) scaled(d time.Duration) time.Duration {
	if o.timeScale > 0 {
		return time.Duration(float64(d) * o.timeScale)
	}
	return d
}

// resolve fills in the defaults and says what cannot work, without quoting it.
func (o *Options) resolve() *Error {
	for value, standard := range map[*time.Duration]time.Duration{
		&o.RequestTimeout: 5 * time.Second, &o.ReadyTimeout: 5 * time.Second, &o.StaleAfter: 30 * time.Second,
	} {
		if *value <= 0 {
			*value = o.scaled(standard)
		}
	}

	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.BaseURL == "" {
		o.BaseURL = os.Getenv("HALYARD_URL")
	}
	if o.BaseURL == "" {
		o.BaseURL = "http://127.0.0.1:7070"
	}
	o.APIKey = strings.TrimSpace(o.APIKey)
	o.Header = o.Header.Clone()

	isForeign := func(letter rune) bool { return letter <= ' ' || letter > '~' }
	if o.APIKey == "" || strings.ContainsFunc(o.APIKey, isForeign) {
		return wrong("APIKey (proj_live_...)")
	}
	if o.Environment == "" || !utf8.ValidString(o.Environment) {
		return wrong("Environment")
	}

	address, err := url.Parse(o.BaseURL)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "" ||
		address.User != nil || strings.ContainsAny(o.BaseURL, "?#") {
		return wrong("BaseURL")
	}
	if address.Scheme == "http" && !o.AllowInsecureHTTP && !isLoopback(address.Hostname()) {
		return wrong("BaseURL: https, or AllowInsecureHTTP")
	}

	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	o.ownsTransport = o.HTTPClient == nil || o.HTTPClient.Transport == nil
	o.HTTPClient = httpClient(o.HTTPClient)
	return nil
}

func wrong(option string) *Error {
	return &Error{Code: InvalidOptions, Message: "the client needs a valid " + option}
}

func isLoopback(host string) bool {
	return strings.HasSuffix("."+strings.ToLower(host), ".localhost") || net.ParseIP(host).IsLoopback()
}

// httpClient makes the client of the requests: given's transport, or one of
// its own. It follows no redirect, because the key would go with it.
func httpClient(given *http.Client) *http.Client {
	var client http.Client
	if given != nil {
		client = *given
	}
	client.Timeout = 0
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if client.Transport == nil {
		client.Transport = &http.Transport{
			Proxy: func(request *http.Request) (*url.URL, error) {
				if request.URL.Scheme != "https" {
					return nil, nil // a proxy would read the key
				}
				return http.ProxyFromEnvironment(request)
			},
			ForceAttemptHTTP2:      true,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: 1 << 20,
		}
	}
	return &client
}
