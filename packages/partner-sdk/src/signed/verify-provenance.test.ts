import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { ProvenanceRejectedError, verifyProvenance } from './verify-signed-claims.ts';

const issuer = 'https://svc.example';
const encode = (value: string | ArrayBuffer): string =>
  Buffer.from(typeof value === 'string' ? value : new Uint8Array(value)).toString('base64url');
const makeKeys = () => crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
let pair: Awaited<ReturnType<typeof makeKeys>>;
let keys: { keys: Record<string, unknown>[] };
beforeAll(async () => {
  pair = await makeKeys();
  keys = { keys: [{ ...(await crypto.subtle.exportKey('jwk', pair.publicKey)), kid: 'k1' }] };
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const claims = { iss: issuer, iat: 1, request_id: `req_${'0'.repeat(26)}`, generated_by: 'ai' };
/** Signs the proof of a message whose canonical form this is. */
const sign = async (form: string, more: object = {}): Promise<string> => {
  const head = encode(JSON.stringify({ alg: 'ES256', typ: 'svc-provenance+jwt', kid: 'k1' }));
  const signed = `${head}.${encode(JSON.stringify({ ...claims, content_sha256: sha256(form), ...more }))}`;
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
  return `${signed}.${encode(await crypto.subtle.sign(algorithm, pair.privateKey, new TextEncoder().encode(signed)))}`;
};
const faultOf = (message: unknown, jws: string): Promise<unknown> =>
  verifyProvenance(message, jws, { issuer, keys }).then(
    () => undefined,
    (error: unknown) => (error instanceof ProvenanceRejectedError ? error.fault : error),
  );

const call = { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"n": 1.0}' } };
const FORM =
  '[{"content":"Ciao \\"è\\" 😀","index":0,"refusal":null,"tool_calls":[{"arguments":"{\\"n\\": 1.0}","name":"find"}]}]';
const message = { role: 'assistant', content: 'Ciao "è" 😀', refusal: null, tool_calls: [call] };

describe('verifyProvenance returns the claims of', () => {
  test.each([
    ['a chat completion', { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] }],
    ['its assembled message', message],
    [
      'a message in parts',
      {
        ...message,
        content: [
          { type: 'text', text: 'Ciao "è"' },
          { type: 'text', text: ' 😀' },
        ],
      },
    ],
    [
      'a response object',
      {
        object: 'response',
        output: [
          { type: 'reasoning', content: [{ type: 'output_text', text: 'not the answer' }] },
          { type: 'message', content: [{ type: 'output_text', text: 'Ciao "è" 😀', annotations: [] }] },
          { type: 'function_call', name: 'find', arguments: '{"n": 1.0}', call_id: 'c1' },
        ],
      },
    ],
  ])('%s', async (_name, given) => {
    const source = { provider: 'P', model: 'm', data_zone: 'EU', certification: 'C-1' };
    const jws = await sign(FORM, source);
    expect(await verifyProvenance(given, jws, { issuer, keys })).toMatchObject({ ...claims, ...source });
  });

  test('several choices, in any order, and empty texts', async () => {
    const form =
      '[{"content":null,"index":0,"refusal":"No.","tool_calls":[]},{"content":"One","index":1,"refusal":null,"tool_calls":[]}]';
    const choices = [
      { index: 1, message: { content: 'One' } },
      { index: 0, message: { content: '', refusal: 'No.', tool_calls: [] } },
    ];
    expect(await faultOf({ choices }, await sign(form))).toBeUndefined();
  });

  test('arguments that a provider sent as an object, with its members in any order', async () => {
    const form =
      '[{"content":null,"index":0,"refusal":null,"tool_calls":[{"arguments":"{\\"a\\":[1,null],\\"b\\":\\"x\\"}","name":"f"}]}]';
    const calls = [{ function: { name: 'f', arguments: { b: 'x', a: [1, null] } } }];
    expect(await faultOf({ content: null, tool_calls: calls }, await sign(form))).toBeUndefined();
  });
});

describe('verifyProvenance rejects', () => {
  test('another message, key, issuer or kind of claims, and what is no message', async () => {
    const jws = await sign(FORM);
    expect(await faultOf({ ...message, content: 'Ciao' }, jws)).toBe('wrong_content');
    expect(await faultOf({ ...message, tool_calls: [] }, jws)).toBe('wrong_content');
    const other = await sign(FORM, { iss: 'https://other.example' });
    expect(await faultOf(message, other)).toBe('wrong_issuer');
    expect(await faultOf(message, await sign(FORM, { generated_by: 'person' }))).toBe('malformed');
    const [first] = keys.keys;
    const unknown = verifyProvenance(message, jws, { issuer, keys: { keys: [{ ...first, kid: 'k2' }] } });
    await expect(unknown).rejects.toMatchObject({ fault: 'unknown_key' });
    const absent: unknown = undefined;
    expect(await faultOf(message, absent as string)).toBe('malformed');
    for (const nothing of [null, 'text', [], {}, { choices: [1] }]) {
      expect(await faultOf(nothing, jws)).toBeInstanceOf(TypeError);
    }
  });

  test('a message with one changed byte', async () => {
    const jws = await sign(FORM);
    const sent = Buffer.from(
      JSON.stringify(message.content).slice(1, -1) + call.function.name + call.function.arguments,
    );
    const lengths = [Buffer.byteLength(message.content) + 2, call.function.name.length];
    await fc.assert(
      fc.asyncProperty(fc.nat(sent.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = Buffer.from(sent);
        changed[at] = (changed[at] ?? 0) ^ change;
        const [content = 0, name = 0] = lengths;
        const read = (from: number, to?: number) => changed.subarray(from, to).toString();
        const given = {
          content: parsed(`"${read(0, content)}"`),
          tool_calls: [{ function: { name: read(content, content + name), arguments: read(content + name) } }],
        };
        // A change within an escape may leave no JSON, and so no message.
        if (given.content !== undefined) expect(await faultOf(given, jws)).toBe('wrong_content');
      }),
      { numRuns: 3_000 },
    );
  });

  test('a proof with one changed byte', async () => {
    const jws = Buffer.from(await sign(FORM));
    await fc.assert(
      fc.asyncProperty(fc.nat(jws.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = Buffer.from(jws);
        changed[at] = (changed[at] ?? 0) ^ change;
        expect(await faultOf(message, changed.toString('latin1'))).toBeDefined();
      }),
      {
        numRuns: 3_000,
        examples: Array.from({ length: 15 }, (_, change): [number, number] => [jws.length - 1, change + 1]),
      },
    );
  });
});

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
