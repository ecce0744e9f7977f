package exec

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// sprintf formats as C's printf does, with arguments laid out one after another, each aligned to its size of 4 or 8 bytes. It gives the number of arguments too. str reads a string
// by its address.
func sprintf(format string, args []byte, str func(addr uint64) string) (out string, n int, err error) {
	var b strings.Builder
	at := 0
	take := func(size int) (uint64, error) {
		at = align(at, size)
		if at+size > len(args) {
			return 0, fmt.Errorf("format %q has more conversions than there are arguments", format)
		}
		var v [8]byte
		copy(v[:size], args[at:])
		at += size
		n++
		return binary.LittleEndian.Uint64(v[:]), nil
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		if i+1 < len(format) && format[i+1] == '%' {
			b.WriteByte('%')
			i++
			continue
		}
		i++
		start := i
		for i < len(format) && strings.IndexByte("-+ #0123456789.*", format[i]) >= 0 {
			i++
		}
		flags := format[start:i]
		for strings.Contains(flags, "*") {
			v, err := take(4)
			if err != nil {
				return "", n, err
			}
			flags = strings.Replace(flags, "*", fmt.Sprint(int32(v)), 1)
		}
		start = i
		for i < len(format) && strings.IndexByte("hlLjzt", format[i]) >= 0 {
			i++
		}
		length := format[start:i]
		if i == len(format) {
			return "", n, fmt.Errorf("format %q ends within a conversion", format)
		}
		size := 4
		if strings.ContainsAny(length, "lLjzt") || strings.IndexByte("feEgGaAFsp", format[i]) >= 0 {
			size = 8
		}
		v, err := take(size)
		if err != nil {
			return "", n, err
		}
		switch c := format[i]; c {
		case 'd', 'i':
			s := int64(v)
			if size == 4 {
				s = int64(int32(v))
			}
			switch length {
			case "h":
				s = int64(int16(v))
			case "hh":
				s = int64(int8(v))
			}
			fmt.Fprintf(&b, "%"+flags+"d", s)
		case 'u', 'x', 'X', 'o':
			switch length {
			case "h":
				v = uint64(uint16(v))
			case "hh":
				v = uint64(uint8(v))
			}
			fmt.Fprintf(&b, "%"+flags+strings.Replace(string(c), "u", "d", 1), v)
		case 'c':
			fmt.Fprintf(&b, "%"+flags+"s", string([]byte{byte(v)}))
		case 's':
			fmt.Fprintf(&b, "%"+flags+"s", str(v))
		case 'p':
			fmt.Fprintf(&b, "%"+flags+"s", fmt.Sprintf("%#x", v))
		case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A':
			b.WriteString(formatFloat(flags, c, math.Float64frombits(v)))
		default:
			return "", n, fmt.Errorf("conversion %q of format %q is not supported", string(c), format)
		}
	}
	return b.String(), n, nil
}

// formatFloat writes a float as C does where Go differs: infinities, NaNs, six digits without a precision.
func formatFloat(flags string, c byte, f float64) string {
	if math.IsInf(f, 0) || f != f {
		s := strings.ToLower(strings.TrimPrefix(fmt.Sprint(f), "+"))
		if strings.Contains(flags, "+") && f > 0 {
			s = "+" + s
		}
		flags = strings.NewReplacer("+", "", "0", "", "#", "").Replace(strings.SplitN(flags, ".", 2)[0])
		return fmt.Sprintf("%"+flags+"s", s)
	}
	verb := map[byte]string{'a': "x", 'A': "X", 'F': "f"}[c]
	if verb == "" {
		verb = string(c)
	}
	if !strings.Contains(flags, ".") && verb != "x" && verb != "X" {
		flags += ".6"
	}
	return fmt.Sprintf("%"+flags+verb, f)
}
