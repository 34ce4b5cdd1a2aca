package halyard

import "net/http"

// Scaled gives options that multiply every duration built into the client.
func Scaled(options Options, timeScale float64) Options {
	options.timeScale = timeScale
	return options
}

// DefaultTransport gives the transport of a client that was given none.
func DefaultTransport() *http.Transport { return httpClient(nil).Transport.(*http.Transport) }

// IsInRollout is the decision of a rollout.
func IsInRollout(flagKey, targetingKey string, pct float64) bool {
	return isInRollout(flagKey, targetingKey, pct)
}
