import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { locateNatsServer } from './binaries.ts';
import { startOnPort } from './free-port.ts';
import { stopOrphan } from './process-record.ts';
import { type RunningServer, startProcess } from './start-process.ts';
import { waitUntilReady } from './wait-until-ready.ts';

/** A large store takes minutes to recover. */
const START_TIMEOUT_MS = 600_000;
const PROBE_TIMEOUT_MS = 5_000;
const PAYLOAD_BYTES_MAX = 8 * 1024 * 1024;
/** Space that streams may reserve. They take it only as they fill. */
const STORE_BYTES_MAX = 16 * 1024 ** 3;

export interface NatsServer extends RunningServer {
  readonly url: string;
}

export interface NatsCluster {
  /** Unique in the cluster. */
  readonly serverName: string;
  readonly port: number;
  /** Cluster ports of the other servers. */
  readonly peerPorts: readonly number[];
}

export interface NatsOptions {
  readonly storeDir: string;
  /** A free one by default. */
  readonly port?: number | undefined;
  readonly onOutput?: ((text: string) => void) | undefined;
  /** Gives up the start; nothing is left running then. */
  readonly signal?: AbortSignal | undefined;
  readonly binary?: string | undefined;
  /** A single server by default. */
  readonly cluster?: NatsCluster | undefined;
  /** The `accounts` of its configuration. Without them every client may do everything. */
  readonly accounts?: string | undefined;
  /** PEM files of its certificate. With them it refuses plain connections. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** Default true. False acknowledges before data is on disk, for a measurement that fills a stream first. */
  readonly isSynced?: boolean | undefined;
}

/**
 * Starts nats-server on the loopback address. JetStream syncs every write to disk before it acknowledges: with its default
 * interval, a power cut loses acknowledged messages.
 * Throws StartError, PortTakenError or DataDirectoryInUseError.
 */
export const startNats = async (options: NatsOptions): Promise<NatsServer> => {
  const storeDir = resolve(options.storeDir);
  const binary = options.binary ?? locateNatsServer();
  await stopOrphan(storeDir);
  mkdirSync(storeDir, { recursive: true, mode: 0o700 });
  const configFile = `${storeDir}.conf`;
  const server = await startOnPort(options.port, 'NATS', async (port) => {
    writeFileSync(configFile, serverConfig(storeDir, port, options), { mode: 0o600 });
    const running = await startProcess({
      command: [binary, '--config', configFile],
      env: { TZ: 'UTC' },
      recordAt: storeDir,
      stopSignals: ['SIGTERM'],
      onOutput: options.onOutput,
    });
    const isReady = (): Promise<boolean> => greetsWithJetStream(port);
    await waitUntilReady(running, { name: 'NATS', timeoutMs: START_TIMEOUT_MS, isReady, signal: options.signal });
    return { ...running, port };
  });
  return { ...server, url: `nats://127.0.0.1:${server.port}` };
};

const serverConfig = (
  storeDir: string,
  port: number,
  { cluster, accounts, tls, isSynced = true }: NatsOptions,
): string =>
  [
    `server_name: ${cluster?.serverName ?? 'svc_local'}`,
    `listen: "127.0.0.1:${port}"`,
    `max_payload: ${PAYLOAD_BYTES_MAX}`,
    'jetstream {',
    `  store_dir: ${JSON.stringify(storeDir)}`,
    `  sync_interval: ${isSynced ? 'always' : '"2m"'}`,
    `  max_file_store: ${STORE_BYTES_MAX}`,
    '}',
    ...(cluster === undefined ? [] : clusterConfig(cluster)),
    ...(tls === undefined ? [] : tlsConfig(tls)),
    accounts ?? '',
  ].join('\n');

const clusterConfig = ({ port, peerPorts }: NatsCluster): string[] => {
  const routes = peerPorts.map((peer) => `"nats://127.0.0.1:${peer}"`);
  return ['cluster {', '  name: svc_local', `  listen: "127.0.0.1:${port}"`, `  routes: [${routes.join(', ')}]`, '}'];
};

const tlsConfig = ({ certFile, keyFile }: NonNullable<NatsOptions['tls']>): string[] => [
  'tls {',
  `  cert_file: ${JSON.stringify(certFile)}`,
  `  key_file: ${JSON.stringify(keyFile)}`,
  '}',
];

/** Reads the INFO line by which NATS greets a connection: it names JetStream once that is on. */
const greetsWithJetStream = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect({ host: '127.0.0.1', port });
    let greeting = '';
    const finish = (ready: boolean) => {
      socket.destroy();
      done(ready);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => finish(false));
    socket.on('error', () => finish(false));
    socket.on('close', () => finish(false));
    socket.on('data', (chunk) => {
      greeting += chunk.toString('latin1');
      if (greeting.includes('\n')) finish(/"jetstream"\s*:\s*true/.test(greeting));
    });
  });
