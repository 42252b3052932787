import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { serviceNames } from '@svc/contracts';
import { describeEnd, isPortFree, StartError } from '@svc/testing/servers';
import { type BoundedLog, createSupervisor, openLog, type Supervisor } from '../process/supervisor.ts';
import { pathsOf, type StackPaths, takeDataDirectory, writeFileAtomically } from './data-directory.ts';
import type { Report } from './report.ts';
import { samplePartnerPorts } from './sample-receiver.ts';
import { loadSecrets, type Secrets } from './secrets.ts';
import { SANDBOX_MAIL, SANDBOX_MAIL_SMTP, SANDBOX_PAYMENTS, SANDBOX_PROVIDER } from './service-environment.ts';
import type { StackSettings } from './settings.ts';
import { choosePorts, consolePorts } from './settings.ts';

interface StackProcess {
  readonly pid: number;
  readonly url: string;
  /** Serves `/readyz`, `/metrics` and the calls of other services. */
  readonly internal_url?: string;
}

export interface StackDescription {
  readonly base_url: string;
  readonly processes: Record<string, StackProcess>;
  readonly database_urls: Record<string, string>;
  /** The operator's URL, with all rights. */
  nats_url: string;
  readonly nats_urls: Record<string, string>;
}

/** `stack.json`: exists while the stack is ready, and follows every change. */
interface StackFile {
  readonly description: StackDescription;
  readonly set: (name: string, process: StackProcess) => void;
  readonly publish: () => void;
  readonly remove: () => void;
}

/** Creates an unpublished description, and removes the file of an earlier run. */
export const createStackFile = (path: string, base_url: string): StackFile => {
  const description: StackDescription = { base_url, processes: {}, database_urls: {}, nats_url: '', nats_urls: {} };
  let isPublished = false;
  const write = (): void => writeFileAtomically(path, `${JSON.stringify(description, null, 2)}\n`);
  rmSync(path, { force: true });
  return {
    description,
    set: (name, process) => {
      description.processes[name] = process;
      if (isPublished) write();
    },
    publish: () => {
      isPublished = true;
      write();
    },
    remove: () => {
      isPublished = false;
      rmSync(path, { force: true });
    },
  };
};

export interface StackContext {
  readonly settings: StackSettings;
  readonly report: Report;
  /** Aborts when the person asks to stop, or the start fails. */
  readonly signal: AbortSignal;
  readonly giveUp: () => void;
  readonly baseUrl: string;
  readonly port: number;
  readonly ports: ReadonlyMap<string, number>;
  readonly secrets: Secrets;
  readonly stackFile: StackFile;
  readonly supervisor: Supervisor;
  /** Addresses of processes by name, set before they start. */
  readonly addresses: Map<string, { url: string; internal_url?: string }>;
  readonly logOf: (name: string) => BoundedLog;
  readonly paths: StackPaths;
  readonly release: () => void;
}

/** Locks the data directory and chooses ports and secrets. Throws StartError. */
export const prepareStack = async (
  settings: StackSettings,
  options: { readonly report: Report; readonly signal: AbortSignal },
): Promise<StackContext> => {
  const { report } = options;
  const { dataDirectory } = settings;
  const release = await takeDataDirectory(dataDirectory);
  try {
    const paths = pathsOf(dataDirectory);
    await checkIngressPort(settings);
    const secrets = loadSecrets({ file: join(dataDirectory, 'secrets.json'), cluster: paths.cluster });
    const claimed = await choosePorts({
      names: [...(settings.port === 0 ? [INGRESS] : []), ...portNames(settings)],
      file: join(dataDirectory, 'ports.json'),
      env: settings.env,
    });
    const { ports } = claimed;
    const port = ports.get(INGRESS) ?? settings.port;
    const baseUrl = settings.publicBaseUrl ?? `http://127.0.0.1:${port}`;
    const stackFile = createStackFile(join(dataDirectory, 'stack.json'), baseUrl);
    const addresses: StackContext['addresses'] = new Map();
    const failed = new AbortController();
    const signal = AbortSignal.any([options.signal, failed.signal]);
    const supervisor = superviseInto({ stackFile, addresses, report, signal });
    const logOf = createLogs(paths.logs);
    return {
      settings,
      report,
      signal,
      giveUp: () => failed.abort(),
      baseUrl,
      port,
      ports,
      secrets,
      stackFile,
      supervisor,
      addresses,
      logOf,
      paths,
      release: () => {
        claimed.release();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
};

const INGRESS = 'ingress';

const portNames = (settings: StackSettings): readonly string[] => [
  'postgres',
  'nats',
  SANDBOX_PROVIDER,
  SANDBOX_PAYMENTS,
  SANDBOX_MAIL,
  SANDBOX_MAIL_SMTP,
  ...serviceNames.flatMap((name) => [name, `${name}-internal`]),
  ...samplePartnerPorts(settings.env),
  ...consolePorts(settings),
];

const checkIngressPort = async ({ port, host, env }: StackSettings): Promise<void> => {
  if (port === 0 || (await isPortFree(port, host))) return;
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
  signal,
}: Pick<StackContext, 'stackFile' | 'addresses' | 'report' | 'signal'>): Supervisor =>
  createSupervisor({
    signal,
    started: (name, pid, isAgain) => {
      if (isAgain) report.line(`${name} runs again as process ${pid}`);
      try {
        stackFile.set(name, { pid, url: '', ...addresses.get(name) });
      } catch (error) {
        report.line(`stack.json cannot be written: ${messageOf(error)}`);
      }
    },
    ended: (name, exit) => report.line(`${name} ${describeEnd(exit)}; starting it again`),
    failed: (name, error) => report.line(`${messageOf(error)}; trying ${name} again`),
  });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
