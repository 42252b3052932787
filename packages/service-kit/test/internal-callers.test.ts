import { hash } from 'node:crypto';
import { allInternalRoutes, type InternalCaller, internalCallers, serviceNames } from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bind, createInternalApp, createMetrics } from '../src/index.ts';
import { collectLogs, serve } from './support/test-app.ts';

const secretOf = (caller: InternalCaller): string => `secret-of-${caller}-in-tests`;
const credentialOf = (caller: InternalCaller): string => `${caller}:${secretOf(caller)}`;
const digestOf = (secret: string): string => hash('sha256', secret, 'hex');

/** Starts the internal application of a service; every route answers 204. */
const start = async (service: (typeof serviceNames)[number], tokens: readonly string[]): Promise<string> => {
  const contract = allInternalRoutes.filter((route) => route.service === service);
  const { url } = await serve(
    createInternalApp({
      service,
      bindings: contract.map((route) => bind(route, async () => ({ status: 204 }))),
      tokens,
      logger: collectLogs().logger,
      metrics: createMetrics(service),
      ready: async () => ({}),
    }),
  );
  return url;
};

const ask = async (url: string, authorization?: string): Promise<[number, string | undefined]> => {
  const response = await fetch(url, authorization === undefined ? {} : { headers: { authorization } });
  const body = z.object({ detail: z.object({ code: z.string() }) }).safeParse(await response.json());
  return [response.status, body.data?.detail.code];
};

describe.each(serviceNames)('the internal routes of %s', (service) => {
  const contract = allInternalRoutes.filter((route) => route.service === service);
  const cases = contract.flatMap((route) => internalCallers.map((caller) => ({ route, caller })));

  test('accept the callers in the contract and return 403 to others', async () => {
    const url = await start(service, internalCallers.map(credentialOf));
    const refused: string[] = [];
    for (const { route, caller } of cases) {
      const response = await fetch(url + route.path.replaceAll(/\{\w+\}/g, '1'), {
        method: route.method,
        headers: { authorization: `Bearer ${credentialOf(caller)}` },
      });
      expect(response.status, `${caller} ${route.operationId}`).not.toBe(401);
      if (response.status === 403) refused.push(`${caller} ${route.operationId}`);
    }
    const foreign = cases.filter(({ route, caller }) => !route.callers?.includes(caller));
    expect(refused).toEqual(foreign.map(({ route, caller }) => `${caller} ${route.operationId}`));
    expect(refused.length).toBeGreaterThan(0);
  });
});

describe('credentials', () => {
  const path = '/internal/operations/auth/signing-keys';
  const old = 'the-old-secret-of-tests';
  const next = 'the-next-secret-of-tests';

  test('returns 403 with caller_not_allowed to a known caller that the route does not name', async () => {
    const url = await start('auth', internalCallers.map(credentialOf));
    expect(await ask(url + path, `Bearer ${credentialOf('billing')}`)).toEqual([403, 'caller_not_allowed']);
  });

  test('returns 401 for a missing, unknown or malformed credential', async () => {
    const url = await start('auth', [credentialOf('operator'), credentialOf('webhook-dispatcher')]);
    expect(await ask(url + path)).toEqual([401, 'not_authenticated']);
    const wrong = [
      secretOf('operator'),
      `${credentialOf('operator')}x`,
      // The secret of another caller.
      `operator:${secretOf('webhook-dispatcher')}`,
      credentialOf('billing'),
      'stranger:secret-of-a-stranger',
      'operator:',
    ];
    for (const credential of wrong) {
      expect(await ask(url + path, `Bearer ${credential}`), credential).toEqual([401, 'invalid_token']);
    }
  });

  test('accepts two credentials of one caller at once, and only the new one after the rotation', async () => {
    const during = await start('auth', [`operator:${old}`, `operator:sha256:${digestOf(next)}`]);
    const after = await start('auth', [`operator:sha256:${digestOf(next)}`]);
    const statuses = async (url: string) =>
      Promise.all([old, next].map(async (secret) => (await fetch(url + path, asBearer(secret))).status));
    expect(await statuses(during)).toEqual([204, 204]);
    expect(await statuses(after)).toEqual([401, 204]);
  });

  test('rejects a leaked digest used as a credential', async () => {
    const digest = digestOf(secretOf('operator'));
    const url = await start('auth', [`operator:sha256:${digest}`]);
    for (const leaked of [digest, `sha256:${digest}`]) {
      expect(await ask(url + path, `Bearer operator:${leaked}`), leaked).toEqual([401, 'invalid_token']);
    }
  });
});

const asBearer = (secret: string) => ({ headers: { authorization: `Bearer operator:${secret}` } });
