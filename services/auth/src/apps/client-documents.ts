import { documentOperations, isMetadataUrl } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import { type Binding, bind, type Clock, type Logger } from '@svc/service-kit';
import { createBoundedQueue, createKeyedQueues } from '../bounded-queue.ts';
import { subscriberOf } from '../network-address.ts';
import type { SourceLimit } from '../throttling.ts';
import { later, MINUTE_MS } from '../time.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { type AppRecord, upsertDocumentedApp } from './app-record.ts';
import type { FetchDocument } from './fetch-document.ts';
import type { AppFinder } from './find-apps.ts';
import { resumeApp, type SuspendAppDeps, suspendApp } from './update-app.ts';

/** A document, as last fetched. Its app holds the content. */
interface DocumentRecord {
  readonly clientId: string;
  readonly host: string;
  readonly fetchedAt: Date;
  readonly expiresAt: Date;
}

/** Finds when a document expires. */
const findDocumentExpiry = async (executor: Executor, clientId: string): Promise<Date | undefined> => {
  const row = await executor<SnakeKeys<DocumentRecord>>('client_documents')
    .where({ client_id: clientId })
    .first('expires_at');
  return row?.expires_at;
};

/** Stores a document, or replaces it. */
const upsertDocument = async (trx: Transaction, document: DocumentRecord): Promise<void> => {
  await trx('client_documents').insert(snakeKeys(document)).onConflict('client_id').merge();
};

/** A client with a document, as an operator sees it. */
interface ListedDocument extends DocumentRecord {
  readonly name: string;
  readonly active: boolean;
  readonly suspendedAt: Date | null;
  readonly connections: number;
}

/** Lists the clients that were fetched last, with the number of people who are connected. */
const listDocuments = async (executor: Executor, limit: number): Promise<ListedDocument[]> => {
  const result: { rows: SnakeKeys<ListedDocument>[] } = await executor.raw(
    `SELECT d.*, a.name, a.active, a.suspended_at,
       (SELECT count(*)::int FROM connections c WHERE c.client_id = d.client_id AND c.ended_at IS NULL) AS connections
     FROM client_documents d JOIN apps a ON a.client_id = d.client_id ORDER BY d.fetched_at DESC LIMIT :limit`,
    { limit },
  );
  return result.rows.map((row) => camelKeys(row));
};

/** Lists the clients of a host and of those below it. A host without a port stands for all its ports. */
const listClientsOfHost = async (executor: Executor, host: string): Promise<string[]> => {
  const known = hasPort(host) ? 'host' : `regexp_replace(host, '${PORT.source}', '')`;
  return await executor('client_documents')
    .whereRaw(`${known} = :host OR right(${known}, length(:host) + 1) = '.' || :host`, { host })
    .orderBy('client_id')
    .pluck('client_id');
};

/** Blocks a host, or lifts that. */
const setHostBlocked = async (trx: Transaction, host: string, blockedAt: Date | null): Promise<void> => {
  if (blockedAt === null) await trx('blocked_client_hosts').where({ host }).delete();
  else await trx('blocked_client_hosts').insert(snakeKeys({ host, blockedAt })).onConflict('host').ignore();
};

/** Returns true if documents of a host are refused: it is blocked, or one above it, on this port or on all. */
const isHostBlocked = async (executor: Executor, host: string): Promise<boolean> =>
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
const shareHosts = async (trx: Transaction): Promise<void> => {
  await trx.raw(`SELECT pg_advisory_xact_lock_shared(${HOSTS_LOCK})`);
};

/** Waits for documents that are being stored, and lets none be stored until the transaction ends. */
const lockHosts = async (trx: Transaction): Promise<void> => {
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

/** Strangers choose the addresses, so few fetches run and wait at one time. */
const FETCHES = { runningMax: 16, waitingMax: 128, refusal: 'Too many clients are being looked up. Try again.' };
/** One source, with hosts that answer slowly, does not hold up the others. */
const FETCHES_PER_SOURCE = { ...FETCHES, runningMax: 4 };

/** Time for which a failure is remembered. */
const FAILURE_MS = MINUTE_MS;

const REMEMBERED_MAX = 10_000;

interface ClientDocumentsDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly fetchDocument: FetchDocument;
  /** Limits the fetches that one source causes. */
  readonly fetchLimit: Pick<SourceLimit, 'take'>;
  /** False if clients that no business registered are refused. */
  readonly isEnabled: boolean;
}

/**
 * Network address of a caller that may cause a fetch; null for a form of a page, which has caused one when it was
 * opened.
 */
export type FetchSource = string | null;

/** Clients that no business registered, by the address of their metadata document. */
export interface ClientDocuments {
  readonly isEnabled: boolean;
  /**
   * Makes the app of a document known, and fetches the document if it is new or has expired. Returns false if there is
   * no such document, or it is refused. Throws `service_unavailable` if too many are being fetched, and
   * `too_many_attempts` if the source has caused too many.
   */
  readonly resolve: (clientId: string, source: FetchSource) => Promise<boolean>;
}

export const createClientDocuments = (deps: ClientDocumentsDeps): ClientDocuments => {
  const queue = createBoundedQueue(FETCHES);
  const inTurnOfSource = createKeyedQueues(FETCHES_PER_SOURCE);
  const running = new Map<string, Promise<boolean>>();
  const failures = createFailures(deps.clock);
  const fetchNow = async (clientId: string): Promise<boolean> => {
    try {
      const isKnown = await queue(() => renew(deps, clientId));
      if (!isKnown) failures.remember(clientId);
      return isKnown;
    } finally {
      running.delete(clientId);
    }
  };
  const fetchOnce = async (clientId: string): Promise<boolean> => {
    // It may have failed for another caller meanwhile.
    if (failures.has(clientId)) return false;
    const known = running.get(clientId) ?? fetchNow(clientId);
    running.set(clientId, known);
    return await known;
  };
  return {
    isEnabled: deps.isEnabled,
    resolve: async (clientId, source) => {
      if (!deps.isEnabled || !isMetadataUrl(clientId)) return false;
      const expiry = await findDocumentExpiry(deps.database, clientId);
      if (expiry !== undefined && expiry > deps.clock()) return true;
      if (failures.has(clientId)) return false;
      if (source === null) return await fetchOnce(clientId);
      if (!running.has(clientId)) await deps.fetchLimit.take(source);
      return await inTurnOfSource(subscriberOf(source), () => fetchOnce(clientId));
    },
  };
};

/** Remembers failures for a minute. */
const createFailures = (clock: Clock) => {
  const untilMs = new Map<string, number>();
  return {
    has: (clientId: string): boolean => (untilMs.get(clientId) ?? 0) > clock().getTime(),
    remember: (clientId: string): void => {
      untilMs.delete(clientId);
      untilMs.set(clientId, clock().getTime() + FAILURE_MS);
      const [oldest] = untilMs.keys();
      if (untilMs.size > REMEMBERED_MAX && oldest !== undefined) untilMs.delete(oldest);
    },
  };
};

/** Fetches a document and stores its app. Returns false, and logs why, if that failed. */
const renew = async (deps: ClientDocumentsDeps, clientId: string): Promise<boolean> => {
  const { host } = new URL(clientId);
  // A caller whose limit was being read meanwhile comes after the one who fetched it.
  const expiry = await findDocumentExpiry(deps.database, clientId);
  if (expiry !== undefined && expiry > deps.clock()) return true;
  if (await isHostBlocked(deps.database, host)) return false;
  const fetched = await deps.fetchDocument(clientId).catch((error: unknown) => {
    deps.logger.info({ host, reason: error instanceof Error ? error.message : 'unknown' }, 'client document refused');
    return undefined;
  });
  if (fetched === undefined) return false;
  return await deps.transact(async (trx) => {
    await shareHosts(trx);
    if (await isHostBlocked(trx, host)) return false;
    const now = deps.clock();
    await upsertDocumentedApp(trx, fetched.app, now);
    await upsertDocument(trx, { clientId, host, fetchedAt: now, expiresAt: later(now, fetched.keptMs) });
    return true;
  });
};

/** Finds the app of a request for consent. Throws as `resolve`. */
export type FindAskingApp = (clientId: string, source: FetchSource) => Promise<AppRecord | undefined>;

/** Returns a finder that fetches the documents of clients that no business registered. */
export const withDocuments =
  (findApp: AppFinder, documents: ClientDocuments): FindAskingApp =>
  async (clientId, source) => {
    if (isMetadataUrl(clientId) && !(await documents.resolve(clientId, source))) return undefined;
    return await findApp(clientId);
  };

const DOCUMENTS_MAX = 100;

/** Binds the operator routes of clients that no business registered. */
export const documentOperatorRoutes = (deps: SuspendAppDeps & { readonly database: Executor }): Binding[] => {
  const setBlocked = async (host: string, blockedAt: Date | null): Promise<string[]> => {
    await deps.transact(async (trx) => {
      await lockHosts(trx);
      await setHostBlocked(trx, host, blockedAt);
    });
    return await listClientsOfHost(deps.database, host);
  };
  return [
    bind(documentOperations.listClientDocuments, async () => ({
      status: 200,
      body: {
        data: (await listDocuments(deps.database, DOCUMENTS_MAX)).map((document) => ({
          client_id: document.clientId,
          host: document.host,
          name: document.name,
          active: document.active,
          suspended_at: document.suspendedAt?.toISOString() ?? null,
          fetched_at: document.fetchedAt.toISOString(),
          expires_at: document.expiresAt.toISOString(),
          connections: document.connections,
        })),
      },
    })),
    // No document of the host is stored after the first step, so the second one meets them all.
    bind(documentOperations.blockClientHost, async ({ body }) => {
      const clientIds = await setBlocked(body.host, deps.clock());
      for (const clientId of clientIds) await suspendApp(deps, clientId);
      return { status: 200, body: { suspended: clientIds.length } };
    }),
    bind(documentOperations.unblockClientHost, async ({ body }) => {
      let resumed = 0;
      for (const clientId of await setBlocked(body.host, null)) {
        // A host above it, or one below, may be blocked still.
        if (await isHostBlocked(deps.database, new URL(clientId).host)) continue;
        await resumeApp(deps, clientId);
        resumed += 1;
      }
      return { status: 200, body: { resumed } };
    }),
  ];
};
