import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createPinnedAgent, createSystemLookup, parseAllowTargets } from '@svc/destinations';
import { createTestAuthority, type DnsStandIn, dnsStandIn } from '@svc/testing';
import { createProveDomain, createResolveTxt, type ProveDomain } from '../../src/publishers/prove-domain.ts';

export interface DomainProver {
  readonly dns: DnsStandIn;
  /** Proves domains as in production, by the name server and the web servers of the test. */
  readonly proveDomain: ProveDomain;
  /**
   * Serves the domains of the certificate at an address on loopback. Their file would be at port 443, which tests may not open,
   * so the prover connects to the web server's port instead.
   */
  readonly serve: (
    choices: { readonly names: readonly string[]; readonly address?: string },
    site: RequestListener,
  ) => Promise<void>;
  /** Runs before each connection of the prover. */
  beforeConnect: () => void;
  /** Addresses that the prover was about to connect to. */
  readonly connections: string[];
  readonly stop: () => Promise<void>;
}

/** Starts a prover that may connect to loopback for the domains `allowed`, and trusts the test's authority. */
export const startDomainProver = async (allowed: readonly string[] = []): Promise<DomainProver> => {
  const dns = await dnsStandIn();
  const authority = await createTestAuthority();
  const agent = createPinnedAgent({ extraCaFile: authority.caFile });
  const lookup = createSystemLookup({ dnsServers: [dns.address] });
  const ports = new Map<string, number>();
  const stops: (() => Promise<void>)[] = [];
  const prover: DomainProver = {
    dns,
    connections: [],
    beforeConnect: () => undefined,
    proveDomain: createProveDomain({
      resolveTxt: createResolveTxt({ dnsServers: [dns.address] }),
      // An allowed target would be looked up by the system.
      lookup: (host, { signal }) => lookup(host, { isAllowTarget: false, signal }),
      agent: {
        get: async (checked, request, signal) => {
          prover.beforeConnect();
          const addresses = checked.addresses.map(({ address }) => address);
          prover.connections.push(...addresses);
          const port = ports.get(addresses[0] ?? '') ?? checked.destination.port;
          return await agent.get({ ...checked, destination: { ...checked.destination, port } }, request, signal);
        },
      },
      allowTargets: parseAllowTargets(allowed.map((domain) => `${domain}:443`)),
    }),
    async serve({ names, address = '127.0.0.1' }, site) {
      const server = createServer(await authority.issue({ names }), site);
      await new Promise<void>((resolve) => server.listen(0, address, resolve));
      // The address of a listening server is an object.
      ports.set(address, (server.address() as AddressInfo).port);
      stops.push(async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      });
    },
    async stop() {
      agent.destroy();
      authority.remove();
      await Promise.all([dns.stop(), ...stops.map((stop) => stop())]);
    },
  };
  return prover;
};
