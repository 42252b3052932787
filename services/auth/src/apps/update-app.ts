import { authEvents, type newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { AppError } from '@svc/service-kit';
import type { Clock } from '../clock.ts';
import { cutOffApp } from '../connections/index.ts';
import type { Transact, Transaction } from '../transact.ts';
import { type AppFields, type AppRecord, appAggregate, appFact, checkRedirectUris } from './app.ts';
import { lockAppOfOwner, updateAppRow } from './queries.ts';
import { insertSuspension } from './suspension-queries.ts';

/** What changing an app needs. */
export interface UpdateAppDeps {
  transact: Transact;
  clock: Clock;
  newId: typeof newId;
  /** Wakes the worker that ends the connections of suspended apps. */
  wakeSuspensions: () => void;
}

/** A change; a field that is left out stays as it is. */
export interface AppChange {
  active: boolean;
  fields: Partial<AppFields>;
}

const nameOfFact = {
  updated: authEvents.appUpdated.subject,
  suspended: authEvents.appSuspended.subject,
  activated: authEvents.appActivated.subject,
} as const;

/**
 * Changes an app and leaves a fact for each kind of change. Deactivation cuts off every grant in the same transaction and
 * ends the connections after it. Throws `not_found`, and 422 on redirect URIs that cannot be registered.
 */
export const updateApp = async (
  deps: UpdateAppDeps,
  key: { clientId: string; ownerUserId: string },
  change: AppChange,
): Promise<AppRecord> => {
  const updated = await deps.transact(async (trx) => {
    const before = await lockAppOfOwner(trx, key);
    if (before === undefined) throw new AppError('not_found');
    const fields = changedFields(before, change.fields);
    if (fields.redirectUris !== undefined) checkRedirectUris(fields.redirectUris, before.clientType);
    const now = deps.clock();
    const facts = factsOf(before, change.active, fields);
    if (facts.length === 0) return before;
    const after = { ...before, ...fields, active: change.active, updatedAt: now };
    if (facts.includes('suspended')) {
      await cutOffApp(deps, trx, { clientId: after.clientId, now });
      await insertSuspension(trx, after.clientId, now);
    }
    return await store(trx, after, facts);
  });
  if (!updated.active) deps.wakeSuspensions();
  return updated;
};

type Fact = keyof typeof nameOfFact;

const changedFields = (before: AppRecord, fields: Partial<AppFields>): Partial<AppFields> => {
  const current: AppFields = before;
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) =>
        // The keys of a partial AppFields are keys of AppFields.
        value !== undefined && JSON.stringify(value) !== JSON.stringify(current[name as keyof AppFields]),
    ),
  );
};

const factsOf = (before: AppRecord, active: boolean, fields: Partial<AppFields>): Fact[] => [
  ...(Object.keys(fields).length > 0 ? ['updated' as const] : []),
  ...(before.active && !active ? ['suspended' as const] : []),
  ...(!before.active && active ? ['activated' as const] : []),
];

/** Writes the app with one version for each fact. */
const store = async (trx: Transaction, app: AppRecord, facts: readonly Fact[]): Promise<AppRecord> => {
  const after = { ...app, version: app.version + facts.length };
  await updateAppRow(trx, after);
  await appendToOutbox(
    trx,
    ...facts.map((fact, index) => ({
      subject: nameOfFact[fact],
      aggregate: appAggregate(app.clientId),
      version: app.version + index + 1,
      data: appFact(after),
    })),
  );
  return after;
};
