import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { stepOf, tidyUpOf } from './support/background-work.ts';
import { call } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import { connect, newApp, newPerson, type Person } from './support/partner.ts';

const WAIT = { timeoutMs: 20_000 };

let service: AuthService;
let mailbox: Mailbox;

beforeAll(async () => {
  mailbox = await startMailbox();
  service = await startAuthService({ MAIL_URL: mailbox.url });
  // A statement on a named row fails, as on a corrupt page.
  await service.database.raw(`
    CREATE TABLE broken_rows (id text PRIMARY KEY);
    CREATE FUNCTION refuse_broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF EXISTS (SELECT FROM broken_rows b WHERE to_jsonb(OLD)::text LIKE '%' || b.id || '%') THEN RAISE 'broken row'; END IF;
      RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END $$;
    CREATE TRIGGER broken BEFORE DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION refuse_broken();
    CREATE TRIGGER broken BEFORE UPDATE ON connections FOR EACH ROW EXECUTE FUNCTION refuse_broken();
    CREATE TRIGGER broken BEFORE DELETE ON sign_in_attempts FOR EACH ROW EXECUTE FUNCTION refuse_broken();`);
});
afterAll(async () => {
  await service?.stop();
  await mailbox?.stop();
});

const broken = (id: string) => service.database('broken_rows').insert({ id });
const failuresOf = async (work: string): Promise<number> => {
  const { body } = await service.metrics.render();
  return Number(new RegExp(`auth_work_item_failures_total\\{work="${work}",service="auth"\\} (\\d+)`).exec(body)?.[1]);
};
const isErased = async ({ userId }: Person): Promise<boolean> =>
  (await service.database('accounts').where({ id: userId })).length === 0;

describe('an item that fails', () => {
  test('does not stop the erasures of others, although a whole batch of older ones fails', async () => {
    const bad = await newPerson(service);
    const good = await newPerson(service);
    await broken(bad.userId);
    const { userId } = bad;
    await service.database.raw(
      `INSERT INTO accounts (id, email, account_type, locale, created_at, erase_at)
       SELECT 'usr_' || n || :userId, n || '@broken.example', 'personal', 'en', now(), now() - interval '1 hour'
       FROM generate_series(1, 120) n`,
      { userId },
    );
    const dueAt = (minutes: number) => new Date(service.clock().getTime() - minutes * 60_000);
    await service
      .database('accounts')
      .where({ id: bad.userId })
      .update({ erase_at: dueAt(30) });
    await service
      .database('accounts')
      .where({ id: good.userId })
      .update({ erase_at: dueAt(1) });
    await waitFor(() => isErased(good), WAIT);
    expect(await isErased(bad)).toBe(false);
    expect(await failuresOf('erasures')).toBeGreaterThanOrEqual(120);
    await service.database('broken_rows').delete();
    service.clock.advanceMs(3_600_000);
    await waitFor(() => isErased(bad), WAIT);
  });

  test('does not stop the suspensions of other apps', async () => {
    const owner = await newPerson(service, 'business');
    const bad = await newApp(service, owner);
    const good = await newApp(service, owner);
    const person = await newPerson(service);
    for (const app of [bad, good]) await connect(service, { app, person });
    await broken(bad.clientId);
    for (const { clientId } of [bad, good])
      await call(`${service.url}/v1/integrations/apps/${clientId}`, {
        method: 'PATCH',
        token: owner.token,
        json: { active: false },
      });
    const step = stepOf(service);
    for (let steps = 0; steps < 4; steps += 1) await step();
    const left = () => service.database('app_suspensions').pluck('client_id');
    await waitFor(async () => !(await left()).includes(good.clientId), WAIT);
    expect(await left()).toEqual([bad.clientId]);
    await service.database('broken_rows').delete();
  });

  test('gives up a mail that was sealed with another key, and sends the others', async () => {
    const bad = await newPerson(service);
    const good = await newPerson(service);
    const at = service.clock();
    const mail = { kind: 'password_changed', locale: 'en', created_at: at, attempts: 0 };
    const sealed = Buffer.alloc(40, 1);
    const unreadable = { id: 'mail_bad', user_id: bad.userId, recipient: bad.email, sealed_data: sealed, due_at: at };
    await service.database('mails').insert({ ...mail, ...unreadable });
    const json = { email: good.email };
    await call(`${service.url}/v1/console/password-resets`, { json });
    await mailbox.tokenFor(good.email, 'reset-password');
    await waitFor(async () => {
      const row = await service.database('mails').where({ id: 'mail_bad' }).first();
      return row.failed_at !== null && row.error_code === 'unreadable';
    }, WAIT);
  });

  test('does not stop the housekeeping of other tables', async () => {
    const old = new Date(service.clock().getTime() - 2 * 86_400_000);
    const attempt = { address_digest: Buffer.from('x'), source_digest: Buffer.from('x'), attempted_at: old };
    const [{ id }] = await service.database('sign_in_attempts').insert(attempt).returning('id');
    await broken(`"id": ${id},`);
    await service.database('denied_forms').insert({ digest: Buffer.from('x'), expires_at: old });
    await tidyUpOf(service);
    expect(await service.database('denied_forms')).toEqual([]);
    expect(await service.database('sign_in_attempts').where({ id })).toHaveLength(1);
  });
});
