import { costOfTokens } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { describe, expect, inject, test } from 'vitest';
import { call } from './support/api.ts';
import { chat, connect } from './support/partner.ts';
import { fundKey, type Person, registerApp, signUp, subscribe } from './support/people.ts';
import { killService, processIdOf, reportedCostOf, reservationsOf } from './support/services.ts';

const GATEWAY = 'inference-gateway';
/** The documented limit after the death of a gateway, not the typical time. */
const FREED_WITHIN_MS = 15_000;
const APP_CHAT = '/v1/integrations/inference/chat/completions';
const KEY_CHAT = '/v1/chat/completions';
/** Prices of the local stack's chat route, in micros. */
const PRICE = { input_micros_per_million: 200_000, output_micros_per_million: 600_000 };
const LONG = 'Say something about Lake Como. [[chunks=400]] [[chunk_delay_ms=100]]';

/** Kills the gateway and waits for its successor. */
const killGateway = async (): Promise<void> => {
  const killed = await killService(GATEWAY);
  await expect.poll(() => processIdOf(GATEWAY), { timeout: 30_000 }).not.toBe(killed);
};
/** Waits until the gateway answers, so that the next kill hits a running process. */
const gatewayIsBack = async (): Promise<void> => {
  await expect
    .poll(async () => (await call('GET', '/v1/integrations/inference/capabilities')).status, { timeout: 30_000 })
    .toBe(401);
};
const send = (path: string, token: string, body: object): Promise<Response> =>
  fetch(`${inject('baseUrl')}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
/** Opens a stream and reads it to its end or interruption; resolves at its first bytes. */
const openStream = async (path: string, token: string, body: object = {}): Promise<{ over: Promise<unknown> }> => {
  const messages = [{ role: 'user', content: LONG }];
  const answer = await send(path, token, { messages, stream: true, ...body });
  expect(answer.status, answer.status === 200 ? '' : await answer.text()).toBe(200);
  const reader = answer.body?.getReader();
  await reader?.read();
  const readOn = async (): Promise<void> => {
    while (!(await reader?.read())?.done);
  };
  return { over: readOn().catch(() => undefined) };
};
const connectedUser = async (): Promise<{ user: Person; accessToken: string }> => {
  const user = await signUp('personal');
  await subscribe(user);
  const { accessToken } = await connect(user, await registerApp(await signUp('business')));
  return { user, accessToken };
};

describe('a gateway that is killed in the middle of streams', () => {
  test('frees the two slots of a user within 15 s', { timeout: 90_000 }, async () => {
    const { accessToken } = await connectedUser();
    const usage = async () => (await call('GET', '/v1/integrations/usage', { token: accessToken })).body;
    const streams = [await openStream(APP_CHAT, accessToken), await openStream(APP_CHAT, accessToken)];
    expect((await usage()).pending_requests).toBe(2);
    await killService(GATEWAY);
    await expect.poll(async () => (await usage()).pending_requests, { timeout: FREED_WITHIN_MS }).toBe(0);
    await Promise.all(streams.map(({ over }) => over));
    await gatewayIsBack();
    expect((await chat(accessToken, 'Hello')).status).toBe(200);
  });

  test('reduces the wallet hold to the cost of the stream so far within 15 s', { timeout: 90_000 }, async () => {
    await gatewayIsBack();
    const person = await signUp('personal');
    const key = await fundKey(person);
    const wallet = async () => (await call('GET', '/v1/gateway/wallet', { token: person.token })).body;
    const stream = await openStream(KEY_CHAT, key, { model: 'svc-chat', max_tokens: 100_000 });
    const hold = Number((await wallet()).held_micros);
    expect(hold).toBeGreaterThan(60_000);
    const reported = () => reportedCostOf(person);
    const first = await reported();
    await expect.poll(reported, { timeout: 20_000 }).toBeGreaterThan(first);
    const known = await reported();
    await killService(GATEWAY);
    await expect
      .poll(async () => Number((await wallet()).held_micros), { timeout: FREED_WITHIN_MS })
      .toBeLessThan(hold / 50);
    await stream.over;
    const row = await waitFor(async () => (await reservationsOf(person))[0]);
    // The journal knows the request and its input; what the process reported beyond that stays with its lease.
    expect(row?.state).toBe('uncertain');
    expect(Number((await wallet()).held_micros)).toBeGreaterThanOrEqual(known);
    await gatewayIsBack();
  });
});

describe('a gateway that is killed when its response arrives', () => {
  /** Returns the cost of the usage in a response. */
  const costIn = (text: string): number => {
    const count = (name: string): number => Number(new RegExp(`"${name}":(\\d+)`).exec(text)?.[1]);
    return costOfTokens(PRICE, { input: count('prompt_tokens'), output: count('completion_tokens') });
  };
  const body = { messages: [{ role: 'user', content: 'Say something about Lake Como.' }] };
  const streamed = { ...body, stream: true, stream_options: { include_usage: true } };

  test.each([
    ['an API key, JSON', KEY_CHAT, { ...body, model: 'svc-chat' }],
    ['an API key, streamed', KEY_CHAT, { ...streamed, model: 'svc-chat' }],
    ['an app, JSON', APP_CHAT, body],
    ['an app, streamed', APP_CHAT, streamed],
  ])('charges the exact cost after its restart: %s', { timeout: 120_000 }, async (_name, path, request) => {
    await gatewayIsBack();
    const { user, accessToken } = await connectedUser();
    const token = path === KEY_CHAT ? await fundKey(user) : accessToken;
    const costs = new Map<string, number>();
    for (let turn = 0; turn < 3; turn += 1) {
      await gatewayIsBack();
      const answer = await send(path, token, request);
      const text = await answer.text();
      const killing = killGateway();
      expect(answer.status, text).toBe(200);
      costs.set(String(answer.headers.get('x-request-id')), costIn(text));
      await killing;
    }
    await expect
      .poll(async () => (await reservationsOf(user)).map(({ state }) => state), { timeout: 30_000 })
      .toEqual(['settled', 'settled', 'settled']);
    const charged = (await reservationsOf(user)).map((row) => [row.request_id, Number(row.cost_micros)] as const);
    expect(new Map(charged)).toEqual(costs);
    expect(Math.min(...costs.values())).toBeGreaterThan(0);
    await gatewayIsBack();
  });
});
