.PHONY: eval test

# eval builds mem and runs every experiment: scripted models, no network, no environment.
eval:
	go run ./cmd/mem eval experiments/*.yaml

# test runs the tests of all packages.
test:
	go test ./...
