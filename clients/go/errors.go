package halyard

import (
	"fmt"
	"strings"
	"time"
)

// Code is the kind of a failure. It is an error itself, so that
// errors.Is(err, halyard.InvalidAPIKey) asks for it. Servers may send codes
// that are not listed here.
type Code string

// Codes of failures.
const (
	InvalidAPIKey       Code = "invalid_api_key"       // the server does not know the key
	InvalidArgument     Code = "invalid_argument"      // the server does not accept the request
	EnvironmentNotFound Code = "environment_not_found" // the project has no such environment
	RateLimited         Code = "rate_limited"          // the server asks for fewer requests
	InternalError       Code = "internal_error"        // the server has failed
	NetworkError        Code = "network_error"         // no connection, or it broke before the answer
	Timeout             Code = "timeout"               // no answer in time, or no sign of life on an open stream
	InvalidResponse     Code = "invalid_response"      // the answer is not one of a flag service
	StreamError         Code = "stream_error"          // an open stream broke or was closed early
	RevisionReset       Code = "revision_reset"        // the service's revisions restarted lower and were accepted
	TypeMismatch        Code = "type_mismatch"         // a value is of another type than the default of its read
	InvalidOptions      Code = "invalid_options"       // the options cannot work; the message says which
	StateError          Code = "state_error"           // the last flags could not be written to Options.StatePath
	ListenerError       Code = "listener_error"        // a listener of the application panicked
	ClientClosed        Code = "client_closed"         // the client was used after Close
)

// Error makes each code an error for errors.Is.
func (c Code) Error() string { return "halyard: " + string(c) }

// Error is a failure, as [Client.Ready] returns it and [Event] carries it. It
// never holds the project key.
type Error struct {
	Code       Code
	Message    string
	Status     int           // HTTP status, if the server answered
	Docs       string        // address of the page about the code, if the server sent one
	FlagKey    string        // the flag that the failure is about, if it is about one
	RetryAfter time.Duration // how long the server asked to wait
	cause      error
}

// Error gives the code and what is known about it.
func (e *Error) Error() string {
	text := e.Code.Error() + ": " + e.Message
	if e.FlagKey != "" {
		text += fmt.Sprintf(" (flag %q)", e.FlagKey)
	}
	return text
}

// Is reports whether target is the failure's [Code].
func (e *Error) Is(target error) bool { return target == e.Code }

// Unwrap gives the error of the network or the system behind the failure, if
// there is one.
func (e *Error) Unwrap() error { return e.cause }

// isRefusal tells whether only a person can undo the cause: a key or an
// environment that the service does not know.
func (e *Error) isRefusal() bool {
	return e != nil && (e.Status == 401 || e.Code == EnvironmentNotFound)
}

// redact takes the project key out of a text.
func (o *Options) redact(text string) string {
	if o.APIKey == "" {
		return text
	}
	return strings.ReplaceAll(text, o.APIKey, "[redacted]")
}

// safe turns an error into an *Error that holds no key; code says what it is
// unless it says so itself.
func (o *Options) safe(err error, code Code) *Error {
	if failure, ok := err.(*Error); ok {
		return failure
	}
	text := err.Error()
	if clean := o.redact(text); clean != text {
		return &Error{Code: code, Message: clean} // a cause that shows the key stays out
	}
	return &Error{Code: code, Message: text, cause: err}
}
