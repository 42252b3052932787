import type {
  Account,
  AlertSettings,
  App,
  AutoTopUp,
  Connection,
  DailyUse,
  EndedConnection,
  ExtraUsageRequest,
  Factor,
  Grant,
  InvitationJson,
  Invoice,
  ListedSession,
  Plan,
  PriceList,
  PublisherDomain,
  Role,
  routes,
  Subscription,
  WalletTransaction,
  webhookConfigurationSchema,
  webhookEventDetailSchema,
} from '@svc/contracts';
import { newId } from '@svc/contracts';
import type { z } from 'zod';

type ItemOf<R extends { responses: { 200: { schema: z.ZodType<{ data: readonly unknown[] }> } } }> = z.output<
  R['responses'][200]['schema']
>['data'][number];

/** An API key as its owner sees it. */
export type ApiKey = ItemOf<typeof routes.listKeys>;
/** Metadata of one request with an API key. */
export type UsageRecord = ItemOf<typeof routes.listGatewayUsage>;
/** An entry of the audit log. */
export type AuditEntry = ItemOf<typeof routes.listAuditLog>;
/** A webhook configuration. */
export type Configuration = z.output<typeof webhookConfigurationSchema>;
/** A stored webhook event. */
export type WebhookEvent = z.output<typeof webhookEventDetailSchema>;

/** A hosted checkout. */
export interface Checkout {
  readonly userId: string;
  readonly planId: string | undefined;
  readonly amountMicros: number | undefined;
  /** Seats of the plan that an organization buys; undefined for a plan of one's own. */
  readonly seats?: number;
  readonly successUrl: string;
  readonly cancelUrl: string;
  isPaid: boolean;
}

/** Everything that one account has. */
export interface Possessions {
  apps: App[];
  domains: PublisherDomain[];
  /** Reports about apps that the account has sent. */
  reports: { clientId: string; reason: string; comment?: string | undefined }[];
  connections: Connection[];
  /** By app. */
  readonly grants: Map<string, Grant[]>;
  endedConnections: EndedConnection[];
  keys: ApiKey[];
  managementKeys: ItemOf<typeof routes.listManagementKeys>[];
  usage: UsageRecord[];
  /** Use of the subscription, by day before today. */
  planUse: ReadonlyMap<number, Pick<DailyUse, 'services' | 'apps'>>;
  subscription: Subscription | null;
  balanceMicros: number;
  transactions: WalletTransaction[];
  invoices: Invoice[];
  alerts: AlertSettings;
  autoTopUp: AutoTopUp;
  extraUsage: ExtraUsageRequest;
  hasPaymentMethod: boolean;
  /** Sessions beside the one of the page. */
  otherSessions: ListedSession[];
  factors: Factor[];
  recoveryCodes: string[];
  /** Secrets of authenticator apps by factor, base32; also of apps that are not confirmed yet. */
  totpSecrets: Map<string, string>;
  /** Credential ids of passkeys. */
  passkeys: Set<string>;
  /** The challenge that the next passkey must sign. */
  challenge: string;
  isDeleted: boolean;
}

/** An organization, beside what its account has. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  memberships: Membership[];
  invitations: InvitationJson[];
  isSecondFactorRequired: boolean;
  /** Seats that are paid, by plan. */
  readonly seats: Map<string, number>;
  /** Monthly limits by member. */
  readonly limits: Map<string, number | null>;
  /** Newest first. */
  readonly acts: AuditEntry[];
}

export interface Membership {
  readonly userId: string;
  role: Role;
  readonly joinedAt: string;
  seat: string | null;
}

/** The whole world of the mock API. */
export interface MockState {
  readonly accounts: Map<string, { account: Account; password: string }>;
  /** Addresses of accounts by session token. */
  readonly sessions: Map<string, string>;
  /** Organizations by the session token that acts for them. */
  readonly acting: Map<string, string>;
  readonly organizations: Map<string, Organization>;
  /** Session tokens of people who authenticated too long ago for sensitive acts. */
  readonly staleSessions: Set<string>;
  readonly possessions: Map<string, Possessions>;
  readonly checkouts: Map<string, Checkout>;
  readonly webhooks: Map<string, Configuration>;
  readonly events: Map<string, WebhookEvent[]>;
  readonly icons: Map<string, { contentType: string; bytes: Buffer }>;
}

const TOKEN_PRICE = {
  input_micros_per_million: 200_000,
  cached_input_micros_per_million: 200_000,
  output_micros_per_million: 600_000,
};

/** Prices of inference. */
export const PRICES: PriceList = {
  currency: 'EUR',
  data: [{ id: 'svc-chat', service: 'chat', max_output_tokens: 4096, price: TOKEN_PRICE }],
  delegated: { chat: TOKEN_PRICE, audio_transcription: { micros_per_second: 100 } },
};

/** Plans on offer. */
export const PLANS: readonly Plan[] = [
  {
    id: 'starter',
    name: 'Starter',
    description: 'For trying things out.',
    price: { amount_micros: 5_000_000, currency: 'EUR', interval: 'month' },
    services: { chat: true, audio_transcription: false },
    weekly_limit_micros: 1_000_000,
    monthly_limit_micros: 3_000_000,
  },
  {
    id: 'standard',
    name: 'Standard',
    description: 'For everyday use, with audio.',
    price: { amount_micros: 20_000_000, currency: 'EUR', interval: 'month' },
    services: { chat: true, audio_transcription: true },
    weekly_limit_micros: 5_000_000,
    monthly_limit_micros: 15_000_000,
  },
];

/** Age of the proof of identity that sensitive acts accept. */
export const STEP_UP = { maxAgeSeconds: 900, clock: () => new Date() };

/** An empty world. */
export const createState = (): MockState => ({
  accounts: new Map(),
  sessions: new Map(),
  acting: new Map(),
  organizations: new Map(),
  staleSessions: new Set(),
  possessions: new Map(),
  checkouts: new Map(),
  webhooks: new Map(),
  events: new Map(),
  icons: new Map(),
});

/** Returns the possessions of an account; at first it has none. */
export const possessionsOf = (state: MockState, userId: string): Possessions => {
  const found = state.possessions.get(userId);
  if (found !== undefined) return found;
  const created: Possessions = {
    apps: [],
    connections: [],
    grants: new Map(),
    endedConnections: [],
    keys: [],
    managementKeys: [],
    usage: [],
    planUse: new Map(),
    subscription: null,
    balanceMicros: 0,
    transactions: [],
    invoices: [],
    hasPaymentMethod: false,
    alerts: { thresholds_percent: [50, 80, 100], wallet_below_micros: 2_000_000 },
    extraUsage: { enabled: false, monthly_max_micros: 0 },
    autoTopUp: {
      enabled: false,
      below_micros: 5_000_000,
      amount_micros: 20_000_000,
      monthly_max_micros: 100_000_000,
    },
    otherSessions: [],
    factors: [],
    recoveryCodes: [],
    totpSecrets: new Map(),
    passkeys: new Set(),
    challenge: '',
    isDeleted: false,
    domains: [],
    reports: [],
  };
  state.possessions.set(userId, created);
  return created;
};

const DAY_MS = 86_400_000;

/** An instant so many days from now; negative: ago. */
export const daysFromNow = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

/** A live subscription to a plan. */
export const subscriptionTo = (planId: string): Subscription => ({
  id: newId('sub'),
  status: 'active',
  plan: { id: planId, name: PLANS.find(({ id }) => id === planId)?.name ?? planId },
  current_period_start: daysFromNow(-10),
  current_period_end: daysFromNow(20),
  cancel_at_period_end: false,
  revision: 1,
  paid_by: null,
});
