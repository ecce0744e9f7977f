// Package matmul multiplies matrices of fp16 or bf16, adding up in fp32.
package matmul
