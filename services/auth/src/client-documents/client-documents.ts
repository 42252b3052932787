import { appFieldsSchema, isMetadataUrl, linkSchema } from '@svc/contracts';
import {
  type AllowTargets,
  checkDestination,
  type Lookup,
  type PinnedAgent,
  parseDestination,
} from '@svc/destinations';
import type { Clock, Logger } from '@svc/service-kit';
import { z } from 'zod';
import {
  type AppFinder,
  type AppRecord,
  type DocumentedApp,
  findRedirectUriFault,
  upsertDocumentedApp,
} from '../apps/index.ts';
import { createBoundedQueue } from '../bounded-queue.ts';
import type { SourceLimit } from '../throttling/index.ts';
import { HOUR_MS, later, MINUTE_MS, SECOND_MS } from '../time.ts';
import type { Executor, Transact } from '../transact.ts';
import { findDocumentExpiry, isHostBlocked, shareHosts, upsertDocument } from './queries.ts';

const REDIRECT_URIS_MAX = 10;

/**
 * Members that decide. Others are ignored, as RFC 7591 section 2 asks. No business registered the client,
 * so it has no secret and authenticates by its verifier alone.
 */
const documentSchema = z.object({
  client_id: z.string(),
  redirect_uris: z.array(z.string()).min(1).max(REDIRECT_URIS_MAX),
  client_name: z.unknown().optional(),
  client_uri: z.unknown().optional(),
  policy_uri: z.unknown().optional(),
  token_endpoint_auth_method: z.literal('none').optional(),
  grant_types: z
    .array(z.string())
    .refine((types) => types.includes('authorization_code'))
    .optional(),
  client_secret: z.undefined().optional(),
});

/** Thrown for a document that is not acceptable. The message names the fault, and nothing of the document. */
class DocumentFault extends Error {
  override readonly name = 'DocumentFault';
}

/** Parses the metadata document at a URL into an app. Throws DocumentFault. */
const readDocument = (clientId: string, text: string): DocumentedApp => {
  const read = documentSchema.safeParse(parseJson(text));
  if (!read.success) throw new DocumentFault(`${read.error.issues[0]?.path.join('.') ?? ''} is malformed`);
  const document = read.data;
  if (document.client_id !== clientId) throw new DocumentFault('client_id is not the URL of the document');
  const { host, origin } = new URL(clientId);
  for (const uri of document.redirect_uris) checkRedirectUri(uri, origin);
  return {
    clientId,
    // A name that could mislead is left out: the host stands beside it anyway.
    name: appFieldsSchema.shape.name.safeParse(document.client_name).data ?? host,
    redirectUris: document.redirect_uris,
    homepageUrl: linkOf(document.client_uri, origin),
    privacyPolicyUrl: linkOf(document.policy_uri, origin),
  };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new DocumentFault('not JSON');
  }
};

/** Allows what registered apps may use except private schemes, and of `https` only the origin of the document. */
const checkRedirectUri = (uri: string, origin: string): void => {
  if (findRedirectUriFault(uri, 'confidential') !== undefined) throw new DocumentFault('a redirect URI is malformed');
  const url = new URL(uri);
  if (url.protocol !== 'http:' && url.origin !== origin) throw new DocumentFault('a redirect URI has another origin');
};

/** Returns a link to the host that the page names. Others are left out. */
const linkOf = (value: unknown, origin: string): string | null => {
  const link = linkSchema.safeParse(value).data ?? null;
  return link !== null && new URL(link).origin === origin ? link : null;
};

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

const TIMEOUT_MS = 5 * SECOND_MS;
const DOCUMENT_BYTES_MAX = 5 * 1024;
const HTTP_OK = 200;
/** Bounds of the time for which a document is kept, regardless of its headers. */
const KEPT_MS_MIN = HOUR_MS;
const KEPT_MS_MAX = 24 * HOUR_MS;

interface FetchDocumentDeps {
  readonly agent: Pick<PinnedAgent, 'get'>;
  readonly lookup: Lookup;
  readonly allowTargets: AllowTargets;
}

/** A document, and the time for which it is kept. */
interface FetchedDocument {
  readonly app: DocumentedApp;
  readonly keptMs: number;
}

type FetchDocument = (clientId: string) => Promise<FetchedDocument>;

/**
 * Fetches the metadata document of a client as webhooks are delivered: over public HTTPS, pinned to checked addresses,
 * without redirects. Throws DocumentFault, DestinationError, or the error of the connection.
 */
export const createFetchDocument =
  ({ agent, lookup, allowTargets }: FetchDocumentDeps): FetchDocument =>
  async (clientId) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const checked = await checkDestination(parseDestination(clientId, allowTargets), { lookup, signal });
    const request = {
      headers: { accept: 'application/json', 'user-agent': 'svc-client-metadata/1' },
      bodyBytesMax: DOCUMENT_BYTES_MAX + 1,
    };
    const { statusCode, body, cacheControl } = await agent.get(checked, request, signal);
    if (statusCode !== HTTP_OK) throw new DocumentFault('the status is not 200');
    if (body.length > DOCUMENT_BYTES_MAX) throw new DocumentFault('longer than 5 KiB');
    return { app: readDocument(clientId, decode(body)), keptMs: keptMsOf(cacheControl) };
  };

const decode = (body: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new DocumentFault('not UTF-8');
  }
};

/** Returns the time of `max-age` (RFC 9111 section 5.2.2.1) within our bounds. */
const keptMsOf = (cacheControl: string | undefined): number => {
  const seconds = /(?:^|[\s,])max-age="?(\d{1,10})/i.exec(cacheControl ?? '')?.[1];
  return Math.min(KEPT_MS_MAX, Math.max(KEPT_MS_MIN, Number(seconds ?? 0) * SECOND_MS));
};
