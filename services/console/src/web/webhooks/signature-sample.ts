/** Shown to partners as it stands; a test runs it against a signed delivery. */
export const SIGNATURE_SAMPLE = `import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 300;

// rawBody: the bytes as they came; header: X-Svc-Signature; secret: whsec_…
export function isGenuine(rawBody, header, secret) {
  const parts = (header ?? '').split(',').map((part) => part.split('='));
  const time = parts.find(([name]) => name === 't')?.[1];
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE_SECONDS)) return false;
  const expected = createHmac('sha256', secret).update(time + '.').update(rawBody).digest();
  // Two while the secret is being replaced: one that fits is enough.
  const signatures = parts.filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value));
  return signatures.some(([, value]) => timingSafeEqual(expected, Buffer.from(value, 'hex')));
}
`;
