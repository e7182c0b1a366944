package pdf

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/tetratelabs/wazero/api"
)

// matrix is an affine transformation: x, y become a·x+c·y+e, b·x+d·y+f. The notation is that of PDF 32000-1:2008
// §8.3.4: [a b c d e f].
type matrix struct{ a, b, c, d, e, f float64 }

// uprightMatrix returns the transformation that turns the content of a page clockwise by quarters and moves its box
// to the origin. The box may begin anywhere in PDF user space; afterwards its lower left corner is 0, 0.
func (g geometry) uprightMatrix(quarters int) matrix {
	switch quarters {
	case 1:
		return matrix{0, -1, 1, 0, -g.bottom, g.right}
	case 2:
		return matrix{-1, 0, 0, -1, g.right, g.top}
	case 3:
		return matrix{0, 1, -1, 0, g.top, -g.left}
	}
	return unturned
}

var unturned = matrix{1, 0, 0, 1, 0, 0}

// inverse returns the inverse of a rotation and translation. Its determinant is 1, so that no division is needed.
func (m matrix) inverse() matrix {
	return matrix{m.d, -m.b, -m.c, m.a, m.c*m.f - m.d*m.e, m.b*m.e - m.a*m.f}
}

// then returns the composition: m followed by n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d, m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

// moveContent transforms the content of a page from its original position, and sets its box and rotation. It takes
// effect when the page is loaded again. The boxes are set because characters outside of them are not read.
func (p *openPage) moveContent(to matrix, rotation int, box geometry) error {
	by := p.moved.inverse().then(to) // PDFium composes it with earlier transformations
	var b []byte
	for _, v := range []float64{by.a, by.b, by.c, by.d, by.e, by.f} {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	if !p.m.mod.Memory().Write(p.m.scratch, b) {
		return errors.New("PDFium returned an address outside its memory")
	}
	moved, err := p.m.callCount("FPDFPage_TransFormWithClip", p.at, uint64(p.m.scratch), 0)
	if err != nil {
		return err
	}
	if moved == 0 {
		return errors.New("PDFium can't move the content of a page")
	}
	p.moved = to
	for _, set := range []string{"FPDFPage_SetMediaBox", "FPDFPage_SetCropBox"} {
		if _, err := p.m.callFunction(set, p.at, api.EncodeF32(float32(box.left)), api.EncodeF32(float32(box.bottom)),
			api.EncodeF32(float32(box.right)), api.EncodeF32(float32(box.top))); err != nil {
			return err
		}
	}
	_, err = p.m.callFunction("FPDFPage_SetRotation", p.at, uint64(rotation))
	return err
}
