module github.com/halyard-flags/halyard/clients/go

go 1.25.0

require github.com/open-feature/go-sdk v1.17.2

require (
	github.com/go-logr/logr v1.4.3 // indirect
	go.uber.org/mock v0.6.0 // indirect
)
