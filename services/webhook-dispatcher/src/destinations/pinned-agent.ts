import { readFileSync } from 'node:fs';
import { Agent, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { CheckedDestination } from './check-destination.ts';

/** Connections to receivers; sockets are kept for reuse under the addresses to which they may lead. */
export interface PinnedAgent {
  /** What `https.request` needs to reach this destination and no other address. */
  requestOptions(checked: CheckedDestination): RequestOptions;
  /** Connections open now, in use or idle. */
  openSockets(): number;
  destroy(): void;
}

/** What `tls.connect` and `net.connect` take beyond the declared options of a request. */
interface PinnedRequestOptions extends RequestOptions {
  pinned?: string;
  secureContext?: SecureContext;
  autoSelectFamily?: boolean;
  autoSelectFamilyAttemptTimeout?: number;
}

/** An app has one attempt at a time, but many apps may share a receiver. */
const IDLE_SOCKETS_PER_DESTINATION = 256;
const IDLE_SOCKETS_MAX = 1_024;
const IDLE_SOCKET_TIMEOUT_MS = 10_000;
const CONNECT_ATTEMPT_TIMEOUT_MS = 2_000;

/** A kept socket leads to one of the addresses in its name: it serves only attempts that have checked exactly those. */
class AddressKeyedAgent extends Agent {
  override getName(options: PinnedRequestOptions = {}): string {
    return `${options.host}:${options.port}:${options.servername}:${options.pinned}`;
  }

  override keepSocketAlive(socket: Duplex): boolean {
    if (countSockets(this.freeSockets) >= IDLE_SOCKETS_MAX) return false;
    // Declared as void, but what it answers decides whether the socket is kept.
    const isKept: unknown = super.keepSocketAlive(socket);
    return isKept === true;
  }
}

/**
 * Makes the agent for all deliveries. TLS 1.2 at least; certificates are always verified against the destination's name, by
 * the usual authorities and those of `extraCaFile`. Proxy variables of the environment have no effect on it.
 */
export function createPinnedAgent(options: { extraCaFile?: string | undefined } = {}): PinnedAgent {
  const extra = options.extraCaFile === undefined ? [] : [readFileSync(options.extraCaFile, 'utf8')];
  // One context for all: parsing the authorities anew for each connection would cost more than the handshake.
  const secureContext = createSecureContext({ ca: [...getCACertificates('default'), ...extra], minVersion: 'TLSv1.2' });
  const agent = new AddressKeyedAgent({
    keepAlive: true,
    maxFreeSockets: IDLE_SOCKETS_PER_DESTINATION,
    maxTotalSockets: Number.POSITIVE_INFINITY,
    timeout: IDLE_SOCKET_TIMEOUT_MS,
    scheduling: 'lifo',
  });
  return {
    requestOptions: ({ destination, addresses }) => {
      const options: PinnedRequestOptions = {
        agent,
        host: destination.host,
        port: destination.port,
        servername: destination.serverName,
        path: destination.path,
        pinned: addresses
          .map(({ address }) => address)
          .sort()
          .join(','),
        lookup: (_host, { all }, callback) => {
          const [first] = addresses;
          if (all === true || first === undefined) callback(null, [...addresses]);
          else callback(null, first.address, first.family);
        },
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: CONNECT_ATTEMPT_TIMEOUT_MS,
        secureContext,
        rejectUnauthorized: true,
      };
      return options;
    },
    openSockets: () => countSockets(agent.sockets) + countSockets(agent.freeSockets),
    destroy: () => agent.destroy(),
  };
}

function countSockets(groups: NodeJS.ReadOnlyDict<readonly unknown[]>): number {
  return Object.values(groups).reduce((total, sockets) => total + (sockets?.length ?? 0), 0);
}
