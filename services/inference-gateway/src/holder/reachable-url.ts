import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/**
 * Returns the address at which other processes reach a listener: the host that it listens on, or the machine's own address
 * if it listens on all. A machine without a network has its loopback address.
 */
export const reachableUrl = (
  { host, port }: { readonly host: string; readonly port: number },
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
): string => {
  const own = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .sort((one, other) => (one.family < other.family ? -1 : 1));
  const address = WILDCARDS.has(host) ? (own[0]?.address ?? '127.0.0.1') : host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
};
