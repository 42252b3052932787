import { createMacs, openSecretKeys } from '@svc/secrets';
import { describe, expect, test } from 'vitest';
import { createFormTokens } from '../pages/index.ts';
import { askedQuerySchema } from './page-context.ts';

const macsOf = (byte: string) => createMacs(openSecretKeys('KEY', [byte.repeat(32)]), 'authorize-forms');
let now = new Date('2026-10-01T12:00:00Z');
const tokens = createFormTokens(macsOf('11'), () => now, askedQuerySchema);
const query = {
  client_id: 'app_x',
  redirect_uri: 'https://app.example/cb',
  code_challenge: 'c'.repeat(43),
  state: 'state-of-sixteen-chars',
  scope: 'inference',
  response_type: 'code',
  code_challenge_method: 'S256',
  locale: 'it',
} as const;
const context = { query, browserId: 'browser', sessionId: 'ses_x', isPushed: false, nonce: 'nonce' };

describe('form tokens', () => {
  test('return the signed content to the browser they were made for', () => {
    expect(tokens.read(tokens.sign(context), 'browser')).toEqual({ context, isExpired: false });
    const anonymous = { ...context, sessionId: undefined };
    expect(tokens.read(tokens.sign(anonymous), 'browser')).toEqual({ context: anonymous, isExpired: false });
  });

  test('are refused from another browser, if changed, or with another key', () => {
    const token = tokens.sign(context);
    expect(tokens.read(token, 'another browser')).toBeUndefined();
    expect(tokens.read(token, undefined)).toBeUndefined();
    const [payload = '', signature = ''] = token.split('.');
    const forged = Buffer.from(JSON.stringify({ ...query, client_id: 'app_evil' })).toString('base64url');
    for (const wrong of ['', '.', payload, `${payload}.`, `${forged}.${signature}`, `${token}x`, 'x'.repeat(20_000)]) {
      expect(tokens.read(wrong, 'browser')).toBeUndefined();
    }
    const others = createFormTokens(macsOf('22'), () => now, askedQuerySchema);
    expect(others.read(token, 'browser')).toBeUndefined();
  });

  test('expire after half an hour, but still return the query', () => {
    const token = tokens.sign(context);
    now = new Date(now.getTime() + 30 * 60_000);
    expect(tokens.read(token, 'browser')).toEqual({ context, isExpired: true });
  });

  test('fit the longest accepted request', () => {
    const longest = {
      ...query,
      redirect_uri: `https://app.example/${'x'.repeat(2028)}`,
      state: '\u{10ffff}'.repeat(256),
    };
    const long = { ...context, query: longest };
    expect(tokens.read(tokens.sign(long), 'browser')?.context).toEqual(long);
  });
});
