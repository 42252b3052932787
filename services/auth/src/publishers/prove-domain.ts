import { NODATA, NOTFOUND, promises } from 'node:dns';
import {
  type AllowTargets,
  checkDestination,
  createSystemLookup,
  type Lookup,
  type PinnedAgent,
  parseAllowTargets,
  parseDestination,
} from '@svc/destinations';
import { SECOND_MS } from '../time.ts';
import { type DomainRecord, fileUrlOf, proofText, txtNameOf } from './publisher-domain.ts';

/** Outcome for one place. */
export type PlaceOutcome = 'proven' | 'missing' | 'different' | 'unreachable';

export interface DomainProof {
  readonly dns: PlaceOutcome;
  readonly file: PlaceOutcome;
}

/** Looks for the proof of a domain in DNS and in its file. Never rejects for a missing or different proof. */
export type ProveDomain = (domain: Pick<DomainRecord, 'domain' | 'token'>) => Promise<DomainProof>;

/** Returns the TXT records of a name, each in its chunks. Rejects with Node's error code if there are none. */
export type ResolveTxt = (name: string, signal: AbortSignal) => Promise<string[][]>;

export interface ProveDomainDeps {
  readonly resolveTxt: ResolveTxt;
  readonly lookup: Lookup;
  readonly agent: Pick<PinnedAgent, 'get'>;
  /** Targets whose addresses need not be public. */
  readonly allowTargets: AllowTargets;
}

/** Timeout for both places. Shorter than the pause between two checks of a domain. */
const TIMEOUT_MS = 5 * SECOND_MS;
const RESOLVE_TIMEOUT_MS = 2 * SECOND_MS;
const RESOLVE_TRIES = 2;
const RECORDS_MAX = 50;
const FILE_BYTES_MAX = 4_096;
const HTTP_OK = 200;
const HTTP_ERROR_MIN = 500;

export const createProveDomain =
  (deps: ProveDomainDeps): ProveDomain =>
  async ({ domain, token }) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const text = proofText(token);
    const [dns, file] = await Promise.all([
      lookInDns(deps, domain, { text, signal }),
      lookInFile(deps, domain, { text, signal }),
    ]);
    return { dns, file };
  };

interface Wanted {
  readonly text: string;
  readonly signal: AbortSignal;
}

const lookInDns = async (deps: ProveDomainDeps, domain: string, { text, signal }: Wanted): Promise<PlaceOutcome> => {
  try {
    const records = await deps.resolveTxt(txtNameOf(domain), signal);
    if (records.length === 0) return 'missing';
    const isThere = records.slice(0, RECORDS_MAX).some((chunks) => chunks.join('').trim() === text);
    return isThere ? 'proven' : 'different';
  } catch (error) {
    return isEmptyAnswer(error) ? 'missing' : 'unreachable';
  }
};

const isEmptyAnswer = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === NODATA || error.code === NOTFOUND);

const lookInFile = async (
  { lookup, agent, allowTargets }: ProveDomainDeps,
  domain: string,
  { text, signal }: Wanted,
): Promise<PlaceOutcome> => {
  try {
    const destination = parseDestination(fileUrlOf(domain), allowTargets);
    const checked = await checkDestination(destination, { lookup, signal });
    const request = {
      headers: { accept: 'text/plain', 'user-agent': 'svc-verification/1' },
      bodyBytesMax: FILE_BYTES_MAX + 1,
    };
    const { statusCode, body } = await agent.get(checked, request, signal);
    if (statusCode >= HTTP_ERROR_MIN) return 'unreachable';
    if (statusCode !== HTTP_OK) return 'missing';
    if (body.length > FILE_BYTES_MAX) return 'different';
    const lines = body.toString('utf8').split('\n');
    return lines.some((line) => line.trim() === text) ? 'proven' : 'different';
  } catch {
    // The cause would reveal addresses of the internal network.
    return 'unreachable';
  }
};

/**
 * Queries DNS directly: system lookups would hold a pool thread while a name server does not respond. Asks
 * `dnsServers` instead of the system's name servers if they are given.
 */
export const createResolveTxt =
  ({ dnsServers }: { readonly dnsServers?: readonly string[] } = {}): ResolveTxt =>
  async (name, signal) => {
    const resolver = new promises.Resolver({ timeout: RESOLVE_TIMEOUT_MS, tries: RESOLVE_TRIES });
    if (dnsServers !== undefined) resolver.setServers(dnsServers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await resolver.resolveTxt(name);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };

/** Reserved for documentation (RFC 2606 section 2): no such domain exists. */
const SANDBOX_DOMAIN = /\.example$/;
const SANDBOX_UNPROVEN = /^unproven\./;

/**
 * Adds domains below `.example` for trials: each is proven, except those that start with `unproven.`. Looks up other
 * domains.
 */
export const withSandboxDomains =
  (proveDomain: ProveDomain): ProveDomain =>
  async (claim) => {
    if (!SANDBOX_DOMAIN.test(claim.domain)) return await proveDomain(claim);
    const isProven = !SANDBOX_UNPROVEN.test(claim.domain);
    return { dns: isProven ? 'proven' : 'missing', file: 'missing' };
  };

/** Returns the method set by PUBLISHER_PROOFS, on the system's name servers and public addresses only. */
export const selectProveDomain = (method: 'public' | 'sandbox', agent: PinnedAgent): ProveDomain => {
  const proveDomain = createProveDomain({
    resolveTxt: createResolveTxt(),
    lookup: createSystemLookup(),
    agent,
    allowTargets: parseAllowTargets([]),
  });
  return method === 'sandbox' ? withSandboxDomains(proveDomain) : proveDomain;
};
