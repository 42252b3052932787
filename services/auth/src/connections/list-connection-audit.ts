import type { ConnectionAuditEntry } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import type { AuditRecord } from './audit.ts';
import { listAuditEntries } from './audit-queries.ts';

/** Returns a page of the audit trail of a user and an app. Throws `not_found` if it is empty. */
export const listConnectionAudit = async (
  deps: { database: Executor },
  page: { userId: string; clientId: string; limit: number; after: string | undefined },
): Promise<{ data: ConnectionAuditEntry[]; has_more: boolean }> => {
  // One more than requested shows if there are more.
  const found = await listAuditEntries(deps.database, { ...page, limit: page.limit + 1 });
  if (found.length === 0 && page.after === undefined) throw new AppError('not_found');
  return { data: found.slice(0, page.limit).map(toJson), has_more: found.length > page.limit };
};

const toJson = (entry: AuditRecord): ConnectionAuditEntry => ({
  id: entry.id,
  action: entry.action,
  scope: entry.scope,
  network: entry.network,
  client_kind: entry.clientKind,
  happened_at: entry.happenedAt.toISOString(),
});
