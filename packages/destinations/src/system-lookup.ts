import { promises as dns, NODATA, NOTFOUND } from 'node:dns';
import type { Lookup } from './check-destination.ts';

const LOOKUP_TIMEOUT_MS = 2_500;
const LOOKUP_TRIES = 2;
/** Upper bound of the cache time, regardless of the time to live. */
const KEPT_MS_MAX = 5_000;
/** Cache time of answers from the system, which have no time to live. */
const KEPT_SYSTEM_MS = 1_000;
const KEPT_NAMES_MAX = 10_000;

interface Answers {
  readonly addresses: string[];
  readonly endsAtMs: number;
}

export interface SystemLookupOptions {
  readonly nowMs?: () => number;
  /** Addresses of name servers. Default: those of the system. */
  readonly dnsServers?: readonly string[] | undefined;
}

/**
 * Queries DNS directly, with its own sockets and time-outs: getaddrinfo would hold one of the process's few pool threads while a
 * name server does not answer. Only targets that the operator allows go through the system, because they may be in the hosts file.
 * Answers are cached for their time to live, at most 5 s, and every attempt checks them again.
 */
export const createSystemLookup = ({
  nowMs = () => performance.now(),
  dnsServers,
}: SystemLookupOptions = {}): Lookup => {
  const kept = new Map<string, Answers>();
  return async (host, { isAllowTarget, signal }) => {
    const key = `${host} ${isAllowTarget}`;
    const known = kept.get(key);
    if (known !== undefined && known.endsAtMs > nowMs()) return known.addresses;
    const { addresses, keepMs } = isAllowTarget ? await askSystem(host) : await askDns(host, { signal, dnsServers });
    kept.delete(key);
    if (addresses.length > 0 && keepMs > 0) kept.set(key, { addresses, endsAtMs: nowMs() + keepMs });
    const oldest = kept.keys().next();
    if (kept.size > KEPT_NAMES_MAX && oldest.done !== true) kept.delete(oldest.value);
    return addresses;
  };
};

interface Found {
  readonly addresses: string[];
  readonly keepMs: number;
}

const askSystem = async (host: string): Promise<Found> => {
  const addresses = (await dns.lookup(host, { all: true })).map(({ address }) => address);
  return { addresses, keepMs: KEPT_SYSTEM_MS };
};

const askDns = async (
  host: string,
  { signal, dnsServers }: { readonly signal: AbortSignal; readonly dnsServers: readonly string[] | undefined },
): Promise<Found> => {
  const resolver = new dns.Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: LOOKUP_TRIES });
  if (dnsServers !== undefined) resolver.setServers(dnsServers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const families = await Promise.allSettled([
      resolver.resolve4(host, { ttl: true }),
      resolver.resolve6(host, { ttl: true }),
    ]);
    const answers = families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []));
    const failure = families.find((family) => family.status === 'rejected' && !isEmptyAnswer(family.reason));
    if (answers.length === 0 && failure?.status === 'rejected') throw failure.reason;
    const keepMs = Math.min(KEPT_MS_MAX, ...answers.map(({ ttl }) => ttl * 1_000));
    // The family whose look-up failed may have an answer a moment later.
    return { addresses: answers.map(({ address }) => address), keepMs: failure === undefined ? keepMs : 0 };
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

const isEmptyAnswer = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === NODATA || error.code === NOTFOUND);
