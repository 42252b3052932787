import { type AppFields, authEvents, type newId, type updateAppRequestSchema } from '@svc/contracts';
import { type CamelKeys, recordAct } from '@svc/database';
import { appendToOutbox } from '@svc/messaging';
import { type Act, AppError, type Clock } from '@svc/service-kit';
import type { z } from 'zod';
import { findAccountById } from '../accounts/index.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import type { Transact, Transaction } from '../transact.ts';
import {
  type AppRecord,
  appAggregate,
  appFact,
  checkRedirectUris,
  isOwned,
  lockApp,
  lockAppOfOwner,
  updateAppRow,
} from './app-record.ts';
import { endAccessOfApp } from './suspensions.ts';

export interface UpdateAppDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
  /** Wakes the worker that ends the connections of suspended apps. */
  readonly wakeSuspensions: () => void;
}

/** A change; omitted fields stay as they are. */
export interface AppChange {
  readonly active: boolean;
  readonly fields: FieldChanges;
  readonly act: Act;
}

type FieldChanges = CamelKeys<Omit<z.output<typeof updateAppRequestSchema>, 'active'>>;
/** Fields of a record that a change replaces. */
type ChangedFields = Partial<CamelKeys<AppFields>>;

const nameOfFact = {
  updated: authEvents.appUpdated.subject,
  suspended: authEvents.appSuspended.subject,
  activated: authEvents.appActivated.subject,
} as const;

/**
 * Changes an app and appends a fact for each kind of change. Deactivation cuts off every grant in the same transaction
 * and ends the connections afterwards. Throws `not_found`, `app_suspended`, and 422 for invalid redirect URIs.
 */
export const updateApp = async (
  deps: UpdateAppDeps,
  key: { clientId: string; ownerUserId: string },
  change: AppChange,
): Promise<AppRecord> => {
  const updated = await deps.transact(async (trx) => {
    const before = await lockAppOfOwner(trx, key);
    if (before === undefined) throw new AppError('not_found');
    if (change.active && before.suspendedAt !== null) throw new AppError('app_suspended');
    const fields = changedFields(before, change.fields);
    if (fields.redirectUris !== undefined) checkRedirectUris(fields.redirectUris, before.clientType);
    const now = deps.clock();
    const facts = factsOf(before, change.active, fields);
    if (facts.length === 0) {
      change.act.changedNothing();
      return before;
    }
    const after = { ...before, ...fields, active: change.active, updatedAt: now };
    if (facts.includes('suspended')) await endAccessOfApp(deps, trx, { clientId: after.clientId, now });
    await recordAct(trx, change.act, { type: 'app', id: after.clientId, name: after.name });
    return await storeApp(trx, after, facts);
  });
  if (!updated.active) deps.wakeSuspensions();
  return updated;
};

type Fact = keyof typeof nameOfFact;

const changedFields = (before: AppRecord, fields: FieldChanges): ChangedFields => {
  const current: CamelKeys<AppFields> = before;
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) =>
        // The keys of the changes are keys of AppFields.
        value !== undefined && JSON.stringify(value) !== JSON.stringify(current[name as keyof typeof current]),
    ),
  );
};

const factsOf = (before: AppRecord, active: boolean, fields: ChangedFields): Fact[] => [
  ...(Object.keys(fields).length > 0 ? ['updated' as const] : []),
  ...(before.active && !active ? ['suspended' as const] : []),
  ...(!before.active && active ? ['activated' as const] : []),
];

/** Stores a locked app, raising its version by one for each fact. Other services hear only of registered apps. */
export const storeApp = async (trx: Transaction, app: AppRecord, facts: readonly Fact[]): Promise<AppRecord> => {
  const after = { ...app, version: app.version + facts.length };
  await updateAppRow(trx, after);
  if (!isOwned(after)) return after;
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

export type SuspendAppDeps = UpdateAppDeps & MailOutboxDeps;

/** Deactivates an app, allows only an operator to lift that, and mails the owner. Throws `not_found`. Idempotent. */
export const suspendApp = async (deps: SuspendAppDeps, clientId: string): Promise<AppRecord> => {
  const suspended = await deps.transact(async (trx) => {
    const before = await lockApp(trx, clientId);
    if (before === undefined) throw new AppError('not_found');
    if (before.suspendedAt !== null) return before;
    const now = deps.clock();
    if (before.active) await endAccessOfApp(deps, trx, { clientId, now });
    const owner = isOwned(before) ? await findAccountById(trx, before.ownerUserId) : undefined;
    if (owner !== undefined) {
      const { id: userId, email: to, locale } = owner;
      await enqueueMail(deps, trx, { kind: 'app_suspended', userId, to, locale, data: { appName: before.name } });
    }
    const after = { ...before, active: false, suspendedAt: now, updatedAt: now };
    return await storeApp(trx, after, before.active ? ['suspended'] : []);
  });
  deps.wakeSuspensions();
  return suspended;
};

/**
 * Lifts a suspension. The app stays inactive until its owner activates it, except for one without an owner. Throws
 * `not_found`.
 */
export const resumeApp = (deps: Pick<UpdateAppDeps, 'transact' | 'clock'>, clientId: string): Promise<AppRecord> =>
  deps.transact(async (trx) => {
    const before = await lockApp(trx, clientId);
    if (before === undefined) throw new AppError('not_found');
    if (before.suspendedAt === null) return before;
    return await storeApp(trx, { ...before, active: !isOwned(before), suspendedAt: null, updatedAt: deps.clock() }, []);
  });
