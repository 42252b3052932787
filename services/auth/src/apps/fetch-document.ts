import { appFieldsSchema, linkSchema } from '@svc/contracts';
import {
  type AllowTargets,
  type CachingHeaders,
  checkDestination,
  type Lookup,
  type PinnedAgent,
  parseDestination,
} from '@svc/destinations';
import { z } from 'zod';
import { HOUR_MS, SECOND_MS } from '../time.ts';
import type { DocumentedApp } from './app-record.ts';
import { findRedirectUriFault } from './redirect-uri.ts';

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

export type FetchDocument = (clientId: string) => Promise<FetchedDocument>;

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
    const { statusCode, body, caching } = await agent.get(checked, request, signal);
    if (statusCode !== HTTP_OK) throw new DocumentFault('the status is not 200');
    if (body.length > DOCUMENT_BYTES_MAX) throw new DocumentFault('longer than 5 KiB');
    return { app: readDocument(clientId, decode(body)), keptMs: keptMsOf(caching) };
  };

const decode = (body: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new DocumentFault('not UTF-8');
  }
};

/** Returns the time for which an answer is fresh (RFC 9111 section 4.2) within our bounds. */
const keptMsOf = (caching: CachingHeaders): number =>
  Math.min(KEPT_MS_MAX, Math.max(KEPT_MS_MIN, freshSecondsOf(caching) * SECOND_MS));

/** Returns the seconds for which an answer stays fresh. Unreadable headers count as stale. */
const freshSecondsOf = ({ cacheControl = '', expires = '', date = '', age = '' }: CachingHeaders): number => {
  if (/(?:^|[\s,])(?:no-store|no-cache)(?:$|[\s,=])/i.test(cacheControl)) return 0;
  const maxAge = /(?:^|[\s,])max-age="?(\d{1,10})/i.exec(cacheControl)?.[1];
  const seconds = maxAge === undefined ? (Date.parse(expires) - Date.parse(date)) / SECOND_MS : Number(maxAge);
  const elapsed = /^\d{1,10}$/.test(age) ? Number(age) : 0;
  return Number.isNaN(seconds) ? 0 : seconds - elapsed;
};
