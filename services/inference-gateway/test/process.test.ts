import { writeFile } from 'node:fs/promises';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type GatewayProcess, startProcess } from './support/gateway-process.ts';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

const PATH = '/v1/integrations/inference/chat/completions';
// Provides database, NATS, billing, provider and routes file. Its own service stays idle.
let around: TestGateway;
let environment: Record<string, string>;
let token: string;
const started: GatewayProcess[] = [];

beforeAll(async () => {
  around = await startGateway();
  token = await around.tokens.accessToken();
  environment = { ...around.environment, PROVIDER_KEY: 'the-key-of-the-provider', LOG_LEVEL: 'info' };
});
afterEach(async () => {
  for (const running of started.splice(0)) {
    running.signal('SIGKILL');
    await running.ended;
  }
});
afterAll(() => around.stop());

const start = async (
  changes: Record<string, string> = {},
  options: { waits?: boolean } = {},
): Promise<GatewayProcess> => {
  const running = await startProcess({ ...environment, ...changes }, options);
  started.push(running);
  return running;
};
const ask = (running: GatewayProcess, content: string, stream = false) =>
  fetch(`${running.url}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ stream, messages: [{ role: 'user', content }] }),
  });
const idOf = (answer: Response): string => answer.headers.get('x-request-id') ?? '';
const recordOf = (requestId: string) => around.database.knex('usage_records').where({ request_id: requestId }).first();

describe('start', () => {
  test('fails with all faults of the configuration, and no secret', async () => {
    const running = await start(
      { DATABASE_URL: 'nonsense', API_KEY_PEPPER: 'short', ROUTES_FILE: '' },
      { waits: false },
    );
    expect(await running.ended).toBe(1);
    for (const name of ['DATABASE_URL', 'API_KEY_PEPPER', 'ROUTES_FILE']) expect(running.output()).toContain(name);
    expect(running.output()).not.toMatch(/nonsense|short/);
  });

  test('fails with the faults of an invalid routes file', async () => {
    const running = await start({ PROVIDER_KEY: '' }, { waits: false });
    expect(await running.ended).toBe(1);
    expect(running.output()).toContain('PROVIDER_KEY is not set');
  });

  test('names the variable of a routes file that does not exist', async () => {
    const running = await start({ ROUTES_FILE: '/nowhere/routes.yaml' }, { waits: false });
    expect(await running.ended).toBe(1);
    expect(running.output()).toContain('ROUTES_FILE: /nowhere/routes.yaml cannot be read');
  });
});

describe('stop', () => {
  test('SIGTERM: drains open streams and writes their usage to the database', async () => {
    const running = await start();
    const answer = await ask(running, 'Hello [[chunks=10]] [[chunk_delay_ms=50]]', true);
    running.signal('SIGTERM');
    expect((await answer.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await running.ended).toBe(0);
    expect(await recordOf(idOf(answer))).toMatchObject({ outcome: 'settled' });
    expect(running.output()).not.toContain('the-key-of-the-provider');
  });

  test('SIGTERM: reads the answer to a disconnected caller to its end', async () => {
    const running = await start();
    const before = around.billing.admissions.length;
    const controller = new AbortController();
    const gone = fetch(`${running.url}${PATH}`, {
      method: 'POST',
      signal: controller.signal,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello [[delay_ms=800]]' }] }),
    });
    await waitFor(() => around.billing.admissions.length > before);
    controller.abort();
    await expect(gone).rejects.toThrow();
    running.signal('SIGTERM');
    expect(await running.ended).toBe(0);
    expect(await recordOf(around.billing.admissions.at(-1)?.request_id ?? '')).toMatchObject({ outcome: 'settled' });
  });

  test('SIGKILL right after an answer: billing already has the usage', async () => {
    const running = await start();
    const answer = await ask(running, 'Hello');
    await answer.text();
    running.signal('SIGKILL');
    await running.ended;
    expect(around.billing.outcomes.get(idOf(answer))?.outcome).toBe('settled');
  });

  test('SIGKILL during an answer: leaves the reservation for billing to end', async () => {
    const running = await start();
    const answer = await ask(running, 'Hello [[chunks=20]] [[chunk_delay_ms=50]]', true);
    running.signal('SIGKILL');
    await expect(answer.text()).rejects.toThrow();
    await running.ended;
    expect(around.billing.states.get(idOf(answer))).toBe('reserved');
    expect(await recordOf(idOf(answer))).toBeUndefined();
  });
});

describe('routes file', () => {
  const withModel = (model: string): string => around.routesText.replaceAll('svc-chat', model);
  const offers = async (running: GatewayProcess, model: string): Promise<boolean> => {
    const answer = await fetch(`${running.url}/v1/models`, {
      headers: { authorization: `Bearer ${await apiKey(running)}` },
    });
    return (await answer.text()).includes(`"${model}"`);
  };
  let key: string | undefined;
  const apiKey = async (running: GatewayProcess): Promise<string> => {
    if (key !== undefined) return key;
    const created = await fetch(`${running.url}/v1/gateway/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await around.tokens.consoleSession()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Test' }),
    });
    key = String(JSON.parse(await created.text()).key);
    return key;
  };

  test('uses a key that is rotated in its file after SIGHUP, unless it is invalid', async () => {
    const file = `${around.routesFile}.key`;
    await writeFile(around.routesFile, around.routesText);
    await writeFile(file, 'a-key-of-yesterday\n');
    const running = await start({ PROVIDER_KEY: '', PROVIDER_KEY_FILE: file });
    const status = async (): Promise<number> => {
      const answer = await ask(running, 'Hello');
      await answer.text();
      return answer.status;
    };
    expect(await status()).toBe(502);
    await writeFile(file, `${environment['PROVIDER_KEY']}\n`);
    running.signal('SIGHUP');
    await waitFor(async () => (await status()) === 200);
    await writeFile(file, '');
    running.signal('SIGHUP');
    await waitFor(() => running.output().includes('the file of PROVIDER_KEY_FILE holds no key'));
    expect(await status()).toBe(200);
  });

  test('is reloaded when it changes or on SIGHUP, unless it is invalid', async () => {
    const running = await start();
    expect(await offers(running, 'svc-chat')).toBe(true);

    await writeFile(around.routesFile, withModel('changed'));
    await waitFor(() => offers(running, 'changed'));

    await writeFile(around.routesFile, `${withModel('bad')}\nnonsense: true`);
    running.signal('SIGHUP');
    await waitFor(() => running.output().includes('routes file refused'));
    expect(running.output()).toContain('Unrecognized key');
    expect(await offers(running, 'changed')).toBe(true);

    await writeFile(around.routesFile, withModel('mended'));
    running.signal('SIGHUP');
    await waitFor(() => offers(running, 'mended'));
  });
});
