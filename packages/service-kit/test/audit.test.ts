import { serviceOperations } from '@svc/contracts';
import { expect, test } from 'vitest';
import { bind, createInternalApp, createInternalClient, createLogger, createMetrics } from '../src/index.ts';
import { collectLogs, serve, startTestApp } from './support/test-app.ts';

const isAudit = ({ message }: Record<string, unknown>) => message === 'audit';

test('audits changes by a signed-in user with actor, target and outcome, without request content', async () => {
  const { send, lines } = await startTestApp();
  const headers = { authorization: 'bearer session-business' };
  await send('PATCH', '/v1/things/thing-1', { headers, body: { active: true } });
  await send('PATCH', '/v1/things/thing-2', { headers, body: { active: 'canary' } });
  await expect.poll(() => lines.filter(isAudit)).toHaveLength(2);
  const audited = lines.filter(isAudit);
  expect(audited[0]).toMatchObject({ component: 'audit', operation: 'updateThing', target: ['thing-1'], status: 200 });
  expect(audited[0]?.actor).toMatch(/^usr_/);
  expect(audited[1]).toMatchObject({ target: ['thing-2'], status: 422, code: 'invalid_request_error' });
  expect(JSON.stringify(audited)).not.toContain('canary');
});

test('does not audit reads or requests of callers without a session', async () => {
  const { send, lines } = await startTestApp();
  await send('GET', '/v1/things/thing-1', { headers: { authorization: 'bearer session-personal' } });
  await send('POST', '/v1/things', { body: { name: 'x' } });
  await expect.poll(() => lines.filter(({ message }) => message === 'request')).toHaveLength(2);
  expect(lines.filter(isAudit)).toEqual([]);
});

test.each([
  ['ada@example.com', 'operator:ada@example.com'],
  ['two words', 'operator'],
])('records the operator name %s as %s', async (operator, actor) => {
  const { logger, lines } = collectLogs();
  const route = serviceOperations.reloadRoutes;
  const { url } = await serve(
    createInternalApp({
      service: 'inference-gateway',
      contract: [route],
      bindings: [bind(route, async () => ({ status: 200, body: { loaded: true } }))],
      tokens: ['operator:service-credential'],
      logger,
      metrics: createMetrics('inference-gateway'),
      ready: async () => ({}),
    }),
  );
  const client = createInternalClient({
    baseUrl: url,
    token: 'operator:service-credential',
    timeoutMs: 5_000,
    operator,
  });
  await client.call(route, {});
  await client.close();
  await expect.poll(() => lines.filter(isAudit)).toHaveLength(1);
  expect(lines.find(isAudit)).toMatchObject({ actor, operation: 'reloadRoutes', target: [], status: 200 });
});

test.each(['warn', 'error', 'fatal'])(
  'writes the audit log at LOG_LEVEL %s, and nothing else of that level',
  (level) => {
    const lines: string[] = [];
    const logger = createLogger({ service: 'auth', level, destination: { write: (line) => void lines.push(line) } });
    logger.info('request');
    logger.child({ request_id: 'req_1' }).audit({ component: 'audit', actor: 'usr_1' }, 'audit');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'info', message: 'audit', component: 'audit', actor: 'usr_1', request_id: 'req_1' },
    ]);
  },
);

test('names account, app and API key of a refused request by their ids, and of no other', async () => {
  const { send, lines } = await startTestApp();
  const headers = { authorization: 'bearer session-business' };
  await send('PATCH', '/v1/things/thing-1', { headers, body: { active: true } });
  await send('PATCH', '/v1/things/thing-2', { headers, body: { active: 'canary' } });
  const requests = () => lines.filter(({ message }) => message === 'request');
  await expect.poll(requests).toHaveLength(2);
  expect(requests()[0]).not.toHaveProperty('user_id');
  expect(requests()[1]).toMatchObject({ status: 422, user_id: expect.stringMatching(/^usr_/) });
});
