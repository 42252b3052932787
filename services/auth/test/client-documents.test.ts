import { documentOperations } from '@svc/contracts';
import { listen } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digest, sourceDigest } from '../src/throttling.ts';
import { type AuthService, restartAuthService, startAuthService } from './support/auth-service.ts';
import { tidyUpOf } from './support/background-work.ts';
import { type BillingStandIn, startBillingStandIn } from './support/billing-stand-in.ts';
import { newBrowser } from './support/browser.ts';
import { type DocumentHost, type HostedDocument, startDocumentHost } from './support/document-host.ts';
import { call, textAt } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import { openOperator } from './support/operator.ts';
import {
  approve,
  challengeOf,
  connect,
  newPerson,
  newVerifier,
  PASSWORD,
  type Person,
  postToken,
  type RegisteredApp,
  refresh,
  STATE,
} from './support/partner.ts';

const HOUR_MS = 3_600_000;

let host: DocumentHost;
let billing: BillingStandIn;
let mailbox: Mailbox;
let service: AuthService;
let person: Person;

beforeAll(async () => {
  host = await startDocumentHost();
  billing = await startBillingStandIn();
  mailbox = await startMailbox();
  service = await startAuthService({
    MAIL_URL: mailbox.url,
    BILLING_INTERNAL_URL: billing.url,
    WEBHOOK_ALLOW_TARGETS: host.allowTarget,
    WEBHOOK_EXTRA_CA_FILE: host.caFile,
  });
  person = await newPerson(service);
});
afterAll(async () => {
  await service?.stop();
  await billing?.stop();
  await mailbox?.stop();
  await host?.stop();
});

let clients = 0;
/** Serves a document under a new address. */
const newClient = (over: object = {}, response: HostedDocument = {}): RegisteredApp => {
  clients += 1;
  const path = `/clients/${clients}.json`;
  const clientId = `${host.origin}${path}`;
  const redirectUri = 'http://127.0.0.1/callback';
  const body = { client_id: clientId, client_name: 'Agent', redirect_uris: [redirectUri], ...over };
  host.serve(path, { body, ...response });
  return { clientId, redirectUri, secret: undefined };
};
const newestClientId = (): string => `${host.origin}/clients/${clients}.json`;
const pageOf = (app: RegisteredApp, over: Record<string, string> = {}): string =>
  `/v1/integrations/oauth/authorize?${new URLSearchParams({
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    code_challenge: challengeOf(newVerifier()),
    state: STATE,
    locale: 'en',
    ...over,
  })}`;
const openPage = (app: RegisteredApp, over: Record<string, string> = {}) => newBrowser(service).open(pageOf(app, over));
const consentOf = async (app: RegisteredApp) => {
  const browser = newBrowser(service);
  const page = await browser.open(pageOf(app));
  return await browser.submit(page, 'sign-in', { email: person.email, password: PASSWORD });
};
const fetchesOf = ({ clientId }: RegisteredApp): number =>
  host.fetched.filter((path) => `${host.origin}${path}` === clientId).length;

describe('a client of a metadata document', () => {
  test('is announced in the metadata', async () => {
    const metadata = await call(`${service.url}/.well-known/oauth-authorization-server`);
    expect(metadata.body).toMatchObject({ client_id_metadata_document_supported: true });
  });

  test('connects a person, refreshes, is listed by its URL and disconnected by it, percent-encoded', async () => {
    const app = newClient();
    const ada = await newPerson(service);
    const { refreshToken, accessToken } = await connect(service, { app, person: ada });
    expect(JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({
      client_id: app.clientId,
    });
    expect((await refresh(service, { app, token: refreshToken })).status).toBe(200);
    const connections = `${service.url}/v1/integrations/connections`;
    const listed = await call(connections, { token: ada.token });
    expect(listed.body).toMatchObject({ data: [{ client_id: app.clientId, app: { name: 'Agent' } }] });
    const icon = await call(textAt(listed, 'data', 0, 'app', 'icon_url'), { token: ada.token });
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    const path = `${connections}/${encodeURIComponent(app.clientId)}`;
    expect((await call(`${path}/grants`, { token: ada.token })).body).toMatchObject({ data: [{ device_name: null }] });
    expect((await call(path, { method: 'DELETE', token: ada.token })).status).toBe(204);
    expect(fetchesOf(app)).toBe(1);
  });

  test('pushes a request, and uses any port of a loopback address', async () => {
    const app = newClient();
    const pushed = await call(`${service.url}/v1/integrations/oauth/par`, {
      form: {
        client_id: app.clientId,
        response_type: 'code',
        redirect_uri: 'http://127.0.0.1:49152/callback',
        code_challenge: challengeOf(newVerifier()),
        code_challenge_method: 'S256',
        state: STATE,
      },
    });
    expect(pushed.status, pushed.text).toBe(201);
  });

  test('is shown by its host as not registered, with its name as text', async () => {
    const app = newClient({ client_name: '<script>alert(1)</script>', client_uri: 'https://other.example/' });
    const { text } = await consentOf(app);
    expect(text).toContain('not registered with svc');
    expect(text).toContain(`&lt;script&gt;alert(1)&lt;/script&gt; (${new URL(host.origin).host})`);
    expect(text).not.toContain('<script>alert');
    expect(text).not.toContain('Published by');
    expect(text).not.toContain('other.example');
    const details = await call(
      `${service.url}/v1/integrations/oauth/consent?${new URLSearchParams({
        client_id: app.clientId,
        redirect_uri: app.redirectUri,
        scope: 'inference',
        code_challenge: challengeOf(newVerifier()),
        code_challenge_method: 'S256',
      })}`,
      { token: person.token },
    );
    expect(details.body).toMatchObject({ app: { client_id: app.clientId, publisher: new URL(host.origin).host } });
  });

  test('is named with its host in the mail about the new connection', async () => {
    const ada = await newPerson(service);
    await connect(service, { app: newClient(), person: ada });
    const { email } = await service.database('accounts').where({ id: ada.userId }).first('email');
    const named = `Agent (${new URL(host.origin).host})`;
    await waitFor(() => mailbox.mailsTo(email).some(({ text }) => text.includes(named)));
  });

  test.each([['svc official'], ['x'.repeat(81)], ['reversed \u202e name'], [42], [undefined]])(
    'is called by its host instead of %j',
    async (client_name) => {
      expect((await openPage(newClient({ client_name }))).text).toContain(`connect ${new URL(host.origin).host}`);
    },
  );

  test('has no device flow', async () => {
    const app = newClient();
    await openPage(app);
    const answer = await call(`${service.url}/v1/integrations/oauth/device_authorization`, {
      form: { client_id: app.clientId },
    });
    expect(answer.body).toMatchObject({ error: 'unauthorized_client' });
  });
});

describe('a document is refused', () => {
  test.each<[string, object, HostedDocument]>([
    ['whose client_id differs', { client_id: 'https://localhost/other' }, {}],
    ['with a redirect URI of another host', { redirect_uris: ['https://evil.example/callback'] }, {}],
    ['with one bad redirect URI', { redirect_uris: ['http://127.0.0.1/callback', 'http://evil.example/'] }, {}],
    ['with a private scheme', { redirect_uris: ['com.example.app:/callback'] }, {}],
    ['with a script for a redirect URI', { redirect_uris: ['javascript:alert(1)'] }, {}],
    ['without redirect URIs', { redirect_uris: [] }, {}],
    [
      'with too many redirect URIs',
      { redirect_uris: Array.from({ length: 11 }, (_, i) => `http://127.0.0.1/${i}`) },
      {},
    ],
    ['with a secret', { client_secret: 'known to all' }, {}],
    ['with client authentication', { token_endpoint_auth_method: 'client_secret_basic' }, {}],
    ['without authorization codes', { grant_types: ['client_credentials'] }, {}],
    ['that redirects', {}, { status: 302, headers: { location: '/clients/1.json' } }],
    ['that is not found', {}, { status: 404 }],
    ['over 5 KiB', { padding: 'x'.repeat(5 * 1024) }, {}],
    ['that is no JSON', {}, { body: '<html>' }],
    ['that is a list', {}, { body: '[]' }],
    ['that is no UTF-8', {}, { body: Buffer.from([0x7b, 0xff, 0x7d]) }],
    ['that does not end', {}, { isSlow: true }],
  ])('%s', async (_what, over, response) => {
    const page = await openPage(newClient(over, response));
    expect([page.status, page.text.includes('not registered')]).toEqual([400, true]);
  });

  test.each([
    'http://localhost/client.json',
    'https://127.0.0.1/client.json',
    'https://10.0.0.1/client.json',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/client.json',
    'https://metadata.localhost/client.json',
    'https://localhost:1/client.json',
    'https://user@localhost/client.json',
    'https://localhost/a/../client.json',
    'https://localhost/',
  ])('at %s, without a connection', async (clientId) => {
    const fetches = host.fetched.length;
    expect((await openPage({ clientId, redirectUri: 'http://127.0.0.1/callback', secret: undefined })).status).toBe(
      400,
    );
    expect(host.fetched).toHaveLength(fetches);
  });

  test('for a redirect URI that it does not name', async () => {
    const page = await openPage(newClient(), { redirect_uri: `${host.origin}/other` });
    expect([page.status, page.text.includes('return address')]).toEqual([400, true]);
  });

  test('at the token endpoint by an unknown client, without a fetch', async () => {
    const app = newClient();
    const answer = await postToken(service, {
      grant_type: 'refresh_token',
      client_id: app.clientId,
      refresh_token: 'x',
    });
    expect([answer.status, fetchesOf(app)]).toEqual([401, 0]);
  });
});

describe('fetches', () => {
  test('of one source end with 429 after 300 in an hour, for pages and pushed requests; known documents are served', async () => {
    const known = newClient();
    await openPage(known);
    const taken = {
      address_digest: digest('client-document'),
      source_digest: sourceDigest('client-document', '127.0.0.1'),
      attempted_at: service.clock(),
    };
    await service.database('sign_in_attempts').insert(Array.from({ length: 300 }, () => taken));
    const fetches = host.fetched.length;
    const page = await openPage(newClient());
    expect([page.status, Number(page.headers.get('retry-after')) > 3_000]).toEqual([429, true]);
    const form = { client_id: newClient().clientId, response_type: 'code', redirect_uri: 'http://127.0.0.1/callback' };
    const pushed = await call(`${service.url}/v1/integrations/oauth/par`, { form });
    expect([pushed.status, pushed.body]).toMatchObject([429, { error: 'temporarily_unavailable' }]);
    expect((await openPage(known)).status).toBe(200);
    expect(host.fetched).toHaveLength(fetches);
    await service.database('sign_in_attempts').where('source_digest', taken.source_digest).delete();
  });
});

describe('hosts that answer slowly', () => {
  const openFrom = (source: string, app: RegisteredApp) =>
    newBrowser(service).open(pageOf(app), { 'x-forwarded-for': source });

  test('hold up the source that asks for them, and no other', async () => {
    const slow = Array.from({ length: 20 }, () => newClient({}, { isSlow: true }));
    let answered = 0;
    const pages = slow.map(async (app) => {
      const { status } = await openFrom('192.0.2.1', app);
      answered += 1;
      return status;
    });
    await waitFor(() => slow.filter((app) => fetchesOf(app) === 1).length === 4);
    const page = await openFrom('192.0.2.2', newClient());
    expect([page.status, answered]).toEqual([200, 0]);
    for (const { clientId } of slow) host.serve(new URL(clientId).pathname, { status: 404 });
    host.hangUp();
    expect(new Set(await Promise.all(pages))).toEqual(new Set([400]));
  });

  test('are asked once for callers that wait in turn, also if that fails', async () => {
    const app = newClient({}, { status: 500 });
    const pages = await Promise.all(Array.from({ length: 12 }, () => openPage(app)));
    expect([new Set(pages.map(({ status }) => status)), fetchesOf(app)]).toEqual([new Set([400]), 1]);
  });
});

describe('a document is kept', () => {
  test('for an hour although its host forbids it, then fetched again with its changes', async () => {
    const app = newClient({}, { headers: { 'cache-control': 'no-store' } });
    await Promise.all([openPage(app), openPage(app), openPage(app)]);
    const path = new URL(app.clientId).pathname;
    host.serve(path, { body: { client_id: app.clientId, client_name: 'Renamed', redirect_uris: [app.redirectUri] } });
    service.clock.advanceMs(HOUR_MS - 60_000);
    expect((await openPage(app)).text).toContain('connect Agent');
    expect(fetchesOf(app)).toBe(1);
    service.clock.advanceMs(120_000);
    expect((await openPage(app)).text).toContain('connect Renamed');
    expect(fetchesOf(app)).toBe(2);
  });

  test.each<[Record<string, string>, number]>([
    [{ 'cache-control': 'max-age=7200' }, 2],
    [{ 'cache-control': 'public, max-age=604800' }, 24],
    [{ 'cache-control': 'max-age=10800', age: '3600' }, 2],
    [{ 'cache-control': 'no-store, max-age=7200' }, 1],
    [{ date: 'Sat, 28 Nov 2026 10:00:00 GMT', expires: 'Sat, 28 Nov 2026 13:00:00 GMT' }, 3],
    [{ 'cache-control': 'max-age=7200', expires: '0' }, 2],
    [{ expires: '0' }, 1],
  ])('as long as %j say, at least an hour and at most a day: %d hours', async (headers, hours) => {
    const app = newClient({}, { headers });
    await openPage(app);
    service.clock.advanceMs(hours * HOUR_MS - 60_000);
    await openPage(app);
    expect(fetchesOf(app)).toBe(1);
    service.clock.advanceMs(120_000);
    await openPage(app);
    expect(fetchesOf(app)).toBe(2);
  });

  test('refused for a minute after a failure', async () => {
    const app = newClient({}, { status: 500 });
    await openPage(app);
    await openPage(app);
    expect(fetchesOf(app)).toBe(1);
    service.clock.advanceMs(61_000);
    await openPage(app);
    expect(fetchesOf(app)).toBe(2);
  });

  test('for tokens, while its host is down', async () => {
    const app = newClient();
    const { refreshToken } = await connect(service, { app, person: await newPerson(service) });
    host.serve(new URL(app.clientId).pathname, { status: 500 });
    service.clock.advanceMs(2 * HOUR_MS);
    expect((await refresh(service, { app, token: refreshToken })).status).toBe(200);
    expect((await openPage(app)).status).toBe(400);
  });

  test('until a day after its end, unless someone was connected', async () => {
    const unused = newClient();
    const used = newClient();
    await openPage(unused);
    await connect(service, { app: used, person: await newPerson(service) });
    service.clock.advanceMs(26 * HOUR_MS);
    await tidyUpOf(service);
    const left: string[] = await service.database('client_documents').pluck('client_id');
    expect([left.includes(unused.clientId), left.includes(used.clientId)]).toEqual([false, true]);
  });
});

describe('an operator', () => {
  test('lists clients, blocks their host with every grant, and unblocks it', async () => {
    const app = newClient({ client_name: 'Blocked agent' });
    const ada = await newPerson(service);
    const { refreshToken } = await connect(service, { app, person: ada });
    const operator = openOperator(service, 'olga');
    const listed = await operator.call(documentOperations.listClientDocuments, {});
    expect(listed.body.data.find(({ client_id }) => client_id === app.clientId)).toMatchObject({
      name: 'Blocked agent',
      active: true,
      connections: 1,
    });
    const blockedHost = { body: { host: new URL(host.origin).host } };
    const blocked = await operator.call(documentOperations.blockClientHost, blockedHost);
    expect(blocked.body.suspended).toBeGreaterThan(0);
    expect((await refresh(service, { app, token: refreshToken })).status).toBe(401);
    expect((await openPage(app)).status).toBe(400);
    const fresh = newClient();
    expect((await openPage(fresh)).status).toBe(400);
    expect(fetchesOf(fresh)).toBe(0);
    const connections = () => call(`${service.url}/v1/integrations/connections`, { token: ada.token });
    await waitFor(async () => JSON.stringify((await connections()).body) === '{"data":[]}');
    await operator.call(documentOperations.unblockClientHost, blockedHost);
    service.clock.advanceMs(61_000);
    expect((await openPage(app)).status).toBe(200);
    expect((await refresh(service, { app, token: refreshToken })).status).toBe(400);
    await operator.close();
  });

  test('blocks a host on all ports, with the hosts below it, until no block of one above it is left', async () => {
    const operator = openOperator(service, 'olga');
    const { host: blocked } = new URL(host.origin);
    const isRefused = async () => {
      service.clock.advanceMs(61_000);
      return (await openPage(newClient())).status === 400;
    };
    for (const name of ['localhost', 'host', 'ocalhost', `sub.${blocked}`]) {
      await operator.call(documentOperations.blockClientHost, { body: { host: name } });
      expect([name, await isRefused()]).toEqual([name, name === 'localhost']);
      await operator.call(documentOperations.unblockClientHost, { body: { host: name } });
    }
    expect(await isRefused()).toBe(false);
    const clientId = 'https://deep.below.example:8443/client.json';
    const [row] = await service.database('apps').where({ client_id: newestClientId() });
    await service.database('apps').insert({ ...row, client_id: clientId, redirect_uris: row.redirect_uris });
    const fetched = { fetched_at: service.clock(), expires_at: service.clock() };
    await service
      .database('client_documents')
      .insert({ client_id: clientId, host: new URL(clientId).host, ...fetched });
    const body = { host: 'below.example' };
    expect((await operator.call(documentOperations.blockClientHost, { body })).body).toEqual({ suspended: 1 });
    await operator.call(documentOperations.blockClientHost, { body: { host: 'example:8443' } });
    expect((await operator.call(documentOperations.unblockClientHost, { body })).body).toEqual({ resumed: 0 });
    const above = { body: { host: 'example:8443' } };
    expect((await operator.call(documentOperations.unblockClientHost, above)).body).toEqual({ resumed: 1 });
    await operator.close();
  });

  test('switches all off: no document is fetched, and no token issued', async () => {
    const app = newClient();
    const ada = await newPerson(service);
    const { refreshToken } = await connect(service, { app, person: ada });
    const off = await restartAuthService(service, { CLIENT_ID_METADATA: 'off' });
    const listener = await listen(off.publicApp, { host: '127.0.0.1', port: 0 });
    const served = { url: listener.url };
    expect((await refresh(served, { app, token: refreshToken })).status).toBe(401);
    const metadata = await call(`${served.url}/.well-known/oauth-authorization-server`);
    expect(metadata.body).toMatchObject({ client_id_metadata_document_supported: false });
    await expect(approve(served, { app, person: ada, verifier: newVerifier() })).rejects.toThrow('422');
    await listener.drain(1_000);
    await off.stop();
  });
});
