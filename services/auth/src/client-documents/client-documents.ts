import { isMetadataUrl } from '@svc/contracts';
import type { Clock, Logger } from '@svc/service-kit';
import { type AppFinder, type AppRecord, upsertDocumentedApp } from '../apps/index.ts';
import { createBoundedQueue } from '../bounded-queue.ts';
import type { SourceLimit } from '../throttling/index.ts';
import { later, MINUTE_MS } from '../time.ts';
import type { Executor, Transact } from '../transact.ts';
import type { FetchDocument } from './fetch-document.ts';
import { findDocumentExpiry, isHostBlocked, shareHosts, upsertDocument } from './queries.ts';

/** Strangers choose the addresses, so few fetches run and wait at one time. */
const FETCHES = { runningMax: 16, waitingMax: 128, refusal: 'Too many clients are being looked up. Try again.' };
/** Time for which a failure is remembered. */
const FAILURE_MS = MINUTE_MS;
const REMEMBERED_MAX = 10_000;

export interface ClientDocumentsDeps {
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
  const running = new Map<string, Promise<boolean>>();
  const failures = new Map<string, number>();
  const fetchOnce = (clientId: string): Promise<boolean> => {
    const known = running.get(clientId) ?? queue(() => renew(deps, clientId)).finally(() => running.delete(clientId));
    running.set(clientId, known);
    return known;
  };
  const rememberFailure = (clientId: string, untilMs: number): void => {
    failures.delete(clientId);
    failures.set(clientId, untilMs);
    const [oldest] = failures.keys();
    if (failures.size > REMEMBERED_MAX && oldest !== undefined) failures.delete(oldest);
  };
  return {
    isEnabled: deps.isEnabled,
    resolve: async (clientId, source) => {
      if (!deps.isEnabled || !isMetadataUrl(clientId)) return false;
      const now = deps.clock();
      const expiry = await findDocumentExpiry(deps.database, clientId);
      if (expiry !== undefined && expiry > now) return true;
      if ((failures.get(clientId) ?? 0) > now.getTime()) return false;
      if (source !== null && !running.has(clientId)) await deps.fetchLimit.take(source);
      if (await fetchOnce(clientId)) return true;
      rememberFailure(clientId, now.getTime() + FAILURE_MS);
      return false;
    },
  };
};

/** Fetches a document and stores its app. Returns false, and logs why, if that failed. */
const renew = async (deps: ClientDocumentsDeps, clientId: string): Promise<boolean> => {
  const { host } = new URL(clientId);
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
