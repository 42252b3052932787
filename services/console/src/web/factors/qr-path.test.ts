import { expect, test } from 'vitest';
import { qrPath } from './qr-code.tsx';

test('draws each run of dark modules as one rectangle', () => {
  const rows = [
    [true, true, false, true],
    [false, false, false, false],
    [false, true, true, true],
  ];
  expect(qrPath(rows)).toBe('M0 0h2v1h-2zM3 0h1v1h-1zM1 2h3v1h-3z');
});
