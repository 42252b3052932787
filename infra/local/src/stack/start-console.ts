import { join } from 'node:path';
import { buildPagesIfOld, CONSOLE, consoleFolder } from './console-pages.ts';
import { inheritedEnvironment, loopbackUrl } from './service-environment.ts';
import type { StackContext } from './stack-context.ts';
import { startNodeApp } from './start-node-app.ts';

/** Where the ingress finds the pages; undefined where there are none. */
export const consoleUrl = ({ ports }: Pick<StackContext, 'ports'>): string | undefined =>
  ports.has(CONSOLE) ? loopbackUrl(ports, CONSOLE) : undefined;

/** Starts the console and builds its pages where they are missing or old. Never rejects: the API is whole without them. */
export const startConsole = async (context: StackContext): Promise<void> => {
  const { settings, ports, paths, baseUrl, report, logOf, signal } = context;
  const url = consoleUrl(context);
  if (url === undefined) return;
  const directory = consoleFolder(settings);
  const internalUrl = loopbackUrl(ports, `${CONSOLE}-internal`);
  // The ready line is the last one of a start that goes well.
  const quiet = { ...context, report: { ...report, line: () => undefined } };
  try {
    await buildPagesIfOld(directory, { log: logOf(`${CONSOLE}-build`), signal });
    await startNodeApp(quiet, {
      name: CONSOLE,
      script: join(directory, 'src', 'main.ts'),
      directory,
      env: {
        ...inheritedEnvironment(settings.env, paths.compileCache),
        PUBLIC_BASE_URL: baseUrl,
        HOST: '127.0.0.1',
        PORT: String(ports.get(CONSOLE)),
        INTERNAL_PORT: String(ports.get(`${CONSOLE}-internal`)),
      },
      url,
      internalUrl,
      readyUrl: `${internalUrl}/healthz`,
    });
  } catch (error) {
    if (!signal.aborted) report.line(error instanceof Error ? error.message : String(error));
  }
};
