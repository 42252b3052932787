import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { newId } from '@svc/contracts';
import { freePort, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../src/partner/log.ts';
import { type SamplePartner, startSamplePartner } from '../../src/partner/start-sample-partner.ts';
import { type StandInService, startStandInService } from './support/stand-in-service.ts';

let service: StandInService;
let folder: string;
let app: SamplePartner;
const logged: string[] = [];

beforeAll(async () => {
  service = await startStandInService();
  service.isDown = true;
  folder = mkdtempSync(join(tmpdir(), 'svc-sample-'));
  const config = { baseUrl: service.baseUrl, port: await freePort(), webhooksPort: await freePort(), folder };
  app = await startSamplePartner(
    config,
    createLog((line) => logged.push(line)),
  );
});
afterAll(async () => {
  await app.stop();
  service.close();
  rmSync(folder, { recursive: true, force: true });
});

const envelope = (integrationId: string, sequence = 1) => ({
  api_version: '2026-10-01',
  event_id: newId('evt'),
  event: 'integration.test',
  integration_id: integrationId,
  sequence,
  created: Math.floor(Date.now() / 1000),
  user: { svc_user_id: newId('usr') },
  data: { message: 'hello' },
});

const sign = (body: string, secret: string): string => {
  const seconds = Math.floor(Date.now() / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
};

/** Delivers like the service, over TLS with the app's authority. Returns the status. */
const deliver = (path: string, body: string, signature?: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const url = new URL(path, app.webhookUrl);
    const ca = readFileSync(join(folder, 'authority.pem'));
    const headers = { 'content-type': 'application/json', ...(signature && { 'x-svc-signature': signature }) };
    httpsRequest(url, { method: 'POST', ca, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end(body);
  });

/** Sends a request with headers that `fetch` does not allow. */
const ask = (path: string, options: { method?: string; headers?: Record<string, string> } = {}) =>
  new Promise<{ status: number | undefined; location: string | undefined; body: string }>((resolve, reject) => {
    httpRequest(app.url, { ...options, path, agent: false }, async (response) => {
      resolve({ status: response.statusCode, location: response.headers.location, body: await text(response) });
    })
      .on('error', reject)
      .end();
  });

interface InboxJson {
  readonly client_id: string | null;
  readonly data: { verified: boolean; envelope: unknown; signature?: string; headers?: unknown; raw_body?: string }[];
}

const inbox = async (query = ''): Promise<InboxJson> =>
  // Assertions check the shape.
  (await (await fetch(`${app.url}/inbox.json?${query}`)).json()) as InboxJson;

describe('before the service answers', () => {
  test('serves a waiting page with the reason and defers deliveries', async () => {
    await waitFor(() => logged.some((line) => line.includes('cannot register yet')));
    expect(await (await fetch(`${app.url}/healthz`)).json()).toEqual({ status: 'ok', registered: false });
    const page = await ask('/');
    expect(page.status).toBe(503);
    expect(page.body).toContain('answered 503 service_unavailable');
    expect(await ask('/connect')).toMatchObject({ status: 303, location: '/' });
    expect(await deliver('/webhooks', '{}', 't=1,v1=00')).toBe(503);
  });

  test('registers once the service answers', async () => {
    service.isDown = false;
    await app.registered;
    expect((await ask('/')).body).toContain('Connect your account');
    expect((await inbox()).client_id).toBe(service.apps[0]?.client_id);
  });
});

describe('the webhook receiver', () => {
  const own = () => ({ id: service.apps[0]?.client_id ?? '', secret: service.apps[0]?.webhook?.signing_secret ?? '' });

  test('shows deliveries signed with its secret, once, and no others', async () => {
    const { id, secret } = own();
    const body = JSON.stringify(envelope(id));
    expect(await deliver('/webhooks', body, sign(body, 'whsec_wrong'))).toBe(401);
    expect(await deliver('/webhooks', body)).toBe(401);
    const foreign = JSON.stringify(envelope(newId('app')));
    expect(await deliver('/webhooks', foreign, sign(foreign, secret))).toBe(403);
    expect((await inbox()).data).toEqual([]);
    expect(await deliver('/webhooks', body, sign(body, secret))).toBe(204);
    expect(await deliver('/webhooks', body, sign(body, secret))).toBe(204);
    const { data } = await inbox(`integration_id=${id}`);
    expect(data).toEqual([expect.objectContaining({ verified: true, envelope: JSON.parse(body) })]);
    expect((await ask('/inbox')).body).toContain('data-verified="yes"');
  });

  test('records deliveries for any app unchanged, and escapes them in its page', async () => {
    const app_id = newId('app');
    const waiting = inbox(`integration_id=${app_id}&wait_seconds=10`);
    const body = JSON.stringify({ ...envelope(app_id), data: { message: '<script>alert(1)</script>' } });
    expect(await deliver('/webhooks/any', body, 't=1,v1=ab')).toBe(204);
    const { data } = await waiting;
    const headers = expect.objectContaining({ 'x-svc-signature': 't=1,v1=ab' });
    expect(data).toEqual([
      expect.objectContaining({ verified: false, signature: 't=1,v1=ab', headers, raw_body: body }),
    ]);
    expect(await deliver('/webhooks/any', 'no json')).toBe(204);
    expect((await inbox()).data[0]).toMatchObject({ envelope: null, signature: null, raw_body: 'no json' });
    const page = (await ask('/inbox')).body;
    expect(page).toContain('&lt;script&gt;');
    expect(page).not.toContain('<script>alert');
  });

  test('forwards deliveries unchanged to a receiver without https and returns its response', async () => {
    const got: { body: string; signature: unknown; path: string | undefined }[] = [];
    const receiver = createServer(async (request, response) => {
      got.push({ body: await text(request), signature: request.headers['x-svc-signature'], path: request.url });
      response.writeHead(got.length === 1 ? 409 : 204).end();
    });
    const port = await freePort();
    await new Promise<void>((resolve) => receiver.listen(port, '127.0.0.1', resolve));
    const body = '{"a":  "spaced\u00e9"}';
    expect(await deliver(`/webhooks/to/${port}`, body, 't=1,v1=ab')).toBe(409);
    expect(await deliver(`/webhooks/to/${port}`, body, 't=1,v1=ab')).toBe(204);
    expect(got).toEqual(Array.from({ length: 2 }, () => ({ body, signature: 't=1,v1=ab', path: '/webhooks' })));
    await new Promise((resolve) => receiver.close(resolve));
    expect(await deliver(`/webhooks/to/${port}`, body)).toBe(502);
    for (const nowhere of ['80', '99999', 'example.com', '0x1F90']) {
      expect(await deliver(`/webhooks/to/${nowhere}`, body), nowhere).toBe(404);
    }
  });

  test('is not trusted without its authority', async () => {
    const insecure = fetch(app.webhookUrl, { method: 'POST', body: '{}' });
    await expect(insecure).rejects.toThrow();
  });
});

describe('the pages', () => {
  test('redirect other host names to the configured address and refuse other origins', async () => {
    const { port } = new URL(app.url);
    expect(await ask('/inbox', { headers: { host: `localhost:${port}` } })).toMatchObject({
      status: 308,
      location: `${app.url}/inbox`,
    });
    expect(await ask('//evil.example/', { headers: { host: 'evil.example' } })).toMatchObject({
      location: `${app.url}/evil.example/`,
    });
    expect((await ask('/sign-out', { method: 'POST', headers: { host: 'evil.example' } })).status).toBe(421);
    expect((await ask('/sign-out', { method: 'POST', headers: { origin: 'http://127.0.0.1:1' } })).status).toBe(403);
    expect((await ask('/sign-out', { method: 'POST', headers: { origin: app.url } })).status).toBe(303);
  });

  test('serve an app without a server, whose script may call the service alone', async () => {
    const page = await fetch(`${app.url}/browser`);
    expect(page.headers.get('content-security-policy')).toContain(`connect-src 'self' ${service.baseUrl};`);
    expect(await page.text()).toContain(`client-id="${service.apps[1]?.client_id}"`);
    const script = await fetch(`${app.url}/browser/app.js`);
    expect(script.headers.get('content-type')).toContain('text/javascript');
    expect(await script.text()).toContain('svc-connect');
  });

  test('require a connection for billed actions, in the requested format', async () => {
    const page = await fetch(`${app.url}/chat`, { method: 'POST', body: new URLSearchParams({ message: 'hi' }) });
    expect(page.status).toBe(401);
    expect(await page.text()).toContain('href="/connect"');
    const headers = { accept: 'application/x-ndjson' };
    const stream = await fetch(`${app.url}/chat`, { method: 'POST', headers });
    expect(stream.status).toBe(401);
    expect(await stream.json()).toMatchObject({ problem: { action: { href: '/connect' } } });
  });

  test('link back from a missing page', async () => {
    const missing = await ask('/nothing');
    expect(missing.status).toBe(404);
    expect(missing.body).toContain('Back to the start');
  });

  test('log no secret', () => {
    const secrets = [
      ...service.accounts.values(),
      service.apps[0]?.client_secret,
      service.apps[0]?.webhook?.signing_secret,
    ];
    for (const secret of secrets) expect(logged.join('')).not.toContain(secret);
  });
});
