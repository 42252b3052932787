import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createConsoleApi } from '../../src/partner/registration/console-api.ts';
import { keepTrying, register } from '../../src/partner/registration/register.ts';
import { openRegistrationFile } from '../../src/partner/registration/registration-file.ts';
import { type StandInService, startStandInService } from './support/stand-in-service.ts';

const PLACE = {
  redirectUri: 'http://127.0.0.1:8090/callback',
  pageRedirectUri: 'http://127.0.0.1:8090/browser',
  webhookUrl: 'https://localhost:8443/webhooks',
};
const LOOKED_AT = [
  'POST /v1/console/sessions',
  'GET /v1/integrations/apps',
  'GET /v1/integrations/apps/*/webhook',
  'GET /v1/integrations/apps',
  'GET /v1/integrations/apps',
  'GET /v1/subscriptions/plans',
  'DELETE /v1/console/session',
];

let service: StandInService;
let folder: string;
const path = () => join(folder, 'registration.json');

/** Runs one start of the app. */
const start = (place = PLACE) =>
  register({
    api: createConsoleApi({ baseUrl: service.baseUrl, signal: AbortSignal.timeout(10_000) }),
    file: openRegistrationFile(path()),
    newSecret: randomUUID,
    ...place,
  });

beforeEach(async () => {
  service = await startStandInService();
  folder = mkdtempSync(join(tmpdir(), 'svc-registration-'));
});
afterEach(() => {
  service.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('registering', () => {
  test('creates the account, the app and its webhook at the first start, in a file only its owner can read', async () => {
    const registration = await start();
    const [app, page, terminal] = service.apps;
    expect(terminal).toMatchObject({ client_type: 'public', device_flow: true });
    expect(openRegistrationFile(path()).read().terminalClientId).toBe(terminal?.client_id);
    expect(page).toMatchObject({ client_type: 'public', redirect_uris: [PLACE.pageRedirectUri] });
    expect([...service.accounts.keys()]).toEqual(['demo-business@sample-partner.example']);
    expect(app).toMatchObject({ client_type: 'confidential', redirect_uris: [PLACE.redirectUri] });
    expect(app?.webhook?.url).toBe(PLACE.webhookUrl);
    expect(registration).toEqual({
      clientId: app?.client_id,
      clientSecret: app?.client_secret,
      signingSecret: app?.webhook?.signing_secret,
      pageClientId: page?.client_id,
      currency: 'EUR',
    });
    expect(statSync(path()).mode & 0o077).toBe(0);
    expect(service.calls.at(-1)).toBe('DELETE /v1/console/session');
  });

  test('changes nothing at a later start', async () => {
    const first = await start();
    service.calls.length = 0;
    expect(await start()).toEqual(first);
    expect(service.calls).toEqual(LOOKED_AT);
  });

  test('updates its ports and keeps an app inactive', async () => {
    const first = await start();
    Object.assign(service.apps[0] ?? {}, { active: false });
    const moved = {
      redirectUri: 'http://127.0.0.1:9/callback',
      pageRedirectUri: 'http://127.0.0.1:9/browser',
      webhookUrl: 'https://localhost:9/webhooks',
    };
    const second = await start(moved);
    expect(service.apps).toHaveLength(3);
    expect(service.apps[0]).toMatchObject({ redirect_uris: [moved.redirectUri], active: false });
    expect(service.apps[1]).toMatchObject({ redirect_uris: [moved.pageRedirectUri], active: true });
    expect(service.apps[0]?.webhook?.url).toBe(moved.webhookUrl);
    expect(second).toEqual({ ...first, signingSecret: 'whsec_2' });
  });

  test('rotates secrets again after another party rotated them', async () => {
    await start();
    const [app] = service.apps;
    if (app?.webhook === undefined) throw new Error('nothing was registered');
    Object.assign(app, { client_secret: 'rotated', secret_rotated_at: '2026-01-01T00:00:00.000Z' });
    app.webhook.generation = 7;
    const again = await start();
    expect(again).toMatchObject({ clientId: app.client_id, clientSecret: 'rotatedr', signingSecret: 'whsec_8' });
    expect(await start()).toEqual(again);
  });

  test('retries the event that failed while the app was down', async () => {
    await start();
    const [app] = service.apps;
    if (app?.webhook !== undefined) app.webhook.blocked_by_event_id = 'evt_failed';
    await start();
    expect(service.recovered).toEqual(['evt_failed retry']);
  });

  test('registers again with the same account at a service that lost its data', async () => {
    await start();
    const { credentials } = openRegistrationFile(path()).read();
    service.accounts.clear();
    service.apps.length = 0;
    await start();
    expect(service.accounts.get('demo-business@sample-partner.example')).toBe(credentials?.password);
    expect(service.apps).toHaveLength(3);
  });

  test('uses another account if its record is lost, and finds the app of an accessible account', async () => {
    await start();
    writeFileSync(path(), '{ damaged');
    await start();
    expect(service.accounts.size).toBe(2);
    const { credentials, webhook } = openRegistrationFile(path()).read();
    writeFileSync(path(), JSON.stringify({ credentials, webhook }));
    const apps = service.apps.length;
    const again = await start();
    expect(service.apps).toHaveLength(apps);
    expect(again.clientSecret).toMatch(/r$/);
  });

  test('names the failed call and the reason, and no secret', async () => {
    service.isDown = true;
    await expect(start()).rejects.toThrow('POST /v1/console/accounts was answered 503 service_unavailable');
    // The password is saved before the account is created, so that a lost response locks no account.
    const { credentials } = openRegistrationFile(path()).read();
    service.isDown = false;
    await start();
    expect(service.accounts.get(credentials?.email ?? '')).toBe(credentials?.password);
    expect(readFileSync(path(), 'utf8')).toContain('whsec_1');
  });
});

describe('keepTrying', () => {
  test('retries with growing pauses until it succeeds', async () => {
    const pauses: number[] = [];
    let tries = 0;
    const work = async (): Promise<string> => {
      tries += 1;
      if (tries < 9) throw new Error('not yet');
      return 'done';
    };
    const { signal } = new AbortController();
    const onFailure = (_error: unknown, pauseMs: number) => void pauses.push(pauseMs);
    expect(await keepTrying(work, { signal, onFailure, wait: async () => undefined })).toBe('done');
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  test('stops when the signal aborts', async () => {
    const stop = new AbortController();
    const work = (): Promise<never> => Promise.reject(new Error('never'));
    const onFailure = () => stop.abort();
    await expect(keepTrying(work, { signal: stop.signal, onFailure })).rejects.toThrow(/abort/);
  });
});
