import { describe, expect, test } from 'vitest';
import { verifyReceipt } from './verify-signed-claims.ts';

const issuer = 'https://svc.example';
const encode = (value: string | ArrayBuffer): string =>
  Buffer.from(typeof value === 'string' ? value : new Uint8Array(value)).toString('base64url');
const id = (prefix: string): string => `${prefix}_${'0'.repeat(26)}`;
const claims = {
  iss: issuer,
  iat: 1,
  request_id: id('req'),
  sub: id('usr'),
  client_id: id('app'),
  service: 'chat',
  outcome: 'settled',
  cost_micros: 30,
  paid_by: 'plan',
  currency: 'EUR',
  input_tokens: 1,
  output_tokens: 2,
  cached_input_tokens: 0,
  created_at: '2026-10-01T12:00:00.000Z',
  settled_at: '2026-10-01T12:00:01.000Z',
};
const makeKey = async () => {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const jwk = await crypto.subtle.exportKey('jwk', pair.publicKey);
  return { privateKey: pair.privateKey, keys: { keys: [{ ...jwk, kid: 'k1' }] } };
};
const sign = async (
  privateKey: Awaited<ReturnType<typeof makeKey>>['privateKey'],
  body: object,
  header: object = {},
): Promise<string> => {
  const head = encode(JSON.stringify({ alg: 'ES256', typ: 'svc-receipt+jwt', kid: 'k1', ...header }));
  const signed = `${head}.${encode(JSON.stringify(body))}`;
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
  return `${signed}.${encode(await crypto.subtle.sign(algorithm, privateKey, new TextEncoder().encode(signed)))}`;
};

describe('verifyReceipt', () => {
  test('returns the claims of a receipt that a published key has signed', async () => {
    const { privateKey, keys } = await makeKey();
    expect(await verifyReceipt(await sign(privateKey, claims), { issuer, keys })).toEqual(claims);
  });

  test('rejects what was changed, another key, another issuer, another type, and noise', async () => {
    const { privateKey, keys } = await makeKey();
    const faultOf = (receipt: string, options = { issuer, keys }) =>
      verifyReceipt(receipt, options).then(
        () => undefined,
        (error: { fault: string }) => error.fault,
      );
    const receipt = await sign(privateKey, claims);
    const [head, , signature] = receipt.split('.');
    const cheaper = encode(JSON.stringify({ ...claims, cost_micros: 1 }));
    expect(await faultOf(`${head}.${cheaper}.${signature}`)).toBe('wrong_signature');
    expect(await faultOf(receipt, { issuer, keys: (await makeKey()).keys })).toBe('wrong_signature');
    expect(await faultOf(receipt, { issuer, keys: { keys: [] } })).toBe('unknown_key');
    expect(await faultOf(receipt, { issuer: 'https://other.example', keys })).toBe('wrong_issuer');
    expect(await faultOf(await sign(privateKey, claims, { typ: 'at+jwt' }))).toBe('malformed');
    expect(await faultOf(await sign(privateKey, claims, { alg: 'none' }))).toBe('malformed');
    expect(await faultOf(await sign(privateKey, { iss: issuer }))).toBe('malformed');
    for (const noise of ['', 'a.b', 'a.b.c.d', '...', 'ü.ü.ü']) expect(await faultOf(noise)).toBe('malformed');
  });
});
