import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type Listener, listen } from '@svc/service-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from '../src/web/api/api-error.ts';
import { createTransport, urlFor } from '../src/web/api/send-request.ts';
import { createClient } from '../src/web/api/use-api.ts';
import { createSession } from '../src/web/session/session.ts';
import { createStepUp } from '../src/web/session/step-up.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly type: string | undefined;
}

let server: Listener;
let handle: RequestListener = () => undefined;
let seen: Seen[] = [];

const record = (req: IncomingMessage, res: ServerResponse): void => {
  const { authorization, 'content-type': type } = req.headers;
  seen.push({ method: req.method, url: req.url, authorization, type });
  handle(req, res);
};

const json = (res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void => {
  res.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_1', ...headers });
  res.end(JSON.stringify(body));
};

beforeAll(async () => {
  server = await listen(record, { port: 0, host: '127.0.0.1' });
});
afterAll(() => server.drain(0));
beforeEach(() => {
  seen = [];
});

const transportTo = (baseUrl: string, timeoutMs = 5_000) => createTransport({ baseUrl, fetch, timeoutMs });
const failureOf = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error = await promise.catch((reason: unknown) => reason);
  if (!(error instanceof ApiError)) throw new Error(`expected an ApiError, got ${String(error)}`);
  return error;
};

describe('urlFor', () => {
  test('fills and encodes parameters, and omits undefined ones', () => {
    expect(urlFor('/v1/x/{client_id}/y', { params: { client_id: 'a/b?c' } })).toBe('/v1/x/a%2Fb%3Fc/y');
    expect(urlFor('/v1/x', { query: { limit: 50, after: undefined, key_id: 'a&b' } })).toBe(
      '/v1/x?limit=50&key_id=a%26b',
    );
  });
});

describe('the transport', () => {
  test('sends requests of the contract and returns its types', async () => {
    handle = (_req, res) => json(res, 200, { data: [], has_more: false });
    const { send } = transportTo(server.url);
    const answer = await send('listGatewayUsage', { query: { limit: 10 } }, { token: 'secret' });
    expect(answer.has_more).toBe(false);
    expect(seen).toEqual([
      { method: 'GET', url: '/v1/gateway/usage?limit=10', authorization: 'Bearer secret', type: undefined },
    ]);
  });

  test('returns pictures as data URLs and sends files unchanged', async () => {
    handle = (_req, res) => res.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([1, 2, 255]));
    const { send } = transportTo(server.url);
    const params = { client_id: 'app_1' };
    expect(await send('getAppIcon', { params })).toBe('data:image/png;base64,AQL/');
    handle = (_req, res) => res.writeHead(204).end();
    expect(await send('putAppIcon', { params, file: new Blob(['x'], { type: 'image/webp' }) })).toBeUndefined();
    expect(seen[1]).toMatchObject({ method: 'PUT', type: 'image/webp' });
  });

  test('returns code, request id and waiting time of an error', async () => {
    handle = (_req, res) =>
      json(res, 429, { detail: { code: 'too_many_attempts', message: 'Wait.' } }, { 'retry-after': '90' });
    const error = await failureOf(transportTo(server.url).send('listKeys', {}));
    expect(error).toMatchObject({ status: 429, code: 'too_many_attempts', requestId: 'req_1', retryAfterSeconds: 90 });
  });

  test('returns the faults of a 422', async () => {
    const issue = { loc: ['body', 'name'], type: 'missing', msg: 'Field required' };
    handle = (_req, res) => json(res, 422, { detail: [issue, 'rubbish'] });
    const error = await failureOf(transportTo(server.url).send('createKey', { body: { name: '' } }));
    expect(error.issues).toEqual([issue]);
  });

  test('handles responses that are not ours', async () => {
    handle = (_req, res) => res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
    const error = await failureOf(transportTo(server.url).send('listKeys', {}));
    expect(error).toMatchObject({ status: 502, code: 'service_unavailable', isTransient: true });
    handle = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"data":');
    expect(await failureOf(transportTo(server.url).send('listKeys', {}))).toMatchObject({ code: 'unreadable_answer' });
  });

  test('times out, and distinguishes a lost network', async () => {
    handle = () => undefined;
    expect(await failureOf(transportTo(server.url, 50).send('listKeys', {}))).toMatchObject({ code: 'timeout' });
    const gone = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => gone.once('listening', resolve));
    const address = gone.address();
    gone.close();
    const port = typeof address === 'object' ? address?.port : 0;
    const error = await failureOf(transportTo(`http://127.0.0.1:${port}`).send('listKeys', {}));
    expect(error).toMatchObject({ status: 0, code: 'network_error', isTransient: true });
  });

  test('aborts the request with the caller’s signal', async () => {
    handle = () => undefined;
    const controller = new AbortController();
    const call = transportTo(server.url).send('listKeys', {}, { signal: controller.signal });
    controller.abort(new Error('left the page'));
    await expect(call).rejects.toThrow('left the page');
  });
});

const account = {
  svc_user_id: 'usr_01jd0000000000000000000000',
  email: 'ada@example.com',
  account_type: 'personal' as const,
  business_name: null,
  display_name: null,
  locale: 'it' as const,
  has_second_factor: false,
  created_at: '2026-01-01T00:00:00Z',
  email_verified: true,
  organization: null,
};
const sessionWith = (token: string) => ({ session_token: token, token_type: 'Bearer', expires_in: 1, account });

describe('the session', () => {
  test.each([400, 401, 403])('is absent if resuming returns %i', async (status) => {
    handle = (_req, res) => json(res, status, { detail: { code: 'x', message: '' } });
    const session = createSession(transportTo(server.url));
    await session.resume();
    expect(session.state()).toEqual({ status: 'signed_out', reason: 'none' });
  });

  test('rejects if its state is unknown', async () => {
    handle = (_req, res) => json(res, 503, { detail: { code: 'service_unavailable', message: '' } });
    await expect(createSession(transportTo(server.url)).resume()).rejects.toMatchObject({ status: 503 });
  });

  test('is resumed once if many calls are refused, and each call is repeated once', async () => {
    let resumed = 0;
    handle = (req, res) => {
      if (req.url === '/v1/console/session/resume') {
        resumed += 1;
        json(res, 200, sessionWith(resumed === 1 ? 'old' : 'new'));
      } else if (req.headers.authorization === 'Bearer new') json(res, 200, { data: [] });
      else json(res, 401, { detail: { code: 'invalid_token', message: '' } });
    };
    const transport = transportTo(server.url);
    const session = createSession(transport);
    await session.resume();
    const client = createClient(transport, session);
    const answers = await Promise.all([
      client.call('listKeys', {}),
      client.call('listApps', {}),
      client.call('listConnections', {}),
    ]);
    expect(answers).toEqual([{ data: [] }, { data: [] }, { data: [] }]);
    expect(resumed).toBe(2);
    expect(seen.filter(({ url }) => url === '/v1/gateway/keys')).toHaveLength(2);
  });

  test('repeats a sensitive call once the person has authenticated again, and not if they cancel', async () => {
    handle = (req, res) => {
      if (req.url === '/v1/console/session/resume') json(res, 200, sessionWith('old'));
      else if (req.headers.authorization === 'Bearer proved') json(res, 200, { data: [] });
      else json(res, 403, { detail: { code: 'reauthentication_required', message: '' } });
    };
    const transport = transportTo(server.url);
    const session = createSession(transport);
    await session.resume();
    const stepUp = createStepUp();
    let asks = 0;
    const ask: typeof stepUp.ask = () => {
      asks += 1;
      return stepUp.ask();
    };
    const client = createClient(transport, session, ask);
    const calls = [client.call('listKeys', {}), client.call('listApps', {})];
    // Both wait for one answer.
    await expect.poll(() => asks).toBe(2);
    stepUp.answer(false);
    for (const call of calls) expect((await failureOf(call)).code).toBe('reauthentication_required');
    const repeated = client.call('listKeys', {});
    await expect.poll(stepUp.isAsked).toBe(true);
    session.renewToken({ session_token: 'proved', token_type: 'Bearer', expires_in: 1 });
    stepUp.answer(true);
    expect(await repeated).toEqual({ data: [] });
    expect(session.state().status).toBe('signed_in');
  });

  test('ends, and keeps its account for the page, if it cannot be resumed', async () => {
    handle = (_req, res) => json(res, 200, sessionWith('old'));
    const transport = transportTo(server.url);
    const session = createSession(transport);
    await session.resume();
    handle = (_req, res) => json(res, 401, { detail: { code: 'invalid_token', message: '' } });
    const error = await failureOf(createClient(transport, session).call('listKeys', {}));
    expect(error.code).toBe('invalid_token');
    expect(session.state()).toEqual({ status: 'ended', account });
    expect(session.current()).toBeUndefined();
  });

  test('stays if the sign-out did not reach the service', async () => {
    handle = (_req, res) => json(res, 200, sessionWith('old'));
    const session = createSession(transportTo(server.url));
    await session.resume();
    handle = (_req, res) => json(res, 503, { detail: { code: 'service_unavailable', message: '' } });
    await expect(session.signOut()).rejects.toMatchObject({ status: 503 });
    expect(session.state().status).toBe('signed_in');
    handle = (_req, res) => res.writeHead(204).end();
    await session.signOut();
    expect(session.state()).toEqual({ status: 'signed_out', reason: 'signed_out' });
  });
});
