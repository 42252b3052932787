import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ConnectDeviceOptions, ConnectError, connectDevice, type DevicePrompt } from '../src/index.ts';
import { type StandInOAuth, startStandInOAuth } from './support/stand-in-oauth.ts';

let oauth: StandInOAuth;
let now: Date;
let pauses: number[];

beforeAll(async () => {
  oauth = await startStandInOAuth();
});
afterAll(() => oauth.stop());
beforeEach(() => {
  now = new Date('2026-11-27T12:00:00Z');
  pauses = [];
  oauth.deviceRequests.length = 0;
  oauth.pollErrors.length = 0;
  oauth.deviceAnswer = {};
});

const connect = (more: Partial<ConnectDeviceOptions> = {}) =>
  connectDevice({
    issuer: oauth.url,
    clientId: oauth.publicClientId,
    onPrompt: () => undefined,
    clock: () => now,
    wait: async (milliseconds) => {
      pauses.push(milliseconds / 1000);
      now = new Date(now.getTime() + milliseconds);
    },
    ...more,
  });
const reasonOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  return error instanceof ConnectError ? error.reason : String(error);
};

test('shows the codes, polls at the interval, and returns the tokens', async () => {
  oauth.pollErrors.push('authorization_pending', 'authorization_pending');
  const prompts: DevicePrompt[] = [];
  const user = await connect({
    deviceName: 'Laptop, terminal',
    scope: 'inference',
    budget: { limitMicros: 1_000_000, currency: 'EUR', period: 'week' },
    onPrompt: (prompt) => void prompts.push(prompt),
  });
  expect(user.svcUserId).toBe(oauth.svcUserId);
  expect(user.tokens.svcUserId).toBe(oauth.svcUserId);
  expect(pauses).toEqual([5, 5, 5]);
  expect(prompts).toEqual([
    {
      userCode: 'BCDF-GHJK',
      verificationUri: `${oauth.url}/v1/integrations/oauth/device`,
      verificationUriComplete: `${oauth.url}/v1/integrations/oauth/device?user_code=BCDF-GHJK`,
      expiresAt: new Date('2026-11-27T12:10:00Z'),
    },
  ]);
  expect(Object.fromEntries(oauth.deviceRequests[0] ?? [])).toMatchObject({
    client_id: oauth.publicClientId,
    device_name: 'Laptop, terminal',
    scope: 'inference',
    authorization_details: expect.stringContaining('inference_budget'),
  });
});

test('RFC 8628 §3.5: obeys slow_down, and polls less often while the service does not answer', async () => {
  oauth.pollErrors.push('slow_down', 'authorization_pending', 'slow_down', 'temporarily_unavailable');
  await connect();
  expect(pauses).toEqual([5, 10, 10, 15, 30]);
});

test.each([
  ['denied', 'access_denied'],
  ['expired', 'expired_token'],
  ['expired', 'invalid_grant'],
  ['misconfigured', 'unauthorized_client'],
])('throws %s after %s', async (reason, error) => {
  oauth.pollErrors.push(error);
  expect(await reasonOf(connect())).toBe(reason);
});

test('throws expired after ten minutes without a decision', async () => {
  oauth.pollErrors.push(...Array.from({ length: 130 }, () => 'authorization_pending'));
  expect(await reasonOf(connect())).toBe('expired');
  expect(pauses.length).toBeLessThanOrEqual(120);
});

test('sends the user to no page of another origin', async () => {
  oauth.deviceAnswer = { verification_uri_complete: 'https://evil.example/device' };
  expect(await reasonOf(connect())).toBe('rejected');
});

test('ends with the reason of its signal', async () => {
  const stop = new AbortController();
  const work = connect({ signal: stop.signal, wait: undefined });
  setTimeout(() => stop.abort(new Error('stopped')), 10);
  await expect(work).rejects.toThrow('stopped');
});
