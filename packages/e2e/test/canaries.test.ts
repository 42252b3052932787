import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectToBroker } from '@svc/messaging/broker';
import { readStackFile, waitFor } from '@svc/testing';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { call } from './support/api.ts';
import { beginAuthorize, chat, decide, discoverPartner, redeem } from './support/partner.ts';
import { registerApp, signUp, subscribe } from './support/people.ts';
import { startReceiver } from './support/receiver.ts';

/** All output of the product, by place. */
type Written = Map<string, string>;

/** Collects the logs of all processes and the gateway's journal. */
const collectFiles = async (written: Written): Promise<void> => {
  for (const kind of ['logs', 'usage-journal']) {
    const folder = join(inject('dataDir'), kind);
    const names = await readdir(folder);
    expect(names, kind).not.toEqual([]);
    for (const name of names) written.set(`${kind} ${name}`, await readFile(join(folder, name), 'utf8'));
  }
};

const collectTables = async (written: Written): Promise<void> => {
  const { database_urls: urls } = await readStackFile(inject('dataDir'));
  expect(Object.keys(urls).length).toBeGreaterThanOrEqual(4);
  for (const [service, url] of Object.entries(urls)) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const tables = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    for (const { name } of tables.rows) {
      const rows = await client.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`);
      written.set(`table ${service} ${name}`, rows.rows.map((row) => row.text).join('\n'));
    }
    await client.end();
  }
};

const collectStreams = async (written: Written): Promise<void> => {
  const { nats_url: url } = await readStackFile(inject('dataDir'));
  const connection = await connectToBroker({ url, name: 'operator' });
  const manager = await connection.jetstreamManager();
  for await (const { config, state } of manager.streams.list()) {
    const messages: string[] = [];
    for (let sequence = state.first_seq; sequence <= state.last_seq; sequence += 1) {
      const message = await manager.streams.getMessage(config.name, { seq: sequence }).catch(() => undefined);
      if (message) messages.push(`${message.subject} ${[...message.header].join()} ${message.string()}`);
    }
    written.set(`stream ${config.name}`, messages.join('\n'));
  }
  await connection.close();
};

const collectMetrics = async (written: Written): Promise<void> => {
  const { processes } = await readStackFile(inject('dataDir'));
  const services = Object.entries(processes).filter(([, { internal_url: url }]) => url !== undefined);
  for (const [name, { internal_url: url }] of services) {
    const metrics = await (await fetch(new URL('/metrics', url))).text();
    expect(metrics, name).toContain('http_');
    written.set(`metrics ${name}`, metrics);
  }
  expect(services.length).toBeGreaterThanOrEqual(4);
};

/** Waits for the trace of a request. Spans are sent in batches, so all earlier ones have arrived too. */
const collectTraces = async (written: Written, requestId: string): Promise<void> => {
  const read = () => readFile(inject('tracesFile'), 'utf8');
  await waitFor(async () => (await read()).includes(requestId));
  written.set('traces', await read());
};

/** Sends a file, its name and its prompt in a valid form and in an invalid one. */
const transcribe = async (token: string, canary: string): Promise<void> => {
  for (const [field, status] of [
    ['prompt', 200],
    [canary, 422],
  ] as const) {
    const form = new FormData();
    form.append(field, canary);
    form.append('file', new Blob([canary.repeat(1_000)], { type: 'audio/mpeg' }), `${canary}.mp3`);
    const answer = await fetch(`${inject('baseUrl')}/v1/integrations/inference/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
    });
    expect(answer.status, await answer.text()).toBe(status);
  }
};

/** Sends the same through an API key, paid by a wallet. */
const callGateway = async (session: string, canary: string): Promise<void> => {
  const body = { amount_micros: 10_000_000, success_url: 'https://a.example', cancel_url: 'https://a.example' };
  const { body: topUp } = await call('POST', '/v1/gateway/wallet/top-ups', { token: session, body });
  await call('POST', `/sandbox/payments/sessions/${topUp.session_id}/complete`);
  await call('POST', '/v1/subscriptions/checkout/confirm', { token: session, body: { session_id: topUp.session_id } });
  const { body: key } = await call('POST', '/v1/gateway/keys', { token: session, body: { name: 'Canary' } });
  const token = String(key.key);
  const messages = [{ role: 'user', content: `${canary} [[echo]]` }];
  for (const [path, request] of [
    ['/v1/chat/completions', { model: 'svc-chat', messages, stream: true, user: canary }],
    ['/v1/chat/completions', { model: 'svc-chat', messages: [{ role: 'user', content: `${canary} [[status=422]]` }] }],
    ['/v1/completions', { model: 'svc-completion', prompt: `${canary} [[echo]]` }],
    ['/v1/embeddings', { model: 'svc-embedding', input: canary }],
  ] as const) {
    const answer = await call('POST', path, { token, body: request });
    expect([200, 422], answer.text).toContain(answer.status);
  }
};

describe('secrets and content', () => {
  test('appear in no log, table, message, metric or trace, on success or failure', async () => {
    const canary = `canary${crypto.randomUUID().replaceAll('-', '')}`;
    const receiver = await startReceiver();
    const business = await signUp('business');
    const app = await registerApp(business);
    const webhook = await call('PUT', `/v1/integrations/apps/${app.clientId}/webhook`, {
      token: business.token,
      body: { url: receiver.url },
    });
    const user = await signUp('personal');
    await subscribe(user);
    const configuration = await discoverPartner(app);
    const request = await beginAuthorize(configuration, app);
    const callback = await decide(user, request, true);
    const tokens = await redeem(configuration, callback, request);
    await receiver.waitForEvent('integration.connected', user.userId);

    const prompt = `${canary} [[echo]]`;
    expect((await chat(tokens.access_token, prompt)).status).toBe(200);
    expect((await chat(tokens.access_token, prompt, { stream: true })).status).toBe(200);
    const faults = ['[[status=503]]', '[[status=400]]', '[[drop_after=2]]', '[[no_usage]]'];
    for (const fault of faults)
      await chat(tokens.access_token, `${canary} ${fault}`, { stream: fault.includes('drop') });
    await chat(tokens.access_token, canary, { [canary]: canary, user: canary });
    const tool = {
      type: 'function',
      function: { name: canary, description: canary, parameters: { [canary]: canary } },
    };
    expect((await chat(tokens.access_token, `${canary} [[tool_call]]`, { tools: [tool] })).status).toBe(200);
    await transcribe(tokens.access_token, canary);
    await callGateway(user.token, canary);
    await call('POST', '/v1/integrations/inference/chat/completions', {
      token: tokens.access_token,
      body: `{"${canary}`,
    });
    await call('POST', '/v1/console/sessions', { body: { email: user.email, password: canary } });
    await call('POST', '/v1/console/sessions', { body: { email: user.email, password: canary, [canary]: canary } });
    await call('POST', '/v1/integrations/oauth/token', {
      form: { grant_type: 'authorization_code', client_id: app.clientId, client_secret: canary, code: canary },
    });
    await call('GET', '/v1/integrations/usage', { token: canary });
    await call('GET', `/v1/integrations/usage?access_token=${canary}`);
    await call('GET', `/v1/models`, { token: canary, headers: { traceparent: canary, tracestate: `${canary}=1` } });
    const last = await call('GET', '/v1/models', { token: canary });

    const secrets: Record<string, string> = {
      'the prompt, the answer and misplaced values': canary,
      'the password': user.password,
      'the console session token': user.token,
      'the client secret': String(app.clientSecret),
      'the authorization code': String(callback.searchParams.get('code')),
      'the code verifier': request.verifier,
      'the access token': tokens.access_token,
      'the refresh token': String(tokens.refresh_token),
      'the webhook signing secret': String(webhook.body.signing_secret),
      ...JSON.parse(await readFile(join(inject('dataDir'), 'secrets.json'), 'utf8')),
    };
    const written: Written = new Map();
    await collectTraces(written, String(last.headers.get('x-request-id')));
    await Promise.all([
      collectFiles(written),
      collectTables(written),
      collectStreams(written),
      collectMetrics(written),
    ]);
    expect(written.get('traces')).not.toContain(user.email);
    expect([...written.values()].join('').length).toBeGreaterThan(10_000);
    const found = Object.entries(secrets).flatMap(([what, secret]) =>
      [...written].filter(([, text]) => text.includes(secret)).map(([place]) => `${what} in ${place}`),
    );
    expect(found).toEqual([]);
    await receiver.close();
  });
});
