/** Shown to partners as it stands; a test runs it against a signed delivery. */
export const SIGNATURE_SAMPLE = `import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 300;

// rawBody: the bytes as they came; header: X-Svc-Signature; secret: whsec_…
export function isGenuine(rawBody, header, secret) {
  const [, time, signature] = /^t=(\\d+),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? [];
  if (time === undefined) return false;
  if (Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE_SECONDS) return false;
  const expected = createHmac('sha256', secret).update(time + '.').update(rawBody).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}
`;
