import { type ReactElement, useMemo } from 'react';
import { encode } from 'uqr';

/** Returns the SVG path of the dark modules of a QR code, one rectangle for each run in a row. */
export const qrPath = (rows: readonly (readonly boolean[])[]): string =>
  rows.flatMap((row, y) => runsOf(row).map(({ x, width }) => `M${x} ${y}h${width}v1h-${width}z`)).join('');

const runsOf = (row: readonly boolean[]): { x: number; width: number }[] => {
  const runs: { x: number; width: number }[] = [];
  row.forEach((isDark, x) => {
    const last = runs.at(-1);
    if (!isDark) return;
    if (last !== undefined && last.x + last.width === x) last.width += 1;
    else runs.push({ x, width: 1 });
  });
  return runs;
};

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
