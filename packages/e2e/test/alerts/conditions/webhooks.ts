import { waitFor } from '@svc/testing';
import { expect, inject } from 'vitest';
import { call } from '../../support/api.ts';
import { type Person, registerApp, signUp } from '../../support/people.ts';
import type { Condition } from '../condition.ts';
import { type Product, times } from '../product.ts';

/** Each fails eight times per round. */
const APPS = 16;
const ROUND_MINUTES = [0, 8, 16];
const OVERDUE_SECONDS = 75;
const WAIT_MS = 20_000;

const hookPath = (clientId: string): string => `/v1/integrations/apps/${clientId}/webhook`;

const blockedApps = async (product: Product): Promise<number> => {
  const { rows } = await product.sql(
    'webhook-dispatcher',
    'SELECT count(*)::int AS n FROM lanes WHERE blocked_sequence > 0',
  );
  return rows[0].n;
};

/** Unreachable receivers of many apps whose owners keep retrying. */
export const receiversThatAreGone = (): Condition => {
  let owner: Person;
  const apps: string[] = [];
  /** Removes the delays between attempts, which are not under test. */
  const isAllBlocked = async (product: Product) => {
    const now = 'UPDATE lanes SET due_at = now() WHERE due_at > now() AND leased_until IS NULL';
    await product.sql('webhook-dispatcher', now);
    return (await blockedApps(product)) >= APPS || undefined;
  };

  const startRound = async (clientId: string, isFirst: boolean): Promise<void> => {
    if (isFirst) {
      const sent = await call('POST', `${hookPath(clientId)}/test`, { token: owner.token });
      expect(sent.status, sent.text).toBe(202);
      return;
    }
    const { body } = await call('GET', hookPath(clientId), { token: owner.token });
    const path = `${hookPath(clientId)}/events/${body.blocked_by_event_id}/recover`;
    const retried = await call('POST', path, { token: owner.token, body: { action: 'retry' } });
    expect(retried.status, retried.text).toBeLessThan(300);
  };
  return {
    alerts: ['WebhookAttemptsFailing', 'WebhookAppsBlocked'],
    async begin() {
      owner = await signUp('business');
      const url = `https://localhost:${inject('receiverPorts')[0]}/gone`;
      await times(APPS, 4, async () => {
        const { clientId } = await registerApp(owner);
        apps.push(clientId);
        const put = await call('PUT', hookPath(clientId), { token: owner.token, body: { url } });
        expect(put.status, put.text).toBe(200);
      });
    },
    async eachMinute(product, minute) {
      if (!ROUND_MINUTES.includes(minute)) return;
      await times(APPS, 4, (index) => startRound(apps[index] ?? '', minute === 0));
      await waitFor(() => isAllBlocked(product), { timeoutMs: WAIT_MS });
    },
  };
};

/** A dispatcher that cannot claim lanes, so that a due event stays due. Its age is set, not awaited. */
export const workersWithoutLanes: Condition = {
  alerts: ['WebhooksLate'],
  async begin(product) {
    const owner = await signUp('business');
    const { clientId } = await registerApp(owner);
    const url = `https://localhost:${inject('receiverPorts')[0]}/late`;
    await call('PUT', hookPath(clientId), { token: owner.token, body: { url } });
    await product.sql(
      'webhook-dispatcher',
      `CREATE FUNCTION refuse_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF NEW.leased_until IS NOT NULL THEN RAISE EXCEPTION 'no lane may be claimed'; END IF;
         RETURN NEW;
       END $$;
       CREATE TRIGGER refuse_lease BEFORE UPDATE ON lanes FOR EACH ROW EXECUTE FUNCTION refuse_lease()`,
    );
    await call('POST', `${hookPath(clientId)}/test`, { token: owner.token });
    await product.sql(
      'webhook-dispatcher',
      `UPDATE lanes SET due_at = now() - make_interval(secs => ${OVERDUE_SECONDS}) WHERE owner_id = $1`,
      [clientId],
    );
  },
  async end(product) {
    await product.sql('webhook-dispatcher', 'DROP TRIGGER refuse_lease ON lanes; DROP FUNCTION refuse_lease()');
  },
};
