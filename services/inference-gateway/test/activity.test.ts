import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
let token: string;

beforeAll(async () => {
  gateway = await startGateway();
  token = await gateway.tokens.accessToken();
});
afterAll(() => gateway.stop());

const post = async (body: unknown): Promise<number> => {
  const answer = await fetch(`${gateway.url}/v1/integrations/inference/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.text();
  return answer.status;
};

test('publishes the requests and errors of an app, including refused requests', async () => {
  const messages = [{ role: 'user', content: 'Hello' }];
  const statuses = [
    await post({ messages }),
    await post({ messages, stream: true }),
    await post({ messages, model: 'x' }),
  ];
  gateway.billing.decide = () => ({ verdict: 'weekly_limit_exceeded', resets_at: '2026-12-01T00:00:00Z' });
  statuses.push(await post({ messages }));
  expect(statuses).toEqual([200, 200, 422, 402]);
  const sums = await waitFor(async () => {
    const facts = await gateway.database.knex('outbox').where({ subject: 'inference.app.activity.v1' });
    const counts = facts.flatMap(({ payload }) => payload.counts);
    const sum = (name: string) => counts.reduce((total, count) => total + count[name], 0);
    return sum('requests') === 4 ? { errors: sum('errors'), days: new Set(counts.map(({ day }) => day)) } : undefined;
  });
  expect(sums).toEqual({ errors: 2, days: new Set([new Date().toISOString().slice(0, 10)]) });
});
