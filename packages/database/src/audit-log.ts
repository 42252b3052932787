import { type AuditAction, type AuditTarget, newId, type RecordedAct } from '@svc/contracts';
import type { Knex } from 'knex';
import type { ExportSection } from './stream-sections.ts';

/** Days for which acts are kept. */
const KEPT_DAYS = 400;

/**
 * Creates `audit_log`, in a migration of the service: the acts for organizations that it performed. A trigger keeps rows from
 * being changed, and from being deleted before their time.
 */
export const auditLogMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE audit_log (
      id text PRIMARY KEY,
      organization_id text NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      actor_id text,
      action text NOT NULL,
      target_type text NOT NULL,
      target_id text,
      target_name text,
      source text NOT NULL CHECK (source IN ('console', 'management_key', 'operator'))
    );
    CREATE INDEX audit_log_by_organization ON audit_log (organization_id, id);
    CREATE INDEX audit_log_by_time ON audit_log (at);
    COMMENT ON TABLE audit_log IS 'Acts for organizations, written in the transaction of the act; kept for ${KEPT_DAYS} days.';
    CREATE FUNCTION keep_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'DELETE' AND OLD.at < now() - interval '${KEPT_DAYS} days' THEN
        RETURN OLD;
      END IF;
      RAISE EXCEPTION 'the audit log is append-only';
    END $$;
    CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
      FOR EACH ROW EXECUTE FUNCTION keep_audit_log();
    CREATE TRIGGER audit_log_not_emptied BEFORE TRUNCATE ON audit_log
      FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_log();
  `);
};

/** An act of a request, as `@svc/service-kit` hands it to handlers. */
export interface RecordableAct {
  readonly action: AuditAction;
  /** Organization in whose log the act stands; null for none. */
  readonly organizationId: string | null;
  readonly actorId: string | null;
  readonly source: RecordedAct['source'];
  isRecorded: boolean;
}

/**
 * Records an act in the transaction that performs it. An act of a personal account stands in no log. `organizationId` names
 * the organization where the request does not: of an invitation that is accepted, say.
 */
export const recordAct = async (
  trx: Knex.Transaction,
  act: RecordableAct,
  { organizationId = act.organizationId, ...target }: AuditTarget & { readonly organizationId?: string | null },
): Promise<void> => {
  act.isRecorded = true;
  if (organizationId === null) return;
  await trx('audit_log').insert({
    id: newId('aud'),
    organization_id: organizationId,
    actor_id: act.actorId,
    action: act.action,
    target_type: target.type,
    target_id: target.id,
    target_name: target.name,
    source: act.source,
  });
};

export interface ActFilter {
  readonly actor?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly from?: Date | string | undefined;
  /** Excluded. */
  readonly to?: Date | string | undefined;
  readonly limit: number;
  /** Id of the last act of the previous page. */
  readonly after?: string | undefined;
}

interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly actor_id: string | null;
  readonly action: AuditAction;
  readonly target_type: string;
  readonly target_id: string | null;
  readonly target_name: string | null;
  readonly source: RecordedAct['source'];
}

/** Lists the acts for an organization, newest first. */
export const listActs = async (database: Knex, organizationId: string, filter: ActFilter): Promise<RecordedAct[]> => {
  const { actor, action, from, to, limit, after } = filter;
  const rows = await database<AuditRow>('audit_log')
    .where('organization_id', organizationId)
    .where((where) => {
      if (actor !== undefined) where.where('actor_id', actor);
      if (action !== undefined) where.where('action', action);
      if (from !== undefined) where.where('at', '>=', from);
      if (to !== undefined) where.where('at', '<', to);
      if (after !== undefined) where.where('id', '<', after);
    })
    .orderBy('id', 'desc')
    .limit(limit);
  return rows.map((row) => ({
    id: row.id,
    at: row.at.toISOString(),
    actor_id: row.actor_id,
    action: row.action,
    target: { type: row.target_type, id: row.target_id, name: row.target_name },
    source: row.source,
  }));
};

/** The acts for an organization that the service has recorded, for the export of the account that is the organization. */
export const auditLogSection: ExportSection = {
  name: 'audit_log',
  sql: `SELECT id, at, actor_id, action, target_type, target_id, target_name, source FROM audit_log
    WHERE organization_id = $1 ORDER BY id`,
};

/** Deletes at most `limit` acts that were kept for their time. Returns the number. */
export const pruneActs = async (database: Knex, limit: number): Promise<number> => {
  const result: { rowCount: number } = await database.raw(
    `DELETE FROM audit_log WHERE id IN (
       SELECT id FROM audit_log WHERE at < now() - interval '${KEPT_DAYS} days' ORDER BY at LIMIT ?)`,
    [limit],
  );
  return result.rowCount;
};
