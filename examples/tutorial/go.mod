module example.com/app

go 1.26.0

require github.com/kerngen/kerngen v0.0.0

require (
	github.com/dave/jennifer v1.7.1 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/sync v0.25.0 // indirect
)

replace github.com/kerngen/kerngen => ../..

tool github.com/kerngen/kerngen/cmd/kerngen
