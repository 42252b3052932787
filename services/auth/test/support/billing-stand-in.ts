import { setTimeout } from 'node:timers/promises';
import { type AccountUsage, type AppTerms, type AppTermsChange, appTermsChangeSchema } from '@svc/contracts';
import { listen } from '@svc/service-kit';

/** Speaks billing's routes of app terms by their contract, and keeps what it was told. */
export interface BillingStandIn {
  readonly url: string;
  /** Changes by `<user> <app>`, oldest first. */
  readonly changes: { readonly key: string; readonly change: AppTermsChange }[];
  readonly terms: Map<string, AppTerms>;
  /** Typical use of every app. */
  typicalPercent: number | null;
  /** Limits and usage of every user. */
  usage: AccountUsage;
  /** Accounts of which billing remembers the erasure. */
  erased: string[];
  /** Answers nothing but 503 while set. */
  isDown: boolean;
  /** Time until each answer. */
  delayMs: number;
  readonly stop: () => Promise<void>;
}

export const startBillingStandIn = async (): Promise<BillingStandIn> => {
  const listener = await listen(
    async (req, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk);
      await setTimeout(billing.delayMs);
      const { status, body } = answer(billing, req.url ?? '', Buffer.concat(chunks).toString());
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    },
    { host: '127.0.0.1', port: 0 },
  );
  const billing: BillingStandIn = {
    url: listener.url,
    changes: [],
    terms: new Map(),
    typicalPercent: null,
    usage: usageOf(),
    erased: [],
    isDown: false,
    delayMs: 0,
    stop: async () => void (await listener.drain(0)),
  };
  return billing;
};

const answer = (billing: BillingStandIn, path: string, text: string): { status: number; body: object } => {
  const changed = /^\/internal\/accounts\/(\w+)\/apps\/(\w+)\/terms$/.exec(path);
  const listed = /^\/internal\/accounts\/(\w+)\/app-terms$/.exec(path);
  if (billing.isDown) return { status: 503, body: { detail: { code: 'service_unavailable', message: '' } } };
  if (changed !== null) return { status: 200, body: change(billing, `${changed[1]} ${changed[2]}`, text) };
  if (path.startsWith('/internal/erased-accounts?')) return { status: 200, body: erasedPage(billing, path) };
  if (path.endsWith('/typical-use')) return { status: 200, body: { week_share_percent: billing.typicalPercent } };
  if (path.endsWith('/usage')) return { status: 200, body: billing.usage };
  const prefix = `${listed?.[1]} `;
  const data = [...billing.terms]
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, terms]) => ({ client_id: key.slice(prefix.length), ...terms }));
  return { status: 200, body: { data } };
};

/** Limits and usage of an active plan of which half the week is used. */
export const usageOf = (over: Partial<AccountUsage> = {}): AccountUsage => ({
  status: 'active',
  plan: { id: 'standard', name: 'Standard' },
  period: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  weekly: { used_percent: 50, used_micros: 620_000, limit_micros: 1_240_000, resets_at: '2026-11-30T00:00:00.000Z' },
  monthly: {
    used_percent: 10,
    used_micros: 1_000_000,
    limit_micros: 10_000_000,
    resets_at: '2026-12-01T00:00:00.000Z',
  },
  pending_requests: 0,
  max_pending_requests: 2,
  services: { chat: true, audio_transcription: true },
  extra: { enabled: false, used_micros: 0, limit_micros: 0 },
  ...over,
});

/** Without a subscription. */
export const NO_PLAN: Partial<AccountUsage> = { status: null, plan: null, period: null, weekly: null, monthly: null };

/** Two accounts a page. */
const erasedPage = ({ erased }: BillingStandIn, path: string) => {
  const after = new URL(path, 'http://billing').searchParams.get('after') ?? '';
  const rest = erased.filter((id) => id > after).toSorted();
  return { data: rest.slice(0, 2), has_more: rest.length > 2 };
};

const change = (billing: BillingStandIn, key: string, text: string): AppTerms => {
  const asked = appTermsChangeSchema.parse(JSON.parse(text));
  billing.changes.push({ key, change: asked });
  const before = billing.terms.get(key) ?? { paused: false, budget: null };
  const terms: AppTerms = {
    paused: asked.paused ?? before.paused,
    budget: asked.budget === undefined ? before.budget : toBudget(asked.budget),
  };
  billing.terms.set(key, terms);
  return terms;
};

const toBudget = (limit: AppTermsChange['budget']): AppTerms['budget'] =>
  limit == null
    ? null
    : { ...limit, currency: 'EUR', used_micros: 7, resets_at: null, expires_at: limit.expires_at ?? null };
