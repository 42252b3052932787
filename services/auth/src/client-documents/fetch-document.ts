import {
  type AllowTargets,
  checkDestination,
  type Lookup,
  type PinnedAgent,
  parseDestination,
} from '@svc/destinations';
import type { DocumentedApp } from '../apps/index.ts';
import { HOUR_MS, SECOND_MS } from '../time.ts';
import { DocumentFault, readDocument } from './read-document.ts';

const TIMEOUT_MS = 5 * SECOND_MS;
const DOCUMENT_BYTES_MAX = 5 * 1024;
const HTTP_OK = 200;
/** Bounds of the time for which a document is kept, regardless of its headers. */
const KEPT_MS_MIN = HOUR_MS;
const KEPT_MS_MAX = 24 * HOUR_MS;

export interface FetchDocumentDeps {
  readonly agent: Pick<PinnedAgent, 'get'>;
  readonly lookup: Lookup;
  readonly allowTargets: AllowTargets;
}

/** A document, and the time for which it is kept. */
export interface FetchedDocument {
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
