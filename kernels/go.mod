module github.com/kerngen/kerngen/kernels

go 1.26.0
