import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey, provider, route, routesYaml, startGateway, type TestGateway } from './support/start-gateway.ts';

/** A certification that has expired takes only its own route out. */

let gateway: TestGateway;
let key: string;
let token: string;

beforeAll(async () => {
  gateway = await startGateway({
    routes: (url) =>
      routesYaml({
        providers: [provider('sandbox', url)],
        routes: [route('chat-old', { model: 'svc-old' }).replace('2100-01-01', '2021-01-01'), route('chat-eu')],
        chat: ['chat-old', 'chat-eu'],
      }),
  });
  key = await createKey(gateway);
  token = await gateway.tokens.accessToken();
});
afterAll(() => gateway.stop());

const ask = async (path: string, credential: string, model?: string) => {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...(model === undefined ? {} : { model }) }),
  });
  return [answer.status, JSON.parse(await answer.text()).error?.code];
};
const errors = (): number => gateway.logs().split('the certification has expired').length - 1;

describe('a gateway with an expired certification', () => {
  test('starts, and serves by its other routes', async () => {
    expect(await ask('/v1/chat/completions', key, 'svc-chat')).toEqual([200, undefined]);
    expect(await ask('/v1/chat/completions', key, 'svc-old')).toEqual([503, 'no_certified_route']);
    expect(await ask('/v1/integrations/inference/chat/completions', token)).toEqual([200, undefined]);
  });

  test('logs an error and reports the seconds since', async () => {
    expect(errors()).toBe(1);
    const metrics = await (await fetch(`${gateway.internalUrl}/metrics`)).text();
    expect(metrics).toMatch(/^route_certification_expires_seconds\{route="chat-old",[^}]*\} -\d+$/m);
    expect(metrics).toMatch(/^route_certification_expires_seconds\{route="chat-eu",[^}]*\} \d+$/m);
    expect(metrics).toMatch(/^upstream_usage_implausible_total\{route="chat-eu",[^}]*\} 0$/m);
  });

  test('reloads its routes file', async () => {
    expect(await gateway.reload()).toBe(true);
    expect(errors()).toBe(1);
  });
});
