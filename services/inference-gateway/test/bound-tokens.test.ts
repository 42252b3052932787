import { type DpopKey, dpopKey } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

/** A stolen token that is bound to a key yields neither an answer nor an admission (RFC 9449). */

const CHAT = '/v1/integrations/inference/chat/completions';
const CAPABILITIES = '/v1/integrations/inference/capabilities';
let gateway: TestGateway;
let key: DpopKey;
let token: string;

beforeAll(async () => {
  gateway = await startGateway();
  key = await dpopKey();
  token = await gateway.tokens.accessToken({ claims: { cnf: { jkt: key.thumbprint } } });
});
afterAll(() => gateway.stop());

/** Signs a proof for the public address, regardless of the local port. */
const prove = (path: string, by: DpopKey = key, more: { token?: string; method?: string } = {}): Promise<string> =>
  by.prove({ method: path === CHAT ? 'POST' : 'GET', url: `${gateway.tokens.publicBaseUrl}${path}`, token, ...more });
const ask = (path: string, authorization: string, proof?: string): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: path === CHAT ? 'POST' : 'GET',
    headers: {
      authorization,
      ...(proof === undefined ? {} : { dpop: proof }),
      ...(path === CHAT ? { 'content-type': 'application/json' } : {}),
    },
    ...(path === CHAT ? { body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }) } : {}),
  });

describe.each([CHAT, CAPABILITIES])('a bound token at %s', (path) => {
  test('is accepted with a proof by its key', async () => {
    expect((await ask(path, `DPoP ${token}`, await prove(path))).status).toBe(200);
  });

  test('is refused without a valid proof, before admission', async () => {
    const before = gateway.billing.admissions.length;
    const proof = await prove(path);
    const once = await ask(path, `DPoP ${token}`, proof);
    await once.text();
    const taken = gateway.billing.admissions.length - before;
    const stranger = await dpopKey();
    const refused = await Promise.all([
      ask(path, `Bearer ${token}`),
      ask(path, `Bearer ${token}`, await prove(path)),
      ask(path, `DPoP ${token}`),
      ask(path, `DPoP ${token}`, proof),
      ask(path, `DPoP ${token}`, await prove(path, stranger)),
      ask(path, `DPoP ${token}`, await prove('/v1/integrations/usage')),
      ask(path, `DPoP ${token}`, await prove(path, key, { method: 'PUT' })),
      ask(path, `DPoP ${token}`, await prove(path, key, { token: 'another' })),
    ]);
    for (const answer of refused) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_(token|dpop_proof)"/);
      expect(await answer.json()).toMatchObject({ detail: { code: 'invalid_token' } });
    }
    expect(gateway.billing.admissions.length - before).toBe(taken);
  });
});
