import type { BudgetLimit, Scope } from '@svc/contracts';
import { findAccountById } from '../accounts/index.ts';
import type { AppRecord } from '../apps/index.ts';
import type { BillingClient } from '../billing-client.ts';
import { type Origin, openGrant, planTerms, type TermsTurns } from '../connections/index.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import type { Transact, Transaction } from '../transact.ts';

export interface OpenApprovedGrantDeps extends MailOutboxDeps {
  readonly transact: Transact;
  readonly billing: Pick<BillingClient, 'changeTerms'>;
  readonly termsTurns: TermsTurns;
}

/** Approval of a signed-in person. */
export interface Approval {
  readonly userId: string;
  readonly clientId: string;
  /** Limit of the app's use of the plan; null for none, undefined to leave it as it is. */
  readonly budget: BudgetLimit | null | undefined;
  readonly origin: Origin;
  /** Null for a consent in a browser. */
  readonly deviceName: string | null;
  /** Holds app, session and request until the transaction ends. Throws if one of them no longer allows the approval. */
  readonly check: (trx: Transaction) => Promise<{ readonly app: AppRecord; readonly scopes: readonly Scope[] }>;
  /** Issues what the app gets for the grant. */
  readonly issue: (trx: Transaction, grantId: string) => Promise<void>;
}

/**
 * Creates connection, grant, fact and what the app gets in one transaction. Billing gets the budget before that
 * transaction, so that it applies to the first request and no lock waits for billing; a budget without a grant is
 * harmless. Throws as `check` and `issue`, and `service_unavailable` if billing does not respond.
 */
export const openApprovedGrant = async (deps: OpenApprovedGrantDeps, approval: Approval): Promise<void> => {
  const { userId, clientId, budget, origin, deviceName, check, issue } = approval;
  const key = { userId, clientId };
  await deps.termsTurns.run(key, async () => {
    const terms = await deps.transact(async (trx) => {
      await check(trx);
      return await planTerms(trx, { ...key, budget });
    });
    if (terms.change !== undefined) await deps.billing.changeTerms(key, terms.change);
    await deps.transact(async (trx) => {
      const { app, scopes } = await check(trx);
      const given = { scope: scopes.join(' '), now: deps.clock(), deviceName };
      const { grant, isNew } = await openGrant(deps, trx, { ...key, ...given, budget, terms, origin });
      await issue(trx, grant.id);
      if (isNew) await mailConnectedApp(deps, trx, { userId, appName: app.name });
    });
  });
};

const mailConnectedApp = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  { userId, appName }: { userId: string; appName: string },
): Promise<void> => {
  const account = await findAccountById(trx, userId);
  if (account === undefined) return;
  const { email: to, locale } = account;
  await enqueueMail(deps, trx, { kind: 'app_connected', userId, to, locale, data: { appName } });
};
