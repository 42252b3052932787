import { fileURLToPath } from 'node:url';
import { keepNodeRunning } from './keep-running.ts';
import {
  inheritedEnvironment,
  loopbackUrl,
  SANDBOX_MAIL,
  SANDBOX_MAIL_SMTP,
  SANDBOX_PAYMENTS,
  SANDBOX_PROVIDER,
  usesSandboxPayments,
} from './service-environment.ts';
import type { StackContext } from './stack-context.ts';

/** Starts the stand-ins for third parties. */
export const startSandboxes = async (context: StackContext, plansFile: string): Promise<void> => {
  const { ports, paths, secrets, settings, baseUrl } = context;
  const payments = {
    PLANS_FILE: plansFile,
    PUBLIC_BASE_URL: baseUrl,
    BILLING_URL: loopbackUrl(ports, 'billing'),
    SANDBOX_PAYMENTS_DIR: paths.sandboxPayments,
  };
  await Promise.all([
    start(context, SANDBOX_PROVIDER, {
      main: '@svc/sandbox/provider/main',
      env: { SANDBOX_PROVIDER_KEY: secrets.SANDBOX_PROVIDER_KEY },
    }),
    start(context, SANDBOX_MAIL, {
      main: '@svc/sandbox/mail/main',
      env: {},
      ownEnv: { SMTP_PORT: String(ports.get(SANDBOX_MAIL_SMTP)) },
    }),
    ...(usesSandboxPayments(settings.env)
      ? [start(context, SANDBOX_PAYMENTS, { main: '@svc/sandbox/stripe/main', env: payments })]
      : []),
  ]);
};

const start = async (
  context: StackContext,
  name: string,
  part: {
    readonly main: string;
    /** Defaults, which the person's variables replace. */
    readonly env: NodeJS.ProcessEnv;
    readonly ownEnv?: NodeJS.ProcessEnv;
  },
): Promise<void> => {
  const { settings, ports, paths } = context;
  const url = loopbackUrl(ports, name);
  await keepNodeRunning(context, {
    name,
    script: fileURLToPath(import.meta.resolve(part.main)),
    directory: settings.root,
    env: {
      ...part.env,
      ...inheritedEnvironment(settings.env, paths.compileCache),
      ...part.ownEnv,
      PORT: String(ports.get(name)),
    },
    url,
    readyUrl: `${url}/healthz`,
  });
};

/** Starts a part without which the product works. Never rejects: a failure is one line of the report. */
export const startOptional = async (
  context: StackContext,
  start: (context: StackContext) => Promise<void>,
): Promise<void> => {
  const { report, signal } = context;
  try {
    await start(context);
  } catch (error) {
    if (!signal.aborted) report.line(error instanceof Error ? error.message : String(error));
  }
};

/** Starts an optional part once the stack is ready. Prints only a failure, as a good start ends with the ready lines. */
export const startBeside = (context: StackContext, start: (quiet: StackContext) => Promise<void>): Promise<void> =>
  startOptional(context, (given) => start({ ...given, report: { ...given.report, line: () => undefined } }));
