import { events, newId, type Role } from '@svc/contracts';
import type { TestBilling } from './billing.ts';

interface Owner {
  readonly userId: string;
  readonly token: string;
}

/** Creates helpers that act as members of organizations, as their customers and as Stripe. */
export const organizations = (billing: TestBilling) => {
  const found = async (): Promise<Owner> => {
    const userId = newId('usr');
    billing.auth.join(userId, userId);
    return { userId, token: await billing.tokens.consoleSession({ userId, accountType: 'business' }) };
  };
  /** Returns a token of a new person who acts for the organization. */
  const actAs = (organizationId: string, role: Role): Promise<string> =>
    billing.tokens.consoleSession({
      accountType: 'business',
      claims: { org: { id: organizationId, membership: newId('mem'), role, version: 1 } },
    });
  const change = ({ token }: Owner, quantity: number, plan_id = 'basic') =>
    billing.call('PUT', '/v1/console/organization/seats', { token, json: { plan_id, quantity } });
  const pay = (sessionId: string) => billing.call('POST', `/sandbox/payments/sessions/${sessionId}/complete`);
  const buy = async (owner: Owner, quantity: number, planId = 'basic'): Promise<void> => {
    await pay((await change(owner, quantity, planId)).body.session_id);
  };
  /** Lists the live subscriptions that an account pays at Stripe. */
  const paidBy = (userId: string) =>
    billing.stripe
      .list('subscription')
      .filter(({ metadata, status }) => metadata['svc_user_id'] === userId && status !== 'canceled');
  const own = async (userId: string) => {
    const token = await billing.tokens.consoleSession({ userId });
    return (await billing.call('GET', '/v1/subscriptions', { token })).body;
  };
  return {
    found,
    actAs,
    change,
    pay,
    buy,
    paidBy,
    own,
    foundWithSeats: async (quantity: number): Promise<Owner> => {
      const owner = await found();
      await buy(owner, quantity);
      return owner;
    },
    list: ({ token }: Owner) => billing.call('GET', '/v1/console/organization/seats', { token }),
    confirm: ({ token }: Owner, session_id: string) =>
      billing.call('POST', '/v1/subscriptions/checkout/confirm', { token, json: { session_id } }),
    assign: ({ token }: Owner, userId: string, plan_id: string | null = 'basic') =>
      billing.call('PUT', `/v1/console/organization/members/${userId}/seat`, { token, json: { plan_id } }),
    statusOf: async (userId: string): Promise<string> => (await own(userId)).subscription.status,
    factsOf: (userId: string) =>
      billing
        .db('outbox')
        .where({ aggregate: `subscription:${userId}` })
        .orderBy('seq')
        .select('subject', 'payload'),
    /** Lists what an account is mailed about its plans, oldest first. */
    noticesOf: async (userId: string) => {
      const notices = await billing
        .db('outbox')
        .where({ subject: events.planNoticeRaised.subject })
        .orderBy('seq')
        .pluck('payload');
      return notices.filter(({ svc_user_id }) => svc_user_id === userId);
    },
    /** Lists the recorded acts for an organization, oldest first: action and name of the target. */
    actsOf: async (userId: string): Promise<[string, string | null][]> => {
      const { body } = await billing.internal('GET', `/internal/billing/acts/${userId}?limit=100`);
      return body.data
        .map(({ action, target }: { action: string; target: { name: string | null } }) => [action, target.name])
        .toReversed();
    },
    /** Plays a state of the seats that an organization pays. */
    play: async (owner: Owner, status: string): Promise<void> => {
      const id = String(paidBy(owner.userId)[0]?.metadata['svc_subscription_id']);
      await billing.call('POST', `/sandbox/payments/subscriptions/${id}`, { json: { status } });
    },
    /** Moves the clock of a subscription at Stripe. */
    advance: (id: string, seconds: number) =>
      billing.call('POST', `/sandbox/payments/subscriptions/${id}/advance`, { json: { seconds } }),
    /** Announces the end of an account, and applies it. */
    end: async (userId: string, wanted: 'cancel' | 'keep' | 'erase'): Promise<void> => {
      await billing
        .db('account_endings')
        .insert({ svc_user_id: userId, wanted, is_applied: false, updated_at: billing.db.raw('billing_now()') })
        .onConflict('svc_user_id')
        .merge();
      await billing.tick();
    },
  };
};
