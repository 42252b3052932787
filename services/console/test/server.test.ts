import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createLogger, createMetrics, type Listener, listen } from '@svc/service-kit';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { createAssetStore, createInternalHandler, createPublicPages, createWebHandler } from '../src/server/index.ts';
import { rawRequest } from './support/raw-request.ts';

const NAVIGATION = { accept: 'text/html,application/xhtml+xml', 'sec-fetch-mode': 'navigate' };

const SIGNED_IN = { ...NAVIGATION, cookie: 'svc_device=x; svc_signed_in=1' };
const PUBLICATION = { termsUrl: 'https://operator.example/terms', privacyUrl: undefined };

const startWeb = (directory: string, isHttps = false, sampleAppUrl?: string): Promise<Listener> =>
  listen(
    createWebHandler({
      assets: createAssetStore(directory),
      logger: createLogger({ service: 'console', level: 'fatal' }),
      metrics: createMetrics('console'),
      isHttps,
      findPublicPage: createPublicPages(PUBLICATION, { isHttps }),
      sampleAppUrl,
    }),
    { port: 0, host: '127.0.0.1' },
  );

describe('the built pages', () => {
  let web: Listener;
  beforeAll(async () => {
    web = await startWeb(inject('assetsDirectory'));
  });
  afterAll(() => web.drain(0));
  const get = (path: string, headers?: Record<string, string>, method?: string) =>
    rawRequest(`${web.url}${path}`, headers, method);
  const scriptPath = async (): Promise<string> =>
    /src="(\/assets\/[^"]+\.js)"/.exec((await get('/', SIGNED_IN)).text)?.[1] ?? '';

  test.each([
    ['/', SIGNED_IN],
    ['/no-such-page', SIGNED_IN],
    ['/apps/app_1/webhook', NAVIGATION],
    ['/plans/return?session_id=cs_1', NAVIGATION],
    ['/reset-password', NAVIGATION],
    ['/o/usr_1/keys', NAVIGATION],
    ['/organization/seats?session_id=cs_1', NAVIGATION],
    ['/invitations?token=t', NAVIGATION],
  ])('serve the single page at %s', async (path, headers) => {
    const answer = await get(path, headers);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(answer.text).toContain('<div id="root">');
  });

  test('show visitors who are not signed in what the product is, in their language and within 60 KB', async () => {
    const italian = await get('/', { ...NAVIGATION, 'accept-language': 'it-IT,it;q=0.9' });
    expect(italian.text).toContain('<html lang="it">');
    const answer = await get('/?locale=en', { ...NAVIGATION, 'accept-encoding': 'gzip' });
    const text = gunzipSync(answer.bytes).toString();
    expect(answer.headers.vary).toBe('Accept-Encoding, Accept-Language, Cookie');
    for (const path of ['/prices?locale=en', '/docs', '/sign-in?locale=en', 'https://operator.example/terms']) {
      expect(text).toContain(`href="${path}"`);
    }
    expect(text).not.toContain('>Privacy<');
    expect(text).not.toMatch(/<script|style="/);
    const font = await get(/href="(\/assets\/[^"]+\.woff2)"/.exec(text)?.[1] ?? '');
    expect(answer.bytes.length + font.bytes.length).toBeLessThan(60_000);
  });

  test('show a 404 page in place of the sign-in at an unknown address', async () => {
    const answer = await get('/no-such-page', { ...NAVIGATION, 'accept-language': 'en' });
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('Page not found');
  });

  test('have a policy that allows no inline content and no other site', async () => {
    const answer = await get('/', SIGNED_IN);
    const policy = answer.headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    expect(answer.headers['x-frame-options']).toBe('DENY');
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    expect(answer.text).not.toMatch(/<style|<script>|style="|onload=/);
  });

  test('lead to the sample app where one runs, else to the quick start', async () => {
    const sample = await startWeb(inject('assetsDirectory'), false, 'http://127.0.0.1:8090/');
    const led = await rawRequest(`${sample.url}/sample-app?locale=it`, NAVIGATION);
    await sample.drain(0);
    expect([led.status, led.headers.location]).toEqual([302, 'http://127.0.0.1:8090/']);
    expect((await get('/sample-app?locale=it', NAVIGATION)).headers.location).toBe('/docs/it/quick-start');
    expect((await get('/sample-app', NAVIGATION)).headers.location).toBe('/docs/quick-start');
  });

  test('have the documentation beside them, at addresses without an ending', async () => {
    for (const path of ['/docs', '/docs/', '/docs/quick-start', '/docs/reference/webhooks']) {
      const answer = await get(path, NAVIGATION);
      expect(answer.status, path).toBe(200);
      expect(answer.headers['cache-control']).toBe('no-cache');
      expect(answer.text).toContain('svc documentation</title>');
      expect(answer.text).not.toContain('<div id="root">');
    }
    const sdk = await get('/docs/partner-sdk.tgz');
    expect(sdk.headers['content-type']).toBe('application/gzip');
    const missing = await get('/docs/no-such-page', NAVIGATION);
    expect(missing.status).toBe(404);
    expect(missing.text).toContain('No such page');
    const italian = await get('/docs/it/nessuna', NAVIGATION);
    expect(italian.status).toBe(404);
    expect(italian.text).toContain('Pagina non trovata');
    expect((await get('/docs/no-such-file.tgz')).status).toBe(404);
  });

  test('cache files with a hash in their name forever, and return 304 to a browser that has one', async () => {
    const path = await scriptPath();
    const answer = await get(path);
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(answer.headers['content-type']).toBe('text/javascript; charset=utf-8');
    const etag = answer.headers['etag'] ?? '';
    const again = await get(path, { 'if-none-match': etag });
    expect(again.status).toBe(304);
    expect(again.text).toBe('');
  });

  test('are compressed for browsers that accept it', async () => {
    const path = await scriptPath();
    const raw = async (accepted: string) => {
      const { headers, bytes } = await get(path, { 'accept-encoding': accepted });
      return { encoding: headers['content-encoding'], bytes, vary: headers.vary };
    };
    const plain = await raw('identity');
    expect(plain.encoding).toBeUndefined();
    expect(plain.vary).toBe('Accept-Encoding');
    const brotli = await raw('gzip, deflate, br');
    expect(brotli.encoding).toBe('br');
    expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true);
    const gzipped = await raw('gzip, br;q=0');
    expect(gzipped.encoding).toBe('gzip');
    expect(gunzipSync(gzipped.bytes).equals(plain.bytes)).toBe(true);
  });

  test.each([
    ['a script that is not there', '/assets/missing.js', NAVIGATION],
    ['a call by a script', '/v2/anything', { accept: 'application/json', 'sec-fetch-mode': 'cors' }],
    ['a picture that is not there', '/missing.png', { accept: 'image/*', 'sec-fetch-mode': 'no-cors' }],
    ['a path that leaves the directory', '/..%2f..%2fpackage.json', { accept: '*/*' }],
  ])('are not returned for %s', async (_what, path, headers) => {
    const answer = await get(path, headers);
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toEqual({ detail: { code: 'not_found', message: expect.any(String) } });
  });

  test('are at the root for every client, such as a probe or curl', async () => {
    expect((await get('/', { accept: '*/*' })).status).toBe(200);
  });

  test.each(['/', '/apps'])('are at %s for a program that accepts HTML, whose mode says cors', async (path) => {
    const answer = await get(path, { accept: 'text/html', 'sec-fetch-mode': 'cors' });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  });

  test('RFC 9112 §3.2: return 400 for a request with two Host headers', async () => {
    const req = request(web.url, { headers: ['Host', 'a', 'Host', 'b'] }).end();
    const [answer] = (await once(req, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(400);
    expect(String(Buffer.concat(await answer.toArray()))).toContain('repeated_host');
  });

  test('accept only GET and HEAD', async () => {
    const answer = await get('/', NAVIGATION, 'POST');
    expect(answer.status).toBe(405);
    expect(answer.headers['allow']).toBe('GET, HEAD');
    const head = await get('/', NAVIGATION, 'HEAD');
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
  });

  test('keep the request id of the ingress', async () => {
    const id = 'req_01jd0000000000000000000000';
    expect((await get('/', { ...NAVIGATION, 'x-request-id': id })).headers['x-request-id']).toBe(id);
    expect((await get('/', { ...NAVIGATION, 'x-request-id': 'x y' })).headers['x-request-id']).toMatch(/^req_/);
  });

  test('set Strict-Transport-Security if the product is on https', async () => {
    const secure = await startWeb(inject('assetsDirectory'), true);
    const answer = await rawRequest(secure.url, NAVIGATION);
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000');
    await secure.drain(0);
  });
});

describe('before and after a build', () => {
  const open: { drain: Listener['drain'] }[] = [];
  let directory = '';
  afterEach(async () => {
    for (const listener of open.splice(0)) await listener.drain(0);
    await rm(directory, { recursive: true, force: true });
  });

  test('names the missing build, and serves the pages as soon as they exist', async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-console-'));
    const pages = join(directory, 'web');
    const web = await startWeb(pages);
    const assets = createAssetStore(pages);
    const life = { isStopping: false };
    const internal = await listen(createInternalHandler({ assets, metrics: createMetrics('console'), life }), {
      port: 0,
      host: '127.0.0.1',
    });
    open.push(web, internal);
    const probe = async (path: string) => {
      const { status, text } = await rawRequest(`${internal.url}${path}`);
      return { status, text };
    };
    const missing = await rawRequest(web.url, NAVIGATION);
    expect(missing.status).toBe(503);
    expect(missing.text).toContain('npx pnpm --filter @svc/console build');
    expect(await probe('/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' });
    expect(await probe('/readyz')).toEqual({ status: 503, text: '{"status":"not_ready","checks":{"pages":false}}' });

    await mkdir(pages);
    await writeFile(join(pages, 'index.html'), '<h1>one</h1>');
    expect((await rawRequest(web.url, SIGNED_IN)).text).toBe('<h1>one</h1>');
    expect((await probe('/readyz')).status).toBe(200);
    expect((await probe('/metrics')).text).toContain('process_cpu_seconds_total');
    expect((await probe('/elsewhere')).status).toBe(404);
    life.isStopping = true;
    expect((await probe('/readyz')).status).toBe(503);
  });
});
