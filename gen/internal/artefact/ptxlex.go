package artefact

// Kinds of tokens in PTX. Any other kind is the punctuation character itself.
const (
	ptxName      byte = 'a' // add_kernel, sm_90a, %tid, griddepcontrol
	ptxNumber    byte = '0' // with all letters and dots that follow: 128, 0x80, 8.7
	ptxDirective byte = '.' // .entry, .u64, .wait
	ptxString    byte = '"'
)

type ptxLexer struct{ lexer }

// next reads the next token into t.
func (l *ptxLexer) next(t *token) error {
	for {
		l.blank()
		if l.peek(0) != '/' || l.peek(1) != '*' {
			break
		}
		if err := l.comment(); err != nil {
			return err
		}
	}
	*t = l.start(endOfFile)
	if l.off == len(l.data) {
		return nil
	}
	c := l.data[l.off]
	t.kind = c
	switch {
	case isLetter(c) || c == '_' || c == '$' || c == '%':
		t.kind = ptxName
		l.off++
		l.while(ptxBytes)
	case isDigit(c):
		t.kind = ptxNumber
		l.while(ptxNumberBytes)
	case c == '.':
		l.off++
		l.while(ptxBytes)
	case c == '"':
		if err := l.str(); err != nil {
			return err
		}
	case c == endOfFile:
		return l.fault(*t, "not text: a zero byte")
	default:
		l.off++
	}
	t.text = l.data[t.off:l.off]
	return nil
}

// comment moves past the /* comment that starts here.
func (l *ptxLexer) comment() error {
	begin := l.start(0)
	for l.off += 2; l.off < len(l.data); {
		switch {
		case l.peek(0) == '*' && l.peek(1) == '/':
			l.off += 2
			return nil
		case l.peek(0) == '\n':
			l.newline()
		default:
			l.off++
		}
	}
	return l.fault(begin, "a comment has no end")
}

func isPTXByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '$' }

var (
	ptxBytes       = newByteSet(isPTXByte)
	ptxNumberBytes = newByteSet(func(c byte) bool { return isPTXByte(c) || c == '.' })
)
