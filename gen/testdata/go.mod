module example.com/testdata

go 1.26.0

require github.com/kerngen/kerngen v0.0.0

replace github.com/kerngen/kerngen => ../..
