import { type ReactElement, useMemo } from 'react';
import { encode } from 'uqr';
import { qrPath } from './qr-path.ts';

/** Quiet zone around the code, in modules (ISO/IEC 18004). */
const BORDER = 4;

/** Renders a QR code locally, because its text is a secret. */
export const QrCode = ({ text, label }: { text: string; label: string }): ReactElement => {
  const { data, size } = useMemo(() => encode(text, { ecc: 'M', border: BORDER }), [text]);
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={qrPath(data)} />
    </svg>
  );
};
