import { randomUUID } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { waitFor } from '@svc/testing';
import { expect } from 'vitest';
import { call } from '../../support/api.ts';
import { beginAuthorize, connect, decide, discoverPartner, redeem } from '../../support/partner.ts';
import { registerApp, signUp } from '../../support/people.ts';
import type { Condition } from '../condition.ts';
import { times } from '../product.ts';

/** More than one per second over the minutes between two rounds. */
const SIGN_INS = 350;
const SIGN_IN_MINUTES = [1, 5, 9];
/** Above the limit per address, so that both kinds of refusal have been counted before. */
const FIRST_SIGN_INS = 12;
const REUSES = 25;
/** A step waits for a lock for some seconds. */
const WAIT_MS = 30_000;

/** Many failed sign-ins. */
export const guessedPasswords: Condition = {
  alerts: ['SignInsRefused'],
  async eachMinute(product, minute) {
    const count = minute === 0 ? FIRST_SIGN_INS : SIGN_INS;
    if (minute > 0 && !SIGN_IN_MINUTES.includes(minute)) return;
    const { auth } = (await product.stack()).processes;
    const body = JSON.stringify({ email: `${randomUUID()}@example.com`, password: 'a guessed password' });
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const statuses = new Set<number>();
    await times(count, 16, async () => {
      statuses.add(await post(`${auth?.url}/v1/console/sessions`, body, agent));
    });
    agent.destroy();
    expect([...statuses].filter((status) => status !== 401 && status !== 429)).toEqual([]);
  },
};

const post = (url: string, body: string, agent: Agent): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = httpRequest(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.once('error', reject).end(body);
  });

/** Authorization codes redeemed twice. */
export const reusedCodes: Condition = {
  alerts: ['TokenReuse'],
  async begin() {
    const app = await registerApp(await signUp('business'));
    const person = await signUp('personal');
    const configuration = await discoverPartner(app);
    await times(REUSES, 2, async () => {
      const request = await beginAuthorize(configuration, app);
      const callback = await decide(person, request, true);
      await redeem(configuration, callback, request);
      await expect(redeem(configuration, callback, request)).rejects.toMatchObject({ error: 'invalid_grant' });
    });
  },
};

/** A reported app that no operator has looked at. */
export const reportedApp: Condition = {
  alerts: ['ReportedAppsWaiting'],
  async begin() {
    const { clientId } = await registerApp(await signUp('business'));
    const { token } = await signUp('personal');
    const path = `/v1/integrations/apps/${clientId}/reports`;
    const reported = await call('POST', path, { token, body: { reason: 'spam' } });
    expect(reported.status, reported.text).toBe(202);
  },
};

/** A suspended app whose connections cannot be revoked. */
export const suspensionThatIsStuck = (): Condition => {
  let release = async (): Promise<void> => undefined;
  return {
    alerts: ['SuspensionsWaiting', 'AccountWorkFailing'],
    async begin(product) {
      const owner = await signUp('business');
      const app = await registerApp(owner);
      await connect(await signUp('personal'), app);
      release = await product.hold('auth', 'LOCK TABLE connections IN SHARE MODE');
      const path = `/v1/integrations/apps/${app.clientId}`;
      const suspended = await call('PATCH', path, { token: owner.token, body: { active: false } });
      expect(suspended.status, suspended.text).toBe(200);
      const failing = () => product.watch.read('auth', 'auth_work_items_failing', { work: 'suspensions' });
      await waitFor(async () => (await failing()) > 0 || undefined, { timeoutMs: WAIT_MS });
    },
    end: () => release(),
  };
};

/** Mails that no mail server takes. */
export const mailsThatStay: Condition = {
  alerts: ['MailsWaiting'],
  async begin(product) {
    await product.sql(
      'auth',
      `INSERT INTO mails (id, user_id, kind, recipient, locale, sealed_data, created_at, due_at)
       SELECT 'stays_' || n, (SELECT id FROM accounts LIMIT 1), 'stays', 'a@example.com', 'en', '\\x00', now(), now() + interval '1 day'
       FROM generate_series(1, 30) AS n`,
    );
  },
  async end(product) {
    await product.sql('auth', "DELETE FROM mails WHERE kind = 'stays'");
  },
};
