import type { RequestListener } from 'node:http';
import { isConnectionFailure } from '@svc/database';
import { revocationRoutes } from '@svc/messaging';
import { secretRoutes } from '@svc/secrets';
import {
  type Binding,
  createInternalApp,
  createServiceApp,
  managementKeyText,
  type PeriodicWork,
} from '@svc/service-kit';
import { accountOperationRoutes, endLostTokens } from './account-operations.ts';
import { accountRoutes } from './accounts/index.ts';
import {
  appInternalRoutes,
  appOperatorRoutes,
  appReportRoutes,
  appRoutes,
  countAppsWithOpenReports,
  countSuspensions,
  documentOperatorRoutes,
  findConnectedApps,
  startSuspensions,
} from './apps/index.ts';
import { auditLogRoutes } from './audit-log.ts';
import { connectionRoutes } from './connections/index.ts';
import { consentRoutes, devicePageRoutes, pageRoutes, refuseUnknownPushedRequest } from './consent/index.ts';
import { credentialRoutes, recoveryRoutes, startResets } from './credentials/index.ts';
import { documentRoutes } from './document-routes.ts';
import { eraseAgain, erasureRoutes, startErasures } from './erasure/index.ts';
import { factorRoutes } from './factors/index.ts';
import { createFailingItems, type Work } from './failing-items.ts';
import { startHousekeeping } from './housekeeping.ts';
import { startMailer } from './mail/index.ts';
import {
  authenticateManagementKey,
  managementKeyInternalRoutes,
  managementKeyRoutes,
} from './management-keys/index.ts';
import { type NoticeDeps, noticeInternalRoutes } from './notices.ts';
import { createOauthServer, oauthRoutes, preparePushedRequest } from './oauth/index.ts';
import {
  invitationRoutes,
  memberInternalRoutes,
  memberOperatorRoutes,
  memberRoutes,
  organizationInternalRoutes,
  organizationRoutes,
} from './organizations/index.ts';
import { consolePageRoutes } from './pages/index.ts';
import { personalDataRoutes } from './personal-data.ts';
import { profileRoutes } from './profile.ts';
import { publisherRoutes, startDomainChecks } from './publishers/index.ts';
import { authenticateSession, sessionRoutes } from './sessions/index.ts';
import { type KeyRing, signingKeyOperatorRoutes, signingKeyRoutes } from './signing-keys.ts';
import { type AppDeps, createSliceDeps, type SliceDeps } from './slice-deps.ts';
import { ssoRoutes } from './sso/index.ts';

const SERVICE = 'auth';

export interface App {
  readonly publicApp: RequestListener;
  readonly internalApp: RequestListener;
  readonly keys: KeyRing;
  /**
   * After a restore to this moment: ends the tokens that the database does not know, and erases again what was erased since.
   * Returns the number of erased accounts.
   */
  readonly afterRestore: (restoredTo: Date, epochBeganAt: Date) => Promise<number>;
  /** Dependencies of the consumer of notices. */
  readonly notices: Omit<NoticeDeps, 'messaging'>;
  /** Stops the background work. */
  readonly stop: () => Promise<void>;
}

/** Creates the application and starts its background work. Creates the first signing keys if there are none. */
export const createApp = async (parts: AppDeps): Promise<App> => {
  const deps = await createSliceDeps(parts);
  const withItems = (work: Work) => ({ ...deps, items: createFailingItems(work, parts) });
  const suspensions = startSuspensions(withItems('suspensions'));
  const housekeeping = startHousekeeping(withItems('housekeeping'));
  const domainChecks = startDomainChecks(withItems('domain_checks'));
  const resets = startResets(withItems('password_resets'));
  const erasures = startErasures(withItems('erasures'), suspensions.wake);
  const wakeErasure = (): void => {
    suspensions.wake();
    erasures.wake();
  };
  const mailer = startMailer({ ...withItems('mail'), metrics: parts.metrics });
  parts.metrics.gauge({
    name: 'auth_suspensions_waiting',
    help: 'Suspended or deleted apps whose connections are still to be ended.',
    // A scrape must not fail with the database.
    read: () => countSuspensions(deps.database).catch(() => Number.NaN),
  });
  parts.metrics.gauge({
    name: 'auth_reported_apps_waiting',
    help: 'Apps with reports that no operator has closed.',
    read: () => countAppsWithOpenReports(deps.database).catch(() => Number.NaN),
  });
  return {
    publicApp: createPublicApp(parts, { ...deps, wakeErasure }, { suspensions, resets }),
    internalApp: createInternal(parts, [
      ...appInternalRoutes(deps),
      ...noticeInternalRoutes(deps),
      ...managementKeyInternalRoutes(deps),
      ...memberInternalRoutes(deps),
      ...organizationInternalRoutes(deps),
      ...revocationRoutes(deps),
      ...signingKeyOperatorRoutes({ ...deps, ...deps.keyRotation }),
      ...memberOperatorRoutes(deps),
      ...accountOperationRoutes({ ...deps, wakeErasure }),
      ...appOperatorRoutes({ ...deps, wakeSuspensions: suspensions.wake }),
      ...secretRoutes({ service: SERVICE, database: deps.database, uses: [deps.secretUse] }),
      ...documentOperatorRoutes({ ...deps, wakeSuspensions: suspensions.wake }),
      ...parts.operatorBindings,
    ]),
    keys: deps.keys,
    afterRestore: async (restoredTo, epochBeganAt) => {
      await endLostTokens(deps, { restoredTo, until: epochBeganAt });
      return await eraseAgain({ ...deps, wakeErasure }, restoredTo);
    },
    notices: deps,
    stop: async () => {
      deps.destinations.destroy();
      await Promise.all([
        deps.keys.stop(),
        suspensions.stop(),
        housekeeping.stop(),
        domainChecks.stop(),
        resets.stop(),
        erasures.stop(),
        mailer.stop(),
        deps.billing.close(),
        ...Object.values(deps.holders).map((client) => client.close()),
        deps.passwordRules.close(),
      ]);
    },
  };
};

const createPublicApp = (
  { config, metrics }: AppDeps,
  deps: SliceDeps & { readonly wakeErasure: () => void },
  { suspensions, resets }: Readonly<Record<'suspensions' | 'resets', PeriodicWork>>,
): RequestListener => {
  const server = createOauthServer(deps);
  return createServiceApp({
    service: SERVICE,
    bindings: [
      ...accountRoutes(deps),
      ...sessionRoutes(deps),
      ...credentialRoutes(deps),
      ...factorRoutes(deps),
      ...managementKeyRoutes(deps),
      ...profileRoutes(deps),
      ...organizationRoutes(deps),
      ...memberRoutes(deps),
      ...invitationRoutes(deps),
      ...auditLogRoutes(deps),
      ...erasureRoutes(deps),
      ...personalDataRoutes(deps),
      ...recoveryRoutes({ ...deps, wakeResets: resets.wake }),
      ...ssoRoutes(deps),
      ...appRoutes({ ...deps, wakeSuspensions: suspensions.wake }),
      ...appReportRoutes(deps),
      ...publisherRoutes(deps),
      ...connectionRoutes({ ...deps, findConnectedApps: (clientIds) => findConnectedApps(deps, clientIds) }),
      ...consentRoutes(deps),
      ...pageRoutes(deps),
      ...devicePageRoutes(deps),
      ...consolePageRoutes(deps),
      ...oauthRoutes({ ...deps, server }),
      ...signingKeyRoutes(deps),
      ...documentRoutes({ ...deps, securityContact: config.SECURITY_CONTACT }),
    ],
    authenticate: {
      console_session: (token) =>
        token.startsWith(managementKeyText.prefix)
          ? authenticateManagementKey(deps, token)
          : authenticateSession(deps, token),
    },
    stepUp: deps.stepUp,
    logger: deps.logger,
    metrics,
    publicBaseUrl: deps.publicBaseUrl,
    trustProxyHops: config.TRUST_PROXY_HOPS,
    responseValidation: config.RESPONSE_VALIDATION,
    isUnavailable: isConnectionFailure,
    prepare: preparePushedRequest({ ...deps, refuse: refuseUnknownPushedRequest }),
  });
};

const createInternal = (parts: AppDeps, bindings: readonly Binding[]): RequestListener => {
  const { config, database, logger, metrics, lifecycle } = parts;
  return createInternalApp({
    service: SERVICE,
    bindings,
    tokens: config.INTERNAL_API_TOKENS,
    logger,
    metrics,
    isUnavailable: isConnectionFailure,
    // Checks the database only: without NATS the service works, and its facts wait in the outbox.
    ready: async () => ({
      database: await database.raw('SELECT 1').then(
        () => true,
        () => false,
      ),
    }),
    ...(lifecycle === undefined ? {} : { lifecycle }),
  });
};
