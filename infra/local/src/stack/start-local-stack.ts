import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServiceName, serviceNames } from '@svc/contracts';
import { isPortFree } from '@svc/testing/servers';
import { writeFileAtomically } from './data-directory.ts';
import { keepNodeRunning } from './keep-running.ts';
import { prepareDatabase } from './prepare-database.ts';
import type { Report } from './report.ts';
import { readablePath } from './report.ts';
import { withSampleReceiver } from './sample-receiver.ts';
import { variablePrefix } from './secrets.ts';
import {
  inheritedEnvironment,
  loopbackUrl,
  SANDBOX_MAIL,
  SANDBOX_PAYMENTS,
  SANDBOX_PROVIDER,
  serviceEnvironment,
  usesSandboxPayments,
} from './service-environment.ts';
import type { StackSettings } from './settings.ts';
import { prepareStack, type StackContext } from './stack-context.ts';
import { consoleUrl, samplePartnerUrl, startConsole, startSamplePartner } from './start-console.ts';
import { startBeside, startOptional, startSandboxes } from './start-sandboxes.ts';
import {
  type Broker,
  type DatabaseServer,
  givenDatabaseUrl,
  startBroker,
  startDatabaseServer,
} from './start-servers.ts';

/** Stop order: first no new requests come in, then open ones end, then their dependencies stop. */
const STOP_WAVES = [
  ['ingress'],
  [...serviceNames],
  [SANDBOX_PROVIDER, SANDBOX_MAIL, SANDBOX_PAYMENTS],
  ['nats'],
  ['postgres'],
];
/** Maximum starts if other programs keep taking chosen ports. */
const TRIES_MAX = 3;
const CONFIG = new URL('../../config/', import.meta.url);
const INGRESS = fileURLToPath(new URL('../ingress/main.ts', import.meta.url));
const PLANS_FILE = fileURLToPath(new URL('plans.yaml', CONFIG));
/** Placeholder in `config/routes.yaml` for the address of the sandbox provider. */
const PROVIDER_URL_IN_CONFIG = 'http://127.0.0.1:9100';

export interface LocalStack {
  /** Stops everything in order and resolves when no process is left. */
  readonly stop: () => Promise<void>;
  readonly kill: () => void;
}

/**
 * Starts the whole product on one machine. Throws StartError if the person must do something, and the reason of the signal;
 * everything is stopped then.
 */
export const startLocalStack = async (
  settings: StackSettings,
  options: { readonly report: Report; readonly signal: AbortSignal },
): Promise<LocalStack> => {
  const { report, signal } = options;
  report.line(`data in ${readablePath(settings.dataDirectory)}`);
  for (let tries = 1; ; tries += 1) {
    const context = await prepareStack(settings, options);
    try {
      return await startOn(context);
    } catch (error) {
      const taken = tries < TRIES_MAX && !signal.aborted ? await findTakenPort(context) : undefined;
      if (taken === undefined) throw error;
      report.line(`port ${taken} was taken by another program in the meantime; starting again`);
    }
  }
};

/** Starts everything on the chosen ports, or stops it again and throws. */
const startOn = async (context: StackContext): Promise<LocalStack> => {
  const { settings, report, supervisor } = context;
  const stop = async (): Promise<void> => {
    await supervisor.stop(STOP_WAVES);
    context.stackFile.remove();
    context.release();
  };
  try {
    const missing = await startEverything(context);
    context.stackFile.publish();
    report.ready(context.baseUrl, {
      startedInMs: performance.now(),
      dataDirectory: readablePath(settings.dataDirectory),
      missing,
      samplePartnerUrl: samplePartnerUrl(context),
    });
    void startBeside(context, startSamplePartner);
    return { stop, kill: supervisor.kill };
  } catch (error) {
    context.giveUp();
    await stop();
    throw error;
  }
};

/** Returns a chosen port that another program has taken. Valid only once everything is stopped. */
const findTakenPort = async ({ ports, port, settings }: StackContext): Promise<number | undefined> => {
  for (const chosen of ports.values()) if (!(await isPortFree(chosen))) return chosen;
  return (await isPortFree(port, settings.host)) ? undefined : port;
};

/** Starts each part as soon as its dependencies are ready. Returns the services whose folder is missing. */
const startEverything = async (context: StackContext): Promise<readonly ServiceName[]> => {
  const present = serviceNames.filter((service) => isPresent(context, service));
  writeRoutesFile(context);
  const needsServer = present.some((service) => givenDatabaseUrl(context.settings.env, service) === undefined);
  const server = needsServer ? startDatabaseServer(context) : undefined;
  const broker = startBroker(context);
  const dispatcherEnv = withSampleReceiver(context);
  const parts = [
    startIngress(context, present),
    startSandboxes(context, PLANS_FILE),
    startOptional(context, startConsole),
    ...present.map((service) => startService(context, service, { server, broker, dispatcherEnv })),
  ];
  await Promise.all([server, broker, ...parts]);
  return serviceNames.filter((service) => !present.includes(service));
};

const isPresent = ({ settings }: StackContext, service: ServiceName): boolean =>
  existsSync(join(settings.servicesDirectory, service, 'src', 'main.ts'));

const startService = async (
  context: StackContext,
  service: ServiceName,
  needs: {
    server: Promise<DatabaseServer> | undefined;
    broker: Promise<Broker>;
    dispatcherEnv: Promise<NodeJS.ProcessEnv>;
  },
): Promise<void> => {
  const { settings, ports, secrets, paths, baseUrl, stackFile } = context;
  const databaseUrl = await prepareDatabase(context, service, await needs.server);
  const natsUrl = (await needs.broker).urlOf(service);
  const env = service === 'webhook-dispatcher' ? await needs.dispatcherEnv : settings.env;
  stackFile.description.database_urls[service] = databaseUrl;
  const directory = join(settings.servicesDirectory, service);
  const internalUrl = loopbackUrl(ports, `${service}-internal`);
  await keepNodeRunning(context, {
    name: service,
    script: join(directory, 'src', 'main.ts'),
    directory,
    env: serviceEnvironment(service, {
      env,
      ports,
      secrets,
      databaseUrl,
      natsUrl,
      publicBaseUrl: baseUrl,
      routesFile: paths.routesFile,
      plansFile: PLANS_FILE,
      usageJournal: paths.usageJournal,
      compileCache: paths.compileCache,
    }),
    url: loopbackUrl(ports, service),
    internalUrl,
    readyUrl: `${internalUrl}/readyz`,
  });
};

const startIngress = async (context: StackContext, present: readonly ServiceName[]): Promise<void> => {
  const { settings, ports, paths, baseUrl, port } = context;
  const url = `http://127.0.0.1:${port}`;
  const upstreams = present.flatMap((service) => [
    [`${variablePrefix(service)}_URL`, loopbackUrl(ports, service)],
    [`${variablePrefix(service)}_INTERNAL_URL`, loopbackUrl(ports, `${service}-internal`)],
  ]);
  const pages = consoleUrl(context);
  await keepNodeRunning(context, {
    name: 'ingress',
    script: INGRESS,
    directory: settings.root,
    env: {
      ...inheritedEnvironment(settings.env, paths.compileCache),
      ...Object.fromEntries(upstreams),
      ...(pages === undefined ? {} : { CONSOLE_URL: pages }),
      SANDBOX_MAIL_URL: loopbackUrl(ports, SANDBOX_MAIL),
      ...(usesSandboxPayments(settings.env) && { SANDBOX_PAYMENTS_URL: loopbackUrl(ports, SANDBOX_PAYMENTS) }),
      HOST: settings.host,
      PORT: String(port),
      PUBLIC_BASE_URL: baseUrl,
    },
    url,
    readyUrl: `${url}/`,
  });
};

const writeRoutesFile = ({ paths, ports }: StackContext): void => {
  const text = readFileSync(new URL('routes.yaml', CONFIG), 'utf8');
  const note =
    '# Written at every start of the local stack; changes here are lost. Set ROUTES_FILE to use another file.\
';
  const url = loopbackUrl(ports, SANDBOX_PROVIDER);
  writeFileAtomically(paths.routesFile, note + text.replaceAll(PROVIDER_URL_IN_CONFIG, url));
};
