import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { createPages, createReceiver } from './app.ts';
import { ensureLocalAuthority } from './authority/ensure-local-authority.ts';
import type { Config } from './config.ts';
import { createPartner, type Partner } from './connect.ts';
import { createInbox } from './inbox/inbox.ts';
import { describeError, type Log } from './log.ts';
import { createConsoleApi } from './registration/console-api.ts';
import { keepTrying, type Registration, register } from './registration/register.ts';
import { openRegistrationFile } from './registration/registration-file.ts';
import { createSessionStore } from './sessions.ts';

const SECRET_BYTES = 24;
const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** A running app. */
export interface SamplePartner {
  readonly url: string;
  readonly webhookUrl: string;
  /** Resolves when the app is registered; rejects if it is stopped before. */
  readonly registered: Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts pages and receiver at once, and registers the app in the background. */
export const startSamplePartner = async (config: Config, log: Log): Promise<SamplePartner> => {
  const clock = (): Date => new Date();
  const url = `http://127.0.0.1:${config.port}`;
  const webhookUrl = `https://localhost:${config.webhooksPort}/webhooks`;
  const stopping = new AbortController();
  const { certificateFile, keyFile } = await ensureLocalAuthority(config.folder);
  const inbox = createInbox({ clock });
  let partner: Partner | undefined;
  let setupProblem: string | undefined;
  const deps = {
    baseUrl: config.baseUrl,
    origin: url,
    webhookUrl,
    inbox,
    log,
    sessions: createSessionStore({ newId: newSecret, clock }),
    partner: () => partner,
    setupProblem: () => setupProblem,
  };
  const pages = createServer(createPages(deps));
  const receiver = createSecureServer(
    { cert: readFileSync(certificateFile), key: readFileSync(keyFile), minVersion: 'TLSv1.2' },
    createReceiver(deps),
  );
  await listen(pages, config.port);
  await listen(receiver, config.webhooksPort);
  log('info', 'listening', { url, webhook_url: webhookUrl });

  const setUp = async (): Promise<void> => {
    const registration = await registerUntilDone({
      config,
      redirectUri: `${url}/callback`,
      pageRedirectUri: `${url}/browser`,
      webhookUrl,
      signal: stopping.signal,
      onFailure: (error, pauseMs) => {
        setupProblem = describeError(error);
        log('warn', `cannot register yet: ${setupProblem}`, { next_try_ms: pauseMs });
      },
    });
    partner = createPartner({ baseUrl: config.baseUrl, redirectUri: `${url}/callback`, registration, inbox, clock });
    log('info', 'registered', { client_id: registration.clientId });
  };
  const registered = setUp();
  // Callers need not await it.
  registered.catch(() => undefined);
  return {
    url,
    webhookUrl,
    registered,
    stop: async () => {
      stopping.abort();
      await Promise.all([close(pages), close(receiver)]);
    },
  };
};

interface RegisterUntilDone {
  readonly config: Config;
  readonly redirectUri: string;
  readonly pageRedirectUri: string;
  readonly webhookUrl: string;
  readonly signal: AbortSignal;
  readonly onFailure: (error: unknown, pauseMs: number) => void;
}

const registerUntilDone = ({ config, signal, onFailure, ...uris }: RegisterUntilDone) => {
  const api = createConsoleApi({ baseUrl: config.baseUrl, signal });
  const file = openRegistrationFile(join(config.folder, 'registration.json'));
  const work = (): Promise<Registration> => register({ api, file, newSecret, ...uris });
  return keepTrying(work, { signal, onFailure });
};

const listen = async (server: Server, port: number): Promise<void> => {
  server.listen({ port, host: '127.0.0.1' });
  await once(server, 'listening');
};

/** Aborts open requests: users retry, and the service delivers webhooks again. */
const close = async (
  server: ReturnType<typeof createServer> | ReturnType<typeof createSecureServer>,
): Promise<void> => {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
};
