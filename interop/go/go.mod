module halyard/interop

go 1.25

require github.com/open-feature/go-sdk v1.20.0
