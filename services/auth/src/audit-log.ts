import { type AuditAction, internalRoutes, type NamedPerson, type RecordedAct, routes } from '@svc/contracts';
import { type ActFilter, listActs } from '@svc/database';
import { AppError, type Binding, bind, type InternalClient, prefersCsv, sendCsv } from '@svc/service-kit';
import type { Knex } from 'knex';
import { nameAccounts } from './accounts/index.ts';

interface AuditLogDeps {
  readonly database: Knex;
  /** The other services that record acts. */
  readonly holders: Readonly<Record<'billing' | 'gateway' | 'dispatcher', Pick<InternalClient, 'call'>>>;
}

/** An act, with the names of the people as they are now. */
interface AuditEntry extends Omit<RecordedAct, 'actor_id'> {
  readonly action: AuditAction;
  readonly actor: NamedPerson | null;
}

interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly hasMore: boolean;
}

/**
 * Reads a page of the acts for an organization that all services have recorded, newest first. Ids sort by time, so that one
 * cursor serves all services. Throws `service_unavailable` if one does not respond: a log with gaps would mislead.
 */
const readAuditLog = async (
  deps: AuditLogDeps,
  organizationId: string,
  { limit, ...filter }: ActFilter,
): Promise<AuditPage> => {
  const page = { ...filter, limit: limit + 1 };
  const acts = (await Promise.all(sourcesOf(deps, organizationId, page)))
    .flat()
    .toSorted((one, other) => (one.id < other.id ? 1 : -1));
  const shown = acts.slice(0, limit);
  const people = shown.flatMap(({ actor_id, target }) => [actor_id, target.type === 'member' ? target.id : null]);
  const names = await nameAccounts(deps.database, [...new Set(people.filter((id) => id !== null))]);
  return { entries: shown.map((act) => toEntry(act, names)), hasMore: acts.length > limit };
};

const sourcesOf = (deps: AuditLogDeps, organizationId: string, page: ActFilter): Promise<RecordedAct[]>[] => {
  const { billing, gateway, dispatcher } = deps.holders;
  const input = { params: { svc_user_id: organizationId }, query: toQuery(page) };
  return [
    listActs(deps.database, organizationId, page),
    billing.call(internalRoutes.listBillingActs, input).then(({ body }) => body.data, failUnavailable),
    gateway.call(internalRoutes.listGatewayActs, input).then(({ body }) => body.data, failUnavailable),
    dispatcher.call(internalRoutes.listWebhookActs, input).then(({ body }) => body.data, failUnavailable),
  ];
};

const toQuery = ({ actor, action, from, to, limit, after }: ActFilter) => ({
  limit,
  ...(actor === undefined ? {} : { actor }),
  ...(action === undefined ? {} : { action }),
  ...(from === undefined ? {} : { from: new Date(from).toISOString() }),
  ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
  ...(after === undefined ? {} : { after }),
});

const failUnavailable = (error: unknown): never => {
  throw new AppError('service_unavailable', undefined, { cause: error });
};

const toEntry = ({ actor_id, target, ...act }: RecordedAct, names: ReadonlyMap<string, string>): AuditEntry => ({
  ...act,
  actor: actor_id === null ? null : { svc_user_id: actor_id, name: names.get(actor_id) ?? null },
  target: target.type === 'member' ? { ...target, name: names.get(target.id ?? '') ?? null } : target,
});

/** Columns in file order. */
const COLUMNS: Readonly<Record<string, (entry: AuditEntry) => string | null | undefined>> = {
  id: ({ id }) => id,
  at: ({ at }) => at,
  actor_id: ({ actor }) => actor?.svc_user_id,
  actor_name: ({ actor }) => actor?.name,
  action: ({ action }) => action,
  target_type: ({ target }) => target.type,
  target_id: ({ target }) => target.id,
  target_name: ({ target }) => target.name,
  source: ({ source }) => source,
};

const cellsOf = (entry: AuditEntry) => Object.values(COLUMNS).map((read) => read(entry));

/** Acts in one page of a file. Below the most that a service hands over at once. */
const PAGE_ACTS = 500;

/** Binds the route of the audit log. */
export const auditLogRoutes = (deps: AuditLogDeps): Binding[] => [
  bind(routes.listAuditLog, async (context) => {
    const { query, caller, req } = context;
    const { limit, after, ...filter } = query;
    if (prefersCsv(req)) {
      const readPage = async (last: string | undefined) => {
        const page = { ...filter, limit: PAGE_ACTS, after: last };
        const { entries, hasMore } = await readAuditLog(deps, caller.userId, page);
        return { rows: entries, next: hasMore ? entries.at(-1)?.id : undefined };
      };
      return await sendCsv(context, { name: 'audit-log.csv', titles: Object.keys(COLUMNS), cellsOf, readPage });
    }
    const { entries, hasMore } = await readAuditLog(deps, caller.userId, { ...filter, limit, after });
    return { status: 200, body: { data: entries, has_more: hasMore } };
  }),
];
