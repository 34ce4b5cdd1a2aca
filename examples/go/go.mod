module example.com/halyard

go 1.25.0

require (
	github.com/halyard-flags/halyard/clients/go v0.0.0
	github.com/open-feature/go-sdk v1.17.2
)

require (
	github.com/go-logr/logr v1.4.3 // indirect
	go.uber.org/mock v0.6.0 // indirect
)

// The module has no release yet.
replace github.com/halyard-flags/halyard/clients/go => ../../clients/go
