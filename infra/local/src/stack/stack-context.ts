import { accessSync, constants, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { serviceNames } from '@svc/contracts';
import { isPortFree } from '@svc/embedded-servers';
import { type BoundedLog, openLog } from '../process/bounded-log.ts';
import type { ProcessExit } from '../process/node-process.ts';
import { createProcessGroup, type ProcessGroup } from '../process/process-group.ts';
import { consolePorts } from './console-pages.ts';
import { choosePorts } from './ports.ts';
import type { Report } from './report.ts';
import { openRunRecord, type RunRecord } from './run-record.ts';
import { samplePartnerPorts } from './sample-receiver.ts';
import { loadSecrets, type Secrets } from './secrets.ts';
import type { StackSettings } from './settings.ts';
import { createStackFile, type StackFile } from './stack-file.ts';
import { StartError } from './start-error.ts';

/** Everything that the parts of one stack share while it starts and runs. */
export interface StackContext {
  settings: StackSettings;
  report: Report;
  /** Aborts when the person wants it stopped. */
  signal: AbortSignal;
  baseUrl: string;
  port: number;
  ports: ReadonlyMap<string, number>;
  secrets: Secrets;
  record: RunRecord;
  stackFile: StackFile;
  group: ProcessGroup;
  /** Addresses of processes by name, noted before they start. */
  addresses: Map<string, { url: string; internal_url?: string }>;
  /** A log of the data directory, opened once per name. */
  logOf: (name: string) => BoundedLog;
  paths: StackPaths;
}

/** Where things lie in the data directory. */
export interface StackPaths {
  cluster: string;
  nats: string;
  compileCache: string;
  routesFile: string;
  migrated: string;
}

/** Takes the data directory and chooses ports and secrets. Throws StartError. */
export const prepareStack = async (
  settings: StackSettings,
  { report, signal }: { report: Report; signal: AbortSignal },
): Promise<StackContext> => {
  const { dataDirectory } = settings;
  makeDataDirectory(dataDirectory);
  const record = await openRunRecord(dataDirectory);
  try {
    const paths = pathsOf(dataDirectory);
    const port = await chooseIngressPort(settings);
    const secrets = loadSecrets({ file: join(dataDirectory, 'secrets.json'), cluster: paths.cluster });
    const names = [
      'postgres',
      'nats',
      'sandbox-provider',
      ...serviceNames.flatMap((name) => [name, `${name}-internal`]),
      ...samplePartnerPorts(settings.env),
      ...consolePorts(settings),
    ];
    const ports = await choosePorts({ names, file: join(dataDirectory, 'ports.json'), env: settings.env });
    const baseUrl = settings.publicBaseUrl ?? `http://127.0.0.1:${port}`;
    const stackFile = createStackFile(join(dataDirectory, 'stack.json'), baseUrl);
    const addresses: StackContext['addresses'] = new Map();
    const group = superviseInto({ stackFile, addresses, report });
    const logOf = createLogs(join(dataDirectory, 'logs'));
    return {
      settings,
      report,
      signal,
      baseUrl,
      port,
      ports,
      secrets,
      record,
      stackFile,
      group,
      addresses,
      logOf,
      paths,
    };
  } catch (error) {
    record.release();
    throw error;
  }
};

/** A path as the person would write it. */
export const readablePath = (path: string): string => {
  const fromHere = relative(process.cwd(), path);
  return fromHere === '' || fromHere.startsWith('..') ? path : fromHere;
};

/** How a process ended, in words. */
const describeExit = ({ code, signal }: ProcessExit): string =>
  signal === null ? `ended with code ${code}` : `was ended by ${signal}`;

const makeDataDirectory = (path: string): void => {
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `${path} cannot be used as the data directory (${reason}). Choose another one: SVC_DATA_DIR=<path>, or run as its owner.`,
    );
  }
};

const pathsOf = (dataDirectory: string): StackPaths => ({
  cluster: join(dataDirectory, 'postgres'),
  nats: join(dataDirectory, 'nats'),
  compileCache: join(dataDirectory, 'cache', 'compile'),
  routesFile: join(dataDirectory, 'routes.yaml'),
  migrated: join(dataDirectory, 'migrated.json'),
});

const chooseIngressPort = async ({ port, host, dataDirectory, env }: StackSettings): Promise<number> => {
  if (port === 0) {
    const chosen = await choosePorts({ names: ['ingress'], file: join(dataDirectory, 'ingress-port.json'), env: {} });
    return chosen.get('ingress') ?? 0;
  }
  if (await isPortFree(port, host)) return port;
  const example = env['SVC_DATA_DIR'] ? '' : ' (beside another copy also SVC_DATA_DIR=.local-2)';
  throw new StartError(
    `Port ${port} is taken by another program. Start with another one: PORT=${port + 1} npx pnpm start${example}`,
  );
};

const createLogs = (directory: string): StackContext['logOf'] => {
  const logs = new Map<string, BoundedLog>();
  return (name) => {
    const log = logs.get(name) ?? openLog(join(directory, `${name}.log`));
    logs.set(name, log);
    return log;
  };
};

const superviseInto = ({
  stackFile,
  addresses,
  report,
}: Pick<StackContext, 'stackFile' | 'addresses' | 'report'>): ProcessGroup =>
  createProcessGroup({
    started: (name, pid, isAgain) => {
      stackFile.set(name, { pid, url: '', ...addresses.get(name) });
      if (isAgain) report.line(`${name} runs again as process ${pid}`);
    },
    died: (name, exit) => report.line(`${name} ${describeExit(exit)}; starting it again`),
    failed: (name, error) =>
      report.line(`${name} cannot be started: ${error instanceof Error ? error.message : String(error)}; trying again`),
  });
