import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';

/** A document, as last fetched. Its app holds the content. */
export interface DocumentRecord {
  readonly clientId: string;
  readonly host: string;
  readonly fetchedAt: Date;
  readonly expiresAt: Date;
}

/** Finds when a document expires. */
export const findDocumentExpiry = async (executor: Executor, clientId: string): Promise<Date | undefined> => {
  const row = await executor<SnakeKeys<DocumentRecord>>('client_documents')
    .where({ client_id: clientId })
    .first('expires_at');
  return row?.expires_at;
};

/** Stores a document, or replaces it. */
export const upsertDocument = async (trx: Transaction, document: DocumentRecord): Promise<void> => {
  await trx('client_documents').insert(snakeKeys(document)).onConflict('client_id').merge();
};

/** A client with a document, as an operator sees it. */
export interface ListedDocument extends DocumentRecord {
  readonly name: string;
  readonly active: boolean;
  readonly suspendedAt: Date | null;
  readonly connections: number;
}

/** Lists the clients that were fetched last, with the number of people who are connected. */
export const listDocuments = async (executor: Executor, limit: number): Promise<ListedDocument[]> => {
  const result: { rows: SnakeKeys<ListedDocument>[] } = await executor.raw(
    `SELECT d.*, a.name, a.active, a.suspended_at,
       (SELECT count(*)::int FROM connections c WHERE c.client_id = d.client_id AND c.ended_at IS NULL) AS connections
     FROM client_documents d JOIN apps a ON a.client_id = d.client_id ORDER BY d.fetched_at DESC LIMIT :limit`,
    { limit },
  );
  return result.rows.map((row) => camelKeys(row));
};

/** Lists the clients of a host and of those below it. A host without a port stands for all its ports. */
export const listClientsOfHost = async (executor: Executor, host: string): Promise<string[]> => {
  const known = hasPort(host) ? 'host' : `regexp_replace(host, '${PORT.source}', '')`;
  return await executor('client_documents')
    .whereRaw(`${known} = :host OR right(${known}, length(:host) + 1) = '.' || :host`, { host })
    .orderBy('client_id')
    .pluck('client_id');
};

/** Blocks a host, or lifts that. */
export const setHostBlocked = async (trx: Transaction, host: string, blockedAt: Date | null): Promise<void> => {
  if (blockedAt === null) await trx('blocked_client_hosts').where({ host }).delete();
  else await trx('blocked_client_hosts').insert(snakeKeys({ host, blockedAt })).onConflict('host').ignore();
};

/** Returns true if documents of a host are refused: it is blocked, or one above it, on this port or on all. */
export const isHostBlocked = async (executor: Executor, host: string): Promise<boolean> =>
  (await executor('blocked_client_hosts').whereIn('host', hostsAbove(host)).first('host')) !== undefined;

const PORT = /:[0-9]+$/;
const hasPort = (host: string): boolean => PORT.test(host);

/** Returns a host and all hosts above it, each with the port and without. */
const hostsAbove = (host: string): string[] => {
  const port = PORT.exec(host)?.[0] ?? '';
  const labels = host.slice(0, host.length - port.length).split('.');
  const names = labels.map((_label, place) => labels.slice(place).join('.'));
  return names.flatMap((name) => (port === '' ? [name] : [name, `${name}${port}`]));
};

const HOSTS_LOCK = "hashtextextended('client-hosts', 0)";

/** Keeps the blocked hosts as they are until the transaction ends. */
export const shareHosts = async (trx: Transaction): Promise<void> => {
  await trx.raw(`SELECT pg_advisory_xact_lock_shared(${HOSTS_LOCK})`);
};

/** Waits for documents that are being stored, and lets none be stored until the transaction ends. */
export const lockHosts = async (trx: Transaction): Promise<void> => {
  await trx.raw(`SELECT pg_advisory_xact_lock(${HOSTS_LOCK})`);
};

/** Deletes at most `limit` apps whose document expired before the given time and that had no connections. */
export const deleteUnusedDocumentedApps = async (executor: Executor, before: Date, limit: number): Promise<number> => {
  const result: { rowCount: number } = await executor.raw(
    `DELETE FROM apps WHERE client_id IN (
       SELECT d.client_id FROM client_documents d JOIN apps a ON a.client_id = d.client_id
       WHERE d.expires_at < :before AND a.suspended_at IS NULL
         AND NOT EXISTS (SELECT FROM connections c WHERE c.client_id = d.client_id)
       LIMIT :limit
     )`,
    { before, limit },
  );
  return result.rowCount;
};
