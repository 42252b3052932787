import { promises as dns, NODATA, NOTFOUND } from 'node:dns';
import type { Lookup } from './check-destination.ts';

const LOOKUP_TIMEOUT_MS = 2_500;
const LOOKUP_TRIES = 2;

/**
 * Asks DNS directly, with its own sockets and time-outs: getaddrinfo would hold one of the process's few pool threads for as
 * long as somebody's name server keeps silent. Names that the operator allows may stand in the hosts file, so they alone go
 * through the system.
 */
export const systemLookup: Lookup = async (host, { isAllowTarget, signal }) => {
  if (isAllowTarget) return (await dns.lookup(host, { all: true })).map(({ address }) => address);
  const resolver = new dns.Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: LOOKUP_TRIES });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const families = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const answers = families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []));
    const failure = families.find((family) => family.status === 'rejected' && !isEmptyAnswer(family.reason));
    if (answers.length === 0 && failure?.status === 'rejected') throw failure.reason;
    return answers;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

function isEmptyAnswer(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === NODATA || error.code === NOTFOUND);
}
