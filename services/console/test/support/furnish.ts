import { type App, type Factor, type Invoice, type ListedSession, newId } from '@svc/contracts';
import type { TestConsole } from './console.ts';
import {
  addEvent,
  daysFromNow,
  newDomain,
  type Possessions,
  subscriptionTo,
  type UsageRecord,
} from './mock-api/index.ts';
import type { Person } from './people.ts';

const lastAttempt = () => ({ at: daysFromNow(-0.01), status_code: 200, error: null, duration_ms: 84 });

/** An app as registered some time ago. */
export const newApp = (name: string, fields: Partial<App> = {}): App => {
  const clientId = newId('app');
  return {
    client_id: clientId,
    name,
    description: 'Meeting notes that write themselves.',
    client_type: 'confidential',
    redirect_uris: ['https://notes.example/callback'],
    homepage_url: 'https://notes.example/',
    privacy_policy_url: null,
    icon_url: `http://localhost/v1/integrations/apps/${clientId}/icon`,
    active: true,
    suspended_at: null,
    refresh_grace_seconds: 30,
    require_pushed_authorization_requests: false,
    dpop_bound_access_tokens: false,
    device_flow: false,
    created_at: daysFromNow(-40),
    updated_at: daysFromNow(-3),
    secret_rotated_at: daysFromNow(-40),
    connections_count: 128,
    ...fields,
  };
};

/** Metadata of a request some days ago. */
export const newUsage = (keyId: string, daysAgo: number, fields: Partial<UsageRecord> = {}): UsageRecord => ({
  request_id: newId('req'),
  key_id: keyId,
  model: 'svc-chat',
  upstream_model: 'sandbox-chat-1',
  service: 'chat',
  provider: 'Sandbox',
  route_id: 'chat-eu',
  data_zone: 'EU',
  ingress_region: 'local',
  upstream_request_id: 'upstream-1',
  input_tokens: 1_204,
  output_tokens: 388,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  cost_micros: 474,
  status: 200,
  state: 'settled',
  streamed: true,
  started_at: daysFromNow(-daysAgo),
  first_event_ms: 210,
  duration_ms: 1_840,
  ...fields,
});

/** An invoice; the highest number is the newest. */
export const newInvoice = (number: number, fields: Partial<Invoice> = {}): Invoice => ({
  id: `in_${number}`,
  number: `SVC-2026-${String(number).padStart(4, '0')}`,
  description: 'Wallet top-up',
  net_micros: 20_491_804,
  tax_micros: 4_508_196,
  total_micros: 25_000_000,
  currency: 'EUR',
  status: 'paid',
  issued_at: daysFromNow(number - 40),
  url: `https://invoices.example/${number}`,
  pdf_url: `https://invoices.example/${number}/pdf`,
  ...fields,
});

/** A session of another device, some days old. */
export const newSession = (userAgent: string | null, daysAgo: number): ListedSession => ({
  id: newId('ses'),
  created_at: daysFromNow(-daysAgo),
  last_used_at: daysFromNow(-daysAgo / 2),
  user_agent: userAgent,
  source: '198.51.100.0/24',
  is_current: false,
});

const newFactor = (type: Factor['type'], name: string, lastUsedAt: string | null): Factor => ({
  id: newId('fac'),
  type,
  name,
  created_at: daysFromNow(-30),
  last_used_at: lastUsedAt,
});

/** Twenty days of use through an app, and through one that is no longer connected; on some days nothing. */
const newPlanUse = (clientId: string): Possessions['planUse'] => {
  const former = newId('app');
  const days = Array.from({ length: 20 }, (_, daysAgo) => daysAgo).filter((daysAgo) => daysAgo % 6 !== 4);
  return new Map(
    days.map((daysAgo) => {
      const use = { requests: 3 + ((daysAgo * 5) % 17), cost_micros: 1_200 + ((daysAgo * 7) % 11) * 900 };
      const audio = { requests: 1, cost_micros: 150 };
      const apps = [
        { client_id: clientId, ...use },
        { client_id: former, ...audio },
      ];
      return [daysAgo, { services: { chat: use, audio_transcription: audio }, apps }];
    }),
  );
};

/** Gives a person some of everything. Returns the app that has a webhook. */
export const furnish = ({ state }: TestConsole, { account, has }: Person): App => {
  const notes = newApp('Notes for teams');
  has.apps = [
    notes,
    newApp('Pocket', { client_type: 'public', active: false, secret_rotated_at: null, connections_count: 0 }),
  ];
  has.domains = [
    newDomain('notes.example', { status: 'verified', verified_at: daysFromNow(-20), checked_at: daysFromNow(-0.5) }),
    newDomain('a-rather-long-name.of-a-business.example', { status: 'lapsed', verified_at: daysFromNow(-90) }),
  ];
  has.subscription = subscriptionTo('standard');
  has.balanceMicros = 24_318_400;
  has.connections = [
    {
      client_id: notes.client_id,
      app: { name: notes.name, icon_url: notes.icon_url, homepage_url: notes.homepage_url },
      scope: 'inference usage:read',
      connected_at: daysFromNow(-12),
      last_used_at: daysFromNow(-0.1),
      budget: {
        limit_micros: 2_000_000,
        currency: 'EUR',
        period: 'week',
        used_micros: 412_000,
        resets_at: daysFromNow(3),
        expires_at: null,
      },
      paused: false,
    },
  ];
  has.grants.set(notes.client_id, [
    {
      id: newId('grt'),
      device_name: 'Laptop, terminal',
      scope: 'inference usage:read',
      created_at: daysFromNow(-3),
      last_used_at: daysFromNow(-0.1),
    },
    {
      id: newId('grt'),
      device_name: null,
      scope: 'inference usage:read',
      created_at: daysFromNow(-12),
      last_used_at: null,
    },
  ]);
  const key = {
    id: newId('key'),
    name: 'Nightly report',
    prefix: 'svc_sk_4f8a2',
    expires_at: daysFromNow(60),
    requests_per_minute: 120,
    tokens_per_minute: null,
    monthly_limit_micros: 50_000_000,
    models: null,
    active: true,
    spent_this_month_micros: 1_250_000,
    previous_expires_at: null,
    created_at: daysFromNow(-50),
    created_by: { svc_user_id: account.svc_user_id, name: account.display_name },
    creator_left: false,
    last_used_at: daysFromNow(-1),
  };
  has.keys = [key, { ...key, id: newId('key'), name: 'Old laptop', expires_at: daysFromNow(-2), last_used_at: null }];
  has.usage = Array.from({ length: 12 }, (_, index) =>
    newUsage(key.id, index * 2.3 + 0.05, {
      cost_micros: 474 + ((index * 7) % 11) * 1_300,
      ...(index % 9 === 4 ? { status: 503, cost_micros: null, output_tokens: null, state: 'released' as const } : {}),
    }),
  );
  has.transactions = [
    {
      id: 'txn_2',
      type: 'usage',
      amount_micros: -681_600,
      balance_after_micros: 24_318_400,
      created_at: daysFromNow(-1),
      description: 'Usage',
    },
    {
      id: 'txn_1',
      type: 'top_up',
      amount_micros: 25_000_000,
      balance_after_micros: 25_000_000,
      created_at: daysFromNow(-2),
      description: 'Top-up',
    },
  ];
  has.autoTopUp = { ...has.autoTopUp, enabled: true };
  has.invoices = [
    newInvoice(3, { description: 'Standard', status: 'open', total_micros: 20_000_000 }),
    newInvoice(2, { description: 'Automatic wallet top-up', pdf_url: null }),
    newInvoice(1, { description: 'Wallet top-up', url: null, pdf_url: null }),
  ];
  has.planUse = newPlanUse(notes.client_id);
  has.otherSessions = [
    newSession('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) CriOS/140.0 Safari/604.1', 1.4),
    newSession(null, 9),
  ];
  has.factors = [
    newFactor('totp', 'Authenticator app', daysFromNow(-0.3)),
    newFactor('passkey', 'Chrome, Android', null),
  ];
  has.recoveryCodes = ['2f7k1x-8mq4zt-0c5vbn-w3yh6r', '9d4s2j-x7pe1g-5tkm8z-b0qv3c'];
  state.webhooks.set(notes.client_id, {
    client_id: notes.client_id,
    url: 'https://notes.example/webhooks/svc',
    generation: 2,
    created_at: daysFromNow(-30),
    state: 'blocked',
    blocked_by_event_id: null,
    paused_at: null,
  });
  addEvent(state, notes.client_id, {
    event: 'integration.connected',
    status: 'delivered',
    attempts: 1,
    next_attempt_at: null,
    delivered_at: daysFromNow(-0.02),
    last_attempt: lastAttempt(),
  });
  const failed = addEvent(state, notes.client_id, {
    event: 'subscription.updated',
    status: 'failed',
    attempts: 8,
    next_attempt_at: null,
    last_attempt: { ...lastAttempt(), status_code: null, error: 'connection_refused', duration_ms: 12 },
  });
  addEvent(state, notes.client_id, { event: 'integration.revoked', next_attempt_at: null });
  Object.assign(state.webhooks.get(notes.client_id) ?? {}, { blocked_by_event_id: failed.event_id });
  return notes;
};
