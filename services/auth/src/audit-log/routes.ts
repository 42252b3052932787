import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { type AuditLogDeps, readAuditLog } from './read-audit-log.ts';
import { prefersCsv, sendAuditCsv } from './send-audit-csv.ts';

/** Acts in one page of a file. Below the most that a service hands over at once. */
const PAGE_ACTS = 500;

/** Binds the route of the audit log. */
export const auditLogRoutes = (deps: AuditLogDeps): Binding[] => [
  bind(routes.listAuditLog, async (context) => {
    const { query, caller, req } = context;
    const { limit, after, ...filter } = query;
    if (prefersCsv(req)) {
      return await sendAuditCsv(context, (last) =>
        readAuditLog(deps, caller.userId, { ...filter, limit: PAGE_ACTS, after: last }),
      );
    }
    const { entries, hasMore } = await readAuditLog(deps, caller.userId, { ...filter, limit, after });
    return { status: 200, body: { data: entries, has_more: hasMore } };
  }),
];
