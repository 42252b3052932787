import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServiceName, serviceNames } from '@svc/contracts';
import { isPortFree } from '@svc/embedded-servers';
import { writeFileAtomically } from './atomic-file.ts';
import { prepareDatabase } from './prepare-database.ts';
import type { Report } from './report.ts';
import { withSampleReceiver } from './sample-receiver.ts';
import { variablePrefix } from './secrets.ts';
import { inheritedEnvironment, loopbackUrl, serviceEnvironment } from './service-environment.ts';
import type { StackSettings } from './settings.ts';
import { prepareStack, readablePath, type StackContext } from './stack-context.ts';
import { consoleUrl, startConsole } from './start-console.ts';
import { startNodeApp } from './start-node-app.ts';
import { samplePartnerUrl, startSamplePartner } from './start-sample-partner.ts';
import { type DatabaseServer, givenDatabaseUrl, startBroker, startDatabaseServer } from './start-servers.ts';

/** Nothing new comes in, then requests end, then what they needed goes. */
const STOP_WAVES = [['ingress'], [...serviceNames], ['sandbox-provider'], ['nats'], ['postgres']];
/** Starts, where other programs keep taking ports that were free a moment before. */
const TRIES_MAX = 3;
const CONFIG = new URL('../../config/', import.meta.url);
const INGRESS = fileURLToPath(new URL('../ingress/main.ts', import.meta.url));
const SANDBOX_PROVIDER = fileURLToPath(import.meta.resolve('@svc/sandbox-provider/main'));
/** Stands in `config/routes.yaml`; the stack puts the provider's real address in its place. */
const PROVIDER_URL_IN_CONFIG = 'http://127.0.0.1:9100';

/** A stack that is ready. */
export interface LocalStack {
  baseUrl: string;
  /** Ends everything in order; resolves when no process is left. */
  stop: () => Promise<void>;
  /** Kills everything at once. */
  kill: () => void;
}

/** How a start is watched and given up. */
export interface StartOptions {
  report: Report;
  /** Gives up the start; everything that runs by then is stopped before this rejects. */
  signal: AbortSignal;
}

/** Starts the whole product on one machine. Throws StartError where the person must do something; nothing is left running then. */
export const startLocalStack = async (settings: StackSettings, options: StartOptions): Promise<LocalStack> => {
  const { report, signal } = options;
  report.line(`data in ${readablePath(settings.dataDirectory)}`);
  for (let tries = 1; ; tries += 1) {
    const context = await prepareStack(settings, options);
    try {
      return await startOn(context);
    } catch (error) {
      const taken = tries < TRIES_MAX && !signal.aborted ? await findTakenPort(context) : undefined;
      if (taken === undefined) throw error;
      report.line(`port ${taken} was taken by another program meanwhile; starting again`);
    }
  }
};

/** Starts it on the ports that were chosen. Throws StartError; everything is stopped then. */
const startOn = async (context: StackContext): Promise<LocalStack> => {
  const { settings, report } = context;
  const stop = async (): Promise<void> => {
    await context.group.stop(STOP_WAVES);
    context.stackFile.remove();
    context.record.release();
  };
  const giveUp = new AbortController();
  try {
    const missing = await startEverything({ ...context, signal: AbortSignal.any([context.signal, giveUp.signal]) });
    context.stackFile.publish();
    report.ready(context.baseUrl, {
      startedInMs: performance.now(),
      dataDirectory: readablePath(settings.dataDirectory),
      missing,
      samplePartnerUrl: samplePartnerUrl(context),
    });
    void startSamplePartner(context);
    void startConsole(context);
    return { baseUrl: context.baseUrl, stop, kill: context.group.kill };
  } catch (error) {
    giveUp.abort();
    await stop();
    throw error;
  }
};

/** A port that somebody else has, though it was free when it was chosen; to be asked once everything is stopped. */
const findTakenPort = async ({ ports, port, settings }: StackContext): Promise<number | undefined> => {
  for (const chosen of ports.values()) if (!(await isPortFree(chosen))) return chosen;
  return (await isPortFree(port, settings.host)) ? undefined : port;
};

/** Starts all parts, each as soon as what it needs is there; answers the services whose folder is missing. */
const startEverything = async (context: StackContext): Promise<readonly ServiceName[]> => {
  const present = serviceNames.filter((service) => isPresent(context, service));
  writeRoutesFile(context);
  const needsServer = present.some((service) => givenDatabaseUrl(context.settings.env, service) === undefined);
  const server = needsServer ? startDatabaseServer(context) : undefined;
  const broker = startBroker(context);
  const dispatcherEnv = withSampleReceiver(context);
  const parts = [
    startIngress(context, present),
    startSandboxProvider(context),
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
    broker: Promise<string>;
    dispatcherEnv: Promise<NodeJS.ProcessEnv>;
  },
): Promise<void> => {
  const { settings, ports, secrets, paths, baseUrl, stackFile } = context;
  const databaseUrl = await prepareDatabase(context, service, await needs.server);
  const natsUrl = await needs.broker;
  const env = service === 'webhook-dispatcher' ? await needs.dispatcherEnv : settings.env;
  stackFile.description.database_urls[service] = databaseUrl;
  stackFile.description.nats_url = natsUrl;
  const directory = join(settings.servicesDirectory, service);
  const internalUrl = loopbackUrl(ports, `${service}-internal`);
  await startNodeApp(context, {
    name: service,
    script: join(directory, 'src', 'main.ts'),
    directory,
    env: serviceEnvironment(service, {
      ...{ env, ports, secrets, databaseUrl, natsUrl, publicBaseUrl: baseUrl },
      routesFile: paths.routesFile,
      plansFile: fileURLToPath(new URL('plans.yaml', CONFIG)),
      compileCache: paths.compileCache,
      isOtherRelease: settings.isOtherRelease,
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
  await startNodeApp(context, {
    name: 'ingress',
    script: INGRESS,
    directory: settings.root,
    env: {
      ...inheritedEnvironment(settings.env, paths.compileCache),
      ...Object.fromEntries(upstreams),
      ...(pages === undefined ? {} : { CONSOLE_URL: pages }),
      HOST: settings.host,
      PORT: String(port),
      PUBLIC_BASE_URL: baseUrl,
    },
    url,
    readyUrl: `${url}/`,
  });
};

const startSandboxProvider = async (context: StackContext): Promise<void> => {
  const { settings, ports, paths, secrets } = context;
  const url = loopbackUrl(ports, 'sandbox-provider');
  await startNodeApp(context, {
    name: 'sandbox-provider',
    script: SANDBOX_PROVIDER,
    directory: settings.root,
    env: {
      SANDBOX_PROVIDER_KEY: secrets.SANDBOX_PROVIDER_KEY,
      ...inheritedEnvironment(settings.env, paths.compileCache),
      PORT: String(ports.get('sandbox-provider')),
    },
    url,
    readyUrl: `${url}/healthz`,
  });
};

const writeRoutesFile = ({ paths, ports }: StackContext): void => {
  const text = readFileSync(new URL('routes.yaml', CONFIG), 'utf8');
  const note =
    '# Written at every start of the local stack; changes here are lost. Set ROUTES_FILE to use a file of your own.\n';
  const url = loopbackUrl(ports, 'sandbox-provider');
  writeFileAtomically(paths.routesFile, note + text.replaceAll(PROVIDER_URL_IN_CONFIG, url));
};
