import { expect, test } from 'vitest';
import { describeDevice } from './describe-device.ts';

test.each([
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox, Windows'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
    'Safari, macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Safari/604.1',
    'Chrome, iOS',
  ],
  [
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36 EdgA/140.0',
    'Edge, Android',
  ],
  ['curl/8.5.0', 'curl'],
  ['<script>alert(1)</script>', null],
  [null, null],
])('describes %s as %s', (userAgent, described) => {
  expect(describeDevice(userAgent)).toBe(described);
});
