import { internalRoutes, routes } from '@svc/contracts';
import { auditLogSection, type ExportSection, streamSections } from '@svc/database';
import { type Binding, bind, type Clock, type InternalClient, sendJsonStream, type WriteText } from '@svc/service-kit';
import { createBoundedQueue } from './bounded-queue.ts';
import { SECOND_MS } from './time.ts';

/** Auth's data about a person, without secrets and digests. */
export const SECTIONS: readonly ExportSection[] = [
  {
    name: 'account',
    sql: `SELECT id AS svc_user_id, email, account_type, business_name, display_name, locale, created_at, email_verified_at,
      has_second_factor, requires_second_factor, erase_at FROM accounts WHERE id = $1`,
  },
  {
    name: 'sessions',
    sql: `SELECT id, created_at, authenticated_at, last_used_at, expires_at, user_agent, network FROM console_sessions
      WHERE user_id = $1 ORDER BY created_at`,
  },
  {
    name: 'authenticator_apps',
    sql: `SELECT id, name, created_at, confirmed_at, last_used_at FROM totp_factors WHERE user_id = $1 ORDER BY created_at`,
  },
  {
    name: 'passkeys',
    sql: `SELECT id, name, transports, created_at, last_used_at FROM passkeys WHERE user_id = $1 ORDER BY created_at`,
  },
  {
    name: 'management_keys',
    sql: `SELECT id, name, prefix, scopes, created_by, created_at, expires_at, last_used_at FROM management_keys WHERE user_id = $1
      ORDER BY created_at`,
  },
  {
    name: 'single_sign_on',
    sql: `SELECT issuer, subject, linked_at FROM sso_identities WHERE user_id = $1 ORDER BY linked_at`,
  },
  {
    name: 'connections',
    sql: `SELECT client_id, scope, connected_at, last_used_at, ended_at, is_paused, budget_limit_micros, budget_period,
      budget_expires_at FROM connections WHERE user_id = $1 ORDER BY connected_at`,
  },
  {
    name: 'grants',
    sql: `SELECT id, client_id, scope, device_name, created_at, last_used_at, expires_at FROM grants WHERE user_id = $1
      ORDER BY created_at, id`,
  },
  {
    name: 'connection_history',
    sql: `SELECT id, client_id, action, scope, network, client_kind, happened_at FROM connection_audit
      WHERE user_id = $1 ORDER BY happened_at, id`,
  },
  {
    name: 'apps',
    sql: `SELECT client_id, name, description, client_type, redirect_uris, homepage_url, privacy_policy_url, active, created_at,
      updated_at FROM apps WHERE owner_user_id = $1 AND deleted_at IS NULL ORDER BY created_at`,
  },
  {
    name: 'app_reports',
    sql: `SELECT client_id, reason, comment, reported_at FROM app_reports WHERE user_id = $1 ORDER BY reported_at, client_id`,
  },
  {
    name: 'publisher_domains',
    sql: `SELECT domain, status, created_at, verified_at, checked_at FROM publisher_domains WHERE user_id = $1 ORDER BY created_at, domain`,
  },
  {
    name: 'organizations',
    sql: `SELECT organization_id, id, role, joined_at FROM memberships WHERE user_id = $1 ORDER BY joined_at, id`,
  },
  {
    name: 'members',
    sql: `SELECT id, user_id AS svc_user_id, role, joined_at FROM memberships WHERE organization_id = $1
      ORDER BY joined_at, id`,
  },
  {
    name: 'invitations',
    sql: `SELECT id, email, role, invited_by, created_at, expires_at FROM invitations WHERE organization_id = $1 ORDER BY id`,
  },
  auditLogSection,
  {
    name: 'mails',
    sql: `SELECT id, kind, recipient, created_at, sent_at FROM mails WHERE user_id = $1 ORDER BY created_at, id`,
  },
];

interface ExportAccountDeps {
  readonly clock: Clock;
  readonly exportDatabase: Parameters<typeof streamSections>[0];
  /** The other services that hold personal data. */
  readonly holders: Readonly<Record<'billing' | 'gateway' | 'dispatcher', Pick<InternalClient, 'stream'>>>;
}

const TIMEOUT_MS = 300 * SECOND_MS;

/**
 * Writes all data that the services hold about a person as one JSON object. Reads one service after the other, so that
 * none keeps a transaction open while another is read. Throws `service_unavailable` if one does not respond.
 */
const exportAccount = async (
  deps: ExportAccountDeps,
  { userId, signal }: { userId: string; signal: AbortSignal },
  write: WriteText,
): Promise<void> => {
  const input = { params: { svc_user_id: userId }, timeoutMs: TIMEOUT_MS, signal };
  const { billing, gateway, dispatcher } = deps.holders;
  const others = {
    billing: () => billing.stream(internalRoutes.exportBillingData, input),
    inference_gateway: () => gateway.stream(internalRoutes.exportGatewayData, input),
    webhook_dispatcher: () => dispatcher.stream(internalRoutes.exportWebhookData, input),
  };
  await write(`{"version":1,"svc_user_id":${JSON.stringify(userId)},"created_at":"${deps.clock().toISOString()}"`);
  for (const [name, open] of Object.entries(others)) {
    const pieces = await open();
    await write(`,"${name}":`);
    for await (const piece of pieces) await write(piece);
  }
  await write(',"auth":');
  await streamSections(deps.exportDatabase, SECTIONS, { id: userId, write });
  await write('}');
};

/** Each export uses a connection to every database. */
const RUNNING_MAX = 2;
const WAITING_MAX = 16;

/** Binds the route that exports a person's data. */
export const personalDataRoutes = (deps: ExportAccountDeps): Binding[] => {
  const queue = createBoundedQueue({
    runningMax: RUNNING_MAX,
    waitingMax: WAITING_MAX,
    refusal: 'Too many exports are running. Try again in a moment.',
  });
  return [
    bind(routes.exportAccount, (context) =>
      queue(() =>
        sendJsonStream(
          context,
          (write) => exportAccount(deps, { userId: context.caller.userId, signal: context.signal }, write),
          { headers: { 'content-disposition': 'attachment; filename="svc-export.json"', 'cache-control': 'no-store' } },
        ),
      ),
    ),
  ];
};
