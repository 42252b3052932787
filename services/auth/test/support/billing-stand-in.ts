import { type AppTerms, type AppTermsChange, appTermsChangeSchema, type PlanServices } from '@svc/contracts';
import { listen } from '@svc/service-kit';

/** Speaks billing's routes of app terms by their contract, and keeps what it was told. */
export interface BillingStandIn {
  readonly url: string;
  /** Changes by `<user> <app>`, oldest first. */
  readonly changes: { readonly key: string; readonly change: AppTermsChange }[];
  readonly terms: Map<string, AppTerms>;
  /** Typical use of every app. */
  typicalPercent: number | null;
  /** Services of every user's plan. */
  services: PlanServices;
  /** Answers nothing but 503 while set. */
  isDown: boolean;
  readonly stop: () => Promise<void>;
}

export const startBillingStandIn = async (): Promise<BillingStandIn> => {
  const listener = await listen(
    async (req, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk);
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
    services: { chat: true, audio_transcription: true },
    isDown: false,
    stop: async () => void (await listener.drain(0)),
  };
  return billing;
};

const answer = (billing: BillingStandIn, path: string, text: string): { status: number; body: object } => {
  const changed = /^\/internal\/accounts\/(\w+)\/apps\/(\w+)\/terms$/.exec(path);
  const listed = /^\/internal\/accounts\/(\w+)\/app-terms$/.exec(path);
  if (billing.isDown) return { status: 503, body: { detail: { code: 'service_unavailable', message: '' } } };
  if (changed !== null) return { status: 200, body: change(billing, `${changed[1]} ${changed[2]}`, text) };
  if (path.endsWith('/typical-use')) return { status: 200, body: { week_share_percent: billing.typicalPercent } };
  if (path.endsWith('/entitlements')) return { status: 200, body: { services: billing.services } };
  const prefix = `${listed?.[1]} `;
  const data = [...billing.terms]
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, terms]) => ({ client_id: key.slice(prefix.length), ...terms }));
  return { status: 200, body: { data } };
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
