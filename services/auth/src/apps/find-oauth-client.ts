import type { Executor } from '../transact.ts';
import type { AppRecord } from './app.ts';
import type { StoredSecret } from './client-secret.ts';
import { findAppById } from './queries.ts';
import { listSecrets } from './secret-queries.ts';

/** An app as the token endpoint needs it. */
export interface OauthClient {
  app: AppRecord;
  secrets: readonly StoredSecret[];
}

/** The active app of an id with its secrets; undefined where there is none, or it is deactivated. */
export const findOauthClient = async (executor: Executor, clientId: string): Promise<OauthClient | undefined> => {
  const app = await findAppById(executor, clientId);
  if (app?.active !== true) return undefined;
  const secrets = app.clientType === 'confidential' ? await listSecrets(executor, clientId) : [];
  return { app, secrets };
};
