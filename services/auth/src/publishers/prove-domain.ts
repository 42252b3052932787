import { NODATA, NOTFOUND, promises } from 'node:dns';
import {
  checkDestination,
  type Lookup,
  type PinnedAgent,
  parseAllowTargets,
  parseDestination,
} from '@svc/destinations';
import { SECOND_MS } from '../time.ts';
import { type DomainRecord, fileUrlOf, proofText, txtNameOf } from './publisher-domain.ts';

/** Outcome of the look into one place. */
export type PlaceOutcome = 'proven' | 'missing' | 'different' | 'unreachable';

export interface DomainProof {
  readonly dns: PlaceOutcome;
  readonly file: PlaceOutcome;
}

/** Looks for the proof of a domain in DNS and in its file. Never rejects because of what it finds. */
export type ProveDomain = (domain: Pick<DomainRecord, 'domain' | 'token'>) => Promise<DomainProof>;

/** Returns the TXT records of a name, each in its chunks. Rejects with Node's error code if there are none. */
export type ResolveTxt = (name: string, signal: AbortSignal) => Promise<string[][]>;

export interface ProveDomainDeps {
  readonly resolveTxt: ResolveTxt;
  readonly lookup: Lookup;
  readonly agent: Pick<PinnedAgent, 'get'>;
}

/** Time for both places. Shorter than the pause between two checks of a domain. */
const TIMEOUT_MS = 5 * SECOND_MS;
const RESOLVE_TIMEOUT_MS = 2 * SECOND_MS;
const RESOLVE_TRIES = 2;
const RECORDS_MAX = 50;
const FILE_BYTES_MAX = 4_096;
const HTTP_OK = 200;
const HTTP_ERROR_MIN = 500;
const NO_TARGETS = parseAllowTargets([]);

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
  { lookup, agent }: ProveDomainDeps,
  domain: string,
  { text, signal }: Wanted,
): Promise<PlaceOutcome> => {
  try {
    const destination = parseDestination(fileUrlOf(domain), NO_TARGETS);
    const checked = await checkDestination(destination, { lookup, signal });
    const request = {
      headers: { accept: 'text/plain', 'user-agent': 'svc-verification/1' },
      bodyBytesMax: FILE_BYTES_MAX,
    };
    const { statusCode, body } = await agent.get(checked, request, signal);
    if (statusCode >= HTTP_ERROR_MIN) return 'unreachable';
    if (statusCode !== HTTP_OK) return 'missing';
    const lines = body.toString('utf8').split('\n');
    return lines.some((line) => line.trim() === text) ? 'proven' : 'different';
  } catch {
    // The cause would reveal which addresses the internal network has.
    return 'unreachable';
  }
};

/** Queries DNS directly, as look-ups by the system would hold a pool thread while a name server does not answer. */
export const resolveTxtByDns: ResolveTxt = async (name, signal) => {
  const resolver = new promises.Resolver({ timeout: RESOLVE_TIMEOUT_MS, tries: RESOLVE_TRIES });
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
 * Adds domains below `.example` to play with: each is proven, except those that begin with `unproven.`. Other domains
 * are looked up.
 */
export const withSandboxDomains =
  (proveDomain: ProveDomain): ProveDomain =>
  async (claim) => {
    if (!SANDBOX_DOMAIN.test(claim.domain)) return await proveDomain(claim);
    const isProven = !SANDBOX_UNPROVEN.test(claim.domain);
    return { dns: isProven ? 'proven' : 'missing', file: 'missing' };
  };
