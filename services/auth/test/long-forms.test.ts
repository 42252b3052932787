import { Agent, type IncomingMessage, request } from 'node:http';
import { FORM_BYTES_MAX } from '@svc/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';

let service: AuthService;
/** One connection, as an ingress keeps it for the next caller. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(async () => {
  service = await startAuthService();
});
afterAll(async () => {
  agent.destroy();
  await service.stop();
});

/** Posts a form of so many bytes: of an announced length, or in chunks that only their end tells. */
const postForm = (endpoint: string, bytes: number, isChunked: boolean): Promise<[number | undefined, string]> => {
  const start = 'grant_type=password&client_id=app_x&token=x&padding=';
  const form = start + 'x'.repeat(bytes - start.length);
  const length = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(bytes) };
  return new Promise((resolve, reject) => {
    const onAnswer = (answer: IncomingMessage): void => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      answer.on('end', () => resolve([answer.statusCode, JSON.parse(text).error]));
    };
    request(
      `${service.url}/v1/integrations/oauth/${endpoint}`,
      { agent, method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded', ...length } },
      onAnswer,
    )
      .on('error', reject)
      .end(form);
  });
};

describe.each([
  ['token', [401, 'invalid_client']],
  ['revoke', [401, 'invalid_client']],
  ['par', [401, 'invalid_client']],
])('a form at %s', (endpoint, judged) => {
  test.each([
    ['of an announced length', false],
    ['in chunks', true],
  ])('%s is read up to its limit, and gets 413 beyond', async (_what, isChunked) => {
    expect(await postForm(endpoint, FORM_BYTES_MAX, isChunked)).toEqual(judged);
    expect(await postForm(endpoint, FORM_BYTES_MAX + 1, isChunked)).toEqual([413, 'invalid_request']);
  });

  test('that is much too long does not break the next request on its connection', async () => {
    for (const isChunked of [true, false]) {
      expect(await postForm(endpoint, 1_000_000, isChunked)).toEqual([413, 'invalid_request']);
      expect(await postForm(endpoint, 100, isChunked)).toEqual(judged);
    }
  });
});
